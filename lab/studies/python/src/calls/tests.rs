//! The report of the study file on few records, and its criteria.

use super::CALLS;
use super::timed::{BATCHED, BY_BATCH, OURS, SPREAD, STRINGS};
use crate::metric;
use hashlane_lab::evidence::Doubt;
use hashlane_lab::outcome::Reached;
use hashlane_lab::study::Studies;
use hashlane_lab::study::testing::{Row, Sample};
use hashlane_stats::format::NONE;

pub(super) fn sample(rows: &[Row<'_>]) -> Sample {
    Sample::new(Studies(&[&CALLS]), include_str!("../../python-calls/study.toml"), 0.01).with(rows)
}

const NS: Row<'_> = (STRINGS, OURS, metric::NS, "ns", 2.5);
const POLARS: Row<'_> = (STRINGS, "polars/hash", metric::RATIO, OURS, 2.5);
const PANDAS: Row<'_> = (STRINGS, "pandas/hash-array", metric::RATIO, OURS, 40.0);
const SPREAD_NS: Row<'_> = (SPREAD[0].0, OURS, metric::NS, "ns", 5.0);

#[test]
fn names_the_packages_that_are_not_slow_enough() {
    let xxhash = (STRINGS, "xxhash/xxh3-64", metric::RATIO, OURS, 4.0);
    assert_eq!(
        sample(&[NS, PANDAS, POLARS, xxhash, SPREAD_NS]).sentence().unwrap(),
        "2.50 ns a string of 16 to 64 bytes by SipHash-1-3, 5 × as fast as 1 of 3 others, not as polars/hash \
         (2.50 ×), xxhash/xxh3-64 (4.00 ×); 200 M tuples/s into a sketch."
    );
    assert_eq!(sample(&[NS]).sentence().unwrap(), "2.50 ns a string of 16 to 64 bytes by SipHash-1-3.");
    assert!(matches!(sample(&[]).sentence(), Err(Doubt::NotMeasured { .. })));
    let off = (STRINGS, "hashlane/siphash-1-3/again", metric::RATIO, OURS, 1.2);
    assert!(matches!(sample(&[NS, off]).sentence(), Err(Doubt::Control { .. })));
}

#[test]
fn tables_have_what_was_measured() {
    let sample = sample(&[
        (STRINGS, OURS, metric::NS, "ns", 2.5),
        (STRINGS, "polars/hash", metric::NS, "ns", 6.25),
        (STRINGS, "polars/hash", metric::RATIO, OURS, 2.5),
        (STRINGS, "pandas/hash-array", metric::NS, "ns", 100.0),
        (SPREAD[0].0, OURS, metric::NS, "ns", 5.0),
        (BATCHED[0], OURS, metric::NS, "ns", 4.0),
        (BATCHED[0], BY_BATCH, metric::NS, "ns", 4.04),
        (BATCHED[0], BY_BATCH, metric::RATIO, OURS, 1.01),
        (BATCHED[0], OURS, metric::EMPTY_NS, "ns", 2_621.44),
    ]);
    assert_eq!(sample.bars(), [OURS, "polars/hash", "pandas/hash-array"]);
    let section = sample.section().unwrap();
    let strings = section.table("strings of 16");
    assert_eq!(strings.rows[0], [OURS, "yes", "2.50 [2.48, 2.52]", "400", NONE]);
    assert_eq!(strings.rows[1], ["polars/hash", "no", "6.25 [6.19, 6.31]", "160", "2.50 [2.48, 2.52]"]);
    assert_eq!(strings.rows[2][1], "yes");
    assert_eq!(section.table("tuples of 36").rows[0][1..], ["0.5 MiB", "5.00 [4.95, 5.05]", "200"]);
    let calls = section.table("a call for each");
    assert_eq!(calls.rows.len(), 1);
    assert_eq!(calls.rows[0][3..], ["1.010 [1.000, 1.020]", "2,620", "1.0 %"]);
}

#[test]
fn the_table_of_sketches_has_the_memory_of_their_counters() {
    let rows = SPREAD.map(|(workload, _)| (workload, OURS, metric::NS, "ns", 5.0));
    let section = sample(&rows).section().unwrap();
    for (row, (_, buckets)) in section.table("tuples of 36").rows.iter().zip(SPREAD) {
        assert_eq!(row[1], format!("{} MiB", (buckets * 8) as f64 / 1_048_576.0));
    }
}

#[test]
fn criteria_are_decided_package_by_package() {
    assert!(sample(&[]).section().is_none());
    let reached = |workload: &str, of: &str, (metric, unit, value): (&str, &str, f64)| {
        let decided = sample(&[(workload, of, metric, unit, value)]).decided();
        let [reached] = decided[..] else { panic!("{decided:?}") };
        reached
    };
    let strings = |to, ratio| reached(STRINGS, OURS, (metric::RATIO, to, ratio));
    assert_eq!(strings("xxhash/xxh3-64", 0.06), Reached::Met);
    assert_eq!(strings("polars/hash", 0.4), Reached::Missed);
    assert_eq!(strings("polars-hash/wyhash", 0.2), Reached::Undecided);
    assert_eq!(reached(SPREAD[0].0, OURS, (metric::NS, "ns", 5.0)), Reached::Met);
    for label in BATCHED {
        let call = |ratio| reached(label, BY_BATCH, (metric::RATIO, OURS, ratio));
        assert_eq!([1.01, 1.03, 1.06].map(call), [Reached::Met, Reached::Undecided, Reached::Missed]);
    }
}
