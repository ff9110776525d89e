//! The report of the study file on few records, and its criteria.

use crate::sample::{definition, records};
use crate::workloads::{LIVE_LOSS, MEMORY, MIX_CPU, OURS, SOFTFLOWD};
use crate::{Meters, metric};
use hashlane_lab::evidence::Doubt;
use hashlane_lab::outcome::Reached;
use hashlane_lab::report::Block;
use hashlane_lab::study::Studies;
use hashlane_records::RecordSet;
use hashlane_stats::format::NONE;

const STUDIES: Studies = Studies(&[&Meters]);

fn sentence(figures: &[(&str, &str, &str, &str, f64)]) -> Result<String, Doubt> {
    STUDIES.answer(&definition(), &records(figures)).unwrap().sentence.map(|statement| statement.text)
}

const RATE: (&str, &str, &str, &str, f64) = (MIX_CPU, OURS, metric::RATE_CORE, "1/s", 12e6);
const CONTROL: (&str, &str, &str, &str, f64) = (MIX_CPU, "ours/again", metric::RATIO, OURS, 1.0);
const PEER: (&str, &str, &str, &str, f64) = (MIX_CPU, SOFTFLOWD, metric::RATIO, OURS, 12.5);
const BYTES: (&str, &str, &str, &str, f64) = (MEMORY, OURS, metric::BYTES_PER_FLOW, "bytes", 131.0);

#[test]
fn states_the_rate_softflowd_and_the_memory() {
    let text = sentence(&[RATE, CONTROL, PEER, BYTES]).unwrap();
    assert_eq!(
        text,
        "12.0 M packets/s a core from a capture; softflowd takes 12.5 × the CPU time; 131 bytes a flow."
    );
    let text = sentence(&[RATE, CONTROL]).unwrap();
    assert_eq!(text, "12.0 M packets/s a core from a capture; softflowd not measured.");
}

#[test]
fn doubts_withhold_the_sentence() {
    assert!(matches!(sentence(&[]), Err(Doubt::NotMeasured { .. })));
    let off = (MIX_CPU, "ours/again", metric::RATIO, OURS, 1.2);
    assert!(matches!(sentence(&[RATE, off]), Err(Doubt::Control { .. })));
}

#[test]
fn the_chart_has_all_meters() {
    let figures = [(MIX_CPU, OURS, metric::NS, "ns", 83.0), (MIX_CPU, SOFTFLOWD, metric::NS, "ns", 1_000.0)];
    let Some(Block::Bars(chart)) = STUDIES.answer(&definition(), &records(&figures)).unwrap().chart else {
        panic!("no chart")
    };
    let labels: Vec<&str> = chart.plots[0].groups[0].bars.iter().map(|bar| bar.label.as_str()).collect();
    assert_eq!(labels, [OURS, SOFTFLOWD]);
}

#[test]
fn tables_have_what_was_measured() {
    let figures = [
        (MIX_CPU, OURS, metric::NS, "ns", 83.0),
        (MIX_CPU, OURS, metric::RATE_CORE, "1/s", 12.05e6),
        (MIX_CPU, OURS, metric::PEAK, "bytes", 52_428_800.0),
        (MIX_CPU, OURS, metric::RECORDS, "records", 350_000.0),
        (MIX_CPU, SOFTFLOWD, metric::NS, "ns", 996.0),
        (MIX_CPU, SOFTFLOWD, metric::RATIO, OURS, 12.0),
        (MEMORY, OURS, metric::FLOWS, "flows", 1e7),
        (MEMORY, OURS, metric::BYTES_PER_FLOW, "bytes", 131.0),
        (LIVE_LOSS, OURS, metric::RATE, "1/s", 4e5),
        (LIVE_LOSS, OURS, metric::LOST_SHARE, "share", 0.0),
        (LIVE_LOSS, SOFTFLOWD, metric::LOSING_RATE, "1/s", 2e5),
    ];
    let section = STUDIES.sections(&definition(), &records(&figures)).remove(0);
    let cost = section.table("a capture");
    assert_eq!(cost.columns.len(), 6);
    assert_eq!(cost.rows[0], [OURS, "12.05", "83.0 [81.3, 84.7]", NONE, "50", "350,000"]);
    assert_eq!(cost.rows[1][3], "12.0 [11.8, 12.2]");
    assert_eq!(section.table("ours under").rows, [["memory", "10,000,000", "131"]]);
    let loss = section.table("losses");
    assert_eq!(loss.rows[0], [SOFTFLOWD, "200,000", "more than 0.1 %"]);
    assert_eq!(loss.rows[1], [OURS, "400,000", "0.0 %"]);
    assert!(STUDIES.sections(&definition(), &RecordSet::new()).is_empty());
}

#[test]
fn a_loss_that_was_not_measured_meets_no_criterion() {
    let definition = definition();
    let reached = |figures: &[_]| -> Vec<Reached> {
        let records = records(figures);
        let outcomes = definition.criterion_outcomes(&records);
        let of =
            |outcome: &&hashlane_lab::outcome::CriterionOutcome<'_>| outcome.criterion.workload == LIVE_LOSS;
        outcomes.iter().filter(of).map(|outcome| outcome.reached).collect()
    };
    assert_eq!(reached(&[(LIVE_LOSS, OURS, metric::LOST_SHARE, "share", 0.0)]), [Reached::NotMeasured]);
    assert_eq!(reached(&[(LIVE_LOSS, OURS, metric::LOST, "packets", 0.0)]), [Reached::Met]);
    assert_eq!(reached(&[(LIVE_LOSS, OURS, metric::LOST, "packets", 1.0)]), [Reached::Missed]);
}
