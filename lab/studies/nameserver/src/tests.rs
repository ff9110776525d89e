//! The report of the study file on few records, and its criteria.

use crate::workloads::{EXISTING, LOAD, MEMORY, NSD, OURS, RANDOM, RELOAD};
use crate::{SERVERS, metric};
use hashlane_lab::evidence::Doubt;
use hashlane_lab::outcome::Reached;
use hashlane_lab::study::Studies;
use hashlane_lab::study::testing::{Row, Sample};
use hashlane_stats::format::NONE;

fn sample(rows: &[Row<'_>]) -> Sample {
    Sample::new(Studies(&[&SERVERS]), include_str!("../dns-serve/study.toml"), 0.02).with(rows)
}

const CPU: Row<'_> = ("165k/mix", OURS, metric::CPU_US, "us", 2.2);
const CONTROL: Row<'_> = ("165k/mix", "ours/again", metric::RATIO, OURS, 1.0);
const PEER: Row<'_> = ("165k/mix", OURS, metric::RATIO, NSD, 0.75);
const BYTES: Row<'_> = (MEMORY, OURS, metric::BYTES_PER_RECORD, "bytes", 61.0);

#[test]
fn states_the_cost_nsd_and_the_memory() {
    let text = sample(&[CPU, CONTROL, PEER, BYTES]).sentence().unwrap();
    assert_eq!(text, "2.20 µs of CPU time an answer of 165,000 records, 0.75 × NSD's; 61.0 bytes a record.");
    let text = sample(&[CPU, CONTROL]).sentence().unwrap();
    assert_eq!(text, "2.20 µs of CPU time an answer of 165,000 records; NSD not measured.");
    assert!(matches!(sample(&[]).sentence(), Err(Doubt::NotMeasured { .. })));
    let off = ("165k/mix", "ours/again", metric::RATIO, OURS, 1.2);
    assert!(matches!(sample(&[CPU, off]).sentence(), Err(Doubt::Control { .. })));
}

#[test]
fn the_chart_and_the_tables_have_what_was_measured() {
    let sample = sample(&[
        ("165k/mix", OURS, metric::CPU_US, "us", 2.0),
        ("165k/mix", OURS, metric::RATE, "1/s", 345_678.0),
        ("165k/mix", NSD, metric::CPU_US, "us", 3.0),
        ("165k/mix", NSD, metric::RATIO, OURS, 1.5),
        ("165k/mix", NSD, metric::QUERIES, "queries", 1e6),
        ("165k/mix", NSD, metric::LOST, "queries", 1e4),
        ("165k/mix", "echo", metric::CPU_US, "us", 1.6),
        (MEMORY, OURS, metric::BYTES_PER_RECORD, "bytes", 61.0),
        (MEMORY, NSD, metric::BYTES_PER_RECORD, "bytes", 190.0),
        (MEMORY, NSD, metric::RATIO, OURS, 3.1),
        (LOAD, OURS, metric::LOAD_SECONDS, "s", 0.5),
        (RELOAD, OURS, metric::RELOADS, "reloads", 100.0),
        (RELOAD, OURS, metric::LOST, "queries", 0.0),
        (RANDOM, OURS, metric::P99_US, "us", 80.0),
        (RANDOM, OURS, metric::P99_GROWTH, EXISTING, 1.01),
    ]);
    assert_eq!(sample.bars(), [OURS, NSD, "echo"]);
    let section = sample.section().unwrap();
    let cost = section.table("cost of an answer");
    assert_eq!(cost.rows[0], ["165k/mix", OURS, "2.00 [1.96, 2.04]", NONE, "346", NONE]);
    assert_eq!(cost.rows[1][3..], ["1.500 [1.470, 1.530]", NONE, "1.0 %"]);
    assert_eq!(section.table("beside figures").rows[1], ["165k/mix", NSD, "3.10", "3.00"]);
    let growth = section.table("memory and load");
    assert_eq!(growth.rows[0], [OURS, "61.0", NONE, "0.50"]);
    assert_eq!(growth.rows[1], [NSD, "190", "3.10 [3.04, 3.16]", NONE]);
    assert_eq!(section.table("reloads").rows, [[OURS, "100", "0"]]);
    assert_eq!(section.table("latency").rows.len(), 1);
}

#[test]
fn criteria_are_decided_by_the_records() {
    assert!(sample(&[]).section().is_none() && sample(&[]).decided().is_empty());
    let reached = |workload, metric, unit, values: &[f64]| -> Vec<Reached> {
        let decided = |value: &f64| sample(&[(workload, OURS, metric, unit, *value)]).decided();
        values.iter().flat_map(decided).collect()
    };
    let [met, undecided, missed] = [Reached::Met, Reached::Undecided, Reached::Missed];
    assert_eq!(reached("165k/mix", metric::RATIO, NSD, &[0.7, 0.85, 0.9]), [met, undecided, missed]);
    assert_eq!(reached(LOAD, metric::RATIO, NSD, &[0.4, 0.6]), [met, missed]);
    assert_eq!(reached(RELOAD, metric::LOST, "queries", &[0.0, 1.0]), [met, missed]);
    assert_eq!(reached(RANDOM, metric::P99_GROWTH, EXISTING, &[1.0, 1.2]), [met, missed]);
}
