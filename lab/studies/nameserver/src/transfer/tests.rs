//! The report of the study file on few records, and its criteria.

use super::{CHANGES, metric};
use crate::metric::{CPU_US, LOST, MEMORY, PEAK};
use crate::workloads::{NSD, OURS};
use crate::{TRANSFERS, metric::RATIO};
use hashlane_lab::outcome::Reached;
use hashlane_lab::study::Studies;
use hashlane_lab::study::testing::{Row, Sample};

const IN: &str = "axfr-in/mixed";
const OUT: &str = "axfr-out/mixed";
const RESTART: &str = "restart/mixed";

fn sample(rows: &[Row<'_>]) -> Sample {
    Sample::new(Studies(&[&TRANSFERS]), include_str!("../../dns-transfer/study.toml"), 0.02).with(rows)
}

#[test]
fn the_answer_the_chart_and_the_tables_have_what_was_measured() {
    let sample = sample(&[
        (IN, OURS, CPU_US, "us", 0.55),
        (IN, NSD, CPU_US, "us", 0.79),
        (IN, OURS, RATIO, NSD, 0.69),
        (IN, "ours/again", RATIO, OURS, 1.0),
        (OUT, OURS, RATIO, NSD, 0.79),
        (OUT, "ours/again", RATIO, OURS, 1.0),
        (IN, OURS, metric::ARRIVAL, "s", 0.7),
        (IN, OURS, MEMORY, "bytes", 38.0 * 1_048_576.0),
        (IN, OURS, PEAK, "bytes", 92.0 * 1_048_576.0),
        (IN, OURS, metric::PEAK_RATIO, "memory", 2.4),
        (RESTART, OURS, metric::RESTART_US, "us", 0.4),
        (CHANGES, OURS, metric::CHANGE_MS, "ms", 600.0),
        (CHANGES, OURS, metric::P99_ADDED, "us", 300.0),
        (CHANGES, OURS, LOST, "queries", 0.0),
    ]);
    let text = sample.sentence().unwrap();
    assert_eq!(
        text,
        "A secondary takes 0.69 [0.68, 0.70] × NSD's CPU time a record, a primary 0.79 [0.77, 0.81] ×; 1,000 \
         changes raise the 99th percentile of answers by less than 10 ms."
    );
    assert_eq!(sample.bars(), [OURS, NSD]);
    let section = sample.section().unwrap();
    assert_eq!(section.table("CPU time").rows.len(), 2);
    let memory = section.table("time and memory");
    assert_eq!(memory.rows[0][..6], [IN, OURS, "0.70", "38", "92", "2.40"]);
    let changes = section.table("1,000 changes");
    assert_eq!(changes.rows[0][..4], [CHANGES, OURS, "600", "0"]);
}

#[test]
fn criteria_are_decided_by_the_records() {
    let reached = |workload, metric, unit, values: &[f64]| -> Vec<Reached> {
        let decided = |value: &f64| sample(&[(workload, OURS, metric, unit, *value)]).decided();
        values.iter().flat_map(decided).collect()
    };
    let [met, missed] = [Reached::Met, Reached::Missed];
    assert_eq!(reached(OUT, RATIO, NSD, &[0.7, 0.9]), [met, missed]);
    assert_eq!(reached(IN, metric::PEAK_RATIO, "memory", &[1.1, 2.4]), [met, missed]);
    assert_eq!(reached(RESTART, metric::RESTART_US, "us", &[0.4, 0.6]), [met, missed]);
    assert_eq!(reached(CHANGES, metric::P99_ADDED, "us", &[900.0, 20_000.0]), [met, missed]);
    assert_eq!(reached(CHANGES, LOST, "queries", &[0.0, 1.0]), [met, missed]);
}
