//! The status page: one HTML document without scripts, fonts or anything from elsewhere.
//!
//! Names and addresses come from strangers: all text is escaped, the policy of the document allows nothing
//! but its own style sheet, by its digest, and no attribute holds style.

use super::chart::{Chart, figure, number};
use super::history::Series;
use super::html::{bar, escape, table};
use super::metrics::latencies;
use super::snapshot::{Shares, Snapshot};
use crate::totals::Totals;
use hashlane_daemon::metrics::Page;
use hashlane_ndn_fw::latency::BOUNDS;
use hashlane_stats::format::{count, percent, short, significant};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::sync::OnceLock;
use std::time::Duration;

/// The style sheet.
const STYLE: &str = include_str!("style.css");

/// Seconds after which a browser loads the page again.
const REFRESH: u64 = super::INTERVAL.as_secs();

/// The charts.
const CHARTS: [Chart; 6] = [
    Chart {
        title: "Interests",
        unit: "a second",
        lines: &[("received", "ours", Series::InInterests), ("sent", "peer", Series::OutInterests)],
    },
    Chart {
        title: "Data",
        unit: "a second",
        lines: &[("received", "ours", Series::InData), ("sent", "peer", Series::OutData)],
    },
    Chart {
        title: "Pending Interests that ended",
        unit: "a second",
        lines: &[("satisfied", "ours", Series::Satisfied), ("expired", "danger", Series::Expired)],
    },
    Chart {
        title: "Content store lookups",
        unit: "a second",
        lines: &[("hits", "ours", Series::CsHits), ("misses", "peer", Series::CsMisses)],
    },
    Chart { title: "Drops and losses", unit: "a second", lines: &[("all reasons", "danger", Series::Lost)] },
    Chart { title: "Pending Interest table", unit: "entries", lines: &[("entries", "ours", Series::Pit)] },
];

/// The page of a snapshot. It is drawn once, whoever asks for it.
pub(super) fn page(counters: &Totals, snapshot: &Snapshot) -> Page {
    snapshot
        .page
        .get_or_init(|| Page {
            content_type: "text/html; charset=utf-8",
            policy: policy(),
            body: draw(counters, snapshot),
        })
        .clone()
}

/// The policy of the document: its style sheet alone.
fn policy() -> String {
    static POLICY: OnceLock<String> = OnceLock::new();
    let policy = POLICY.get_or_init(|| {
        let digest = data_encoding::BASE64.encode(&Sha256::digest(STYLE));
        format!(
            "default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'"
        )
    });
    policy.clone()
}

fn draw(counters: &Totals, snapshot: &Snapshot) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"refresh\" content=\"{REFRESH}\"><title>NDN forwarder</title><style>{STYLE}</style></head>\
         <body><header><h1>NDN forwarder</h1><p class=\"quiet\">hashlane {}, up {}; a snapshot of every {REFRESH} s, \
         loaded again by itself; <a href=\"/metrics\">metrics</a></p></header><main>",
        env!("CARGO_PKG_VERSION"),
        uptime(snapshot.since)
    );
    out += &tiles(counters, snapshot);
    out += "<h2>The last hour</h2><div class=\"charts\">";
    for chart in &CHARTS {
        out += &figure(chart, &snapshot.points, snapshot.since);
    }
    out += "</div><h2>Neighbours</h2>";
    out += &neighbours(snapshot);
    out += "<div class=\"halves\">";
    let section = |title: &str, note: &str, table: String| {
        format!("<section><h2>{title} <span class=\"quiet\">{note}</span></h2>{table}</section>")
    };
    out += &section(
        "Top prefixes",
        "packets of the last hour, estimated from samples",
        shares("prefix", "packets", &snapshot.prefixes, |packets| short(packets as f64)),
    );
    out += &section(
        "Top peers",
        "bytes of the last hour, both directions",
        shares("address", "bytes", &snapshot.peers, |sum| bytes(sum as f64)),
    );
    let drops: Vec<_> = counters.losses().filter(|(_, count)| *count > 0).collect();
    let hour = |reason: &str| {
        snapshot.drops.iter().find(|(known, _)| *known == reason).map_or(0, |(_, count)| *count)
    };
    let mut rows: Vec<_> = drops.into_iter().map(|(reason, all)| (reason, hour(reason), all)).collect();
    rows.sort_by_key(|(_, hour, all)| std::cmp::Reverse((*hour, *all)));
    let rows = rows
        .into_iter()
        .map(|(reason, hour, all)| vec![escape(reason), count(hour as f64), count(all as f64)]);
    out += &section(
        "Drops and losses",
        "by reason",
        table(&["reason", "last hour", "since the start"], 1, rows, "nothing was dropped"),
    );
    let faces = snapshot
        .faces
        .iter()
        .map(|((scheme, scope), faces)| vec![escape(scheme), escape(scope), count(*faces as f64)]);
    out += &section(
        "Faces",
        "by scheme of the remote end",
        table(&["scheme", "scope", "faces"], 2, faces, "no faces"),
    );
    if !snapshot.advertised.is_empty() {
        out += &section("Advertised prefixes", "by destination", advertised(snapshot));
    }
    out += "</div></main></body></html>\n";
    out
}

fn tiles(counters: &Totals, snapshot: &Snapshot) -> String {
    let faces: u64 = snapshot.faces.values().sum();
    let value = |of: fn(&hashlane_ndn_fw::forward::Counters) -> &hashlane_ndn_fw::face::Counter| {
        counters.value(of) as f64
    };
    let (hits, misses) = (value(|all| &all.cs_hits), value(|all| &all.cs_misses));
    let (satisfied, expired) = (value(|all| &all.satisfied), value(|all| &all.unsatisfied));
    let share = |part: f64, rest: f64| {
        if part + rest > 0.0 { percent(part / (part + rest)) } else { "–".to_owned() }
    };
    let lost: u64 = counters.losses().map(|(_, count)| count).sum();
    let fib = counters.largest(|all| &all.fib_entries) as f64;
    let tiles = [
        ("Faces", count(faces as f64), "open now".to_owned()),
        ("PIT", count(value(|all| &all.pit_entries)), bytes(value(|all| &all.pit_bytes))),
        ("Content store", count(value(|all| &all.cs_entries)), store(counters)),
        ("FIB", count(fib), format!("changed {} ago", uptime(snapshot.fib_age))),
        ("Satisfied", share(satisfied, expired), "of pending Interests".to_owned()),
        ("Store hits", share(hits, misses), "of lookups".to_owned()),
        ("Latency", latency(counters, 0.5), format!("95 %: {}", latency(counters, 0.95))),
        ("Lost", short(lost as f64), "packets and others".to_owned()),
    ];
    let mut out = String::from("<dl class=\"tiles\">");
    for (name, value, note) in tiles {
        let _ = write!(out, "<div><dt>{name}</dt><dd>{value}<small>{note}</small></dd></div>");
    }
    out + "</dl>"
}

/// Memory of the content store, and the age of the packet that it evicts next.
fn store(counters: &Totals) -> String {
    let size = bytes(counters.value(|all| &all.cs_bytes) as f64);
    let oldest = Duration::from_millis(counters.largest(|all| &all.cs_age));
    match counters.value(|all| &all.cs_entries) {
        0 => size,
        _ => format!("{size}, oldest {}", uptime(oldest)),
    }
}

/// Upper bound of a quantile of the satisfaction latency.
fn latency(counters: &Totals, quantile: f64) -> String {
    let (buckets, above, _) = latencies(counters);
    let all: u64 = buckets.iter().sum::<u64>() + above;
    if all == 0 {
        return "–".to_owned();
    }
    let wanted = quantile * all as f64;
    let mut seen = 0;
    for (bound, count) in BOUNDS.iter().zip(buckets) {
        seen += count;
        if seen as f64 >= wanted {
            return match *bound as f64 / 1e6 {
                millis if millis >= 1000.0 => format!("≤ {} s", millis / 1000.0),
                millis => format!("≤ {millis} ms"),
            };
        }
    }
    "&gt; 10 s".to_owned()
}

/// Prefixes that others are asked to advertise.
fn advertised(snapshot: &Snapshot) -> String {
    let rows = snapshot.advertised.iter().map(|(destination, counts)| {
        let numbers = [counts.advertised as u64, counts.waiting as u64, counts.refused, counts.unanswered];
        let numbers = numbers.map(|number| count(number as f64));
        [escape(destination)].into_iter().chain(numbers).collect()
    });
    let head = ["destination", "accepted", "waiting", "commands refused", "not answered"];
    table(&head, 1, rows, "none")
}

fn neighbours(snapshot: &Snapshot) -> String {
    let rows = snapshot.neighbours.iter().map(|face| {
        vec![
            escape(&face.remote),
            face.face.to_string(),
            escape(&face.local),
            format!("{}/s", bytes(face.received)),
            format!("{}/s", bytes(face.sent)),
            number(face.interests),
            number(face.data),
            count(face.drops as f64),
        ]
    });
    let head = ["remote", "face", "local", "received", "sent", "Interests/s in", "Data/s in", "drops"];
    let mut out = table(&head, 3, rows, "no faces to other hosts");
    let all: u64 =
        snapshot.faces.iter().filter(|((_, scope), _)| *scope != "local").map(|(_, faces)| *faces).sum();
    let shown = snapshot.neighbours.len() as u64;
    if all > shown {
        let _ = write!(out, "<p class=\"quiet\">{} more, with less traffic</p>", count((all - shown) as f64));
    }
    out
}

/// The heaviest of many, each with its share.
fn shares(name: &str, unit: &str, shares: &Shares, show: impl Fn(u64) -> String) -> String {
    let total = shares.total.max(1) as f64;
    let rest =
        (shares.rest() > 0).then(|| ("<span class=\"quiet\">all others</span>".to_owned(), shares.rest()));
    let heaviest = shares.heaviest.iter().map(|(name, weight)| (escape(name), *weight));
    let rows = heaviest.chain(rest).map(|(name, weight)| {
        let share = weight as f64 / total;
        vec![name, show(weight), format!("{} {}", percent(share), bar(share))]
    });
    table(&[name, unit, "share"], 1, rows, "nothing yet")
}

/// A number of bytes with its unit.
fn bytes(value: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut scaled = value.max(0.0);
    let mut unit = 0;
    while scaled >= 1024.0 && unit + 1 < units.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    let figure = if unit == 0 { count(scaled.round()) } else { significant(scaled) };
    format!("{figure} {}", units.get(unit).unwrap_or(&"B"))
}

/// A duration in words.
fn uptime(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests;
