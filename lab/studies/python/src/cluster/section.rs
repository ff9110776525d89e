//! Report section: time of a sketch by engine, CPU time by process, and killed workers.

use super::role::Role;
use super::workloads::{MODEL, ONCE, SPREAD, TWENTY, TWO};
use crate::metric;
use hashlane_lab::definition::Definition;
use hashlane_lab::report::facts::table;
use hashlane_lab::report::words;
use hashlane_lab::report::{Block, Facts, Section, Table};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::format::{count, figure, interval, none, significant};

const MIB: f64 = 1_048_576.0;

pub(super) fn section(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let facts = Facts::of(definition, records, MODEL)?;
    let tables = [engines(&facts, &definition.reference), processes(&facts), killed(&facts)];
    let note = "Time on the clock of one call over all files, whose sketch has the bytes of the crate's. CPU \
                time is that of all threads in user space and in the kernel. Memory is the largest peak of \
                resident memory of a worker process. A run with a killed worker differs if its sketch has \
                other bytes, or if it failed.";
    Some(Section {
        title: "Sketches on a cluster".to_owned(),
        note: facts.note(note.to_owned()),
        findings: Vec::new(),
        blocks: tables.into_iter().flatten().map(Block::Table).collect(),
    })
}

fn mib(facts: &Facts<'_>, label: &str, id: &str) -> String {
    facts.value(label, id, metric::PEAK).map_or_else(none, |bytes| count((bytes / MIB).ceil()))
}

/// Time of all engines.
fn engines(facts: &Facts<'_>, reference: &str) -> Option<Table> {
    let row = |id: &str| {
        let record = facts.record(SPREAD, id, metric::NS)?;
        let ns = record.interval();
        let ratio = facts.records.ratio(facts.study, SPREAD, id, reference).map(Record::interval);
        let keys = facts.value(SPREAD, id, metric::KEYS);
        Some(vec![
            id.to_owned(),
            keys.map_or_else(none, count),
            keys.map_or_else(none, |keys| significant(keys * ns.value / 1e9)),
            format!("{} {}", significant(ns.value), interval(ns, significant)),
            figure(1e3 / ns.value),
            ratio.map_or_else(none, words::ratio_with_bounds),
            mib(facts, SPREAD, id),
        ])
    };
    let columns = ["engine", "keys", "s", "ns/key", "M keys/s", "to one worker", "peak MiB of a worker"];
    table("a sketch of all files", &columns, 1, facts.schemes_on(SPREAD).filter_map(row).collect())
}

/// CPU time by process.
fn processes(facts: &Facts<'_>) -> Option<Table> {
    let row = |id: &str| {
        let wall = facts.value(SPREAD, id, metric::NS)?;
        let cpu = Role::ALL.map(|(_, name)| facts.value(SPREAD, id, name));
        let sum: f64 = cpu.iter().flatten().sum();
        let mut row = vec![id.to_owned()];
        row.extend(cpu.map(|ns| ns.map_or_else(none, figure)));
        row.push(significant(sum / wall));
        cpu.iter().any(Option::is_some).then_some(row)
    };
    let columns = ["engine", "workers", "driver", "raylet", "GCS", "agents", "cores in use"];
    table("CPU time by process, ns/key", &columns, 1, facts.schemes_on(SPREAD).filter_map(row).collect())
}

/// Runs with a killed worker.
fn killed(facts: &Facts<'_>) -> Option<Table> {
    let row = |label: &&str| {
        let kills = facts.value(label, TWO, metric::KILLS)?;
        let differing = facts.value(label, TWO, metric::DIFFERING)?;
        Some(vec![(*label).to_owned(), count(kills), count(differing), mib(facts, label, TWO)])
    };
    let columns = ["workload", "kills", "results that differ", "peak MiB of a worker"];
    table("workers killed midway", &columns, 1, [ONCE, TWENTY].iter().filter_map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::definition;
    use crate::sample::records;
    use hashlane_lab::outcome::Reached;

    #[test]
    fn tables_have_what_was_measured() {
        let definition = definition();
        let figures = [
            (SPREAD, "ray/1", metric::NS, "ns", 5.0),
            (SPREAD, "ray/1", metric::KEYS, "keys", 1e9),
            (SPREAD, "ray/1", "worker_cpu_ns", "ns", 4.5),
            (SPREAD, "ray/1", "driver_cpu_ns", "ns", 0.5),
            (SPREAD, TWO, metric::NS, "ns", 2.6),
            (SPREAD, TWO, metric::RATIO, "ray/1", 0.52),
            (SPREAD, TWO, metric::PEAK, "bytes", 2.5 * MIB),
            (ONCE, TWO, metric::KILLS, "kills", 1.0),
            (ONCE, TWO, metric::DIFFERING, "results", 0.0),
        ];
        let section = section(&definition, &records(&definition, &figures)).unwrap();
        let engines = section.table("a sketch of all");
        assert_eq!(engines.rows[0][..3], ["ray/1", "1,000,000,000", "5.00"]);
        assert_eq!(engines.rows[1][4..], ["385", "0.520 [0.515, 0.525]", "3"]);
        assert_eq!(section.table("CPU time").rows, [["ray/1", "4.5", "0.5", "1.00"]]);
        assert_eq!(section.table("workers killed").rows, [[ONCE, "1", "0"]]);
        assert!(super::section(&definition, &RecordSet::new()).is_none());
    }

    #[test]
    fn criteria_are_decided_by_the_records() {
        let definition = definition();
        let reached = |workload: &str, metric: &str, unit: &str, value: f64| {
            let records = records(&definition, &[(workload, TWO, metric, unit, value)]);
            let outcomes = definition.criterion_outcomes(&records);
            let of: Vec<Reached> =
                outcomes.iter().filter(|o| o.measured.is_some()).map(|o| o.reached).collect();
            let [reached] = of[..] else { panic!("{of:?}") };
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
}
