//! Figures and names of flows for people.

use hashlane_stats::format::{count, significant};

/// A count, its thousands apart.
pub fn whole(number: u64) -> String {
    count(number as f64)
}

/// A count and its noun: `1 flow`, `2 flows`.
pub fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Bytes to three digits, in a unit of 1,000s.
pub fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut units = ["B", "kB", "MB", "GB", "TB", "PB"].into_iter();
    let mut unit = units.next();
    while value >= 999.5 {
        let Some(next) = units.next() else { break };
        (value, unit) = (value / 1000.0, Some(next));
    }
    let number = if bytes < 1000 { bytes.to_string() } else { significant(value) };
    format!("{number} {}", unit.unwrap_or("B"))
}

/// A rate to three digits, with the prefix of its unit: `512 `, `98.1 M`.
pub fn rate(value: f64) -> String {
    let mut value = value.max(0.0);
    let mut prefixes = ["", "k", "M", "G", "T"].into_iter();
    let mut prefix = prefixes.next();
    if value < 999.5 {
        return format!("{value:.0} ");
    }
    while value >= 999.5 {
        let Some(next) = prefixes.next() else { break };
        (value, prefix) = (value / 1000.0, Some(next));
    }
    format!("{} {}", significant(value), prefix.unwrap_or(""))
}

/// Nanoseconds to three digits, in a unit that fits.
pub fn duration(nanoseconds: u64) -> String {
    let value = nanoseconds as f64;
    match value {
        0.0 => "0 s".to_owned(),
        v if v < 999.5 => format!("{nanoseconds} ns"),
        v if v < 999.5e3 => format!("{} µs", significant(v / 1e3)),
        v if v < 999.5e6 => format!("{} ms", significant(v / 1e6)),
        v if v < 7200e9 => format!("{} s", significant(v / 1e9)),
        v => format!("{} h", significant(v / 3600e9)),
    }
}

/// Name of a protocol, by its number.
pub fn protocol(number: u8) -> String {
    let name = match number {
        1 => "icmp",
        2 => "igmp",
        4 => "ipip",
        6 => "tcp",
        17 => "udp",
        41 => "ipv6",
        47 => "gre",
        50 => "esp",
        51 => "ah",
        58 => "icmpv6",
        89 => "ospf",
        103 => "pim",
        112 => "vrrp",
        132 => "sctp",
        136 => "udplite",
        other => return format!("protocol {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_the_singular() {
        assert_eq!([0, 1, 2].map(|number| counted(number, "flow")), ["0 flows", "1 flow", "2 flows"]);
    }

    #[test]
    fn sizes_and_durations_have_three_digits_and_a_unit() {
        assert_eq!(
            [0, 999, 1000, 999_499, 999_500, 1 << 40].map(size),
            ["0 B", "999 B", "1.00 kB", "999 kB", "1.00 MB", "1.10 TB"]
        );
        assert_eq!(size(u64::MAX), "18,400 PB");
        assert_eq!(
            [0, 12, 1_500, 2_000_000, 61_000_000_000, 8_000_000_000_000].map(duration),
            ["0 s", "12 ns", "1.50 µs", "2.00 ms", "61.0 s", "2.22 h"]
        );
    }

    #[test]
    fn rates_have_three_digits_and_a_prefix() {
        assert_eq!(
            [-1.0, 0.4, 512.0, 999.6, 98_123_456.0, 1e18].map(rate),
            ["0 ", "0 ", "512 ", "1.00 k", "98.1 M", "1,000,000 T"]
        );
    }
}
