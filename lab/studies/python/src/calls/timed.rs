//! Timed calls: workloads and schemes, and the packages that they need.

use crate::data::{BATCH, BATCHES};
use crate::process::Process;
use hashlane_lab::definition::subject;
use hashlane_lab::study::{Contender, TurnError};
use std::time::Duration;

/// Strings of one batch, by all packages.
pub(super) const STRINGS: &str = "strings-16-64";

/// Tuples into sketches of 2^16 and of 2^24 buckets.
pub(super) const SPREAD: [(&str, usize); 2] = [("spread-36/2-16", 1 << 16), ("spread-36/2-24", 1 << 24)];

/// One call for all batches, or a call for each.
pub(super) const BATCHED: [&str; 4] =
    ["call/hash-strings", "call/hash-36", "call/spread-36", "call/flow-hash"];

/// Our hash in one call, the reference of all workloads.
pub(super) const OURS: &str = "hashlane/siphash-1-3";

/// Our hash in a call for each batch.
pub(super) const BY_BATCH: &str = "hashlane/siphash-1-3/batches";

/// Schemes of other packages on strings.
const PEERS: [&str; 7] = [
    "polars/hash",
    "polars-hash/xxh3-64",
    "polars-hash/wyhash",
    "xxhash/xxh3-64",
    "mmh3/murmur3-32",
    "pandas/hash-array",
    "siphashc/siphash-2-4",
];

/// Packages that few have: they are measured if they are installed.
const OPTIONAL: [&str; 4] = ["siphashc", "duckdb", "dpkt", "scapy"];

/// Time in which a request must be answered: a call takes milliseconds, making the keys some seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// Keys of a call, or of all calls of a turn by batches.
pub(super) fn keys(workload: &str) -> usize {
    if workload == STRINGS { BATCH } else { BATCH * BATCHES }
}

/// All workloads.
pub(super) fn workloads() -> Vec<&'static str> {
    [STRINGS].into_iter().chain(SPREAD.map(|(id, _)| id)).chain(BATCHED).collect()
}

/// `true` if a scheme can be measured on a workload.
pub(super) fn is_known(workload: &str, scheme: &str) -> bool {
    match scheme {
        OURS => true,
        BY_BATCH => BATCHED.contains(&workload),
        "hashlane/siphash-2-4" => workload == STRINGS,
        _ => workload == STRINGS && PEERS.contains(&scheme),
    }
}

/// `true` of another package, which may have its reasons to fail.
pub(crate) fn is_foreign(scheme: &str) -> bool {
    package(scheme) != "hashlane"
}

/// Package that a scheme needs, as `pip` names it.
pub(crate) fn package(scheme: &str) -> &str {
    subject(scheme).split('/').next().unwrap_or(scheme)
}

/// Packages that schemes need, each once, the optional one with a question mark.
pub(crate) fn packages<'a>(schemes: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut packages = vec!["hashlane".to_owned(), "numpy".to_owned(), "pyarrow".to_owned()];
    for scheme in schemes {
        let name = package(scheme);
        // Its hashes come through columns of polars.
        let polars = (name == "polars-hash" || scheme == "hashlane/expression").then_some("polars");
        for name in polars.into_iter().chain([name]) {
            let name = if OPTIONAL.contains(&name) { format!("{name}?") } else { name.to_owned() };
            if !packages.contains(&name) {
                packages.push(name);
            }
        }
    }
    packages
}

/// A scheme on a workload, and nanoseconds for each key of its turns.
pub(crate) type Timed = Contender<Calls, f64>;

/// Calls of a scheme on a workload.
#[derive(Clone, Debug)]
pub(crate) struct Calls {
    /// Keys of a call.
    keys: usize,
    /// Calls of a turn.
    calls: u64,
    /// All calls so far.
    made: u64,
    /// Sum of the hashes of a call.
    pub(crate) sum: u64,
}

impl Calls {
    /// A scheme after two calls: the first makes the keys and the memory of results, the second decides how
    /// many fit into `turn`.
    pub(crate) fn new(
        python: &mut Process<'_>,
        workload: &str,
        id: &str,
        keys: usize,
        turn: Duration,
    ) -> Result<Self, TurnError> {
        let (_, sum) = time(python, workload, id, 1)?;
        let (ns, again) = time(python, workload, id, 1)?;
        same(sum, again)?;
        let calls = (turn.as_nanos() as u64 / ns.max(1)).clamp(1, 10_000);
        Ok(Self { keys, calls, made: 2, sum })
    }
}

/// Takes a turn: nanoseconds for each key.
pub(crate) fn turn(timed: &mut Timed, python: &mut Process<'_>) -> Result<f64, TurnError> {
    let Contender { workload, id, subject: Calls { keys, calls, made, sum }, .. } = timed;
    let (ns, again) = time(python, workload, id, *calls)?;
    same(*sum, again)?;
    *made += *calls;
    Ok(ns as f64 / (*calls as f64 * *keys as f64))
}

/// Nanoseconds of calls, and the sum of the hashes of the last.
fn time(python: &mut Process<'_>, workload: &str, id: &str, calls: u64) -> Result<(u64, u64), TurnError> {
    let fields = python.ask(&format!("time {workload} {} {calls}", subject(id)), PATIENCE)?;
    let number = |name| fields.number(name).map_err(TurnError::Failed);
    Ok((number("ns")?, number("sum")?))
}

fn same(first: u64, now: u64) -> Result<(), TurnError> {
    let differs =
        format!("two calls have different hashes of the same keys: their sums are {first} and {now}");
    if first == now { Ok(()) } else { Err(TurnError::Raised(differs)) }
}

/// Nanoseconds of a call without rows.
pub(super) fn empty(python: &mut Process<'_>, workload: &str) -> Result<f64, TurnError> {
    const CALLS: u32 = 2_000;
    let fields = python.ask(&format!("empty {workload} {CALLS}"), PATIENCE)?;
    let ns: u64 = fields.number("ns").map_err(TurnError::Failed)?;
    Ok(ns as f64 / f64::from(CALLS))
}

/// Checks that the sketch of a workload has the keys of all calls, if they update one.
pub(super) fn counted(python: &mut Process<'_>, workload: &str, all: &[Timed]) -> Result<(), TurnError> {
    let updates = workload == "call/spread-36" || SPREAD.iter().any(|(id, _)| *id == workload);
    if !updates || all.is_empty() {
        return Ok(());
    }
    let fields = python.ask(&format!("counted {workload}"), PATIENCE)?;
    let found: u64 = fields.number("keys").map_err(TurnError::Failed)?;
    let expected = all.iter().map(|timed| timed.subject.made).sum::<u64>() * keys(workload) as u64;
    if found == expected {
        return Ok(());
    }
    Err(TurnError::Failed(format!("its sketch has {found} keys after updates with {expected}")))
}

/// Has Python write the sketch of all tuples.
pub(super) fn sketch(python: &mut Process<'_>, workload: &str) -> Result<(), TurnError> {
    python.ask(&format!("sketch {workload}"), PATIENCE).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::tests::sample;

    #[test]
    fn every_scheme_of_the_study_is_known_on_its_workloads() {
        let definition = sample(&[]).definition;
        assert_eq!(definition.workloads, workloads());
        for workload in &definition.workloads {
            for scheme in definition.schemes_on(workload) {
                assert!(is_known(workload, subject(scheme)), "{workload} {scheme}");
            }
        }
        assert!(!is_known("call/hash-36", "polars/hash") && !is_known(STRINGS, "hashlane/crc32c"));
        assert_eq!((keys(STRINGS), keys("call/hash-36")), (65_536, 1_048_576));
    }

    #[test]
    fn packages_are_named_as_pip_does() {
        let of = |schemes: &[&str]| packages(schemes.iter().copied()).split_off(3);
        assert!(of(&[OURS, "hashlane/siphash-1-3/again"]).is_empty());
        assert_eq!(of(&["polars-hash/wyhash", "polars-hash/xxh3-64"]), ["polars", "polars-hash"]);
        assert_eq!(of(&["siphashc/siphash-2-4", "mmh3/murmur3-32"]), ["siphashc?", "mmh3"]);
        // Each is in the line that says what to install.
        for name in packages(PEERS.into_iter()) {
            let name = name.trim_end_matches('?');
            let comes_with = ["hashlane", "numpy"].contains(&name);
            assert!(comes_with || crate::interpreter::INSTALL.contains(name), "{name}");
        }
    }

    #[test]
    fn other_hashes_of_the_same_keys_are_an_error() {
        assert!(same(7, 7).is_ok());
        assert!(same(7, 8).unwrap_err().to_string().contains("7 and 8"));
    }
}
