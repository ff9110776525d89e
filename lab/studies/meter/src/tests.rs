//! The report of the study file on few records, and its criteria.

use crate::workloads::{LIVE_LOSS, MEMORY, MIX_CPU, OURS, SOFTFLOWD};
use crate::{METERS, metric};
use hashlane_lab::evidence::Doubt;
use hashlane_lab::outcome::Reached;
use hashlane_lab::study::Studies;
use hashlane_lab::study::testing::{Row, Sample};
use hashlane_stats::format::NONE;

fn sample(rows: &[Row<'_>]) -> Sample {
    Sample::new(Studies(&[&METERS]), include_str!("../flow-meter/study.toml"), 0.02).with(rows)
}

const RATE: Row<'_> = (MIX_CPU, OURS, metric::RATE_CORE, "1/s", 12e6);
const CONTROL: Row<'_> = (MIX_CPU, "ours/again", metric::RATIO, OURS, 1.0);
const PEER: Row<'_> = (MIX_CPU, SOFTFLOWD, metric::RATIO, OURS, 12.5);
const BYTES: Row<'_> = (MEMORY, OURS, metric::BYTES_PER_FLOW, "bytes", 131.0);

#[test]
fn states_the_rate_softflowd_and_the_memory() {
    assert_eq!(
        sample(&[RATE, CONTROL, PEER, BYTES]).sentence().unwrap(),
        "12.0 M packets/s a core from a capture; softflowd takes 12.5 × the CPU time; 131 bytes a flow."
    );
    let text = sample(&[RATE, CONTROL]).sentence().unwrap();
    assert_eq!(text, "12.0 M packets/s a core from a capture; softflowd not measured.");
    assert!(matches!(sample(&[]).sentence(), Err(Doubt::NotMeasured { .. })));
    let off = (MIX_CPU, "ours/again", metric::RATIO, OURS, 1.2);
    assert!(matches!(sample(&[RATE, off]).sentence(), Err(Doubt::Control { .. })));
}

#[test]
fn the_chart_and_the_tables_have_what_was_measured() {
    let sample = sample(&[
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
    ]);
    assert_eq!(sample.bars(), [OURS, SOFTFLOWD]);
    let section = sample.section().unwrap();
    let cost = section.table("a capture");
    assert_eq!(cost.columns.len(), 6);
    assert_eq!(cost.rows[0], [OURS, "12.05", "83.0 [81.3, 84.7]", NONE, "50", "350,000"]);
    assert_eq!(cost.rows[1][3], "12.0 [11.8, 12.2]");
    assert_eq!(section.table("ours under").rows, [["memory", "10,000,000", "131"]]);
    let loss = section.table("losses");
    assert_eq!(loss.rows[0], [SOFTFLOWD, "200,000", "more than 0.1 %"]);
    assert_eq!(loss.rows[1], [OURS, "400,000", "0.0 %"]);
}

#[test]
fn a_loss_that_was_not_measured_meets_no_criterion() {
    assert!(sample(&[]).section().is_none());
    let decided = |metric, unit, lost| sample(&[(LIVE_LOSS, OURS, metric, unit, lost)]).decided();
    assert_eq!(decided(metric::LOST_SHARE, "share", 0.0), []);
    assert_eq!(decided(metric::LOST, "packets", 0.0), [Reached::Met]);
    assert_eq!(decided(metric::LOST, "packets", 1.0), [Reached::Missed]);
}
