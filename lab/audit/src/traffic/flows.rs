//! Flows, and captures as flows with the number of their packets.

use super::packets;
use hashlane_flow::tuple::Tuple;
use hashlane_link::capture::{FormatError, write_skipped};
use hashlane_stats::format::count;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::Read;
use std::ops::ControlFlow;

/// One direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Tuple as the receiver of the packets sees it: its destination is local.
    pub tuple: Tuple,
    /// Number of the protocol (IANA, "Assigned Internet Protocol Numbers").
    pub protocol: u8,
    /// Its packets.
    pub packets: u64,
}

/// Flows of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flows {
    /// The distinct flows, in the order of their first packets.
    pub flows: Vec<Flow>,
    /// Packets in the file, as far as it was read.
    pub seen: u64,
    /// Number of skipped packets, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Error that ended the reading early, if one did; everything before it is kept.
    pub broken: Option<String>,
    /// Limit of the flows, if the file had more.
    pub limit: Option<usize>,
}

/// `12 flows from 80 packets; 5 skipped: 3 not IP, 2 fragments`
impl fmt::Display for Flows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let flows = self.flows.len() as u64;
        let [found, seen] = [flows, self.seen].map(|number| count(number as f64));
        write!(f, "{found} flow{} from {seen} packet{}", plural(flows), plural(self.seen))?;
        write_skipped(f, &self.skipped, false, self.broken.as_deref())?;
        match self.limit {
            Some(most) => write!(f, "; the rest was not read: limit of {} flows reached", count(most as f64)),
            None => Ok(()),
        }
    }
}

impl Flows {
    /// Reads a capture, to its end or to the packet that would be of one flow more than `most`. `progress`
    /// gets the number of packets so far.
    ///
    /// # Errors
    /// The stream fails at its beginning, or is not a capture.
    pub fn from_capture(
        from: impl Read,
        most: usize,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Self, FormatError> {
        let mut counter = Counter::new(most);
        let broken = packets::walk(from, &mut |packet| {
            match packet {
                Ok(segment) => counter.count(segment.packet.received(), segment.packet.protocol),
                Err(why) => *counter.flows.skipped.entry(why).or_default() += 1,
            }
            counter.flows.seen += 1;
            progress(counter.flows.seen);
            if counter.flows.limit.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(Self { broken, ..counter.flows })
    }
}

/// Counter of the packets of each flow.
pub(super) struct Counter {
    pub(super) flows: Flows,
    places: HashMap<(Tuple, u8), usize>,
    most: usize,
}

impl Counter {
    /// Counter of up to `most` flows.
    pub(super) fn new(most: usize) -> Self {
        Self { flows: Flows::default(), places: HashMap::new(), most }
    }

    /// Counts a packet; one of a new flow beyond the limit sets `limit` instead.
    pub(super) fn count(&mut self, tuple: Tuple, protocol: u8) {
        let Flows { flows, limit, .. } = &mut self.flows;
        if let Some(place) = self.places.get(&(tuple, protocol)) {
            if let Some(flow) = flows.get_mut(*place) {
                flow.packets += 1;
            }
        } else if flows.len() >= self.most {
            *limit = Some(self.most);
        } else {
            self.places.insert((tuple, protocol), flows.len());
            flows.push(Flow { tuple, protocol, packets: 1 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], most: usize) -> Flows {
        Flows::from_capture(bytes, most, &mut |_| ()).unwrap()
    }

    const IPV4: &[u8] = include_bytes!("../../../../vectors/captures/ipv4.pcap");
    const SHORT: &[u8] = include_bytes!("../../../../vectors/captures/cut-short.pcap");

    #[test]
    fn packets_of_a_capture_are_counted_by_flow() {
        let flows = read(IPV4, 100);
        assert_eq!(flows.to_string(), "8 flows from 24 packets; 4 skipped: 4 without ports");
        assert_eq!(flows.flows.iter().map(|flow| flow.packets).sum::<u64>(), 20);
        let protocols: Vec<u8> = flows.flows.iter().map(|flow| flow.protocol).collect();
        assert_eq!([6, 17].map(|wanted| protocols.iter().filter(|found| **found == wanted).count()), [4, 4]);
    }

    #[test]
    fn no_more_flows_are_kept_than_the_limit() {
        let flows = read(IPV4, 3);
        assert_eq!((flows.flows.len(), flows.limit), (3, Some(3)));
        assert!(flows.to_string().ends_with("the rest was not read: limit of 3 flows reached"), "{flows}");
    }

    #[test]
    fn captures_without_ports_and_cut_ones_say_so() {
        let flows = read(SHORT, 100);
        let expected = "0 flows from 4 packets; 4 skipped: 4 cut off before their ports";
        assert_eq!(flows.to_string(), expected);
        let cut = read(&IPV4[..IPV4.len() - 1], 100);
        assert!(cut.to_string().contains("the file is truncated"), "{cut}");
        assert!(Flows::from_capture(&b"no capture"[..], 9, &mut |_| ()).is_err());
    }
}
