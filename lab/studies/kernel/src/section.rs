//! Report section: kernels with other connection hashes, as the source's table of throughput, cycles, and the
//! cost of a SYN.

use crate::metric;
use hashlane_lab::definition::{Definition, Published, PublishedRow};
use hashlane_lab::report::Facts;
use hashlane_lab::report::words;
use hashlane_lab::report::{Block, Section, Shown, Table};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;
use hashlane_stats::format::{self, figure, interval, ratio};
use hashlane_study_flows::attacks;

/// The models of the records.
pub(crate) const STREAMS: &str = "kernel-streams";
pub(crate) const CYCLES: &str = "kernel";
pub(crate) const SYN: &str = "kernel-syn";

/// Scheme of the part of a SYN's cost that is not the server's.
const FLOOR: &str = "floor";

/// The lookup that every segment of a connection makes.
pub(crate) const HIT: &str = "cycles/hit";

pub(crate) fn section(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let streams = Facts::of(definition, records, STREAMS);
    let cycles = Facts::of(definition, records, CYCLES);
    let mut syn = Facts::of(definition, records, SYN);
    let any = [&streams, &cycles, &syn].into_iter().find_map(Option::as_ref)?;
    let note = any.note(
        "Kernels were booted repeatedly, in turns. A/A is the largest figure of the boots of one kernel \
         over the smallest: smaller differences between kernels are noise. Cycles are the minimum of a \
         boot's repetitions, of up to 10,000 calls each. A system call of User Mode Linux costs \
         microseconds, so throughput shows little of the hash. Kernel code runs at full speed, so cycles \
         do."
        .to_owned(),
    );
    let (mut blocks, mut findings) = (Vec::new(), Vec::new());
    let reference = definition.reference.as_str();
    if let Some(facts) = &streams {
        findings.extend(throughputs(facts, reference));
        blocks.push(Block::Table(throughput(facts, reference)));
        blocks.push(Block::Table(beside(facts, reference)));
        blocks.extend(definition.published("super-netperf").map(|published| Block::Table(source(published))));
    }
    if let Some(facts) = &cycles {
        findings.extend(lookups(facts, reference));
        blocks.extend(facts.workloads.iter().map(|workload| Block::Table(timed(facts, workload, reference))));
    }
    if let Some(facts) = &mut syn {
        let floors: Vec<f64> =
            facts.schemes.iter().filter_map(|id| facts.value(FLOOR, id, metric::NS)).collect();
        facts.workloads.retain(|workload| *workload != FLOOR);
        let (attacks, found) = attacks(definition, facts, "SYN");
        blocks.extend(attacks);
        findings.extend(found);
        if let Some(floor) = hashlane_stats::median(&floors) {
            findings.push(format!(
                "About {} ns of each SYN is the cost of sending it, measured with segments that never reach \
                 the table.",
                format::count(floor.round())
            ));
        }
    }
    Some(Section { title: "In the kernel".to_owned(), note, findings, blocks })
}

/// Size of a message.
fn bytes(workload: &str) -> String {
    workload.split_once('/').map_or(workload, |(_, size)| size).to_owned()
}

fn bounds(estimate: Interval) -> String {
    format!("{} {}", figure(estimate.value), interval(estimate, figure))
}

/// A ratio as per cent, as the source writes it.
fn per_cent(ratio: f64) -> String {
    format!("{:.2}", ratio * 100.0)
}

/// Largest distance between boots of one kernel: 0.11 of a ratio of 1.11.
fn again(facts: &Facts<'_>, workload: &str, scheme: &str) -> Option<f64> {
    Some(facts.value(workload, scheme, metric::AGAIN)? - 1.0)
}

fn against(facts: &Facts<'_>, workload: &str, scheme: &str, reference: &str) -> Option<Interval> {
    facts.records.ratio(facts.study, workload, scheme, reference).map(Record::interval)
}

fn columns<'a>(first: &'a str, schemes: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    [first].into_iter().chain(schemes).map(str::to_owned).collect()
}

/// The source's table, of these kernels.
fn throughput(facts: &Facts<'_>, reference: &str) -> Table {
    let cell = |workload: &str, scheme: &str| {
        let Some(mbit) = facts.value(workload, scheme, metric::MBIT) else { return format::none() };
        match against(facts, workload, scheme, reference) {
            Some(ratio) => format!("{mbit:.2} ({})", per_cent(ratio.value)),
            None => format!("{mbit:.2}"),
        }
    };
    rows(
        "super_netperf: Mbit/s of 32 streams over ::1, by bytes of a message; in brackets, per cent of the \
         reference",
        facts,
        cell,
    )
}

/// The same as differences, with the noise between boots.
fn beside(facts: &Facts<'_>, reference: &str) -> Table {
    let cell = |workload: &str, scheme: &str| {
        let apart =
            again(facts, workload, scheme).map_or_else(format::none, |again| format!("{:.1}", again * 100.0));
        match against(facts, workload, scheme, reference) {
            Some(ratio) => format!("{:+.1}; {apart}", (ratio.value - 1.0) * 100.0),
            None => format!("A/A {apart}"),
        }
    };
    rows(
        "the same, A/B and A/A, in per cent: difference of the kernel from the reference; difference \
         between boots of the kernel",
        facts,
        cell,
    )
}

fn rows(caption: &str, facts: &Facts<'_>, cell: impl Fn(&str, &str) -> String) -> Table {
    let row = |workload: &&str| {
        let cells = facts.schemes.iter().map(|scheme| cell(workload, scheme));
        [bytes(workload)].into_iter().chain(cells).collect()
    };
    Table {
        caption: caption.to_owned(),
        columns: columns("bytes", facts.schemes.iter().copied()),
        left: 1,
        rows: facts.workloads.iter().map(row).collect(),
        shown: Shown::Open,
    }
}

/// The source's table.
fn source(published: &Published) -> Table {
    let row = |row: &PublishedRow| {
        let base = row.figures.first().copied().unwrap_or(f64::NAN);
        let cell = |(at, mbit): (usize, &f64)| {
            if at == 0 { format!("{mbit:.2}") } else { format!("{mbit:.2} ({})", per_cent(mbit / base)) }
        };
        [row.id.clone()].into_iter().chain(row.figures.iter().enumerate().map(cell)).collect()
    };
    Table {
        caption: "the source's: five runs of 60 s each, on a host of 2023 without intervals".to_owned(),
        columns: columns("bytes", published.columns.iter().map(String::as_str)),
        left: 1,
        rows: published.rows.iter().map(row).collect(),
        shown: Shown::Folded,
    }
}

/// Sentence on the ratios of throughput to the reference, by what their intervals leave open.
fn throughputs(facts: &Facts<'_>, reference: &str) -> Option<String> {
    let others = facts.schemes.iter().filter(|scheme| **scheme != reference);
    let pairs = others.flat_map(|scheme| facts.workloads.iter().map(move |workload| (workload, scheme)));
    let ratios: Vec<Interval> =
        pairs.filter_map(|(workload, scheme)| against(facts, workload, scheme, reference)).collect();
    let open = ratios.iter().filter(|i| !i.is_conclusive() || (i.low <= 1.0 && i.high >= 1.0)).count();
    (!ratios.is_empty()).then(|| {
        format!(
            "Throughput: {open} of {} ratios to {reference} show no difference; each is judged by itself at \
             95 %.",
            ratios.len()
        )
    })
}

/// Sentence on the cost that each kernel pays for a segment of a connection, compared with the reference.
fn lookups(facts: &Facts<'_>, reference: &str) -> Option<String> {
    let with = |scheme: &&str| {
        let times = against(facts, HIT, scheme, reference)?;
        Some(format!("{} with {scheme}", words::ratio_with_bounds(times)))
    };
    let all: Vec<String> = facts.schemes.iter().filter_map(with).collect();
    (!all.is_empty()).then(|| {
        format!(
            "Looking up an existing connection takes, as a ratio to {reference} in cycles, {}.",
            all.join(", ")
        )
    })
}

/// The cycles of one thing that was timed inside.
fn timed(facts: &Facts<'_>, workload: &str, reference: &str) -> Table {
    let caption = match workload {
        "cycles/independent" => "inet6_ehashfn: cycles per call, independent calls",
        "cycles/dependent" => "inet6_ehashfn: cycles per call, each call waits for the one before",
        "cycles/miss" => "__inet6_lookup_established: cycles per lookup of a missing connection",
        HIT => "__inet6_lookup_established: cycles per lookup of an existing connection, and its release",
        other => other,
    };
    let row = |scheme: &&str| {
        let record = facts.record(workload, scheme, metric::CYCLES_MIN_MEAN)?;
        Some(vec![
            (*scheme).to_owned(),
            bounds(record.interval()),
            against(facts, workload, scheme, reference).map_or_else(format::none, words::ratio_with_bounds),
            facts.value(workload, scheme, metric::AGAIN).map_or_else(format::none, ratio),
        ])
    };
    Table {
        caption: caption.to_owned(),
        columns: columns("kernel", ["cycles", "to the reference", "A/A"]),
        left: 1,
        rows: facts.schemes.iter().filter_map(row).collect(),
        shown: Shown::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_lab::definition::Definition;

    fn definition() -> Definition {
        Definition::parse(include_str!("../flow-kernel/study.toml"), "test").unwrap()
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

    #[test]
    fn prints_the_source_s_table_with_the_noise() {
        let section = section(&definition(), &records()).unwrap();
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
        let section = section(&definition(), &records()).unwrap();
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
        assert!(section(&definition(), &RecordSet::new()).is_none());
    }
}
