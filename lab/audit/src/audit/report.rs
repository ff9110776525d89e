//! The report of an audit.

use crate::attack::{About, Unhashed};
use crate::bias::Bias;
use crate::blind::Searched;
use crate::epsilon::vectors::Origin;
use crate::epsilon::{Proved, Share};
use crate::flood::Flood;
use crate::identity::Identity;
use crate::subject::SubjectInfo;
use crate::verdict::{Flaw, Verdict, power_of_two};
use hashlane_hash::scheme::Keying;

/// Result of one attack.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It floods the table.
    Flood(Box<Flood>),
    /// Its keys do no harm to the table.
    Harmless,
    /// It does not apply: the reason.
    NotApplicable(String),
    /// It needs a key that is declared secret.
    NotTried,
}

/// ε of a function: the share of seeds for which the worst pair known collides.
#[derive(Clone, Debug)]
pub enum Epsilon {
    /// A bound is proved, and no pair is known that exceeds it.
    Proved(Proved),
    /// A pair collides for more seeds than it should.
    Broken {
        /// The keys.
        keys: [Vec<u8>; 2],
        /// Thread, paper or search.
        source: String,
        /// Origin of the pair.
        origin: Origin,
        /// Share as measured here.
        measured: Share,
        /// Binary logarithm of the share: as measured, or as its source states it where the seeds tried here
        /// are too few.
        log2: f64,
    },
    /// No pair of this many keys collided twice under this many seeds.
    Measured {
        /// Keys compared with each other.
        keys: usize,
        /// Seeds tried.
        seeds: usize,
    },
    /// The function has failed.
    Unknown,
}

/// Result of an audit.
#[derive(Clone, Debug)]
pub struct Report {
    /// The function.
    pub info: SubjectInfo,
    /// Bits of its keys that do not move the hash.
    pub unhashed: Unhashed,
    /// Random keys, if they flood the table by themselves. No attack is tried then.
    pub crowding: Option<Box<Flood>>,
    /// Each attack and its outcome.
    pub attempts: Vec<(About, Outcome)>,
    /// The worst pair in buckets instead of whole hashes; `None` if it was not searched.
    pub bias: Option<Bias>,
    /// Share of seeds for which the worst pair collides.
    pub epsilon: Epsilon,
    /// Work to make two keys of one hash; `None` if it was not computed.
    pub identity: Option<Identity>,
    /// Work of the search without priors; `None` if it was not asked for, or an attack floods the table
    /// without the seed.
    pub searched: Option<Searched>,
    /// Fault of the function, or wrong treatment of its arguments.
    pub flaw: Option<Flaw>,
    /// Lengths with many hashed keys.
    pub lengths: Vec<usize>,
    /// The verdict.
    pub verdict: Verdict,
}

impl Report {
    /// The verdict in a sentence, with the worst pair or the flaw where the verdict does not say it.
    pub fn sentence(&self) -> String {
        let sentence = self.sentence_of_verdict();
        match &self.bias {
            Some(bias) if bias.is_biased() && !self.verdict.is_floodable() && !self.verdict.is_faulty() => {
                format!("{sentence}; biased: {bias}")
            }
            _ => sentence,
        }
    }

    fn sentence_of_verdict(&self) -> String {
        match (&self.verdict, &self.epsilon, &self.flaw) {
            (Verdict::IfSeedLeaks(..), Epsilon::Broken { log2, .. }, _) => {
                let share = power_of_two(*log2);
                format!("{}; without it, a fixed pair collides for {share} of all seeds", self.verdict)
            }
            (Verdict::Partial(unhashed, _), ..) if self.info.id.starts_with("ehash/") => {
                format!("{}; unhashed: {}", self.verdict, unhashed.words_of_tuple())
            }
            (verdict, _, Some(flaw)) if !verdict.is_faulty() => format!("{verdict}; {flaw}"),
            (Verdict::NoneKnown, ..) if matches!(self.info.keying, Keying::Secret(_)) => {
                let untried = "the key is declared secret: attacks that need it were not tried";
                format!("{}; {untried}", self.verdict)
            }
            _ => self.verdict.to_string(),
        }
    }
}
