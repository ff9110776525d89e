//! A small study and believable records for tests.

use crate::definition::Definition;
use crate::report::{Block, Section, Shown, Table, scheme_id};
use crate::run::Machine;
use hashlane_records::{Record, RecordSet, metric};
use hashlane_stats::Interval;

const STUDY: &str = r#"
slug = "sample"
model = "sample"
title = "A sample study"
question = "Which encoding is fastest?"
metric = "cycles_mean"
per = "name"
source = "A. Nobody, Slides, 2015"
workloads = ["12Bx5", "6Bx10"]
schemes = ["{quux,foo}/{by-element,straight,batch}/summed", "foo/{idle,idle/batch}"]
reference = "foo/by-element/summed"
control = ["foo/by-element/summed/again", "foo/by-element/summed"]
topic = "encodings"
asks = "Which is fastest?"
[size]
quick = { items = 1024, repetitions = 10 }
full = { items = 4096, repetitions = 20 }
[[criterion]]
of = "foo/straight/summed"
to = "foo/by-element/summed"
workload = "12Bx5"
at_most = 0.45
[[criterion]]
of = "foo/batch/summed"
to = "foo/by-element/summed"
workload = "12Bx5"
at_most = 0.05
[[claim]]
id = "a-little-worse"
words = "generally a little bit worse"
rule = "little-more"
tolerance = 0.15
workloads = ["12Bx5", "6Bx10"]
pairs = [["foo/by-element/summed", "quux/by-element/summed"]]
[[claim]]
id = "never-measured"
words = "no <difference> at all"
rule = "alike"
tolerance = 0.1
workloads = ["6Bx10"]
pairs = [["quux/batch/summed", "foo/batch/summed"]]
"#;

/// The small study.
pub(crate) fn definition() -> Definition {
    Definition::parse(STUDY, "sample").unwrap()
}

/// Records as a run of `definition` could leave them, with the user's `own` workloads besides; equal for
/// equal arguments.
///
/// One ratio, `quux/batch/summed` to `foo/batch/summed`, is always missing.
pub(crate) fn records(definition: &Definition, own: &[&str]) -> RecordSet {
    let mut set = RecordSet::new();
    let workloads = definition.workloads.iter().map(String::as_str).chain(own.iter().copied());
    for (w, workload) in workloads.enumerate() {
        let mut add = |scheme: &str, metric: &str, unit: &str, i: Interval| {
            let columns = [&definition.slug, &definition.model, workload, scheme, "tsc", metric, unit];
            set.insert(Record::new(columns, [i.value, i.low, i.high], 20, 6)).unwrap();
        };
        let size = 1.0 + 0.25 * w as f64;
        for (i, scheme) in definition.schemes.iter().enumerate() {
            let mean = cycles(scheme) * size;
            let spread = 0.004 + 0.003 * (i % 5) as f64;
            add(scheme, metric::CYCLES_MEAN, "cycles", around(mean, spread));
            add(scheme, metric::CYCLES_MIN_MEAN, "cycles", around(mean * 0.91, spread / 2.0));
        }
        for (of, to) in definition.ratio_pairs() {
            if (of, to) != ("quux/batch/summed", "foo/batch/summed") {
                let spread = 0.006 + 0.01 * (w % 3) as f64;
                add(of, metric::RATIO, to, around(cycles(of) / cycles(to), spread));
            }
        }
    }
    set
}

/// Records of the small study, each as `change` leaves it.
pub(crate) fn changed(own: &[&str], mut change: impl FnMut(&mut Record)) -> RecordSet {
    let mut set = RecordSet::new();
    for record in records(&definition(), own).iter() {
        let mut record = record.clone();
        change(&mut record);
        set.insert(record).unwrap();
    }
    set
}

/// A made-up machine on which nothing was stopped.
pub(crate) fn machine() -> Machine {
    let mut machine = Machine::default();
    machine.cpu.model = Some("Sample Processor 3000".to_owned());
    machine.cpu.cores = Some(2);
    machine.cpu.flags = vec!["sse4_2".to_owned(), "avx2".to_owned()];
    machine.cpu.hypervisor = Some(true);
    machine.system.os = "linux".to_owned();
    machine.system.arch = "x86_64".to_owned();
    machine.system.kernel = Some("6.1.0".to_owned());
    machine.system.memory_kib = Some(8 << 20);
    machine.build.hashlane = "0.1.0".to_owned();
    machine.build.rustc = Some("rustc 1.95.0".to_owned());
    machine.run.date = "2025-01-31T23:59:59Z".to_owned();
    machine.run.command = ["hashlane", "study", "run", "all", "--quick"].map(str::to_owned).to_vec();
    machine.run.size = "quick".to_owned();
    machine.run.seed = 1;
    machine.run.tsc_ghz_before = Some(2.7);
    machine.run.tsc_ghz_after = Some(2.7);
    machine.run.core_ghz_before = Some(3.41);
    machine.run.core_ghz_after = Some(3.38);
    machine
}

fn around(value: f64, spread: f64) -> Interval {
    Interval::bounded(value, value * (1.0 - spread), value * (1.0 + spread))
}

/// Cycles a name of the smallest workload.
fn cycles(scheme: &str) -> f64 {
    let way = match scheme_id::tail(scheme) {
        "idle" => return 10.5,
        "idle/batch" => return 9.8,
        tail if tail.starts_with("by-element") => 251.0,
        tail if tail.starts_with("straight") => 101.0,
        _ => 29.0,
    };
    let encoding = match scheme_id::head(scheme) {
        "quux" => 1.01,
        _ => 1.07,
    };
    way * encoding
}

/// A section with a table, as a kind of study makes it.
pub(crate) fn section() -> Section {
    Section {
        title: "All figures".to_owned(),
        note: "Mean cycles.".to_owned(),
        findings: vec!["The first is fastest.".to_owned()],
        blocks: vec![Block::Table(Table {
            caption: "12Bx5".to_owned(),
            columns: ["scheme", "mean"].map(str::to_owned).to_vec(),
            left: 1,
            rows: vec![vec!["foo/batch/summed".to_owned(), "31.0".to_owned()]],
            shown: Shown::Open,
        })],
    }
}
