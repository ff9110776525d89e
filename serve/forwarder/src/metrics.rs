//! Counters in the text format of Prometheus.

use crate::totals::Totals;
use hashlane_daemon::prometheus::Metric;
use hashlane_ndn_fw::face::Counter;
use hashlane_ndn_fw::forward::{Counters, DropReason};

/// A counter by its name.
type Named = (&'static str, fn(&Counters) -> &Counter);

/// Packets by type and direction.
const PACKETS: [(&str, [Named; 3]); 2] = [
    ("in", [("interest", |c| &c.in_interests), ("data", |c| &c.in_data), ("nack", |c| &c.in_nacks)]),
    ("out", [("interest", |c| &c.out_interests), ("data", |c| &c.out_data), ("nack", |c| &c.out_nacks)]),
];

/// Entries of tables.
const ENTRIES: [Named; 3] =
    [("pit", |c| &c.pit_entries), ("cs", |c| &c.cs_entries), ("measurements", |c| &c.measurements_entries)];

/// Losses to limits, by cause.
const OVERLOAD: [Named; 7] = [
    ("receive-queue-full", |c| &c.udp_overflows),
    ("receive-limited", |c| &c.flood_drops),
    ("send-queue-full", |c| &c.queue_drops),
    ("faces-evicted", |c| &c.evicted_faces),
    ("connections-evicted", |c| &c.evicted_connections),
    ("faces-refused", |c| &c.refused_faces),
    ("log-lines", |c| &c.suppressed_lines),
];

/// Link packets of faces with link reliability, by outcome.
const RELIABILITY: [Named; 5] = [
    ("acknowledged", |c| &c.reliability.acknowledged),
    ("retransmitted", |c| &c.reliability.retransmitted),
    ("lost", |c| &c.reliability.lost),
    ("unprotected", |c| &c.reliability.unprotected),
    ("duplicate", |c| &c.reliability.duplicates),
];

/// The counters of a forwarder.
pub(crate) fn text(counters: &Totals) -> String {
    let mut text = String::new();
    let mut packets =
        Metric::new(&mut text, "hashlane_ndn_packets_total", "counter", "Packets, by direction and type.");
    for (direction, types) in PACKETS {
        for (name, of) in types {
            packets.value(&[("direction", direction), ("type", name)], counters.value(of));
        }
    }
    Metric::new(&mut text, "hashlane_ndn_pit_ended_total", "counter", "PIT entries that ended, by outcome.")
        .value(&[("outcome", "satisfied")], counters.value(|all| &all.satisfied))
        .value(&[("outcome", "expired")], counters.value(|all| &all.unsatisfied))
        .value(&[("outcome", "evicted")], counters.value(|all| &all.evicted));
    Metric::new(
        &mut text,
        "hashlane_ndn_cs_lookups_total",
        "counter",
        "Lookups in the content store, by outcome.",
    )
    .value(&[("outcome", "hit")], counters.value(|all| &all.cs_hits))
    .value(&[("outcome", "miss")], counters.value(|all| &all.cs_misses));
    let mut entries = Metric::new(&mut text, "hashlane_ndn_entries", "gauge", "Entries of tables.");
    for (table, of) in ENTRIES {
        entries.value(&[("table", table)], counters.value(of));
    }
    let mut drops =
        Metric::new(&mut text, "hashlane_ndn_dropped_total", "counter", "Packets dropped, by reason.");
    for reason in DropReason::ALL {
        drops.value(&[("reason", reason.name())], counters.dropped(*reason));
    }
    let mut overload = Metric::new(
        &mut text,
        "hashlane_ndn_overload_total",
        "counter",
        "Datagrams, packets, faces, connections and log lines lost to a limit, by cause.",
    );
    for (cause, of) in OVERLOAD {
        overload.value(&[("cause", cause)], counters.value(of));
    }
    let mut reliability = Metric::new(
        &mut text,
        "hashlane_ndn_reliability_total",
        "counter",
        "Link packets of faces with link reliability, by outcome.",
    );
    for (outcome, of) in RELIABILITY {
        reliability.value(&[("outcome", outcome)], counters.value(of));
    }
    Metric::new(&mut text, "hashlane_ndn_build_info", "gauge", "Version of the program.")
        .value(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn every_counter_is_there() {
        let shards = [1, 2].map(|data| {
            let counters = Counters::default();
            counters.in_data.add(data);
            Arc::new(counters)
        });
        let text = text(&Totals::new(shards));
        for line in [
            "hashlane_ndn_packets_total{direction=\"in\",type=\"data\"} 3",
            "hashlane_ndn_entries{table=\"pit\"} 0",
            "hashlane_ndn_pit_ended_total{outcome=\"expired\"} 0",
            "hashlane_ndn_overload_total{cause=\"faces-refused\"} 0",
            "hashlane_ndn_reliability_total{outcome=\"retransmitted\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let drops = text.lines().filter(|line| line.starts_with("hashlane_ndn_dropped_total{"));
        assert_eq!(drops.count(), DropReason::ALL.len());
    }
}
