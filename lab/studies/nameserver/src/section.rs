//! Report section: cost of answers, memory and load time of zones, reloads, and latency.

use crate::metric;
use crate::workloads::{
    ALONE, COSTS, EXISTING, LOAD, LOAD_LARGE, MEMORY, MEMORY_LARGE, MODEL, RANDOM, RELOAD,
};
use hashlane_lab::definition::Definition;
use hashlane_lab::report::facts::table;
use hashlane_lab::report::words;
use hashlane_lab::report::{Block, Facts, Section, Shown, Table};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::format::{count, figure, interval, none, percent, significant};

const MIB: f64 = 1_048_576.0;

pub(crate) fn section(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let facts = Facts::of(definition, records, MODEL)?;
    let tables = [
        cost(&facts, definition),
        published(&facts, definition),
        growth(&facts),
        reload(&facts),
        latency(&facts),
    ];
    let note = "CPU time of all processes of a server, in user space and in the kernel, over the answers, \
                all of which were checked. Memory counts each page once, also if several processes share it. \
                Load times run from the start to the first answer, less those with a zone of few records.";
    Some(Section {
        title: "Name servers".to_owned(),
        note: facts.note(note.to_owned()),
        findings: Vec::new(),
        blocks: tables.into_iter().flatten().map(Block::Table).collect(),
    })
}

/// Rows of all servers on workloads that have a metric.
fn rows<'a>(
    facts: &Facts<'a>,
    labels: impl IntoIterator<Item = &'a str>,
    metric: &str,
    row: impl Fn(&'a str, &'a str) -> Vec<String>,
) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for label in labels {
        let schemes = facts.schemes_on(label).filter(|id| facts.record(label, id, metric).is_some());
        rows.extend(schemes.map(|id| row(label, id)));
    }
    rows
}

/// CPU time of answers.
fn cost(facts: &Facts<'_>, definition: &Definition) -> Option<Table> {
    let row = |label: &str, id: &str| {
        let us = facts.record(label, id, metric::CPU_US).map(Record::interval);
        let ratio = facts.records.ratio(facts.study, label, id, &definition.reference).map(Record::interval);
        let lost = match (facts.value(label, id, metric::LOST), facts.value(label, id, metric::QUERIES)) {
            (Some(lost), Some(queries)) if lost > 0.0 => percent(lost / queries),
            _ => none(),
        };
        vec![
            label.to_owned(),
            id.to_owned(),
            us.map_or_else(none, |us| format!("{} {}", significant(us.value), interval(us, significant))),
            ratio.map_or_else(none, words::ratio_with_bounds),
            facts.value(label, id, metric::RATE).map_or_else(none, |rate| count((rate / 1e3).round())),
            lost,
        ]
    };
    let columns = ["workload", "server", "CPU µs/answer", "CPU to ours", "1,000 answers/s", "lost"];
    let labels = COSTS.iter().map(|(id, ..)| *id);
    table("cost of an answer", &columns, 2, rows(facts, labels, metric::CPU_US, row))
}

/// Figures of the same servers that were measured elsewhere, beside those of this run.
fn published(facts: &Facts<'_>, definition: &Definition) -> Option<Table> {
    let published = definition.published("cpu")?;
    let row = |label: &str, id: &str| {
        let elsewhere = published.figure(label, id)?;
        let here = facts.value(label, id, metric::CPU_US)?;
        Some(vec![label.to_owned(), id.to_owned(), significant(elsewhere), significant(here)])
    };
    let all = published.rows.iter().flat_map(|of| published.columns.iter().map(move |id| (&of.id, id)));
    let rows = all.filter_map(|(label, id)| row(label, id)).collect();
    let columns = ["workload", "server", "elsewhere, µs", "here, µs"];
    let mut table = table("beside figures measured elsewhere", &columns, 2, rows)?;
    table.shown = Shown::Folded;
    Some(table)
}

/// Memory and load time of zones.
fn growth(facts: &Facts<'_>) -> Option<Table> {
    let labels = [(MEMORY, LOAD), (MEMORY_LARGE, LOAD_LARGE)];
    let mut all = Vec::new();
    for (memory, load) in labels {
        for id in facts.schemes_on(memory) {
            let value = |label, metric, show: fn(f64) -> String| facts.value(label, id, metric).map(show);
            let mebibytes = |bytes: f64| count(bytes / MIB);
            let ratio = |label| {
                let ratio =
                    facts.records.ratio(facts.study, label, id, crate::workloads::OURS).map(Record::interval);
                ratio.map(words::ratio_with_bounds)
            };
            let cells = [
                value(memory, metric::RECORDS, count),
                value(memory, metric::BYTES_PER_RECORD, figure),
                ratio(memory),
                value(memory, metric::MEMORY, mebibytes),
                value(memory, metric::PEAK, mebibytes),
                value(memory, metric::EMPTY_MEMORY, mebibytes),
                value(load, metric::LOAD_SECONDS, significant),
                ratio(load),
                value(load, metric::LOAD_RATE, significant),
                value(load, metric::EMPTY_SECONDS, significant),
            ];
            if cells.iter().any(Option::is_some) {
                let mut row = vec![id.to_owned()];
                row.extend(cells.into_iter().map(|cell| cell.unwrap_or_else(none)));
                all.push(row);
            }
        }
    }
    let columns = [
        "server",
        "records",
        "bytes a record",
        "to ours",
        "MiB",
        "peak MiB",
        "MiB with few records",
        "load s",
        "load to ours",
        "records/s",
        "start s",
    ];
    table("memory and load time of a zone", &columns, 1, all)
}

/// Losses during reloads.
fn reload(facts: &Facts<'_>) -> Option<Table> {
    let row = |label: &str, id: &str| {
        let value = |metric, show: fn(f64) -> String| facts.value(label, id, metric).map_or_else(none, show);
        vec![
            id.to_owned(),
            value(metric::RELOADS, count),
            value(metric::RELOAD_MS, significant),
            value(metric::QUERIES, count),
            value(metric::LOST, count),
        ]
    };
    let columns = ["server", "reloads", "ms each", "queries", "lost"];
    table("reloads under 50,000 queries/s", &columns, 1, rows(facts, [RELOAD], metric::RELOADS, row))
}

/// Latency of a client.
fn latency(facts: &Facts<'_>) -> Option<Table> {
    let row = |label: &str, id: &str| {
        let with_bounds = |metric| {
            let record = facts.record(label, id, metric).map(Record::interval);
            record.map_or_else(none, |us| format!("{} {}", significant(us.value), interval(us, significant)))
        };
        let growth = facts.record(label, id, metric::P99_GROWTH).map(Record::interval);
        vec![
            label.to_owned(),
            id.to_owned(),
            facts.value(label, id, metric::P50_US).map_or_else(none, significant),
            with_bounds(metric::P99_US),
            growth.map_or_else(none, words::ratio_with_bounds),
            facts.value(label, id, metric::LOST).map_or_else(none, count),
        ]
    };
    let columns = ["workload", "server", "p50 µs", "p99 µs", "p99 to existing names", "lost"];
    let labels = [ALONE, EXISTING, RANDOM];
    table("latency of a client", &columns, 2, rows(facts, labels, metric::P99_US, row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{definition, records};
    use crate::workloads::{NSD, OURS};
    use hashlane_lab::outcome::Reached;
    use hashlane_stats::format::NONE;

    #[test]
    fn tables_have_what_was_measured() {
        let figures = [
            ("165k/mix", OURS, metric::CPU_US, "us", 2.0),
            ("165k/mix", OURS, metric::RATE, "1/s", 345_678.0),
            ("165k/mix", NSD, metric::CPU_US, "us", 3.0),
            ("165k/mix", NSD, metric::RATIO, OURS, 1.5),
            ("165k/mix", NSD, metric::QUERIES, "queries", 1e6),
            ("165k/mix", NSD, metric::LOST, "queries", 1e4),
            (MEMORY, OURS, metric::BYTES_PER_RECORD, "bytes", 61.0),
            (MEMORY, NSD, metric::BYTES_PER_RECORD, "bytes", 190.0),
            (MEMORY, NSD, metric::RATIO, OURS, 3.1),
            (LOAD, OURS, metric::LOAD_SECONDS, "s", 0.5),
            (RELOAD, OURS, metric::RELOADS, "reloads", 100.0),
            (RELOAD, OURS, metric::LOST, "queries", 0.0),
            (RANDOM, OURS, metric::P99_US, "us", 80.0),
            (RANDOM, OURS, metric::P99_GROWTH, EXISTING, 1.01),
        ];
        let section = section(&definition(), &records(&figures)).unwrap();
        let cost = section.table("cost of an answer");
        assert_eq!(cost.rows[0], ["165k/mix", OURS, "2.00 [1.96, 2.04]", NONE, "346", NONE]);
        assert_eq!(cost.rows[1][3..], ["1.500 [1.470, 1.530]", NONE, "1.0 %"]);
        assert_eq!(section.table("beside figures").rows, [["165k/mix", NSD, "3.10", "3.00"]]);
        let growth = section.table("memory and load");
        assert_eq!(growth.rows[0], [OURS, "61.0", NONE, "0.50"]);
        assert_eq!(growth.rows[1], [NSD, "190", "3.10 [3.04, 3.16]", NONE]);
        assert_eq!(section.table("reloads").rows, [[OURS, "100", "0"]]);
        assert_eq!(section.table("latency").rows.len(), 1);
        assert!(super::section(&definition(), &RecordSet::new()).is_none());
    }

    #[test]
    fn criteria_are_decided_by_the_records() {
        let definition = definition();
        let reached = |workload: &str, figures: &[_]| {
            let records = records(figures);
            let outcomes = definition.criterion_outcomes(&records);
            let mut of = outcomes.iter().filter(|outcome| outcome.criterion.workload == workload);
            of.next().unwrap().reached
        };
        let cost = |ratio| reached("165k/mix", &[("165k/mix", OURS, metric::RATIO, NSD, ratio)]);
        assert_eq!([0.7, 0.85, 0.9].map(cost), [Reached::Met, Reached::Undecided, Reached::Missed]);
        let load = |ratio| reached(LOAD, &[(LOAD, OURS, metric::RATIO, NSD, ratio)]);
        assert_eq!([0.4, 0.6].map(load), [Reached::Met, Reached::Missed]);
        let lost = |lost| reached(RELOAD, &[(RELOAD, OURS, metric::LOST, "queries", lost)]);
        assert_eq!([0.0, 1.0].map(lost), [Reached::Met, Reached::Missed]);
        let growth = |growth| reached(RANDOM, &[(RANDOM, OURS, metric::P99_GROWTH, EXISTING, growth)]);
        assert_eq!([1.0, 1.2].map(growth), [Reached::Met, Reached::Missed]);
        assert_eq!(reached(MEMORY, &[]), Reached::NotMeasured);
    }
}
