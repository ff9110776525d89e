//! An overview of flows as text.

use super::Shown;
use hashlane_meter::format::{self, duration, protocol, size, whole};
use hashlane_meter::show::{Quantiles, Service, Top, Traffic};
use hashlane_meter::{Overview, summary};
use hashlane_stats::format::{percent, significant};

pub(super) fn text(shown: &Shown, top: usize) -> String {
    let Shown { overview, summary, captured } = shown;
    let total = summary.total();
    let (packets, bytes, on) = match captured {
        true => (total.packets, total.bytes, " on the wire"),
        false => (overview.total.packets, overview.total.bytes, ""),
    };
    let seconds = overview.span.map_or(0, |(first, last)| last - first) as f64 / 1e9;
    let mut text = format!(
        "{} packets, {}{on}, {} flows ({} answered), {}\n",
        whole(packets),
        size(bytes),
        whole(overview.total.flows),
        whole(overview.answered),
        duration(overview.span.map_or(0, |(first, last)| last - first)),
    );
    if seconds > 0.0 {
        let rates = (packets as f64 / seconds, bytes as f64 * 8.0 / seconds / 1e6);
        text += &format!("{} packets/s, {} Mbit/s\n", significant(rates.0), significant(rates.1));
    }
    for line in summary::missing(summary) {
        text += &line;
        text.push('\n');
    }
    if overview.total.flows == 0 {
        return text + "no flows\n";
    }
    text += &hosts(overview, top);
    text += &conversations(overview, top);
    text += &services(overview, top);
    text += &protocols(overview);
    text += &sizes(overview);
    text
}

/// Figures of a row: bytes, share of all, packets, flows.
fn figures(overview: &Overview, traffic: &Traffic) -> [String; 4] {
    let share = traffic.bytes as f64 / overview.total.bytes.max(1) as f64;
    [size(traffic.bytes), percent(share), whole(traffic.packets), whole(traffic.flows)]
}

fn hosts(overview: &Overview, top: usize) -> String {
    let mut rows =
        vec![["host", "bytes", "share", "packets", "flows", "sent", "received"].map(str::to_owned)];
    rows.extend(overview.hosts.top(top).iter().map(|(host, traffic)| {
        let [bytes, share, packets, flows] = figures(overview, traffic);
        let received = size(traffic.bytes.saturating_sub(traffic.sent));
        [host.to_string(), bytes, share, packets, flows, size(traffic.sent), received]
    }));
    section("Hosts", &overview.hosts, &rows)
}

fn conversations(overview: &Overview, top: usize) -> String {
    let mut rows = vec![["between", "bytes", "share", "packets", "flows", "→", "←"].map(str::to_owned)];
    rows.extend(overview.conversations.top(top).iter().map(|([one, other], traffic)| {
        let [bytes, share, packets, flows] = figures(overview, traffic);
        let back = size(traffic.bytes.saturating_sub(traffic.sent));
        [format!("{one} {other}"), bytes, share, packets, flows, size(traffic.sent), back]
    }));
    section("Conversations", &overview.conversations, &rows)
}

fn services(overview: &Overview, top: usize) -> String {
    let head = ["service", "bytes", "share", "packets", "flows", "to server", "from server"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(overview.services.top(top).iter().map(|(service, traffic)| {
        let [bytes, share, packets, flows] = figures(overview, traffic);
        let back = size(traffic.bytes.saturating_sub(traffic.sent));
        let name = known(*service).map(|name| format!(" {name}"));
        let Service { protocol, port } = *service;
        let label = format!("{}/{port}{}", format::protocol(protocol), name.as_deref().unwrap_or(""));
        [label, bytes, share, packets, flows, size(traffic.sent), back]
    }));
    section("Services", &overview.services, &rows)
}

fn protocols(overview: &Overview) -> String {
    let mut rows = vec![["protocol", "bytes", "share", "packets", "flows"].map(str::to_owned)];
    rows.extend(overview.protocols().iter().map(|(number, traffic)| {
        let [bytes, share, packets, flows] = figures(overview, traffic);
        [protocol(*number), bytes, share, packets, flows]
    }));
    format!("\nProtocols\n{}", table(&rows))
}

fn sizes(overview: &Overview) -> String {
    let row = |name: &str, all: &Quantiles, show: fn(u64) -> String| {
        let at = |share| all.quantile(share).map_or_else(|| "—".to_owned(), show);
        [name.to_owned(), at(0.5), at(0.9), at(0.99), show(all.most())]
    };
    let rows = [
        ["", "p50", "p90", "p99", "max"].map(str::to_owned),
        row("duration", &overview.durations, duration),
        row("bytes", &overview.sizes, size),
        row("packets", &overview.packets, whole),
    ];
    format!("\nFlows\n{}", table(&rows))
}

fn section<K: Copy + Ord + std::hash::Hash, const COLUMNS: usize>(
    title: &str,
    ranking: &Top<K>,
    rows: &[[String; COLUMNS]],
) -> String {
    if rows.len() < 2 {
        return String::new();
    }
    let title = match ranking.missing() {
        0 => format!("{title}: {} of {}", rows.len() - 1, whole(ranking.len() as u64)),
        missing => format!("{title}: approximate, each may have {} more", size(missing)),
    };
    format!("\n{title}\n{}", table(rows))
}

/// Rows in columns, the first to the left and the others to the right.
fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let mut wide = [0; COLUMNS];
    for row in rows {
        for (wide, cell) in wide.iter_mut().zip(row) {
            *wide = cell.chars().count().max(*wide);
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, wide)) in row.iter().zip(wide).enumerate() {
            line += &if column == 0 { format!("  {cell:wide$}") } else { format!("  {cell:>wide$}") };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Name of a service that is seen often, as the registry of ports has it; UDP 443 is QUIC.
const fn known(service: Service) -> Option<&'static str> {
    Some(match (service.protocol, service.port) {
        (6, 20) => "ftp-data",
        (6, 21) => "ftp",
        (6, 22) => "ssh",
        (6, 23) => "telnet",
        (6, 25) => "smtp",
        (6 | 17, 53) => "dns",
        (17, 67 | 68) => "dhcp",
        (17, 69) => "tftp",
        (6, 80) => "http",
        (6, 110) => "pop3",
        (17, 123) => "ntp",
        (6, 143) => "imap",
        (17, 161 | 162) => "snmp",
        (6, 179) => "bgp",
        (6, 389) => "ldap",
        (6, 443) => "https",
        (17, 443) => "quic",
        (6, 445) => "smb",
        (17, 500) => "ike",
        (6 | 17, 514) => "syslog",
        (17, 546 | 547) => "dhcpv6",
        (6, 853) => "dns-tls",
        (6, 993) => "imaps",
        (6, 1883) => "mqtt",
        (17, 1900) => "ssdp",
        (17, 2152) => "gtp-u",
        (6, 3306) => "mysql",
        (6, 3389) => "rdp",
        (17, 4500) => "ipsec-nat",
        (17, 4789) => "vxlan",
        (6, 5432) => "postgresql",
        (17, 5353) => "mdns",
        (6, 6379) => "redis",
        (6 | 17, 6363) => "ndn",
        (17, 51820) => "wireguard",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [["a", "bytes"], ["longer", "1 B"]].map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "  a       bytes\n  longer    1 B\n");
    }
}
