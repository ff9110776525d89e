//! Report section: the cost of forwarders per exchange, the shares of our forwarder's time, and the memory of
//! its tables.

use super::parts_section::{OURS, decode_table, memory_table, none, parts_table};
use crate::metric;
use hashlane_lab::definition::{Definition, Published, PublishedRow};
use hashlane_lab::evidence::Evidence;
use hashlane_lab::report::Facts;
use hashlane_lab::report::facts::without_empty_columns;
use hashlane_lab::report::words;
use hashlane_lab::report::{Block, Section, Shown, Table};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;
use hashlane_stats::format::{count, figure, interval};

pub(crate) const MODEL: &str = "forwarder";
/// Models of the additional measurements, shown in this section.
pub(crate) const PARTS: &str = "forwarder-parts";
pub(crate) const MEMORY: &str = "forwarder-memory";

/// The scheme that is `ours` a second time.
const CONTROL: &str = "ours-again";

/// Added to the note where the control is measured.
const CONTROL_NOTE: &str = " `ours-again` is an A/A control: any difference from `ours` is noise.";

pub(crate) fn section(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let load = Facts::of(definition, records, MODEL);
    let parts = Facts::of(definition, records, PARTS);
    let memory = Facts::of(definition, records, MEMORY);
    let any = load.as_ref().or(parts.as_ref()).or(memory.as_ref())?;
    let mut blocks = Vec::new();
    let mut findings = Vec::new();
    if let Some(facts) = &load {
        blocks.push(cost(facts));
        blocks.extend(definition.published("cpu-us").map(|published| elsewhere(facts, published)));
        blocks.push(plain_table(
            facts,
            "exchanges per second, forwarder and load together",
            metric::RATE,
            count,
        ));
        blocks.push(ratios(facts, &definition.reference));
        findings.extend(distances(definition, records, facts));
    }
    if let Some(facts) = &parts {
        blocks.push(parts_table(facts, definition.published("nfd-shares")));
        blocks.extend(decode_table(facts));
    }
    if let Some(facts) = &memory {
        blocks.push(memory_table(facts));
    }
    let note = "CPU time of the forwarder's process, in user space and in the kernel, over the exchanges \
                that its consumers counted. Columns with a star were measured elsewhere, on a machine of \
                this kind and under a load of this shape. NFD sets a timer of no length for each Data, \
                which is expensive on such a machine: NFD less timers is without it. The relay copies \
                datagrams with the same system calls, and forwards nothing.";
    let has_control = load.as_ref().is_some_and(|facts| facts.schemes.contains(&CONTROL));
    let control = if has_control { CONTROL_NOTE } else { "" };
    Some(Section {
        title: "Forwarders".to_owned(),
        note: any.note(format!("{note}{control}")),
        findings,
        blocks,
    })
}

/// Microseconds: two decimals below 10.
fn us(value: f64) -> String {
    if value.abs() < 9.995 { format!("{value:.2}") } else { figure(value) }
}

fn with_bounds(i: Interval) -> String {
    format!("{} {}", us(i.value), interval(i, us))
}

/// All forwarders of the run.
fn cost(facts: &Facts<'_>) -> Block {
    let row = |workload: &&str| {
        let cell = |scheme: &&str| {
            facts.record(workload, scheme, metric::CPU_US).map_or_else(none, |r| with_bounds(r.interval()))
        };
        [(*workload).to_owned()].into_iter().chain(facts.schemes.iter().map(cell)).collect()
    };
    Block::Table(Table {
        caption: "CPU microseconds per exchange".to_owned(),
        columns: ["workload"].iter().chain(&facts.schemes).map(|&name| name.to_owned()).collect(),
        left: 1,
        rows: facts.workloads.iter().map(row).collect(),
        shown: Shown::Open,
    })
}

/// Ours, and forwarders that were measured elsewhere.
fn elsewhere(facts: &Facts<'_>, published: &Published) -> Block {
    let row = |row: &PublishedRow| {
        let ours = facts.value(&row.id, OURS, metric::CPU_US)?;
        let figures =
            published.columns.iter().map(|name| published.figure(&row.id, name).map_or_else(none, figure));
        Some([row.id.clone(), us(ours)].into_iter().chain(figures).collect())
    };
    let mut columns = vec!["workload".to_owned(), OURS.to_owned()];
    columns.extend(published.columns.iter().map(|name| format!("{name} *")));
    Block::Table(without_empty_columns(Table {
        caption: "ours, and published figures of other machines (*), CPU microseconds per exchange"
            .to_owned(),
        columns,
        left: 1,
        rows: published.rows.iter().filter_map(row).collect(),
        shown: Shown::Open,
    }))
}

fn plain_table(facts: &Facts<'_>, caption: &str, metric: &str, show: fn(f64) -> String) -> Block {
    let row = |workload: &&str| {
        let cells =
            facts.schemes.iter().map(|scheme| facts.value(workload, scheme, metric).map_or_else(none, show));
        [(*workload).to_owned()].into_iter().chain(cells).collect()
    };
    Block::Table(Table {
        caption: caption.to_owned(),
        columns: ["workload"].iter().chain(&facts.schemes).map(|&name| name.to_owned()).collect(),
        left: 1,
        rows: facts.workloads.iter().map(row).collect(),
        shown: Shown::Open,
    })
}

fn ratios(facts: &Facts<'_>, reference: &str) -> Block {
    let others: Vec<&str> = facts.schemes.iter().copied().filter(|id| *id != reference).collect();
    let row = |workload: &&str| {
        let cell = |scheme: &&str| {
            let ratio = facts.records.ratio(facts.study, workload, scheme, reference).map(Record::interval);
            ratio.map_or_else(none, words::ratio_with_bounds)
        };
        [(*workload).to_owned()].into_iter().chain(others.iter().map(cell)).collect()
    };
    Block::Table(Table {
        caption: format!("CPU time as a ratio to {reference}, round by round"),
        columns: ["workload"].iter().chain(&others).map(|&name| name.to_owned()).collect(),
        left: 1,
        rows: facts.workloads.iter().map(row).collect(),
        shown: Shown::Folded,
    })
}

/// Cost of our forwarder, and the ratios of others to it, where a sentence may state them. Published figures
/// are left out: they come from other machines.
fn distances(definition: &Definition, records: &RecordSet, facts: &Facts<'_>) -> Vec<String> {
    let evidence = Evidence::new(definition, records);
    let distance = |workload: &&str| {
        let ours = evidence.figure(workload, OURS, metric::CPU_US).ok()?;
        let others = facts.schemes.iter().filter(|id| ![OURS, CONTROL].contains(id)).filter_map(|id| {
            let ratio = evidence.ratio(workload, id, OURS).ok()?;
            Some(format!("; {id} {} times as much", words::ratio_with_bounds(ratio)))
        });
        let others: String = others.collect();
        Some(format!("{workload}: ours takes {} µs of CPU for an exchange{others}.", with_bounds(ours)))
    };
    facts.workloads.iter().filter_map(distance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_lab::outcome::Reached;
    use hashlane_lab::report::terminal::{Colours, tables};

    const STUDY: &str = include_str!("../../ndn-forwarder/study.toml");

    struct Adder(RecordSet);

    impl Adder {
        fn add(&mut self, model: &str, workload: &str, scheme: &str, metric: &str, unit: &str, value: f64) {
            let bounds = if model != MODEL { [value; 3] } else { [value, value * 0.95, value * 1.05] };
            let columns = ["ndn-forwarder", model, workload, scheme, "p", metric, unit];
            self.0.insert(Record::new(columns, bounds, 9, 6)).unwrap();
        }
    }

    fn records() -> RecordSet {
        let mut all = Adder(RecordSet::new());
        for (workload, scheme, us) in [
            ("unix/4", "ours", 1.25),
            ("unix/4", "ndnd", 20.0),
            ("unix/11", "ours", 5.02),
            ("udp/4", "ours", 6.5),
            ("udp/4", "relay", 2.0),
        ] {
            all.add(MODEL, workload, scheme, metric::CPU_US, "us", us);
            all.add(MODEL, workload, scheme, metric::RATE, "1/s", 1e6 / us);
        }
        all.add(MODEL, "unix/4", "ndnd", metric::RATIO, "ours", 16.0);
        all.add(MODEL, "udp/4", "ours", metric::MORE, "relay", 4.5);
        for (part, ns) in [
            ("whole", 700.0),
            ("decode", 250.0),
            ("prefetch", 30.0),
            ("store", 200.0),
            ("pit", 120.0),
            ("fib", 50.0),
        ] {
            all.add(PARTS, "4", part, metric::NS, "ns", ns);
        }
        for (burst, ns) in [("decode-1", 400.0), ("decode-16", 250.0), ("decode-64", 240.0)] {
            all.add(PARTS, "4", burst, metric::NS, "ns", ns);
        }
        all.add(PARTS, "4", "decode-16", metric::RATIO, "decode-1", 0.625);
        for (table, resident, packet) in [("pit", 420.0, 130.0), ("fib", 110.0, 0.0)] {
            all.add(MEMORY, "100k", table, metric::OCTETS, "octets", resident);
            all.add(MEMORY, "100k", table, metric::OCTETS_ACCOUNTED, "octets", resident - 20.0);
            all.add(MEMORY, "100k", table, metric::OCTETS_PACKET, "octets", packet);
        }
        all.0
    }

    #[test]
    fn compares_ours_with_others_and_with_its_criteria() {
        let definition = Definition::parse(STUDY, "study.toml").unwrap();
        assert_eq!(section(&definition, &RecordSet::new()), None);
        let records = records();
        let section = section(&definition, &records).unwrap();
        let cost = section.table("CPU microseconds");
        assert_eq!(cost.rows[0][1], "1.25 [1.19, 1.31]");
        let elsewhere = section.table("ours, and published");
        assert_eq!(elsewhere.rows[0], ["unix/4", "1.25", "49.5", "34.1", "19.0", "7.1"]);
        assert_eq!(elsewhere.rows[2], ["udp/4", "6.50", "65.1", "43.0", "20.9", "—"]);
        let outcomes = definition.criterion_outcomes(&records);
        let (_, microseconds_and_ratios) = outcomes.split_at(outcomes.len() - 7);
        let reached: Vec<Reached> = microseconds_and_ratios.iter().map(|outcome| outcome.reached).collect();
        let mut expected = vec![Reached::NotMeasured; 7];
        expected[..3].copy_from_slice(&[Reached::Met, Reached::Undecided, Reached::Missed]);
        assert_eq!(reached, expected);
    }

    #[test]
    fn the_study_of_large_tables_has_the_criterion_of_the_whole_one() {
        let large = include_str!("../../ndn-forwarder/large.toml");
        let large = Definition::parse(large, "large.toml").unwrap();
        let whole = Definition::parse(STUDY, "study.toml").unwrap();
        assert_eq!(large.criteria.len(), 1);
        assert!(whole.criteria.contains(&large.criteria[0]));
        assert_eq!(whole.schemes_on(&large.workloads[0]), large.schemes);
    }

    #[test]
    fn the_control_is_explained_where_it_is_measured() {
        let definition = Definition::parse(STUDY, "study.toml").unwrap();
        let note = |records: &RecordSet| section(&definition, records).unwrap().note;
        assert!(!note(&records()).contains(CONTROL));
        let mut all = Adder(records());
        all.add(MODEL, "unix/4", CONTROL, metric::CPU_US, "us", 1.25);
        assert!(note(&all.0).contains(CONTROL_NOTE));
    }

    #[test]
    fn subtracted_parts_add_up_to_the_process() {
        let definition = Definition::parse(STUDY, "study.toml").unwrap();
        let records = records();
        let section = section(&definition, &records).unwrap();
        let parts = section.table("where the time");
        let ns: Vec<f64> = parts.rows.iter().map(|row| row[1].parse().unwrap()).collect();
        assert_eq!(ns, [250.0, 30.0, 200.0, 120.0, 50.0, 50.0, 550.0, 1250.0]);
        assert_eq!(ns[..7].iter().sum::<f64>(), ns[7]);
        assert_eq!(parts.rows[2][3], "18.0");
        let memory = section.table("bytes of memory");
        assert_eq!(memory.rows[0], ["pit, 100k entries", "420", "290", "400"]);
    }

    #[test]
    fn the_terminal_prints_it() {
        let definition = Definition::parse(STUDY, "study.toml").unwrap();
        insta::assert_snapshot!(tables(
            &definition,
            &records(),
            &[section(&definition, &records()).unwrap()],
            100,
            Colours::Never
        ));
    }
}
