//! The report of the study file on few records, and its criteria.

use crate::XDP;
use crate::metric::{CLIENT_US, CPU_US, RATE, RATIO};
use crate::workloads::{NSD, OURS};
use hashlane_lab::outcome::Reached::{Met, Missed, Undecided};
use hashlane_lab::study::Studies;
use hashlane_lab::study::testing::{Row, Sample};
use hashlane_stats::format::NONE;

const SMALL: &str = "small/mix";
const GENERIC: &str = "ours/generic";

fn sample(rows: &[Row<'_>]) -> Sample {
    Sample::new(Studies(&[&XDP]), include_str!("../../dns-serve-xdp/study.toml"), 0.02).with(rows)
}

#[test]
fn the_answer_the_chart_and_the_table_have_what_was_measured() {
    let sample = sample(&[
        (SMALL, OURS, CPU_US, "us", 3.0),
        (SMALL, OURS, CLIENT_US, "us", 4.2),
        (SMALL, OURS, RATE, "1/s", 234_567.0),
        (SMALL, OURS, RATIO, NSD, 0.55),
        (SMALL, "ours/again", RATIO, OURS, 1.0),
        (SMALL, GENERIC, CPU_US, "us", 2.7),
        (SMALL, GENERIC, RATIO, OURS, 0.9),
        (SMALL, NSD, CPU_US, "us", 5.4),
    ]);
    let text = sample.sentence().unwrap();
    assert_eq!(text, "3.00 µs of CPU time an answer of 1,900 records, 0.55 × NSD's by sockets.");
    assert_eq!(sample.bars(), [OURS, GENERIC, NSD]);
    let section = sample.section().unwrap();
    let cost = section.table("cost of an answer");
    assert_eq!(cost.rows[0][2..5], ["3.00 [2.94, 3.06]", NONE, "4.20 [4.12, 4.28]"]);
    assert_eq!(cost.rows[1][..4], [SMALL, GENERIC, "2.70 [2.65, 2.75]", "0.900 [0.882, 0.918]"]);
}

#[test]
fn criteria_are_decided_by_the_records() {
    let reached = |workload, scheme, values: &[f64]| {
        let decided = |value: &f64| sample(&[(workload, scheme, RATIO, NSD, *value)]).decided();
        values.iter().flat_map(decided).collect::<Vec<_>>()
    };
    for scheme in [OURS, GENERIC] {
        assert_eq!(reached(SMALL, scheme, &[0.45, 0.5, 0.55]), [Met, Undecided, Missed]);
        assert_eq!(reached("165k/mix", scheme, &[0.55, 0.6, 0.65]), [Met, Undecided, Missed]);
    }
}
