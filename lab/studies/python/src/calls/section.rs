//! Report section: hashes of strings by package, keys counted in sketches, and the cost of calls.

use super::run::MODEL;
use super::subject::{BY_BATCH, CALLS, OURS, SPREAD, STRINGS};
use crate::data::BATCH;
use crate::metric;
use hashlane_lab::definition::Definition;
use hashlane_lab::report::facts::table;
use hashlane_lab::report::words;
use hashlane_lab::report::{Block, Facts, Section, Table};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::format::{figure, interval, none, percent, significant};

pub(super) fn section(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let facts = Facts::of(definition, records, MODEL)?;
    let tables = [strings(&facts, &definition.reference), spread(&facts), calls(&facts)];
    let note = "Time on the clock of one thread around the calls alone. Polars and pyarrow columns, lists of \
                bytes (xxhash, mmh3, siphashc) and arrays of objects (pandas) are made before.";
    Some(Section {
        title: "Hashes in Python".to_owned(),
        note: facts.note(note.to_owned()),
        findings: Vec::new(),
        blocks: tables.into_iter().flatten().map(Block::Table).collect(),
    })
}

fn with_bounds(record: &Record) -> String {
    let ns = record.interval();
    format!("{} {}", significant(ns.value), interval(ns, significant))
}

/// Millions of keys per second at so many nanoseconds a key.
fn rate(record: &Record) -> String {
    figure(1e3 / record.value)
}

/// All packages on strings.
fn strings(facts: &Facts<'_>, reference: &str) -> Option<Table> {
    let row = |id: &str| {
        let ns = facts.record(STRINGS, id, metric::NS)?;
        let ratio = facts.records.ratio(facts.study, STRINGS, id, reference).map(Record::interval);
        let key = if is_keyed(id) { "yes" } else { "no" };
        let ratio = ratio.map_or_else(none, words::ratio_with_bounds);
        Some(vec![id.to_owned(), key.to_owned(), with_bounds(ns), rate(ns), ratio])
    };
    let columns = ["scheme", "keyed", "ns/key", "M keys/s", "to ours"];
    table("strings of 16 to 64 bytes", &columns, 1, facts.schemes_on(STRINGS).filter_map(row).collect())
}

/// `true` of hashes whose collisions nobody can compute without the key.
fn is_keyed(scheme: &str) -> bool {
    // pandas hashes strings by SipHash-2-4.
    scheme.contains("/siphash-") || scheme == "pandas/hash-array"
}

/// Tuples of 36 bytes into sketches.
fn spread(facts: &Facts<'_>) -> Option<Table> {
    let row = |(label, buckets): &(&str, usize)| {
        let ns = facts.record(label, OURS, metric::NS)?;
        let memory = format!("{} MiB", figure((buckets * 8) as f64 / 1_048_576.0));
        Some(vec![(*label).to_owned(), memory, with_bounds(ns), rate(ns)])
    };
    let columns = ["workload", "counters", "ns/key", "M keys/s"];
    table("tuples of 36 bytes into a sketch", &columns, 1, SPREAD.iter().filter_map(row).collect())
}

/// One call for all batches, and a call for each.
fn calls(facts: &Facts<'_>) -> Option<Table> {
    let row = |label: &&str| {
        let one = facts.record(label, OURS, metric::NS)?;
        let each = facts.record(label, BY_BATCH, metric::NS).map_or_else(none, with_bounds);
        let ratio = facts.records.ratio(facts.study, label, BY_BATCH, OURS).map(Record::interval);
        let empty = facts.record(label, OURS, metric::EMPTY_NS);
        // Of 65,536 keys.
        let share = empty.map(|empty| percent(empty.value / (one.value * BATCH as f64)));
        Some(vec![
            (*label).to_owned(),
            with_bounds(one),
            each,
            ratio.map_or_else(none, words::ratio_with_bounds),
            empty.map_or_else(none, |empty| significant(empty.value)),
            share.unwrap_or_else(none),
        ])
    };
    let columns = [
        "workload",
        "one call, ns/key",
        "a call a batch, ns/key",
        "to one call",
        "empty call, ns",
        "of a batch",
    ];
    table("a call for each 65,536 rows", &columns, 1, CALLS.iter().filter_map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::definition;
    use crate::sample::records;
    use hashlane_lab::outcome::Reached;
    use hashlane_stats::format::NONE;

    #[test]
    fn tables_have_what_was_measured() {
        let definition = definition();
        let figures = [
            (STRINGS, OURS, metric::NS, "ns", 2.5),
            (STRINGS, "polars/hash", metric::NS, "ns", 6.25),
            (STRINGS, "polars/hash", metric::RATIO, OURS, 2.5),
            (STRINGS, "pandas/hash-array", metric::NS, "ns", 100.0),
            (SPREAD[0].0, OURS, metric::NS, "ns", 5.0),
            (CALLS[0], OURS, metric::NS, "ns", 4.0),
            (CALLS[0], BY_BATCH, metric::NS, "ns", 4.04),
            (CALLS[0], BY_BATCH, metric::RATIO, OURS, 1.01),
            (CALLS[0], OURS, metric::EMPTY_NS, "ns", 2_621.44),
        ];
        let section = section(&definition, &records(&definition, &figures)).unwrap();
        let strings = section.table("strings of 16");
        assert_eq!(strings.rows[0], [OURS, "yes", "2.50 [2.48, 2.52]", "400", NONE]);
        assert_eq!(strings.rows[1][1..2], ["no"]);
        assert_eq!(strings.rows[1][4], "2.50 [2.48, 2.52]");
        assert_eq!(strings.rows[2][1], "yes");
        assert_eq!(section.table("tuples of 36").rows[0][1..], ["0.5 MiB", "5.00 [4.95, 5.05]", "200"]);
        let calls = section.table("a call for each");
        assert_eq!(calls.rows.len(), 1);
        assert_eq!(calls.rows[0][3..], ["1.010 [1.000, 1.020]", "2,620", "1.0 %"]);
        assert!(super::section(&definition, &RecordSet::new()).is_none());
    }

    #[test]
    fn criteria_are_decided_package_by_package() {
        let definition = definition();
        let reached = |workload: &str, of: &str, figure: (&str, &str, f64)| {
            let (metric, unit, value) = figure;
            let records = records(&definition, &[(workload, of, metric, unit, value)]);
            let outcomes = definition.criterion_outcomes(&records);
            let measured: Vec<Reached> =
                outcomes.iter().filter(|o| o.measured.is_some()).map(|o| o.reached).collect();
            let [reached] = measured[..] else { panic!("{measured:?}") };
            reached
        };
        let strings = |to, ratio| reached(STRINGS, OURS, (metric::RATIO, to, ratio));
        assert_eq!(strings("xxhash/xxh3-64", 0.06), Reached::Met);
        assert_eq!(strings("polars/hash", 0.4), Reached::Missed);
        assert_eq!(strings("polars-hash/wyhash", 0.2), Reached::Undecided);
        assert_eq!(reached(SPREAD[0].0, OURS, (metric::NS, "ns", 5.0)), Reached::Met);
        for label in CALLS {
            let call = |ratio| reached(label, BY_BATCH, (metric::RATIO, OURS, ratio));
            assert_eq!([1.01, 1.03, 1.06].map(call), [Reached::Met, Reached::Undecided, Reached::Missed]);
        }
    }
}
