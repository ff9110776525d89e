//! Directions of flows, as each meter reports them.

use serde_json::Value;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// A direction: protocol, and address and port of both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ends {
    pub(super) protocol: u8,
    pub(super) from: (IpAddr, u16),
    pub(super) to: (IpAddr, u16),
}

/// Counters of a direction. Times are in microseconds of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) flags: u64,
    pub(super) first: i64,
    pub(super) last: i64,
}

/// The directions that a meter reports; records of the same one are added up.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows(BTreeMap<Ends, Counted>);

/// Difference of times that is ignored: meters round to the millisecond.
const ROUNDED: i64 = 1_000;

impl Flows {
    pub(super) fn add(&mut self, ends: Ends, new: Counted) {
        let sum = |old: &mut Counted| {
            *old = Counted {
                packets: old.packets + new.packets,
                bytes: old.bytes + new.bytes,
                flags: old.flags | new.flags,
                first: old.first.min(new.first),
                last: old.last.max(new.last),
            };
        };
        self.0.entry(ends).and_modify(sum).or_insert(new);
    }

    /// The same counters under other ends; those without ends are left out.
    pub(super) fn under(&self, of: impl Fn(Ends) -> Option<Ends>) -> Self {
        let mut flows = Self::default();
        for (ends, counted) in &self.0 {
            if let Some(ends) = of(*ends) {
                flows.add(ends, *counted);
            }
        }
        flows
    }

    /// The same directions with other counters.
    pub(super) fn counting(&self, of: impl Fn(Counted) -> Counted) -> Self {
        Self(self.0.iter().map(|(ends, counted)| (*ends, of(*counted))).collect())
    }

    /// Times of both directions together, counted from the first packet.
    pub(super) fn in_both_directions(&self) -> Self {
        let start = self.0.values().map(|counted| counted.first).min().unwrap_or_default();
        let both = |(ends, counted): (&Ends, &Counted)| {
            let back = Ends { protocol: ends.protocol, from: ends.to, to: ends.from };
            let other = self.0.get(&back).unwrap_or(counted);
            let (first, last) = (counted.first.min(other.first), counted.last.max(other.last));
            (*ends, Counted { first: first - start, last: last - start, ..*counted })
        };
        Self(self.0.iter().map(both).collect())
    }

    /// Flows between the same ends with these ports, packets, bytes, and times since the start.
    pub(super) fn parts(&self, parts: &[([u16; 2], u64, u64, [i64; 2])]) -> Self {
        let mut flows = Self::default();
        let start = self.0.values().map(|counted| counted.first).min().unwrap_or_default();
        if let Some(ends) = self.0.keys().next() {
            for &([from, to], packets, bytes, [first, last]) in parts {
                let ends = Ends { from: (ends.from.0, from), to: (ends.to.0, to), ..*ends };
                let (first, last) = (start + first, start + last);
                flows.add(ends, Counted { packets, bytes, flags: 0, first, last });
            }
        }
        flows
    }

    /// Number of directions.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The first difference from `theirs`.
    pub(super) fn difference(&self, theirs: &Self) -> Option<String> {
        for (ends, ours) in &self.0 {
            let Some(counted) = theirs.0.get(ends) else { return Some(format!("no {ends:?}, {ours:?}")) };
            let near = |a: i64, b: i64| (a - b).abs() <= ROUNDED;
            let same = Counted { first: ours.first, last: ours.last, ..*counted } == *ours;
            if !same || !near(ours.first, counted.first) || !near(ours.last, counted.last) {
                return Some(format!("{ends:?}: {ours:?}, not {counted:?}"));
            }
        }
        let more = theirs.0.keys().find(|ends| !self.0.contains_key(ends));
        more.map(|ends| format!("{ends:?} is not ours"))
    }
}

/// Reads the JSON lines of `hashlane flow meter`. The ports of ICMP are 0.
pub(super) fn ours(text: &str) -> Result<Flows, String> {
    let mut flows = Flows::default();
    for line in text.lines() {
        let broken = || format!("not a flow: {line}");
        let flow: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        let address = |end: &str| {
            let found = [4, 6].iter().find_map(|version| flow[format!("{end}IPv{version}Address")].as_str());
            found.and_then(|found| found.parse::<IpAddr>().ok()).ok_or_else(broken)
        };
        let number = |name: &str| flow[name].as_u64().unwrap_or(0);
        let port = |name: &str| u16::try_from(number(name)).map_err(|_| broken());
        let time = |name: &str| flow[name].as_str().and_then(of_day).ok_or_else(broken);
        let protocol = u8::try_from(number("protocolIdentifier")).map_err(|_| broken())?;
        let from = (address("source")?, port("sourceTransportPort")?);
        let to = (address("destination")?, port("destinationTransportPort")?);
        let counted = Counted {
            packets: number("packetDeltaCount"),
            bytes: number("octetDeltaCount"),
            flags: number("tcpControlBits"),
            first: time("flowStartNanoseconds")?,
            last: time("flowEndNanoseconds")?,
        };
        flows.add(Ends { protocol, from, to }, counted);
        if number("reversePacketDeltaCount") > 0 {
            let back = Counted {
                packets: number("reversePacketDeltaCount"),
                bytes: number("reverseOctetDeltaCount"),
                flags: number("reverseTcpControlBits"),
                first: time("reverseFlowStartNanoseconds")?,
                last: time("reverseFlowEndNanoseconds")?,
            };
            flows.add(Ends { protocol, from: to, to: from }, back);
        }
    }
    Ok(flows)
}

/// Format for nfdump that [`nfdump`] reads.
pub(super) const FORMAT: &str = "fmt:%ts,%te,%pr,%sa,%da,%sp,%dp,%pkt,%byt,%flg";

/// Reads what nfdump prints. Its flows without packets, one for each tunnel, are left out.
pub(super) fn nfdump(text: &str) -> Result<Flows, String> {
    let mut flows = Flows::default();
    let is_flow = |line: &&str| !line.trim().is_empty() && *line != "No matching flows";
    for line in text.lines().filter(is_flow) {
        let words: Vec<&str> = line.split(',').map(str::trim).collect();
        let [first, last, protocol, from, to, from_port, to_port, packets, bytes, flags] = words.as_slice()
        else {
            return Err(format!("not a flow: {line}"));
        };
        let broken = || format!("not a flow: {line}");
        let ip = |text: &str| text.parse::<IpAddr>().map_err(|_| broken());
        let number = |text: &str| text.parse::<u64>().map_err(|_| broken());
        let protocol = protocol.parse().map_err(|_| broken())?;
        // ICMP has a type and a code instead.
        let port = |text: &str| if protocol == 1 { Ok(0) } else { text.parse().map_err(|_| broken()) };
        let ends = Ends { protocol, from: (ip(from)?, port(from_port)?), to: (ip(to)?, port(to_port)?) };
        let flags = flags.chars().fold(0, |bits, flag| bits << 1 | u64::from(flag != '.'));
        let counted = Counted {
            packets: number(packets)?,
            bytes: number(bytes)?,
            flags,
            first: of_day(first).ok_or_else(broken)?,
            last: of_day(last).ok_or_else(broken)?,
        };
        if counted.packets > 0 {
            flows.add(ends, counted);
        }
    }
    Ok(flows)
}

/// Reads a table of `tshark -z conv`: the line of a conversation has frames and bytes of both directions, its
/// start and its duration.
pub(super) fn conversations(text: &str, ports: bool, protocol: u8, before: u64) -> Result<Flows, String> {
    let mut flows = Flows::default();
    for line in text.lines().filter(|line| line.contains("<->")) {
        let broken = || format!("not a conversation: {line}");
        let words: Vec<&str> = line.split_whitespace().filter(|word| *word != "bytes").collect();
        let [a, _, b, frames_back, bytes_back, frames, bytes, _, _, start, duration] = words.as_slice()
        else {
            return Err(broken());
        };
        let end = |text: &str| -> Result<(IpAddr, u16), String> {
            let (address, port) = if ports { text.rsplit_once(':').ok_or_else(broken)? } else { (text, "0") };
            Ok((address.parse().map_err(|_| broken())?, port.parse().map_err(|_| broken())?))
        };
        let number = |text: &str| text.parse::<u64>().map_err(|_| broken());
        let micros = |text: &str| Ok::<_, String>((text.parse::<f64>().map_err(|_| broken())? * 1e6) as i64);
        let (a, b, first) = (end(a)?, end(b)?, micros(start)?);
        let last = first + micros(duration)?;
        for (from, to, frames, bytes) in [(a, b, frames, bytes), (b, a, frames_back, bytes_back)] {
            let (packets, bytes) = (number(frames)?, number(bytes)?);
            let bytes = bytes.checked_sub(packets * before).ok_or_else(broken)?;
            if packets > 0 {
                flows.add(Ends { protocol, from, to }, Counted { packets, bytes, flags: 0, first, last });
            }
        }
    }
    Ok(flows)
}

/// Microseconds of the day in `2026-01-02T03:04:05.678Z` or `2026-01-02 03:04:05.678`.
fn of_day(text: &str) -> Option<i64> {
    let (_, time) = text.split_once(['T', ' '])?;
    let mut parts = time.trim_end_matches('Z').split(':');
    let (hours, minutes) = (parts.next()?.parse::<i64>().ok()?, parts.next()?.parse::<i64>().ok()?);
    let (seconds, part) = parts.next()?.split_once('.')?;
    let part: String = part.chars().chain("000000".chars()).take(6).collect();
    let seconds = (hours * 60 + minutes) * 60 + seconds.parse::<i64>().ok()?;
    Some(seconds * 1_000_000 + part.parse::<i64>().ok()?)
}
