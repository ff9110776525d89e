//! Reports of a server as text.

use super::text::{count, one_line};
use super::zone;
use hashlane_nameserver::Sums;
use hashlane_nameserver::status::{InterfaceState, InterfaceStatus, Loading, Reloaded, Stats, Status};
use hashlane_stats::format::plain;
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// Zones of a status that text lists, besides those that fail.
const MAX_LISTED: usize = 100;

/// The server and its zones, or of the zones those alone that fail.
pub(super) fn status(status: &Status, only_failing: bool) -> String {
    let mut text = String::new();
    let Status { version, pid, uptime_s, listen, listen_tls, workers, connections, refused, zones, .. } =
        status;
    let addresses: Vec<_> = listen.iter().map(ToString::to_string).collect();
    let _ = writeln!(text, "version      {version}, process {pid}, up {uptime_s} s");
    let _ = writeln!(text, "listening    {}, {workers} workers each", addresses.join(", "));
    if !listen_tls.is_empty() {
        let addresses: Vec<_> = listen_tls.iter().map(ToString::to_string).collect();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let end = status.certificate_expires.map(|end| match end.saturating_sub(now) / 86_400 {
            0 => "; the certificate has expired, or does so today".to_owned(),
            days => format!("; the certificate expires in {} days", count(days)),
        });
        let _ = writeln!(text, "over TLS     {}{}", addresses.join(", "), end.unwrap_or_default());
    }
    for InterfaceStatus { name, mode, queues, state, outages } in &status.interfaces {
        let state = match state {
            InterfaceState::Up => "up",
            InterfaceState::Down => "down: no query comes by it",
            _ => "removed: its queries come by sockets until a restart",
        };
        let (name, mode) = (plain(name), plain(mode));
        let _ = writeln!(text, "XDP          {name}, {mode}, {queues} queues; {state}, {outages} outages");
    }
    let _ = writeln!(text, "connections  {connections}");
    if let Some(why) = refused {
        let _ = writeln!(text, "refused      the configuration of the last reload: {}", one_line(why));
    }
    if let Some(Loading { loaded, zones }) = status.loading {
        let (loaded, zones) = (count(loaded as u64), count(zones as u64));
        let _ = writeln!(text, "loading      {loaded} of {zones} zones are loaded");
    }
    let loaded = zones.iter().filter(|zone| zone.serial.is_some()).count();
    let bad = zones.iter().filter(|zone| zone.error.is_some()).count();
    let (records, memory) =
        zones.iter().fold((0, 0), |(records, memory), zone| (records + zone.records, memory + zone.memory));
    let _ = writeln!(
        text,
        "zones        {loaded} in service, {bad} with errors; {} records, {} MB",
        count(records),
        count(memory.div_ceil(1_000_000))
    );
    let (mut listed, mut left_out) = (0, 0);
    for zone in zones {
        if !zone.is_failing() && (only_failing || listed == MAX_LISTED) {
            left_out += 1;
            continue;
        }
        listed += usize::from(!zone.is_failing());
        let serial = zone.serial.map_or("not loaded".to_owned(), |serial| format!("serial {serial}"));
        let (records, queries) = (count(zone.records), count(zone.queries));
        let _ = writeln!(text, "{}  {serial}, {records} records, {queries} queries", plain(&zone.name));
        if let Some(transfer) = &zone.transfer {
            let _ = writeln!(text, "  {}", zone::transfers(transfer));
        }
        zone::faults(&mut text, zone);
    }
    if left_out > 0 && !only_failing {
        let _ = writeln!(text, "and {} more; --json lists all", count(left_out));
    }
    text
}

pub(super) fn stats(stats: &Stats) -> String {
    let mut text = String::new();
    for (transport, sums) in [("udp", &stats.udp), ("tcp", &stats.tcp)] {
        counts(&mut text, transport, sums);
    }
    let reloads = stats.reloads;
    let transfers = stats.transfers;
    let _ = writeln!(
        text,
        "transfers    in: {} completed, {} failed; out: {} completed, {} broken, {} refused",
        count(transfers.received),
        count(transfers.failed),
        count(transfers.sent),
        count(transfers.broken),
        count(transfers.refused)
    );
    let _ = writeln!(
        text,
        "notify       {} taken, {} refused, {} without an answer",
        count(transfers.notify_taken),
        count(transfers.notify_refused),
        count(transfers.notify_unanswered)
    );
    let _ = writeln!(
        text,
        "reloads      {}; zones loaded {}, failed {}; configurations refused {}",
        reloads.reloads, reloads.loaded, reloads.failed, reloads.refused
    );
    text
}

/// The counters of a transport that are not 0.
fn counts(text: &mut String, transport: &str, sums: &Sums) {
    let _ = writeln!(text, "{transport}");
    for (name, value) in sums.fields().filter(|(name, value)| *value > 0 || *name == "received") {
        let _ = writeln!(text, "  {:18} {}", name.replace('_', "-"), count(value));
    }
    for (kind, counts) in [("types", &sums.types), ("rcodes", &sums.rcodes)] {
        let each: Vec<_> = counts.iter().map(|(name, number)| format!("{name} {}", count(*number))).collect();
        if !each.is_empty() {
            let _ = writeln!(text, "  {kind:18} {}", each.join(", "));
        }
    }
}

pub(super) fn reload(reloaded: &Reloaded) -> String {
    let mut text = String::new();
    let Reloaded { loaded, unchanged, removed, failed, warnings, restart } = reloaded;
    for (zone, serial) in loaded {
        let _ = writeln!(text, "{}: loaded, serial {serial}", plain(zone));
        for warning in warnings.get(zone).into_iter().flatten() {
            let _ = writeln!(text, "{}: warning: {}", plain(zone), one_line(warning));
        }
    }
    for zone in removed {
        let _ = writeln!(text, "{}: removed", plain(zone));
    }
    for (zone, error) in failed {
        let _ = writeln!(text, "{}: not loaded: {}", plain(zone), one_line(error));
    }
    if !failed.is_empty() {
        let _ = writeln!(text, "old data stay in service; a zone that was never loaded gets SERVFAIL");
    }
    for key in restart {
        let _ = writeln!(text, "`{key}` takes effect after a restart");
    }
    let _ = writeln!(
        text,
        "{} loaded, {unchanged} unchanged, {} removed, {} failed",
        loaded.len(),
        removed.len(),
        failed.len()
    );
    text
}
