//! The report of the study file on few records, and its criteria.

use super::CLUSTER;
use super::role::Role;
use super::workloads::{ONCE, SPREAD, TWENTY, TWO};
use crate::metric;
use hashlane_lab::evidence::Doubt;
use hashlane_lab::outcome::Reached;
use hashlane_lab::study::Studies;
use hashlane_lab::study::testing::{Row, Sample};

const MIB: f64 = 1_048_576.0;

pub(super) fn sample(rows: &[Row<'_>]) -> Sample {
    Sample::new(Studies(&[&CLUSTER]), include_str!("../../python-cluster/study.toml"), 0.01).with(rows)
}

const NS: Row<'_> = (SPREAD, TWO, metric::NS, "ns", 2.5);
const RATIO: Row<'_> = (SPREAD, TWO, metric::RATIO, "ray/1", 0.5);

#[test]
fn states_the_gain_the_kills_and_the_memory() {
    let gain = "400 M keys/s on two workers of Ray, 2.00 × one worker's";
    assert_eq!(sample(&[NS, RATIO]).sentence().unwrap(), format!("{gain}."));
    let killed = [
        (ONCE, TWO, metric::KILLS, "kills", 1.0),
        (ONCE, TWO, metric::DIFFERING, "results", 0.0),
        (TWENTY, TWO, metric::KILLS, "kills", 20.0),
        (TWENTY, TWO, metric::DIFFERING, "results", 1.0),
        (SPREAD, TWO, metric::PEAK, "bytes", 199.5 * MIB),
    ];
    assert_eq!(
        sample(&[&[NS, RATIO], &killed[..]].concat()).sentence().unwrap(),
        format!("{gain}; 20 of 21 runs with a killed worker give the same; a worker takes 200 MiB.")
    );
    assert!(matches!(sample(&[NS]).sentence(), Err(Doubt::NotMeasured { .. })));
    let off = (SPREAD, "ray/2/again", metric::RATIO, TWO, 1.2);
    assert!(matches!(sample(&[NS, RATIO, off]).sentence(), Err(Doubt::Control { .. })));
}

#[test]
fn tables_have_what_was_measured() {
    let sample = sample(&[
        (SPREAD, "ray/1", metric::NS, "ns", 5.0),
        (SPREAD, "ray/1", metric::KEYS, "keys", 1e9),
        (SPREAD, "ray/1", "worker_cpu_ns", "ns", 4.5),
        (SPREAD, "ray/1", "driver_cpu_ns", "ns", 0.5),
        (SPREAD, TWO, metric::NS, "ns", 2.6),
        (SPREAD, TWO, metric::RATIO, "ray/1", 0.52),
        (SPREAD, TWO, metric::PEAK, "bytes", 2.5 * MIB),
        (ONCE, TWO, metric::KILLS, "kills", 1.0),
        (ONCE, TWO, metric::DIFFERING, "results", 0.0),
    ]);
    assert_eq!(sample.bars(), ["ray/1", TWO]);
    let section = sample.section().unwrap();
    let engines = section.table("a sketch of all");
    assert_eq!(engines.rows[0][..3], ["ray/1", "1,000,000,000", "5.00"]);
    assert_eq!(engines.rows[1][4..], ["385", "0.520 [0.515, 0.525]", "3"]);
    assert_eq!(section.table("CPU time").rows, [["ray/1", "4.5", "0.5", "1.00"]]);
    assert_eq!(section.table("workers killed").rows, [[ONCE, "1", "0"]]);
}

#[test]
fn the_processes_of_every_role_are_shown() {
    let cpu = Role::ALL.map(|(_, name)| (SPREAD, TWO, name, "ns", 1.0));
    let section = sample(&[&cpu[..], &[NS]].concat()).section().unwrap();
    let ones = ["1.0"; Role::ALL.len()];
    assert_eq!(section.table("CPU time").rows, [[&[TWO], &ones[..], &["2.00"]].concat()]);
}

#[test]
fn criteria_are_decided_by_the_records() {
    assert!(sample(&[]).section().is_none());
    let reached = |workload: &str, metric: &str, unit: &str, value: f64| {
        let decided = sample(&[(workload, TWO, metric, unit, value)]).decided();
        let [reached] = decided[..] else { panic!("{decided:?}") };
        reached
    };
    let ratio = |ratio| reached(SPREAD, metric::RATIO, "ray/1", ratio);
    assert_eq!([0.53, 0.555, 0.6].map(ratio), [Reached::Met, Reached::Undecided, Reached::Missed]);
    for workload in [SPREAD, ONCE] {
        let peak = |gib: f64| reached(workload, metric::PEAK, "bytes", gib * 1024.0 * MIB);
        assert_eq!([0.3, 2.1].map(peak), [Reached::Met, Reached::Missed]);
    }
    for workload in [ONCE, TWENTY] {
        let differing = |results| reached(workload, metric::DIFFERING, "results", results);
        assert_eq!([0.0, 1.0].map(differing), [Reached::Met, Reached::Missed]);
    }
}
