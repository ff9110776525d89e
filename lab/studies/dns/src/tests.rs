//! The report of the study file on few records, and its claims.

use crate::metric::MODEL;
use crate::{Renderers, metric};
use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::Doubt;
use hashlane_lab::report::{Answer, Block, Section};
use hashlane_lab::study::Studies;
use hashlane_records::{Record, RecordSet};

const STUDIES: Studies = Studies(&[&Renderers]);

fn definition() -> Definition {
    STUDIES.parse(include_str!("../dns-render/study.toml"), "study.toml").unwrap()
}

fn add(all: &mut RecordSet, [workload, scheme, metric, unit]: [&str; 4], value: f64, samples: u64) {
    let bound = if [metric::NS, metric::RATIO].contains(&metric) { 0.01 } else { 0.0 };
    let bounds = [value, value * (1.0 - bound), value * (1.0 + bound)];
    let columns = ["dns-render", MODEL, workload, scheme, "rounds", metric, unit];
    all.insert(Record::new(columns, bounds, samples, 6)).unwrap();
}

/// Records of a workload: `(scheme, ns, bytes)`, with the ratios to ours and the control's.
fn records(workload: &str, schemes: &[(&str, f64, f64)], control: f64) -> RecordSet {
    let mut all = RecordSet::new();
    let ours = schemes.iter().find(|(id, ..)| *id == "ours").map_or(1.0, |scheme| scheme.1);
    for (id, ns, bytes) in schemes {
        add(&mut all, [workload, id, metric::NS, "ns"], *ns, 15);
        add(&mut all, [workload, id, metric::OCTETS, "octets"], *bytes, 3);
        add(&mut all, [workload, id, metric::NAMES, "names"], 42.0, 3);
        add(&mut all, [workload, id, metric::RECORDS, "records"], 412.0, 3);
        add(&mut all, [workload, id, metric::UNCOMPRESSED, "octets"], 50_000.0, 3);
        if *id != "ours" {
            add(&mut all, [workload, id, metric::RATIO, "ours"], ns / ours, 15);
        }
    }
    add(&mut all, [workload, "ours/again", metric::RATIO, "ours"], control, 15);
    all
}

const POSITIVE: [(&str, f64, f64); 6] = [
    ("old", 2500.0, 153.0),
    ("new", 2000.0, 153.0),
    ("dumb", 80.0, 639.0),
    ("ours", 500.0, 153.0),
    ("domain/hash-reused", 1700.0, 153.0),
    ("domain/static", 100.0, 171.0),
];

fn answer(records: &RecordSet) -> Answer {
    STUDIES.answer(&definition(), records).unwrap()
}

fn sentence(records: &RecordSet) -> Result<String, Doubt> {
    answer(records).sentence.map(|statement| statement.text)
}

fn section(records: &RecordSet) -> Section {
    STUDIES.sections(&definition(), records).remove(0)
}

#[test]
fn ours_is_compared_with_the_source_and_the_best_crate_of_the_smallest_message() {
    assert_eq!(
        sentence(&records("positive", &POSITIVE, 1.0)).unwrap(),
        "Yes: for 42 names (positive), ours takes 0.25 × the source's table and 0.20 × its ordered set at the \
         same size; 0.29 × the best Rust crate (domain/hash-reused)."
    );
    let without = sentence(&records("positive", &POSITIVE[..4], 1.0)).unwrap();
    assert!(without.ends_with("the Rust crates are not in this build."), "{without}");
    let mut larger = POSITIVE;
    larger[1].2 = 160.0;
    let larger = sentence(&records("positive", &larger, 1.0)).unwrap();
    assert!(larger.contains("(153 bytes against 160 and 153)"), "{larger}");
    let another = sentence(&records("response/a500", &POSITIVE, 1.0)).unwrap();
    assert!(another.contains("(response/a500)"), "{another}");
}

#[test]
fn doubts_withhold_the_sentence() {
    assert!(matches!(sentence(&RecordSet::new()), Err(Doubt::NotMeasured { .. })));
    assert!(matches!(sentence(&records("positive", &POSITIVE, 1.1)), Err(Doubt::Control { .. })));
    let mut wide = RecordSet::new();
    for record in records("positive", &POSITIVE, 1.0).iter() {
        let mut record = record.clone();
        if record.scheme == "new" && record.metric == metric::RATIO {
            record.low = record.value / 2.0;
        }
        wide.insert(record).unwrap();
    }
    assert!(matches!(sentence(&wide), Err(Doubt::Wide { .. })));
}

#[test]
fn the_users_own_messages_are_counted() {
    let zone: Vec<_> = POSITIVE.iter().map(|(id, ns, _)| (*id, 100.0 * ns, 30_000.0)).collect();
    assert_eq!(
        sentence(&records("zone:example", &zone, 1.0)).unwrap(),
        "1,236 records in 3 messages: 90,000 bytes, 40 % saved. Ours takes 50.0 µs a message, 0.25 × the \
         source's table and 0.20 × its ordered set at the same size; 5.00 × the best Rust crate \
         (domain/static)."
    );
    let alone = sentence(&records("zone:example", &zone[3..4], 1.0)).unwrap();
    assert!(alone.ends_with("Ours takes 50.0 µs a message."), "{alone}");
}

#[test]
fn the_chart_has_one_renderer_of_each_crate() {
    let Some(Block::Bars(chart)) = answer(&records("positive", &POSITIVE, 1.0)).chart else {
        panic!("no chart")
    };
    let bars = &chart.plots[0].groups[0].bars;
    let labels: Vec<&str> = bars.iter().map(|bar| bar.label.as_str()).collect();
    assert_eq!(labels, ["old", "new", "dumb", "ours", "domain/hash-reused"]);
    assert_eq!((bars[3].figure.as_str(), bars[2].hollow, bars[3].hollow), ("500 ns, 153 B", true, false));
}

#[test]
fn a_table_slower_than_the_set_is_a_surprise_if_the_source_has_it_faster() {
    let mut all = records("nxdomain", &POSITIVE, 1.0);
    add(&mut all, ["nxdomain", "new", metric::RATIO, "old"], 1.17, 15);
    let slower =
        "The source's table is slower than its ordered set on nxdomain: 1.17 ×; the ticket has 0.32 ×.";
    assert_eq!(answer(&all).surprises, [slower]);
}

#[test]
fn shows_the_source_s_table_sizes_and_findings() {
    assert!(STUDIES.sections(&definition(), &RecordSet::new()).is_empty());
    let mut all = RecordSet::new();
    for (workload, scheme, ns, bytes, names) in [
        ("positive", "old", 4200.0, 153.0, 42.0),
        ("positive", "new", 2100.0, 153.0, 42.0),
        ("positive", "dumb", 100.0, 639.0, 42.0),
        ("positive", "ours", 420.0, 153.0, 42.0),
        ("positive", "domain/hash", 2000.0, 153.0, 42.0),
        ("positive", "domain/hash-reused", 1680.0, 153.0, 42.0),
        ("positive", "domain/static", 500.0, 171.0, 42.0),
        ("servfail", "dumb", 5.0, 29.0, 1.0),
        ("servfail", "ours", 7.5, 29.0, 1.0),
        ("response/a500", "ours", 5000.0, 5000.0, 500.0),
        ("hostile/deep", "ours", 20_000.0, 10_000.0, 64.0),
    ] {
        add(&mut all, [workload, scheme, metric::NS, "ns"], ns, 15);
        add(&mut all, [workload, scheme, metric::OCTETS, "octets"], bytes, 15);
        add(&mut all, [workload, scheme, metric::NAMES, "names"], names, 15);
    }
    // Nothing is compared that was not measured in pairs.
    assert_eq!(section(&all).findings, [""; 0]);
    for (workload, of, to, ratio) in [
        ("positive", "new", "old", 0.5),
        ("positive", "old", "ours", 10.0),
        ("positive", "domain/hash", "ours", 4.8),
        ("positive", "domain/hash-reused", "ours", 4.0),
        ("servfail", "dumb", "ours", 0.667),
    ] {
        add(&mut all, [workload, of, metric::RATIO, to], ratio, 15);
    }
    let section = section(&all);
    let source = section.table("millions of names per second");
    assert_eq!(source.columns, ["scheme", "positive", "source", "servfail", "source"]);
    assert_eq!(source.rows[1], ["new", "20.00", "3.10", "—", "1.22"]);
    assert_eq!(section.table("bytes per message").rows[2][..2], ["dumb", "639"]);
    // One for each workload that is not hostile, and one of those that are.
    let plots = |block: &Block| if let Block::Bars(chart) = block { chart.plots.len() } else { 0 };
    let plots: Vec<usize> = section.blocks.iter().map(plots).filter(|plots| *plots > 0).collect();
    assert_eq!(plots, [1, 1, 1, 2]);
    let per_byte = section.table("ns per byte");
    assert_eq!(per_byte.columns[1..], ["response/a500", "hostile/deep"]);
    let found = "positive: new takes 0.500 [0.495, 0.505] of old; 0.129 by the source's figures.";
    // 1,744 ns against 1,299 there, 4 times ours here.
    let beside = "ours takes about 0.336 on positive of the time of BIND 9's compressor, which was measured \
                  elsewhere, beside domain/hash-reused in both places.";
    assert_eq!(section.findings, [found, beside]);
    let elsewhere = section.table("ns per message, not of this run");
    assert_eq!(elsewhere.rows[3][..3], ["500 addresses", "29,243 (5,345 B)", "27,419"]);
    let rivals = section.table("the fastest other renderer");
    assert_eq!(rivals.rows[0], ["positive", "domain/hash-reused", "153", "153", "4.00 [3.96, 4.04]"]);
    assert_eq!(rivals.rows[1], ["servfail", "dumb", "29", "29", "0.667 [0.660, 0.674]"]);
}

#[test]
fn the_vectors_of_attacks_are_those_of_the_generators() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../vectors/dns/compression/");
    let vectors = crate::compression_vectors();
    for (name, bytes) in &vectors {
        let stored = std::fs::read(format!("{folder}{name}")).unwrap();
        assert!(stored == *bytes, "{name}: run the example compression_vectors");
        assert!(bytes.len() <= 65_535, "{name}");
    }
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let others: Vec<_> = files.filter(|file| !vectors.iter().any(|(name, _)| file == &**name)).collect();
    assert_eq!(others, ["README.md"]);
}
