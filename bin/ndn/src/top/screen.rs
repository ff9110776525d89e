//! The screen of `hashlane ndn top`.

use super::rates::{FaceRates, Packets, Rates};
use hashlane_stats::format::{count, percent};
use std::fmt::Write as _;

/// Width of a figure, with a space before it.
const FIGURE: usize = 9;

/// Columns of a face after its id.
const COLUMNS: [&str; 8] =
    ["in Int", "in Data", "in Nack", "in B", "out Int", "out Data", "out Nack", "out B"];

/// The screen: at most `height` lines of at most `width` characters.
pub(super) fn text(rates: &Rates, height: usize, width: usize) -> String {
    let oldest = rates.cs_oldest.map(|age| format!(" (oldest {})", uptime(age))).unwrap_or_default();
    let mut lines = vec![
        format!("{}, up {}; rates a second over {:.1} s", rates.version, uptime(rates.uptime), rates.seconds),
        format!(
            "entries: PIT {}, CS {}{oldest}, FIB {}; faces: {}",
            count(rates.pit as f64),
            count(rates.cs as f64),
            count(rates.fib as f64),
            count(rates.faces.len() as f64)
        ),
        format!("in:  {}", packets(rates.received)),
        format!("out: {}", packets(rates.out)),
    ];
    lines.extend(satisfied(rates));
    if !rates.dropped.is_empty() {
        let drops: Vec<_> =
            rates.dropped.iter().map(|(reason, value)| format!("{reason} {}", rate(*value))).collect();
        lines.push(format!("dropped: {}", drops.join(", ")));
    }
    lines.push(String::new());
    // The figures come first: a remote end may be long, and is cut.
    let mut head = format!("{:>6}", "face");
    for name in COLUMNS {
        let _ = write!(head, "{name:>FIGURE$}");
    }
    lines.push(head + "  remote");
    lines.extend(rates.faces.iter().map(face));
    let mut text = String::new();
    for line in lines.iter().take(height) {
        text.extend(line.chars().take(width));
        text.push('\n');
    }
    text
}

fn packets(Packets { interests, data, nacks }: Packets) -> String {
    format!("Interests {}, Data {}, Nacks {}", rate(interests), rate(data), rate(nacks))
}

/// Share of the Interests that got Data.
fn satisfied(rates: &Rates) -> Option<String> {
    let (satisfied, unsatisfied) = (rates.satisfied?, rates.unsatisfied?);
    let all = satisfied + unsatisfied;
    let share = if all > 0.0 { percent(satisfied / all) } else { "–".to_owned() };
    Some(format!("Interests that ended: {share} satisfied, {} expired a second", rate(unsatisfied)))
}

fn face(rates: &FaceRates) -> String {
    let mut line = format!("{:>6}", rates.face);
    for (packets, bytes) in [(rates.received, rates.in_bytes), (rates.out, rates.out_bytes)] {
        for value in [packets.interests, packets.data, packets.nacks, bytes] {
            let _ = write!(line, "{:>FIGURE$}", rate(value));
        }
    }
    line + "  " + &rates.remote
}

/// A rate, with a decimal below 10, and in millions from ten of them on.
fn rate(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        v if v < 10.0 => format!("{v:.1}"),
        v if v < 1e7 => count(v.round()),
        v => format!("{} M", count((v / 1e6).round())),
    }
}

/// A time in milliseconds, for people.
fn uptime(millis: u64) -> String {
    let minutes = millis / 60_000;
    match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
        (0, 0, 0) => format!("{} s", millis / 1000),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn rates(faces: usize) -> Rates {
        let all = Packets { interests: 12_345.0, data: 12_000.0, nacks: 0.0 };
        let face = |face| FaceRates {
            face,
            remote: "udp4://192.0.2.1:6363".into(),
            received: all,
            out: Packets::default(),
            in_bytes: 1.5e6,
            out_bytes: 0.0,
        };
        Rates {
            version: "hashlane-ndn/0.1.0".into(),
            uptime: 93_784_000,
            seconds: 1.0,
            fib: 3,
            pit: 12_000,
            cs: 65_536,
            cs_oldest: Some(240_000),
            received: all,
            out: all,
            satisfied: Some(990.0),
            unsatisfied: Some(10.0),
            dropped: BTreeMap::from([("loop".into(), 4.0)]),
            faces: (0..faces as u64).map(face).collect(),
        }
    }

    #[test]
    fn a_screen_has_the_forwarder_and_its_faces() {
        let text = text(&rates(1), 100, 200);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "hashlane-ndn/0.1.0, up 1 d 2 h; rates a second over 1.0 s");
        assert_eq!(lines[1], "entries: PIT 12,000, CS 65,536 (oldest 4 min), FIB 3; faces: 1");
        assert!(lines[4].starts_with("Interests that ended: 99"), "{text}");
        assert_eq!(lines[5], "dropped: loop 4.0");
        assert!(lines[7].trim_start().starts_with("face   in Int"), "{text}");
        assert!(lines[8].ends_with("  udp4://192.0.2.1:6363"), "{text}");
    }

    #[test]
    fn a_screen_fits_the_terminal() {
        let text = text(&rates(100), 24, 60);
        assert_eq!(text.lines().count(), 24);
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    }

    #[test]
    fn rates_fit_a_column() {
        let rates = [0.0, 0.25, 12.4, 9_999_999.0, 1.25e10].map(rate);
        assert_eq!(rates, ["0", "0.2", "12", "9,999,999", "12,500 M"]);
    }

    #[test]
    fn times_have_two_units_at_most() {
        let times = [999, 60_000, 3_660_000, 90_000_000].map(uptime);
        assert_eq!(times, ["0 s", "1 min", "1 h 1 min", "1 d 1 h"]);
    }
}
