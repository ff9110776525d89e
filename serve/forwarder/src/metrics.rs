//! Counters in the text format of Prometheus.

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

/// The counters of a forwarder.
pub(crate) fn text(counters: &Counters) -> String {
    let mut text = String::new();
    let mut packets =
        Metric::new(&mut text, "hashlane_ndn_packets_total", "counter", "Packets, by direction and type.");
    for (direction, types) in PACKETS {
        for (name, of) in types {
            packets.value(&[("direction", direction), ("type", name)], of(counters).value());
        }
    }
    Metric::new(&mut text, "hashlane_ndn_pit_ended_total", "counter", "PIT entries that ended, by outcome.")
        .value(&[("outcome", "satisfied")], counters.satisfied.value())
        .value(&[("outcome", "expired")], counters.unsatisfied.value())
        .value(&[("outcome", "evicted")], counters.evicted.value());
    Metric::new(
        &mut text,
        "hashlane_ndn_cs_lookups_total",
        "counter",
        "Lookups in the content store, by outcome.",
    )
    .value(&[("outcome", "hit")], counters.cs_hits.value())
    .value(&[("outcome", "miss")], counters.cs_misses.value());
    let mut entries = Metric::new(&mut text, "hashlane_ndn_entries", "gauge", "Entries of tables.");
    for (table, of) in ENTRIES {
        entries.value(&[("table", table)], of(counters).value());
    }
    let mut drops =
        Metric::new(&mut text, "hashlane_ndn_dropped_total", "counter", "Packets dropped, by reason.");
    for reason in DropReason::ALL {
        drops.value(&[("reason", reason.name())], counters.drops.value(*reason));
    }
    let mut overload = Metric::new(
        &mut text,
        "hashlane_ndn_overload_total",
        "counter",
        "Datagrams, packets, faces, connections and log lines lost to a limit, by cause.",
    );
    for (cause, of) in OVERLOAD {
        overload.value(&[("cause", cause)], of(counters).value());
    }
    Metric::new(&mut text, "hashlane_ndn_build_info", "gauge", "Version of the program.")
        .value(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_is_there() {
        let counters = Counters::default();
        counters.in_data.add(3);
        let text = text(&counters);
        for line in [
            "hashlane_ndn_packets_total{direction=\"in\",type=\"data\"} 3",
            "hashlane_ndn_entries{table=\"pit\"} 0",
            "hashlane_ndn_pit_ended_total{outcome=\"expired\"} 0",
            "hashlane_ndn_overload_total{cause=\"faces-refused\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let drops = text.lines().filter(|line| line.starts_with("hashlane_ndn_dropped_total{"));
        assert_eq!(drops.count(), DropReason::ALL.len());
    }
}
