//! Keys of a verdict in a file that a program without this crate can check.
//!
//! A file begins with lines `# name: value`; each line below has a key and its hash under the seed, both in
//! hexadecimal digits, with a space between them. `-` is the empty key.

use crate::attack::Knowledge;
use crate::audit::{Epsilon, Report, Settings};
use crate::draw::Draw;
use crate::epsilon::vectors::{Pair, hex};
use crate::flood::Flood;
use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault};
use crate::table::Resolution;
use crate::verdict::{Verdict, power_of_two};
use core::fmt::Write as _;
use hashlane_hash::scheme::Key;

/// Seeds that are tried for one under which a pair collides.
const TRIED: usize = 1 << 16;

/// A file of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFile {
    /// Its name: the id of the function, with `-` for every character that no file should have, and `-pair`
    /// if it has a pair.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The files of a verdict: one with keys that flood the table, and one with the worst pair known, unless the
/// flood needs nothing, which has worse ones. None if there are no such keys.
///
/// `subject` is the function of the report, and `pairs` are the known collisions, with a seed for each.
///
/// # Errors
/// The function has failed.
pub fn key_files(
    subject: &mut dyn AuditedHash,
    report: &Report,
    settings: &Settings,
    pairs: &[Pair],
) -> Result<Vec<KeyFile>, Fault> {
    let mut files = Vec::new();
    if let Some((attack, flood)) = report.verdict.attack().zip(report.verdict.flood()) {
        let head = of_flood(attack, flood, report, settings);
        files.push(file(subject, report, ("", &head), &flood.keys, &flood.seed)?);
    }
    let needs_nothing = match &report.verdict {
        Verdict::Floodable(knowledge, ..) => *knowledge == Knowledge::Nothing,
        verdict => verdict.is_floodable() && verdict.flood().is_some(),
    };
    if let (false, Epsilon::Broken { keys, source, log2, .. }) = (needs_nothing, &report.epsilon) {
        let known = pairs.iter().find(|pair| pair.scheme == report.info.id && pair.keys == *keys);
        let seed = match known {
            Some(pair) => Some(pair.seed),
            None => colliding_seed(subject, keys, settings)?,
        };
        if let Some(seed) = seed {
            let head = [("pair", source.clone()), ("share", power_of_two(*log2)), ("equal", "2".to_owned())];
            files.push(file(subject, report, ("-pair", &head), &keys.iter().collect(), &seed)?);
        }
    }
    Ok(files)
}

/// A file of `keys`, with the end of its name and the special part of its head.
fn file(
    subject: &mut dyn AuditedHash,
    report: &Report,
    (suffix, head): (&str, &[(&str, String)]),
    keys: &Keys,
    seed: &Key,
) -> Result<KeyFile, Fault> {
    let mut hashes = Vec::new();
    subject.hash_all(seed, keys, &mut hashes)?;
    let about = [
        ("hashlane audit keys", "1".to_owned()),
        ("function", report.info.id.clone()),
        ("source", report.info.source.clone()),
        ("width", report.info.width.to_string()),
        ("verdict", report.sentence()),
        ("seed", hex(&seed.to_bytes())),
    ];
    let lines = about.iter().chain(head).map(|(name, value)| format!("# {name}: {value}\n"));
    let mut text: String = lines.collect();
    for (key, hash) in keys.iter().zip(&hashes) {
        let key = if key.is_empty() { "-".to_owned() } else { hex(key) };
        // A `String` takes everything.
        let _ = writeln!(text, "{key} {hash:016x}");
    }
    Ok(KeyFile { name: format!("{}{suffix}.txt", plain(&report.info.id)), text })
}

/// Head of a file of keys that flood a table: the attack, and the rule by which a bucket follows from a hash.
fn of_flood(
    attack: &str,
    flood: &Flood,
    report: &Report,
    settings: &Settings,
) -> Vec<(&'static str, String)> {
    let geometry = &settings.geometry;
    let about = report.attempts.iter().map(|(about, _)| about).find(|about| about.id == attack);
    let tag = Resolution::Swiss { upper_tag: false };
    vec![
        ("attack", attack.to_owned()),
        ("needs", about.map_or(Knowledge::Nothing, |about| about.knowledge).to_string()),
        ("seeds", format!("{} of {}", flood.seeds, flood.tried)),
        ("table", geometry.name.clone()),
        ("hash-bits", geometry.hash_bits.to_string()),
        ("tag-bits", if geometry.kind == tag { "7" } else { "0" }.to_owned()),
        ("index", geometry.index.name().to_owned()),
        ("buckets", geometry.buckets_for(flood.keys.len()).to_string()),
        ("deepest", flood.deepest.to_string()),
        ("keys meet", flood.tables()),
    ]
}

fn plain(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
    id.chars().map(plain).collect()
}

/// A seed under which both keys have one hash.
fn colliding_seed(
    subject: &mut dyn AuditedHash,
    keys: &[Vec<u8>; 2],
    settings: &Settings,
) -> Result<Option<Key>, Fault> {
    let keys: Keys = keys.iter().collect();
    let (mut draw, mut hashes) = (Draw::new(settings.seed), Vec::new());
    for _ in 0..TRIED {
        let seed = settings.table_seed(&mut draw);
        subject.hash_all(&seed, &keys, &mut hashes)?;
        if matches!(hashes[..], [a, b] if a == b) {
            return Ok(Some(seed));
        }
    }
    Ok(None)
}
