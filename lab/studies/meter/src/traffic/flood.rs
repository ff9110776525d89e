//! A flood of SYNs, each of another end, between packets of established flows.

use super::frame::{ACK, Ends, SYN, tcp};
use super::pcap::Pcap;
use hashlane_ipfix::FlowRecord;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr};

/// SYNs between two packets of established flows.
const SYNS: u64 = 100;

/// Bytes of a packet without data: the headers of IPv4 and TCP.
const BARE: usize = 40;

/// Bytes of a packet of an established flow, but for its handshake.
const FULL: usize = 1_040;

/// Server of the established flows, and its port.
const SERVER: ([u8; 4], u16) = ([198, 51, 100, 2], 443);

/// Target of the flood, and its port.
const TARGET: ([u8; 4], u16) = ([198, 51, 100, 1], 80);

/// A flood. First come the handshakes of the established flows, of three packets each; then the SYNs, and
/// after each 100 of them a packet of an established flow, in turns, in alternating directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flood {
    /// SYNs, each a new flow. Valid: up to 2³⁰.
    pub(crate) syns: u32,
    /// Established flows. Valid: up to 65,536.
    pub(crate) established: u32,
}

/// A packet of a flood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packet {
    Syn(u32),
    /// A packet of an established flow, by the number of the flow, and its number in the flow.
    Established(u32, u64),
}

impl Flood {
    /// Packets of the handshakes, before the first SYN of the flood.
    pub(crate) fn handshakes(self) -> u64 {
        3 * u64::from(self.established)
    }

    /// Packets of established flows, handshakes included.
    pub(crate) fn established_packets(self) -> u64 {
        let between = if self.established == 0 { 0 } else { u64::from(self.syns) / SYNS };
        self.handshakes() + between
    }

    /// All packets.
    pub(crate) fn packets(self) -> u64 {
        self.established_packets() + u64::from(self.syns)
    }

    /// Flows of all packets together.
    pub(crate) fn flows(self) -> u64 {
        u64::from(self.syns) + u64::from(self.established)
    }

    /// `true` if the record is of an established flow, and not of a SYN.
    pub(crate) fn is_established(record: &FlowRecord) -> bool {
        let server = IpAddr::from(SERVER.0);
        record.destination == server || record.source == server
    }

    /// Number of the established flow whose client has this address.
    pub(crate) fn flow_of(client: Ipv4Addr) -> Option<u32> {
        match client.octets() {
            [192, 0, high, low] => Some(u32::from(u16::from_be_bytes([high, low]))),
            _ => None,
        }
    }

    /// Packets of an established flow.
    pub(crate) fn packets_of(self, flow: u32) -> u64 {
        let turns = u64::from(self.syns) / SYNS;
        3 + turns.saturating_sub(u64::from(flow)).div_ceil(u64::from(self.established.max(1)))
    }

    /// The packet with this number, from 0.
    fn packet(self, number: u64) -> Packet {
        let established = u64::from(self.established);
        if number < self.handshakes() {
            // Flow by flow, so that each is answered before the next begins.
            return Packet::Established((number / 3) as u32, number % 3);
        }
        let number = number - self.handshakes();
        if established == 0 {
            return Packet::Syn(number as u32);
        }
        let (turn, place) = (number / (SYNS + 1), number % (SYNS + 1));
        if place < SYNS {
            return Packet::Syn((turn * SYNS + place) as u32);
        }
        Packet::Established((turn % established) as u32, 3 + turn / established)
    }

    /// Appends the headers of the packet with this number, from 0; returns the bytes of its IP packet.
    pub(crate) fn write(self, number: u64, frame: &mut Vec<u8>) -> usize {
        match self.packet(number) {
            Packet::Syn(syn) => {
                let source = (0x0a00_0000 + (syn >> 8)).to_be_bytes();
                let ports = [1024 + (syn & 0xff) as u16, TARGET.1];
                tcp(frame, Ends::V4(source, TARGET.0), ports, SYN, BARE);
                BARE
            }
            Packet::Established(flow, number) => {
                let [high, low] = (flow as u16).to_be_bytes();
                let (mut from, mut to) = (([192, 0, high, low], 40_000), SERVER);
                if !number.is_multiple_of(2) {
                    (from, to) = (to, from);
                }
                let (flags, bytes) = match number {
                    0 => (SYN, BARE),
                    1 => (SYN | ACK, BARE),
                    2 => (ACK, BARE),
                    _ => (ACK, FULL),
                };
                tcp(frame, Ends::V4(from.0, to.0), [from.1, to.1], flags, bytes);
                bytes
            }
        }
    }

    /// Writes a capture of all packets, 1 µs apart.
    ///
    /// # Errors
    /// `to` takes no more bytes.
    pub(crate) fn capture(self, to: impl Write) -> io::Result<()> {
        let mut out = Pcap::new(to)?;
        let mut headers = Vec::with_capacity(64);
        for number in 0..self.packets() {
            headers.clear();
            let bytes = self.write(number, &mut headers);
            out.frame(number, bytes, |frame| frame.extend_from_slice(&headers))?;
        }
        out.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn each_syn_comes_once_and_established_flows_go_on() {
        let flood = Flood { syns: 1_000, established: 3 };
        let packets: Vec<Packet> = (0..flood.packets()).map(|number| flood.packet(number)).collect();
        let syns = packets.iter().filter_map(|packet| match packet {
            Packet::Syn(syn) => Some(*syn),
            Packet::Established(..) => None,
        });
        assert!(syns.eq(0..1_000));
        let mut flows: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for packet in &packets {
            if let Packet::Established(flow, number) = packet {
                flows.entry(*flow).or_default().push(*number);
            }
        }
        assert_eq!(flows.len(), 3);
        assert!(flows.values().all(|numbers| numbers.iter().copied().eq(0..numbers.len() as u64)));
        assert_eq!(flows.values().map(Vec::len).sum::<usize>() as u64, flood.established_packets());
        assert!(flows.iter().all(|(flow, numbers)| flood.packets_of(*flow) == numbers.len() as u64));
        assert_eq!(flood.packets(), 1_000 + 9 + 10);
    }

    #[test]
    fn without_established_flows_there_are_syns_alone() {
        let flood = Flood { syns: 1_000, established: 0 };
        assert_eq!((flood.packets(), flood.flows(), flood.established_packets()), (1_000, 1_000, 0));
        assert_eq!(flood.packet(999), Packet::Syn(999));
    }
}
