//! Counters in the text format of Prometheus.

use crate::counters::Sums;
use crate::status::{InterfaceState, Reloads, Stats, Status};
use hashlane_daemon::prometheus::Metric;

/// The counters of a server.
pub(crate) fn text(status: &Status, stats: &Stats) -> String {
    let mut text = String::new();
    let transports = [("udp", &stats.udp), ("tcp", &stats.tcp)];
    let mut each = |name: &'static str, help: &str, of: fn(&Sums) -> u64| {
        let mut metric = Metric::new(&mut text, name, "counter", help);
        for (transport, sums) in transports {
            metric.value(&[("transport", transport)], of(sums));
        }
    };
    each("hashlane_dns_messages_total", "Messages received.", |sums| sums.received);
    each("hashlane_dns_message_bytes_total", "Bytes of messages received.", |sums| sums.received_bytes);
    each("hashlane_dns_sent_total", "Responses sent.", |sums| sums.sent);
    each("hashlane_dns_sent_bytes_total", "Bytes of responses.", |sums| sums.sent_bytes);
    each("hashlane_dns_ignored_total", "Messages without a response: too short, or responses.", |sums| {
        sums.ignored
    });
    each("hashlane_dns_truncated_total", "Responses longer than the query allowed, sent with TC.", |sums| {
        sums.truncated
    });
    each("hashlane_dns_valid_cookies_total", "Queries with a valid server cookie.", |sums| sums.cookies);
    each("hashlane_dns_unsent_total", "Responses that the kernel did not take.", |sums| sums.unsent);
    each("hashlane_dns_malformed_total", "Frames by XDP without a valid datagram.", |sums| sums.malformed);
    interfaces(&mut text, status, &stats.udp);

    let mut types = Metric::new(&mut text, "hashlane_dns_queries_total", "counter", "Queries by type.");
    for (transport, sums) in transports {
        for (rtype, count) in &sums.types {
            types.value(&[("transport", transport), ("type", rtype)], count);
        }
    }
    let mut rcodes =
        Metric::new(&mut text, "hashlane_dns_responses_total", "counter", "Responses by response code.");
    for (transport, sums) in transports {
        for (rcode, count) in &sums.rcodes {
            rcodes.value(&[("transport", transport), ("rcode", rcode)], count);
        }
    }
    let limited = "UDP responses beyond the rate limit, by what became of them.";
    Metric::new(&mut text, "hashlane_dns_rate_limited_total", "counter", limited)
        .value(&[("action", "dropped")], stats.udp.limited_dropped)
        .value(&[("action", "truncated")], stats.udp.limited_truncated);

    Metric::new(&mut text, "hashlane_dns_tcp_connections", "gauge", "Open TCP connections.")
        .value(&[], stats.connections);
    Metric::new(&mut text, "hashlane_dns_tcp_accepted_total", "counter", "TCP connections accepted.")
        .value(&[], stats.tcp.accepted);
    let handshakes = "Connections over TLS, by the outcome of the handshake.";
    Metric::new(&mut text, "hashlane_dns_tls_handshakes_total", "counter", handshakes)
        .value(&[("result", "completed")], stats.tcp.handshakes)
        .value(&[("result", "failed")], stats.tcp.failed_handshakes);
    let expires = "End of the validity of the TLS certificate, in seconds since 1970.";
    if let Some(time) = status.certificate_expires {
        Metric::new(&mut text, "hashlane_dns_tls_certificate_expires_seconds", "gauge", expires)
            .value(&[], time);
    }
    Metric::new(
        &mut text,
        "hashlane_dns_tcp_closed_total",
        "counter",
        "TCP connections closed by the server, by reason.",
    )
    .value(&[("reason", "idle")], stats.tcp.closed_idle)
    .value(&[("reason", "slow-query")], stats.tcp.closed_slow_query)
    .value(&[("reason", "slow-reader")], stats.tcp.closed_slow_reader)
    .value(&[("reason", "place-for-others")], stats.tcp.closed_for_others);

    each_transfer(&mut text, stats);
    zones(&mut text, status);
    let Reloads { reloads, loaded, failed, refused } = stats.reloads;
    Metric::new(&mut text, "hashlane_dns_reloads_total", "counter", "Reloads.").value(&[], reloads);
    Metric::new(
        &mut text,
        "hashlane_dns_reloads_refused_total",
        "counter",
        "Reloads whose configuration was refused.",
    )
    .value(&[], refused);
    Metric::new(
        &mut text,
        "hashlane_dns_zone_loads_total",
        "counter",
        "Zones that reloads have loaded, or could not load.",
    )
    .value(&[("result", "loaded")], loaded)
    .value(&[("result", "failed")], failed);
    let help = "1 if the last reload took over the configuration.";
    Metric::new(&mut text, "hashlane_dns_config_ok", "gauge", help)
        .value(&[], u64::from(status.refused.is_none()));
    Metric::new(&mut text, "hashlane_dns_uptime_seconds", "gauge", "Seconds since the start.")
        .value(&[], status.uptime_s);
    Metric::new(&mut text, "hashlane_dns_build_info", "gauge", "Version of the program.")
        .value(&[("version", &status.version)], 1);
    text
}

/// Frames that were lost by XDP, and the interfaces that have it.
fn interfaces(text: &mut String, status: &Status, udp: &Sums) {
    let help = "Frames by XDP that were lost, by cause; sends, if the queue of an interface was full.";
    Metric::new(text, "hashlane_dns_xdp_lost_total", "counter", help)
        .value(&[("cause", "dropped")], udp.xdp_dropped)
        .value(&[("cause", "ring-full")], udp.xdp_ring_full)
        .value(&[("cause", "queue-full")], udp.xdp_queue_full)
        .value(&[("cause", "invalid")], udp.xdp_invalid);
    let help = "1 if UDP queries of the interface come by XDP: it is there and up.";
    let mut up = Metric::new(text, "hashlane_dns_xdp_up", "gauge", help);
    for interface in &status.interfaces {
        up.value(&[("interface", &interface.name)], u64::from(interface.state == InterfaceState::Up));
    }
    let help = "Times that the interface went down or was removed.";
    let mut outages = Metric::new(text, "hashlane_dns_xdp_outages_total", "counter", help);
    for interface in &status.interfaces {
        outages.value(&[("interface", &interface.name)], interface.outages);
    }
}

/// Signed messages, NOTIFY, and transfers to others.
fn each_transfer(text: &mut String, stats: &Stats) {
    let both = |of: fn(&Sums) -> u64| of(&stats.udp) + of(&stats.tcp);
    Metric::new(
        text,
        "hashlane_dns_bad_signatures_total",
        "counter",
        "Messages with a TSIG that is not valid.",
    )
    .value(&[], both(|sums| sums.bad_signatures));
    let untapped = "Queries that the dnstap collector did not get.";
    Metric::new(text, "hashlane_dns_dnstap_lost_total", "counter", untapped).value(&[], stats.dnstap_lost);
    Metric::new(
        text,
        "hashlane_dns_notify_received_total",
        "counter",
        "NOTIFY messages from peers that may.",
    )
    .value(&[], both(|sums| sums.notified));
    let transfers = stats.transfers;
    let [from, to] = ["in", "out"].map(|direction| ("direction", direction));
    let help = "Transfers from primaries and to secondaries, by outcome.";
    Metric::new(text, "hashlane_dns_transfers_total", "counter", help)
        .value(&[from, ("result", "completed")], transfers.received)
        .value(&[from, ("result", "failed")], transfers.failed)
        .value(&[to, ("result", "completed")], transfers.sent)
        .value(&[to, ("result", "broken")], transfers.broken)
        .value(&[to, ("result", "refused")], transfers.refused);
    let help = "NOTIFY messages to secondaries, by outcome.";
    Metric::new(text, "hashlane_dns_notify_sent_total", "counter", help)
        .value(&[("result", "taken")], transfers.notify_taken)
        .value(&[("result", "refused")], transfers.notify_refused)
        .value(&[("result", "unanswered")], transfers.notify_unanswered);
    let help = "Differences from primaries, by the way in which they were applied.";
    Metric::new(text, "hashlane_dns_differences_total", "counter", help)
        .value(&[("applied", "patched")], transfers.patched)
        .value(&[("applied", "rebuilt")], transfers.rebuilt);
}

fn zones(text: &mut String, status: &Status) {
    let mut gauge =
        |name: &'static str, kind: &str, help: &str, of: fn(&crate::status::ZoneStatus) -> Option<u64>| {
            let mut metric = Metric::new(text, name, kind, help);
            for zone in &status.zones {
                if let Some(value) = of(zone) {
                    metric.value(&[("zone", &zone.name)], value);
                }
            }
        };
    gauge("hashlane_dns_zone_queries_total", "counter", "Queries for names of the zone.", |zone| {
        Some(zone.queries)
    });
    gauge("hashlane_dns_zone_serial", "gauge", "Serial number in service.", |zone| {
        zone.serial.map(u64::from)
    });
    gauge("hashlane_dns_zone_records", "gauge", "Records of the zone.", |zone| Some(zone.records));
    gauge("hashlane_dns_zone_memory_bytes", "gauge", "Memory of the zone.", |zone| Some(zone.memory));
    gauge(
        "hashlane_dns_zone_loaded_seconds",
        "gauge",
        "Time of the last load, in seconds since 1970.",
        |zone| Some(zone.loaded),
    );
    let checked = "Time of the last answer of a primary, in seconds since 1970.";
    gauge("hashlane_dns_zone_checked_seconds", "gauge", checked, |zone| zone.transfer.as_ref()?.checked);
    let expires = "Time at which the zone expires unless a primary answers, in seconds since 1970.";
    gauge("hashlane_dns_zone_expires_seconds", "gauge", expires, |zone| zone.transfer.as_ref()?.expires);
    let failures = "Questions to the primaries in a row without an answer of use.";
    gauge("hashlane_dns_zone_failures", "gauge", failures, |zone| {
        zone.transfer.as_ref().map(|transfer| transfer.failures)
    });
    let untaken = "Secondaries that have not taken the last NOTIFY.";
    gauge("hashlane_dns_zone_notify_failures", "gauge", untaken, |zone| {
        let failed = zone.notify.iter().filter(|told| !told.is_taken()).count();
        (!zone.notify.is_empty()).then_some(failed as u64)
    });
    gauge("hashlane_dns_zone_ok", "gauge", "1 if the last load succeeded.", |zone| {
        Some(u64::from(zone.error.is_none()))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{InterfaceStatus, ZoneStatus};

    #[test]
    fn every_counter_is_there_and_labels_are_escaped() {
        let mut stats = Stats::default();
        stats.udp.received = 5;
        (stats.udp.xdp_dropped, stats.udp.xdp_queue_full) = (8, 9);
        (stats.transfers.failed, stats.transfers.sent) = (3, 2);
        (stats.transfers.patched, stats.transfers.rebuilt) = (6, 1);
        stats.udp.types.insert("AAAA".into(), 4);
        stats.tcp.rcodes.insert("NXDOMAIN".into(), 3);
        let zone = ZoneStatus { name: "a\\\"b\n".into(), serial: Some(7), ..ZoneStatus::default() };
        let lost = ZoneStatus { name: "lost".into(), error: Some("no file".into()), ..ZoneStatus::default() };
        let [up, removed] = [("eth0", InterfaceState::Up, 0), ("eth1", InterfaceState::Removed, 2)].map(
            |(name, state, outages)| InterfaceStatus {
                name: name.into(),
                state,
                outages,
                ..Default::default()
            },
        );
        let status = Status { zones: vec![zone, lost], interfaces: vec![up, removed], ..Status::default() };
        let text = text(&status, &stats);
        for line in [
            "hashlane_dns_messages_total{transport=\"udp\"} 5",
            "hashlane_dns_queries_total{transport=\"udp\",type=\"AAAA\"} 4",
            "hashlane_dns_responses_total{transport=\"tcp\",rcode=\"NXDOMAIN\"} 3",
            "hashlane_dns_zone_serial{zone=\"a\\\\\\\"b\\n\"} 7",
            "hashlane_dns_zone_ok{zone=\"lost\"} 0",
            "hashlane_dns_xdp_lost_total{cause=\"dropped\"} 8",
            "hashlane_dns_xdp_lost_total{cause=\"queue-full\"} 9",
            "hashlane_dns_xdp_up{interface=\"eth0\"} 1",
            "hashlane_dns_xdp_up{interface=\"eth1\"} 0",
            "hashlane_dns_xdp_outages_total{interface=\"eth1\"} 2",
            "hashlane_dns_tcp_connections 0",
            "hashlane_dns_tls_handshakes_total{result=\"failed\"} 0",
            "hashlane_dns_config_ok 1",
            "hashlane_dns_transfers_total{direction=\"in\",result=\"failed\"} 3",
            "hashlane_dns_transfers_total{direction=\"out\",result=\"completed\"} 2",
            "hashlane_dns_differences_total{applied=\"patched\"} 6",
            "hashlane_dns_differences_total{applied=\"rebuilt\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("zone_serial{zone=\"lost\"}"));
    }
}
