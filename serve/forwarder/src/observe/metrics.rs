//! Counters in the text format of Prometheus.

use super::snapshot::{Shares, Snapshot};
use crate::totals::{LOSSES, Named, Totals};
use hashlane_daemon::prometheus::{Metric, histogram};
use hashlane_ndn_fw::forward::{Counters, DropReason};
use hashlane_ndn_fw::latency::{BOUNDS, Latency};
use hashlane_ndn_fw::strategy::StrategyKind;
use std::time::UNIX_EPOCH;

/// Packets by type and direction.
const PACKETS: [(&str, [Named; 3]); 2] = [
    ("in", [("interest", |c| &c.in_interests), ("data", |c| &c.in_data), ("nack", |c| &c.in_nacks)]),
    ("out", [("interest", |c| &c.out_interests), ("data", |c| &c.out_data), ("nack", |c| &c.out_nacks)]),
];

/// Entries of tables.
const ENTRIES: [Named; 3] =
    [("pit", |c| &c.pit_entries), ("cs", |c| &c.cs_entries), ("measurements", |c| &c.measurements_entries)];

/// Link packets of faces with link reliability, by outcome.
const RELIABILITY: [Named; 5] = [
    ("acknowledged", |c| &c.reliability.acknowledged),
    ("retransmitted", |c| &c.reliability.retransmitted),
    ("lost", |c| &c.reliability.lost),
    ("unprotected", |c| &c.reliability.unprotected),
    ("duplicate", |c| &c.reliability.duplicates),
];

/// Latencies of all shards: of each bucket, above all bounds, and their sum in nanoseconds.
pub(super) fn latencies(counters: &Totals) -> ([u64; BOUNDS.len()], u64, u64) {
    let sum = |of: &dyn Fn(&Latency) -> u64| counters.shards().map(|shard| of(&shard.latency)).sum::<u64>();
    let buckets = std::array::from_fn(|at| sum(&|latency| latency.bucket(at)));
    (buckets, sum(&|latency| latency.bucket(BOUNDS.len())), sum(&|latency| latency.sum()))
}

/// The metrics of a forwarder: counters as of now, and what its last snapshot has.
pub(super) fn text(counters: &Totals, snapshot: &Snapshot) -> String {
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
    // Each shard has all routes.
    entries.value(&[("table", "fib")], counters.largest(|all| &all.fib_entries));
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
    for (cause, of) in LOSSES {
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
    tables(&mut text, counters, snapshot);
    let (buckets, above, sum) = latencies(counters);
    histogram(
        &mut text,
        "hashlane_ndn_satisfaction_seconds",
        "Time from the last sending of an Interest to the Data from there.",
        BOUNDS.iter().map(|bound| *bound as f64 / 1e9).zip(buckets),
        above,
        sum as f64 / 1e9,
    );
    let mut decisions = Metric::new(
        &mut text,
        "hashlane_ndn_strategy_decisions_total",
        "counter",
        "Decisions of strategies about Interests.",
    );
    for kind in StrategyKind::ALL {
        let names = counters.shards().next().into_iter().flat_map(|first| first.decisions.of(*kind));
        for (at, (decision, _)) in names.enumerate() {
            let number = |shard: &Counters| shard.decisions.of(*kind).nth(at).map_or(0, |(_, number)| number);
            let sum: u64 = counters.shards().map(number).sum();
            decisions.value(&[("strategy", kind.name()), ("decision", decision)], sum);
        }
    }
    let mut faces = Metric::new(&mut text, "hashlane_ndn_faces", "gauge", "Open faces, by scheme and scope.");
    for ((scheme, scope), count) in &snapshot.faces {
        faces.value(&[("scheme", scheme), ("scope", scope)], count);
    }
    management(&mut text, snapshot);
    shares(
        &mut text,
        ("hashlane_ndn_prefix_packets", "prefix"),
        "Packets of the last hour by the first two components of their names, estimated from samples.",
        &snapshot.prefixes,
    );
    shares(
        &mut text,
        ("hashlane_ndn_peer_bytes", "peer"),
        "Bytes of the last hour, received and sent, by address of the peer.",
        &snapshot.peers,
    );
    Metric::new(&mut text, "hashlane_ndn_build_info", "gauge", "Version of the program.")
        .value(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    text
}

/// Sizes and ages of tables.
fn tables(text: &mut String, counters: &Totals, snapshot: &Snapshot) {
    Metric::new(text, "hashlane_ndn_table_bytes", "gauge", "Memory of tables.")
        .value(&[("table", "pit")], counters.value(|all| &all.pit_bytes))
        .value(&[("table", "cs")], counters.value(|all| &all.cs_bytes))
        .value(&[("table", "fib")], counters.value(|all| &all.fib_bytes));
    let age = counters.largest(|all| &all.pit_age) as f64 / 1e3;
    Metric::new(
        text,
        "hashlane_ndn_pit_oldest_seconds",
        "gauge",
        "Time since the oldest pending Interest of a part of the PIT was sent.",
    )
    .value(&[], age);
    let age = counters.largest(|all| &all.cs_age) as f64 / 1e3;
    Metric::new(
        text,
        "hashlane_ndn_cs_oldest_seconds",
        "gauge",
        "Time since the packet of the content store that is evicted next was used, arrived or became stale.",
    )
    .value(&[], age);
    Metric::new(text, "hashlane_ndn_fib_age_seconds", "gauge", "Time since the last change of the FIB.")
        .value(&[], snapshot.fib_age.as_secs_f64());
    let start = snapshot.taken.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(snapshot.since);
    Metric::new(text, "hashlane_ndn_start_time_seconds", "gauge", "Start of the forwarder, since 1970.")
        .value(&[], start.as_secs());
}

/// Prefixes that others are asked to advertise, and certificates fetched.
fn management(text: &mut String, snapshot: &Snapshot) {
    let all = &snapshot.advertised;
    let mut prefixes = Metric::new(
        text,
        "hashlane_ndn_advertised_prefixes",
        "gauge",
        "Prefixes that another program is asked to advertise, by destination and state.",
    );
    for (destination, counts) in all {
        for (state, value) in [("accepted", counts.advertised), ("waiting", counts.waiting)] {
            prefixes.value(&[("destination", destination), ("state", state)], value);
        }
    }
    let mut pending = Metric::new(
        text,
        "hashlane_ndn_advertise_pending",
        "gauge",
        "Commands about advertised prefixes without an answer yet, by destination.",
    );
    for (destination, counts) in all {
        pending.value(&[("destination", destination)], counts.pending);
    }
    let mut failures = Metric::new(
        text,
        "hashlane_ndn_advertise_failures_total",
        "counter",
        "Commands about advertised prefixes that failed, and prefixes without room, by destination and cause.",
    );
    for (destination, counts) in all {
        let causes =
            [("refused", counts.refused), ("unanswered", counts.unanswered), ("no-room", counts.left_out)];
        for (cause, value) in causes {
            failures.value(&[("destination", destination), ("cause", cause)], value);
        }
    }
    let fetches = &snapshot.fetches;
    Metric::new(
        text,
        "hashlane_ndn_certificate_fetches_total",
        "counter",
        "Interests sent for certificates, certificates received, and keys without one.",
    )
    .value(&[("event", "interest")], fetches.interests)
    .value(&[("event", "received")], fetches.received)
    .value(&[("event", "failed")], fetches.failed);
    Metric::new(text, "hashlane_ndn_certificates_kept", "gauge", "Certificates kept that were fetched.")
        .value(&[], fetches.kept);
    Metric::new(text, "hashlane_ndn_certificate_commands", "gauge", "Commands that wait for a certificate.")
        .value(&[], fetches.waiting);
}

/// The heaviest of many, and the rest as `other`.
fn shares(text: &mut String, (name, label): (&'static str, &str), help: &str, shares: &Shares) {
    let mut metric = Metric::new(text, name, "gauge", help);
    for (value, weight) in &shares.heaviest {
        metric.value(&[(label, value)], weight);
    }
    metric.value(&[(label, "other")], shares.rest());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::management::{AdvertisedCounts, FetchCounts};
    use std::collections::BTreeMap;
    use std::sync::Arc;

    #[test]
    fn every_counter_is_there() {
        let shards = [1, 2].map(|data| {
            let counters = Counters::default();
            counters.in_data.add(data);
            Arc::new(counters)
        });
        shards[0].fib_entries.set(5);
        shards[0].cs_age.set(7000);
        shards[1].cs_age.set(1000);
        shards[1].fib_entries.set(5);
        shards[0].latency.add(std::time::Duration::from_micros(300));
        let snapshot = Snapshot {
            faces: BTreeMap::from([(("udp4", "non-local"), 3)]),
            prefixes: Shares { heaviest: vec![("/a/\"b".into(), 256)], total: 512 },
            advertised: vec![(
                "gateway",
                AdvertisedCounts { advertised: 2, refused: 5, ..Default::default() },
            )],
            fetches: FetchCounts { kept: 3, ..FetchCounts::default() },
            ..Snapshot::default()
        };
        let text = text(&Totals::new(shards), &snapshot);
        for line in [
            "hashlane_ndn_entries{table=\"fib\"} 5",
            "hashlane_ndn_table_bytes{table=\"pit\"} 0",
            "hashlane_ndn_cs_oldest_seconds 7",
            "hashlane_ndn_satisfaction_seconds_bucket{le=\"0.0002\"} 0",
            "hashlane_ndn_satisfaction_seconds_bucket{le=\"0.0005\"} 1",
            "hashlane_ndn_satisfaction_seconds_bucket{le=\"+Inf\"} 1",
            "hashlane_ndn_satisfaction_seconds_sum 0.0003",
            "hashlane_ndn_strategy_decisions_total{strategy=\"access\",decision=\"try\"} 0",
            "hashlane_ndn_faces{scheme=\"udp4\",scope=\"non-local\"} 3",
            "hashlane_ndn_prefix_packets{prefix=\"/a/\\\"b\"} 256",
            "hashlane_ndn_prefix_packets{prefix=\"other\"} 256",
            "hashlane_ndn_advertised_prefixes{destination=\"gateway\",state=\"accepted\"} 2",
            "hashlane_ndn_advertise_pending{destination=\"gateway\"} 0",
            "hashlane_ndn_advertise_failures_total{destination=\"gateway\",cause=\"refused\"} 5",
            "hashlane_ndn_certificates_kept 3",
            "hashlane_ndn_certificate_fetches_total{event=\"failed\"} 0",
            "hashlane_ndn_peer_bytes{peer=\"other\"} 0",
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
