//! The report of the study file on few records, and its claims.

use crate::run::{CYCLES, STREAMS, SYN};
use crate::{KernelStudies, metric};
use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::Doubt;
use hashlane_lab::report::{Block, Section};
use hashlane_lab::study::Studies;
use hashlane_records::{Record, RecordSet};

const STUDIES: Studies = Studies(&[&KernelStudies]);

/// The keyed hash of the whole tuple, and the hash of Linux since 6.5.
const OURS: &str = "siphash-1-3";
const LINUX: &str = "jhash2";

/// The lookup that every segment of a connection makes, and the attack of the answer.
const HIT: &str = "cycles/hit";
const ATTACK: &str = "syn/xor";

/// Scheme of the part of a SYN's cost that is not the server's.
const FLOOR: &str = "floor";

fn definition() -> Definition {
    Definition::parse(include_str!("../flow-kernel/study.toml"), "test").unwrap()
}

/// Records of ratios, and of cycles: `(workload, of, metric, to, value)`.
fn with_figures(figures: &[(&str, &str, &str, &str, f64)], samples: u64) -> RecordSet {
    let mut all = RecordSet::new();
    for &(workload, scheme, metric, unit, value) in figures {
        let model = if workload == ATTACK { SYN } else { CYCLES };
        let columns = ["flow-kernel", model, workload, scheme, "boots", metric, unit];
        // Bounds of a few boots hold within a launch.
        let launches = if samples < 6 { 1 } else { samples };
        let bounds = [value, 0.99 * value, 1.01 * value];
        all.insert(Record::new(columns, bounds, samples, launches)).unwrap();
    }
    all
}

const FIGURES: [(&str, &str, &str, &str, f64); 9] = [
    (HIT, "base", metric::CYCLES_MIN_MEAN, "cycles", 66.8),
    (HIT, OURS, metric::CYCLES_MIN_MEAN, "cycles", 90.0),
    (HIT, OURS, metric::RATIO, "base", 1.35),
    (HIT, LINUX, metric::RATIO, "base", 1.19),
    (HIT, "base/again", metric::RATIO, "base", 1.0),
    (ATTACK, "base@16384", metric::RATIO, "base@0", 49.0),
    (ATTACK, "siphash-1-3@16384", metric::RATIO, "siphash-1-3@0", 1.02),
    (ATTACK, "base@4096", metric::RATIO, "base@0", 11.0),
    (ATTACK, "base/again", metric::RATIO, "base", 1.0),
];

fn sentence(records: &RecordSet) -> Result<String, Doubt> {
    STUDIES.answer(&definition(), records).unwrap().sentence.map(|statement| statement.text)
}

#[test]
fn states_the_lookup_and_the_cost_behind_hostile_syns() {
    let text = sentence(&with_figures(&FIGURES, 6)).unwrap();
    assert_eq!(
        text,
        "Looking up a connection takes 1.35 × the cycles of base with siphash-1-3, 1.19 × with jhash2. \
         Behind 16,384 hostile SYNs (xor), the next costs 49.0 × as much with base, 1.02 × with \
         siphash-1-3."
    );
    assert!(text.chars().count() <= 200);
}

#[test]
fn doubts_withhold_the_sentence_or_its_second_half() {
    assert!(matches!(sentence(&RecordSet::new()), Err(Doubt::NotMeasured { .. })));
    assert!(matches!(sentence(&with_figures(&FIGURES, 2)), Err(Doubt::FewRounds { rounds: 2, .. })));
    let mut off = FIGURES;
    off[4].4 = 1.1;
    assert!(matches!(sentence(&with_figures(&off, 6)), Err(Doubt::Control { .. })));
    let mut off = FIGURES;
    off[8].4 = 1.1;
    assert!(sentence(&with_figures(&off, 6)).unwrap().ends_with("1.19 × with jhash2."));
}

#[test]
fn the_chart_has_a_line_at_the_reference() {
    let Some(Block::Bars(chart)) = STUDIES.answer(&definition(), &with_figures(&FIGURES, 6)).unwrap().chart
    else {
        panic!("no chart")
    };
    assert_eq!(chart.reference, Some((66.8, "base".to_owned())));
    let labels: Vec<&str> = chart.plots[0].groups[0].bars.iter().map(|bar| bar.label.as_str()).collect();
    assert_eq!(labels, ["base", "siphash-1-3"]);
}

fn record(model: &str, workload: &str, scheme: &str, metric: &str, unit: &str, value: f64) -> Record {
    Record::new(["flow-kernel", model, workload, scheme, "boots", metric, unit], [value; 3], 2, 6)
}

fn records() -> RecordSet {
    let mut records = RecordSet::new();
    for one in [
        record(STREAMS, "streams/64", "base", metric::MBIT, "Mbit/s", 15.0),
        record(STREAMS, "streams/64", "base", metric::AGAIN, "boots", 1.11),
        record(STREAMS, "streams/64", "jhash2", metric::MBIT, "Mbit/s", 14.7),
        record(STREAMS, "streams/64", "jhash2", metric::AGAIN, "boots", 1.02),
        record(STREAMS, "streams/64", "jhash2", metric::RATIO, "base", 0.98),
        record(CYCLES, "cycles/miss", "base", metric::CYCLES_MIN_MEAN, "cycles", 18.25),
        record(CYCLES, "cycles/miss", "base", metric::AGAIN, "boots", 1.06),
        record(CYCLES, HIT, "base", metric::CYCLES_MIN_MEAN, "cycles", 66.8),
        record(CYCLES, HIT, "jhash2", metric::CYCLES_MIN_MEAN, "cycles", 79.8),
        record(CYCLES, HIT, "jhash2", metric::RATIO, "base", 1.194),
        record(SYN, FLOOR, "base", metric::NS, "ns", 3456.0),
        record(SYN, "syn/xor", "base@0", metric::NS, "ns", 10_000.0),
        record(SYN, "syn/xor", "base@1024", metric::NS, "ns", 40_000.0),
        record(SYN, "syn/xor", "base@1024", metric::RATIO, "base@0", 4.0),
        record(SYN, "syn/xor", "jhash2@1024", metric::RATIO, "jhash2@0", 1.01),
        record(SYN, "syn/xor", "jhash2@0", metric::NS, "ns", 10_000.0),
        record(SYN, "syn/xor", "jhash2@1024", metric::NS, "ns", 10_100.0),
    ] {
        records.insert(one).unwrap();
    }
    records
}

fn section() -> Section {
    STUDIES.sections(&definition(), &records()).remove(0)
}

#[test]
fn prints_the_source_s_table_with_the_noise() {
    let section = section();
    assert_eq!(section.table("super_netperf").rows, [["64", "15.00", "14.70 (98.00)"]]);
    assert_eq!(section.table("the same, A/B and A/A").rows, [["64", "A/A 11.0", "-2.0; 2.0"]]);
    let source = section.table("the source's");
    assert_eq!(
        source.rows[0],
        ["64", "20735.80", "20419.96 (98.48)", "20335.60 (98.07)", "20404.08 (98.40)"]
    );
    let found = "0 of 1 ratios to base show no difference";
    assert!(section.findings.iter().any(|finding| finding.contains(found)), "{:?}", section.findings);
}

#[test]
fn prints_cycles_and_draws_what_a_syn_costs() {
    let section = section();
    let cycles = section.table("__inet6_lookup_established: cycles per lookup of a missing");
    assert_eq!(cycles.rows, [["base", "18.2 [18.2, 18.2]", "—", "1.060"]]);
    let found = "Looking up an existing connection takes, as a ratio to base in cycles, 1.194 [1.194, 1.194] with jhash2.";
    assert!(section.findings.iter().any(|finding| finding == found), "{:?}", section.findings);
    assert!(
        section.findings.contains(
            &"Attack syn/xor, 1,024 hostile flows: slowed: base 4.00 ×; not slowed: jhash2.".to_owned()
        ),
        "{:?}",
        section.findings
    );
    assert!(section.findings.iter().any(|finding| finding.contains("About 3,456 ns of each SYN")));
    assert_eq!(section.table("syn/xor: ns per SYN").columns, ["scheme", "0", "1,024"]);
}

#[test]
fn is_nothing_without_records() {
    assert!(STUDIES.sections(&definition(), &RecordSet::new()).is_empty());
}
