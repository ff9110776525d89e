//! A table of verdicts that others can cite: one row for each function, and the keys that bear it out.

pub mod key_file;
pub mod speed;

use crate::attack::Knowledge;
use crate::audit::{Epsilon, Outcome, Report};
use crate::flood::{self, Flood};
use crate::identity::Goal;
use crate::smhasher::{Outcome as Quality, Published, published};
use crate::verdict::{power_of_two, rounded};
use hashlane_hash::scheme::Keying;
use hashlane_stats::format::count;
use serde::Serialize;
use speed::Speed;

/// Headings of the columns, in the order of [`Row::cells`].
pub const COLUMNS: [&str; 15] = [
    "function",
    "version",
    "source",
    "verdict",
    "flood without knowledge",
    "flood by results",
    "flood by a leaked seed",
    "ε of a pair",
    "bias of buckets",
    "second key",
    "tests of quality that fail",
    "SMHasher3, published",
    "ns/byte, 4,096 bytes",
    "ns, 8 bytes",
    "seed",
];

/// Buckets of the column of bias, as a power of two.
const BIAS_BUCKETS: u32 = 8;

/// One function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Id of the function.
    pub function: String,
    /// Version in its source, if it states one.
    pub version: Option<String>,
    /// Definition of the function.
    pub source: String,
    /// Verdict in one or two words.
    pub verdict: &'static str,
    /// Worst flood that needs nothing.
    pub without_knowledge: Option<Flooding>,
    /// Worst flood that needs results.
    pub by_results: Option<Flooding>,
    /// Worst flood that needs the seed.
    pub by_leaked_seed: Option<Flooding>,
    /// Binary logarithm of the share of seeds under which the worst pair known collides, or of its proved
    /// bound.
    pub epsilon_log2: Option<f64>,
    /// Kind of that claim: `proved`, `broken`, `measured`, `unknown`.
    pub epsilon_kind: &'static str,
    /// Share of seeds under which the worst difference puts two keys into one of 256 buckets, where
    /// chance does not explain it.
    pub bias: Option<f64>,
    /// Binary logarithms of the work to make a second key with the hash of a given one: with neither the seed
    /// nor results, with results, with the seed.
    pub second_key_log2: [Option<f64>; 3],
    /// Tests of quality that were run and that failed; `None` if they were left out.
    pub quality: Option<Quality>,
    /// Result that SMHasher3 publishes of the same function.
    pub smhasher3: Option<&'static Published>,
    /// Nanoseconds a byte of keys of 4,096 bytes.
    pub ns_per_byte: Option<f64>,
    /// Nanoseconds of a key of 8 bytes.
    pub ns_of_8_bytes: Option<f64>,
    /// Bits of the seed.
    pub seed_bits: u32,
    /// True if the seed is a secret key by its authors' claim: no attack that knows it is tried.
    pub is_secret: bool,
}

/// A flood in one cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flooding {
    /// Attack.
    pub attack: &'static str,
    /// Keys.
    pub keys: usize,
    /// Entries compared by a lookup, or visited by an insertion if that is slowed down alone.
    pub compared: f64,
    /// The same among random keys.
    pub compared_random: f64,
}

impl Flooding {
    fn new(attack: &'static str, flood: &Flood) -> Self {
        let [compared, compared_random] = match flood.slows_insertions_alone() {
            true => flood.inserted(),
            false => flood.compared(),
        };
        Self { attack, keys: flood.keys.len(), compared, compared_random }
    }
}

/// The row of a function. All columns of the table come from here: a new one is a field of [`Row`], a heading
/// in [`COLUMNS`] and a cell in [`Row::cells`].
pub fn row(report: &Report, speed: Speed, quality: Option<Quality>) -> Row {
    let worst = |knowledge| {
        let floods = report.attempts.iter().filter_map(|(about, outcome)| match outcome {
            Outcome::Flood(flood) if about.knowledge == knowledge => Some((about.id, &**flood)),
            _ => None,
        });
        flood::worst(floods).map(|(attack, flood)| Flooding::new(attack, flood))
    };
    let crowding = report.crowding.as_deref().map(|flood| Flooding::new("random keys", flood));
    let (epsilon_kind, epsilon_log2) = match &report.epsilon {
        Epsilon::Proved(proved) => ("proved", Some(proved.log2)),
        Epsilon::Broken { log2, .. } => ("broken", Some(*log2)),
        Epsilon::Measured { .. } => ("measured", None),
        Epsilon::Unknown => ("unknown", None),
    };
    let (seed_bits, is_secret) = match report.info.keying {
        Keying::None => (0, false),
        Keying::Seed(bits) => (bits, false),
        Keying::Secret(bits) => (bits, true),
    };
    let bias = report.bias.as_ref().filter(|bias| bias.is_biased());
    let second_key = |needs| {
        let claims = report.identity.iter().flat_map(|identity| &identity.claims);
        let mut claims = claims.filter(|claim| claim.goal == Goal::SecondKey && claim.needs == needs);
        claims.next().map(|claim| claim.log2_work)
    };
    Row {
        function: report.info.id.clone(),
        version: version(&report.info.source),
        source: report.info.source.clone(),
        verdict: report.verdict.word(),
        without_knowledge: crowding.or_else(|| worst(Knowledge::Nothing)),
        by_results: worst(Knowledge::Results),
        by_leaked_seed: worst(Knowledge::Seed),
        epsilon_log2,
        epsilon_kind,
        bias: bias.and_then(|bias| bias.share(BIAS_BUCKETS)).map(|share| share.value()),
        second_key_log2: [Knowledge::Nothing, Knowledge::Results, Knowledge::Seed].map(second_key),
        quality,
        smhasher3: published(&report.info.id),
        ns_per_byte: speed.ns_per_byte,
        ns_of_8_bytes: speed.ns_of_8_bytes,
        seed_bits,
        is_secret,
    }
}

/// The first number of a source that has a point: `crate xxhash-rust 0.8.19` has `0.8.19`. A section, as
/// §12.1, is no version.
fn version(source: &str) -> Option<String> {
    let mut words =
        source.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '§'))).map(|word| {
            let word = word.trim_end_matches('.');
            word.strip_prefix(['v', 'V']).unwrap_or(word)
        });
    let is_version = |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    words.find(is_version).map(str::to_owned)
}

impl Row {
    /// Texts of the row's cells, in the order of [`COLUMNS`].
    pub fn cells(&self) -> [String; COLUMNS.len()] {
        // Who can flood a table with less knowledge can do it with more.
        let implied = |less: bool| if less { "←" } else { "–" };
        let flood = |flooding: &Option<Flooding>, without: &str| {
            flooding.as_ref().map_or(without.to_owned(), Flooding::text)
        };
        let (nothing, results) = (self.without_knowledge.is_some(), self.by_results.is_some());
        let leaked = match nothing || results {
            true => "←",
            false if self.is_secret => "not tried",
            false => "–",
        };
        let ns = |ns: Option<f64>| ns.map_or("–".to_owned(), rounded);
        [
            self.function.clone(),
            self.version.clone().unwrap_or("–".to_owned()),
            self.source.clone(),
            self.verdict.to_owned(),
            flood(&self.without_knowledge, "–"),
            flood(&self.by_results, implied(nothing)),
            flood(&self.by_leaked_seed, leaked),
            match (self.epsilon_kind, self.epsilon_log2) {
                ("proved", Some(log2)) => format!("≤ {}", power_of_two(log2)),
                (_, Some(log2)) => power_of_two(log2),
                ("measured", None) => "none found".to_owned(),
                (kind, None) => kind.to_owned(),
            },
            self.bias.map_or("–".to_owned(), |share| format!("{} % of one in 256", rounded(100.0 * share))),
            self.second_key(),
            self.quality.as_ref().map_or("–".to_owned(), Quality::text),
            self.smhasher3.map_or("–".to_owned(), Published::text),
            ns(self.ns_per_byte),
            ns(self.ns_of_8_bytes),
            match (self.seed_bits, self.is_secret) {
                (0, _) => "none".to_owned(),
                (bits, true) => format!("{bits} bits, secret"),
                (bits, false) => format!("{bits} bits"),
            },
        ]
    }
}

impl Row {
    /// The work for a second key with the least knowledge, and the less that more knowledge takes.
    fn second_key(&self) -> String {
        let words = ["", " with results", " with the seed"];
        let mut least = f64::INFINITY;
        let mut steps = Vec::new();
        for (work, words) in self.second_key_log2.iter().zip(words) {
            if let Some(log2) = work.filter(|log2| *log2 < least) {
                least = log2;
                steps.push(format!("2^{}{words}", rounded_log2(log2)));
            }
        }
        if steps.is_empty() { "–".to_owned() } else { steps.join(", ") }
    }
}

/// A binary logarithm with at most one digit behind the point.
fn rounded_log2(log2: f64) -> String {
    if log2.fract() == 0.0 { format!("{log2:.0}") } else { format!("{log2:.1}") }
}

impl Flooding {
    fn text(&self) -> String {
        let keys = count(self.keys as f64);
        let [compared, random] = [self.compared, self.compared_random].map(rounded);
        format!("{}: {keys} keys, {compared} entries for {random}", self.attack)
    }
}

#[cfg(test)]
mod tests;
