//! The study file: its schemes, its answer and its criteria.

use super::COLUMNS;
use super::run::is_known;
use crate::interpreter::INSTALL;
use crate::metric;
use hashlane_lab::definition::subject;
use hashlane_lab::outcome::Reached;
use hashlane_lab::study::Studies;
use hashlane_lab::study::testing::{Row, Sample};

fn sample(rows: &[Row<'_>]) -> Sample {
    Sample::new(Studies(&[&COLUMNS]), include_str!("../../python-columns/study.toml"), 0.01).with(rows)
}

#[test]
fn every_scheme_of_the_study_is_known_on_its_workloads() {
    let definition = sample(&[]).definition;
    for workload in &definition.workloads {
        for scheme in definition.schemes_on(workload) {
            assert!(is_known(workload, subject(scheme)), "{workload} {scheme}");
            let package = subject(scheme).split('/').next().unwrap();
            assert!(INSTALL.contains(package) || package == "hashlane", "{package}");
        }
    }
    assert!(!is_known("capture", "polars") && !is_known("strings-99", "hashlane"));
}

#[test]
fn states_ours_beside_each_engine_that_was_measured() {
    let ns: Row<'_> = ("strings-50", "hashlane", metric::NS, "ns", 4.0);
    assert_eq!(sample(&[ns]).sentence().unwrap(), "4.00 ns a string of 50 bytes by SipHash-1-3.");
    let others = [
        ("strings-50", "polars", metric::RATIO, "hashlane", 2.0),
        ("strings-50", "duckdb", metric::RATIO, "hashlane", 4.0),
        ("distinct-12", "polars", metric::RATIO, "hashlane", 2.0),
        ("heavy-12", "polars", metric::RATIO, "hashlane", 1.25),
    ];
    let rows: Vec<Row<'_>> = [ns].into_iter().chain(others).collect();
    assert_eq!(
        sample(&rows).sentence().unwrap(),
        "4.00 ns a string of 50 bytes by SipHash-1-3, the hash of polars takes 2.00 ×, duckdb takes 4.00 ×; \
         polars takes 2.00 × for distinct keys and 1.25 × to count all."
    );
}

#[test]
fn criteria_are_decided_engine_by_engine() {
    let reached = |workload: &str, of: &str, to: &str, value: f64| {
        let decided = sample(&[(workload, of, metric::RATIO, to, value)]).decided();
        let [reached] = decided[..] else { panic!("{decided:?}") };
        reached
    };
    assert_eq!(reached("strings-12", "hashlane", "duckdb", 0.5), Reached::Met);
    assert_eq!(reached("strings-50", "hashlane/expression", "hashlane/polars", 1.05), Reached::Missed);
    assert_eq!(reached("distinct-12", "hashlane", "polars", 0.9), Reached::Undecided);
}
