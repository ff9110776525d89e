//! The report of the study file on few records, and its criteria.

use super::SHORT;
use crate::XDP;
use crate::metric;
use hashlane_lab::outcome::Reached::{Met, Missed};
use hashlane_lab::study::Studies;
use hashlane_lab::study::testing::{Row, Sample};

const OURS: &str = "ours";
const PACKET: &str = "ours/packet";

fn sample(rows: &[Row<'_>]) -> Sample {
    Sample::new(Studies(&[&XDP]), include_str!("../../flow-meter-xdp/study.toml"), 0.02).with(rows)
}

#[test]
fn the_answer_and_the_table_have_what_was_measured() {
    let sample = sample(&[
        (SHORT, OURS, metric::NS, "ns", 500.0),
        (SHORT, OURS, metric::RATE, "1/s", 2e6),
        (SHORT, OURS, metric::METER_NS, "ns", 80.0),
        (SHORT, OURS, metric::RATIO, PACKET, 0.5),
        (SHORT, "ours/again", metric::RATIO, OURS, 1.0),
        (SHORT, OURS, metric::PACKETS, "packets", 1e6),
        (SHORT, OURS, metric::LOST, "packets", 0.0),
        (SHORT, PACKET, metric::NS, "ns", 1000.0),
        (SHORT, PACKET, metric::RATIO, OURS, 2.0),
        (SHORT, PACKET, metric::PACKETS, "packets", 1e6),
        (SHORT, PACKET, metric::LOST, "packets", 1e4),
    ]);
    let text = sample.sentence().unwrap();
    assert_eq!(text, "2.00 M packets/s by XDP, 0.50 × the time by packet sockets.");
    assert_eq!(sample.bars(), [OURS, PACKET]);
    let table = sample.section().unwrap();
    let table = table.table("short frames");
    assert_eq!(table.rows[0][0], OURS);
    assert_eq!(table.rows[0].last().map(String::as_str), Some("0.0 %"));
    assert_eq!(table.rows[1].last().map(String::as_str), Some("1.0 %"));
}

#[test]
fn criteria_are_decided_by_the_records() {
    let decided = |metric, unit, value| sample(&[(SHORT, OURS, metric, unit, value)]).decided();
    assert_eq!([0.4, 0.6].map(|ratio| decided(metric::RATIO, PACKET, ratio)), [[Met], [Missed]]);
    assert_eq!([0.0, 1.0].map(|lost| decided(metric::LOST, "packets", lost)), [[Met], [Missed]]);
}
