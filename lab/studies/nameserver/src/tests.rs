//! The report of the study file on few records, and its criteria.

use crate::sample::{definition, records};
use crate::workloads::{EXISTING, LOAD, MEMORY, NSD, OURS, RANDOM, RELOAD};
use crate::{Servers, metric};
use hashlane_lab::evidence::Doubt;
use hashlane_lab::outcome::Reached;
use hashlane_lab::report::Block;
use hashlane_lab::study::Studies;
use hashlane_records::RecordSet;
use hashlane_stats::format::NONE;

const STUDIES: Studies = Studies(&[&Servers]);

fn sentence(figures: &[(&str, &str, &str, &str, f64)]) -> Result<String, Doubt> {
    STUDIES.answer(&definition(), &records(figures)).unwrap().sentence.map(|statement| statement.text)
}

const CPU: (&str, &str, &str, &str, f64) = ("165k/mix", OURS, metric::CPU_US, "us", 2.2);
const CONTROL: (&str, &str, &str, &str, f64) = ("165k/mix", "ours/again", metric::RATIO, OURS, 1.0);
const PEER: (&str, &str, &str, &str, f64) = ("165k/mix", OURS, metric::RATIO, NSD, 0.75);
const BYTES: (&str, &str, &str, &str, f64) = (MEMORY, OURS, metric::BYTES_PER_RECORD, "bytes", 61.0);

#[test]
fn states_the_cost_nsd_and_the_memory() {
    let text = sentence(&[CPU, CONTROL, PEER, BYTES]).unwrap();
    assert_eq!(text, "2.20 µs of CPU time an answer of 165,000 records, 0.75 × NSD's; 61.0 bytes a record.");
    let text = sentence(&[CPU, CONTROL]).unwrap();
    assert_eq!(text, "2.20 µs of CPU time an answer of 165,000 records; NSD not measured.");
}

#[test]
fn doubts_withhold_the_sentence() {
    assert!(matches!(sentence(&[]), Err(Doubt::NotMeasured { .. })));
    let off = ("165k/mix", "ours/again", metric::RATIO, OURS, 1.2);
    assert!(matches!(sentence(&[CPU, off]), Err(Doubt::Control { .. })));
}

#[test]
fn the_chart_has_all_servers() {
    let figures =
        [CPU, ("165k/mix", NSD, metric::CPU_US, "us", 3.0), ("165k/mix", "echo", metric::CPU_US, "us", 1.6)];
    let Some(Block::Bars(chart)) = STUDIES.answer(&definition(), &records(&figures)).unwrap().chart else {
        panic!("no chart")
    };
    let labels: Vec<&str> = chart.plots[0].groups[0].bars.iter().map(|bar| bar.label.as_str()).collect();
    assert_eq!(labels, [OURS, NSD, "echo"]);
}

#[test]
fn tables_have_what_was_measured() {
    let figures = [
        ("165k/mix", OURS, metric::CPU_US, "us", 2.0),
        ("165k/mix", OURS, metric::RATE, "1/s", 345_678.0),
        ("165k/mix", NSD, metric::CPU_US, "us", 3.0),
        ("165k/mix", NSD, metric::RATIO, OURS, 1.5),
        ("165k/mix", NSD, metric::QUERIES, "queries", 1e6),
        ("165k/mix", NSD, metric::LOST, "queries", 1e4),
        (MEMORY, OURS, metric::BYTES_PER_RECORD, "bytes", 61.0),
        (MEMORY, NSD, metric::BYTES_PER_RECORD, "bytes", 190.0),
        (MEMORY, NSD, metric::RATIO, OURS, 3.1),
        (LOAD, OURS, metric::LOAD_SECONDS, "s", 0.5),
        (RELOAD, OURS, metric::RELOADS, "reloads", 100.0),
        (RELOAD, OURS, metric::LOST, "queries", 0.0),
        (RANDOM, OURS, metric::P99_US, "us", 80.0),
        (RANDOM, OURS, metric::P99_GROWTH, EXISTING, 1.01),
    ];
    let section = STUDIES.sections(&definition(), &records(&figures)).remove(0);
    let cost = section.table("cost of an answer");
    assert_eq!(cost.rows[0], ["165k/mix", OURS, "2.00 [1.96, 2.04]", NONE, "346", NONE]);
    assert_eq!(cost.rows[1][3..], ["1.500 [1.470, 1.530]", NONE, "1.0 %"]);
    assert_eq!(section.table("beside figures").rows, [["165k/mix", NSD, "3.10", "3.00"]]);
    let growth = section.table("memory and load");
    assert_eq!(growth.rows[0], [OURS, "61.0", NONE, "0.50"]);
    assert_eq!(growth.rows[1], [NSD, "190", "3.10 [3.04, 3.16]", NONE]);
    assert_eq!(section.table("reloads").rows, [[OURS, "100", "0"]]);
    assert_eq!(section.table("latency").rows.len(), 1);
    assert!(STUDIES.sections(&definition(), &RecordSet::new()).is_empty());
}

#[test]
fn criteria_are_decided_by_the_records() {
    let definition = definition();
    let reached = |workload: &str, figures: &[_]| {
        let records = records(figures);
        let outcomes = definition.criterion_outcomes(&records);
        let mut of = outcomes.iter().filter(|outcome| outcome.criterion.workload == workload);
        of.next().unwrap().reached
    };
    let cost = |ratio| reached("165k/mix", &[("165k/mix", OURS, metric::RATIO, NSD, ratio)]);
    assert_eq!([0.7, 0.85, 0.9].map(cost), [Reached::Met, Reached::Undecided, Reached::Missed]);
    let load = |ratio| reached(LOAD, &[(LOAD, OURS, metric::RATIO, NSD, ratio)]);
    assert_eq!([0.4, 0.6].map(load), [Reached::Met, Reached::Missed]);
    let lost = |lost| reached(RELOAD, &[(RELOAD, OURS, metric::LOST, "queries", lost)]);
    assert_eq!([0.0, 1.0].map(lost), [Reached::Met, Reached::Missed]);
    let growth = |growth| reached(RANDOM, &[(RANDOM, OURS, metric::P99_GROWTH, EXISTING, growth)]);
    assert_eq!([1.0, 1.2].map(growth), [Reached::Met, Reached::Missed]);
    assert_eq!(reached(MEMORY, &[]), Reached::NotMeasured);
}
