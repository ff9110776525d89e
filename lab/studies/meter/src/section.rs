//! Report section: cost of meters, memory of flows, floods, and losses on an interface.

use crate::metric;
use crate::workloads::{FLOOD, LIVE_FLOOD, LIVE_LOSS, MEMORY, MIX_CPU, MIX_WALL, MODEL, OURS, SOFTFLOWD};
use hashlane_lab::definition::Definition;
use hashlane_lab::report::facts::table;
use hashlane_lab::report::words;
use hashlane_lab::report::{Block, Facts, Section, Table};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::format::{count, figure, interval, none, percent, significant};

const MIB: f64 = 1_048_576.0;

pub(crate) fn section(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let facts = Facts::of(definition, records, MODEL)?;
    let tables = [cost(&facts, &definition.reference), memory(&facts), loss(&facts)];
    let note = "CPU time of the process in user space and in the kernel, from its start to its end, over the \
                packets of the capture. Memory is the peak of resident memory; bytes a flow under floods are \
                the difference from a quarter of the limit, over the difference of the limits. Meters write \
                different records: softflowd and nfpcapd one for each direction.";
    Some(Section {
        title: "Flow meters".to_owned(),
        note: facts.note(note.to_owned()),
        findings: Vec::new(),
        blocks: tables.into_iter().flatten().map(Block::Table).collect(),
    })
}

/// All meters on one capture.
fn cost(facts: &Facts<'_>, reference: &str) -> Option<Table> {
    let schemes = facts
        .schemes
        .iter()
        .filter(|id| [MIX_CPU, MIX_WALL].iter().any(|label| facts.record(label, id, metric::NS).is_some()));
    let row = |id: &&str| {
        let ns = |label| {
            let record = facts.record(label, id, metric::NS).map(Record::interval);
            record.map_or_else(none, |ns| format!("{} {}", figure(ns.value), interval(ns, figure)))
        };
        let ratio = |label| {
            let ratio = facts.records.ratio(facts.study, label, id, reference).map(Record::interval);
            ratio.map_or_else(none, words::ratio_with_bounds)
        };
        let value =
            |metric, show: fn(f64) -> String| facts.value(MIX_CPU, id, metric).map_or_else(none, show);
        vec![
            (*id).to_owned(),
            value(metric::RATE_CORE, |rate| format!("{:.2}", rate / 1e6)),
            ns(MIX_CPU),
            ratio(MIX_CPU),
            ns(MIX_WALL),
            ratio(MIX_WALL),
            value(metric::PEAK, |bytes| count(bytes / MIB)),
            value(metric::RECORDS, count),
        ]
    };
    let columns = [
        "meter",
        "M packets/s/core",
        "CPU ns/packet",
        "CPU to ours",
        "clock ns/packet",
        "clock to ours",
        "peak MiB",
        "records",
    ];
    table("a capture of many flows", &columns, 1, schemes.map(row).collect())
}

/// Memory and counters of ours under floods.
fn memory(facts: &Facts<'_>) -> Option<Table> {
    let of = |label: &&str| facts.record(label, OURS, metric::BYTES_PER_FLOW).is_some();
    let labels = [MEMORY, FLOOD, LIVE_FLOOD];
    let row = |label: &&str| {
        let value =
            |metric, show: fn(f64) -> String| facts.value(label, OURS, metric).map_or_else(none, show);
        vec![
            (*label).to_owned(),
            value(metric::FLOWS, count),
            value(metric::RATE, significant),
            value(metric::PEAK, |bytes| count(bytes / MIB)),
            value(metric::QUARTER_PEAK, |bytes| count(bytes / MIB)),
            value(metric::BYTES_PER_FLOW, figure),
            value(metric::EVICTED, count),
            value(metric::RECORDS, count),
            value(metric::LOST_FLOWS, count),
            value(metric::UNCOUNTED_FLOWS, count),
            value(metric::MISCOUNTED, count),
        ]
    };
    let columns = [
        "workload",
        "flows",
        "packets/s",
        "peak MiB",
        "with a quarter of the limit",
        "bytes a flow",
        "evicted",
        "records",
        "flows without a record",
        "of these not counted",
        "packets of established flows miscounted",
    ];
    table("ours under floods", &columns, 1, labels.iter().filter(|label| of(label)).map(row).collect())
}

/// Losses on an interface.
fn loss(facts: &Facts<'_>) -> Option<Table> {
    let value = |id: &str, metric, show: fn(f64) -> String| facts.value(LIVE_LOSS, id, metric).map(show);
    let softflowd = value(SOFTFLOWD, metric::LOSING_RATE, significant)
        .map(|rate| vec![SOFTFLOWD.to_owned(), rate, none(), "more than 0.1 %".to_owned()]);
    let ours = value(OURS, metric::RATE, significant).map(|rate| {
        let packets = value(OURS, metric::PACKETS, count).unwrap_or_else(none);
        let lost = value(OURS, metric::LOST_SHARE, percent).unwrap_or_else(none);
        vec![OURS.to_owned(), rate, packets, lost]
    });
    let rows = [softflowd, ours].into_iter().flatten().collect();
    table("losses on an interface", &["meter", "packets/s", "packets", "lost"], 1, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{definition, records};
    use hashlane_lab::outcome::Reached;
    use hashlane_stats::format::NONE;

    #[test]
    fn tables_have_what_was_measured() {
        let figures = [
            (MIX_CPU, OURS, metric::NS, "ns", 83.0),
            (MIX_CPU, OURS, metric::RATE_CORE, "1/s", 12.05e6),
            (MIX_CPU, OURS, metric::PEAK, "bytes", 52_428_800.0),
            (MIX_CPU, OURS, metric::RECORDS, "records", 350_000.0),
            (MIX_CPU, SOFTFLOWD, metric::NS, "ns", 996.0),
            (MIX_CPU, SOFTFLOWD, metric::RATIO, OURS, 12.0),
            (MEMORY, OURS, metric::FLOWS, "flows", 1e7),
            (MEMORY, OURS, metric::BYTES_PER_FLOW, "bytes", 131.0),
            (LIVE_LOSS, OURS, metric::RATE, "1/s", 4e5),
            (LIVE_LOSS, OURS, metric::LOST_SHARE, "share", 0.0),
            (LIVE_LOSS, SOFTFLOWD, metric::LOSING_RATE, "1/s", 2e5),
        ];
        let section = section(&definition(), &records(&figures)).unwrap();
        let cost = section.table("a capture");
        assert_eq!(cost.columns.len(), 6);
        assert_eq!(cost.rows[0], [OURS, "12.05", "83.0 [81.3, 84.7]", NONE, "50", "350,000"]);
        assert_eq!(cost.rows[1][3], "12.0 [11.8, 12.2]");
        assert_eq!(section.table("ours under").rows, [["memory", "10,000,000", "131"]]);
        let loss = section.table("losses");
        assert_eq!(loss.rows[0], [SOFTFLOWD, "200,000", "more than 0.1 %"]);
        assert_eq!(loss.rows[1], [OURS, "400,000", "0.0 %"]);
        assert!(super::section(&definition(), &RecordSet::new()).is_none());
    }

    #[test]
    fn a_loss_that_was_not_measured_meets_no_criterion() {
        let definition = definition();
        let reached = |figures: &[_]| -> Vec<Reached> {
            let records = records(figures);
            let outcomes = definition.criterion_outcomes(&records);
            let of = |outcome: &&hashlane_lab::outcome::CriterionOutcome<'_>| {
                outcome.criterion.workload == LIVE_LOSS
            };
            outcomes.iter().filter(of).map(|outcome| outcome.reached).collect()
        };
        assert_eq!(reached(&[(LIVE_LOSS, OURS, metric::LOST_SHARE, "share", 0.0)]), [Reached::NotMeasured]);
        assert_eq!(reached(&[(LIVE_LOSS, OURS, metric::LOST, "packets", 0.0)]), [Reached::Met]);
        assert_eq!(reached(&[(LIVE_LOSS, OURS, metric::LOST, "packets", 1.0)]), [Reached::Missed]);
    }
}
