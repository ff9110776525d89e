//! Messages out of captures.

use super::memory;
use hashlane_dns::wire::Content;
use hashlane_flow::captured::{Carried, NOT_IP};
use hashlane_flow::packet::Segment;
use hashlane_link::capture::{FormatError, frames, write_skipped};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::ops::ControlFlow;

/// The messages that a capture holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// The messages in their order.
    pub messages: Vec<Content>,
    /// Packets in the file, as far as it was read.
    pub seen: u64,
    /// Number of skipped packets, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Error that ended the reading early, if one did; messages before it are kept.
    pub broken: Option<String>,
    /// `true` if the file had more messages than the limit.
    pub full: bool,
}

/// `12 messages from 80 packets; 5 skipped: 3 not IP, 2 fragments`
impl fmt::Display for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages from {} packets", self.messages.len(), self.seen)?;
        write_skipped(f, &self.skipped, self.full, self.broken.as_deref())
    }
}

/// Reads the messages of a capture, from or to port 53: those over UDP, and those over TCP that lie whole in
/// one segment, after their length. Keeps about `most` bytes of them. A capture without a message is no
/// error.
///
/// # Errors
/// The stream fails at its beginning, or is not a capture.
pub fn read_from(from: impl Read, most: usize) -> Result<Capture, FormatError> {
    let mut capture = Capture::default();
    let mut kept = 0;
    let broken = frames(from, &mut |frame| {
        capture.seen += 1;
        let found = Carried::of(frame.link, frame.bytes).and_then(|carried| match carried {
            Carried::Segment(segment) => in_segment(segment),
            Carried::Other { .. } => Err(NOT_IP),
        });
        match found {
            Ok(messages) => {
                kept += messages.iter().map(memory::message).sum::<usize>();
                capture.full = kept > most;
                if !capture.full {
                    capture.messages.extend(messages);
                }
            }
            Err(why) => *capture.skipped.entry(why).or_default() += 1,
        }
        if capture.full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    capture.broken = broken;
    Ok(capture)
}

/// The messages of a packet from or to port 53: one of UDP, or those that lie whole in a segment of TCP.
///
/// # Errors
/// The reason why it has none, in words that follow a count.
pub fn in_segment(segment: Segment<'_>) -> Result<Vec<Content>, &'static str> {
    const PORT: u16 = 53;
    const UDP: u8 = 17;
    const TCP: u8 = 6;
    let packet = segment.packet;
    if packet.source.1 != PORT && packet.destination.1 != PORT {
        return Err("not from or to port 53");
    }
    let parse = |bytes| Content::parse(bytes).map_err(|_| "malformed DNS messages");
    match packet.protocol {
        UDP => parse(segment.datagram().ok_or("cut off")?).map(|message| vec![message]),
        TCP => {
            let mut data = segment.stream().ok_or("cut off")?.bytes;
            if data.is_empty() {
                return Err("TCP without data");
            }
            let mut messages = Vec::new();
            while let Some((len, rest)) = data.split_first_chunk() {
                let (bytes, rest) = rest.split_at_checked(u16::from_be_bytes(*len).into()).ok_or(PARTS)?;
                messages.push(parse(bytes)?);
                data = rest;
            }
            if data.is_empty() { Ok(messages) } else { Err(PARTS) }
        }
        _ => Err("neither UDP nor TCP"),
    }
}

const PARTS: &str = "TCP segments with parts of messages, which are not reassembled";

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::DataLink;
    use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
    use proptest::prelude::*;
    use std::time::Duration;

    const QUERY: &[u8] = b"\0\x07\0\0\0\x01\0\0\0\0\0\0\x01a\0\0\x01\0\x01";

    /// An IPv4 packet of `protocol` between two ports.
    fn packet(protocol: u8, ports: [u16; 2], rest: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1];
        bytes.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
        bytes.extend_from_slice(rest);
        let len = bytes.len() as u16;
        bytes[2..4].copy_from_slice(&len.to_be_bytes());
        bytes
    }

    fn udp(port: u16, data: &[u8]) -> Vec<u8> {
        packet(17, [port, 4000], &[&(8 + data.len() as u16).to_be_bytes(), &[0, 0][..], data].concat())
    }

    fn tcp(data: &[u8]) -> Vec<u8> {
        let header = [0, 0, 0, 0, 0, 0, 0, 0, 0x60, 0x18, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0];
        packet(6, [4000, 53], &[&header[..], data].concat())
    }

    fn file(packets: &[Vec<u8>]) -> Vec<u8> {
        let header = PcapHeader { datalink: DataLink::RAW, ..PcapHeader::default() };
        let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
        for packet in packets {
            writer.write_packet(&PcapPacket::new(Duration::ZERO, packet.len() as u32, packet)).unwrap();
        }
        writer.into_writer()
    }

    fn framed(message: &[u8]) -> Vec<u8> {
        [&(message.len() as u16).to_be_bytes(), message].concat()
    }

    #[test]
    fn reads_datagrams_and_whole_messages_of_streams() {
        let two = [framed(QUERY), framed(QUERY)].concat();
        let capture = file(&[
            udp(53, QUERY),
            tcp(&framed(QUERY)),
            tcp(&two),
            tcp(&[]),
            tcp(&two[..two.len() - 1]),
            tcp(&[0]),
            udp(5353, QUERY),
            udp(53, &QUERY[..15]),
            udp(53, QUERY)[..40].to_vec(),
            packet(132, [53, 53], &[0; 8]),
        ]);
        let capture = read_from(capture.as_slice(), usize::MAX).unwrap();
        assert_eq!(capture.messages, vec![Content::parse(QUERY).unwrap(); 4]);
        assert_eq!(
            capture.to_string(),
            "4 messages from 10 packets; 7 skipped: 2 TCP segments with parts of messages, which are not \
             reassembled, 1 TCP without data, 1 cut off, 1 malformed DNS messages, 1 neither UDP nor TCP, \
             1 not from or to port 53"
        );
    }

    #[test]
    fn keeps_no_more_than_the_limit() {
        let bytes = file(&vec![udp(53, QUERY); 10]);
        let each = memory::message(&Content::parse(QUERY).unwrap());
        let capture = read_from(bytes.as_slice(), 3 * each).unwrap();
        assert!(capture.full && capture.messages.len() == 3);
        assert!(capture.to_string().ends_with("the rest was not read: limit reached"));
    }

    proptest! {
        #[test]
        fn a_changed_capture_is_no_disaster(at: prop::sample::Index, to: [u8; 2]) {
            let mut bytes = file(&[udp(53, QUERY), tcp(&framed(QUERY))]);
            let at = at.index(bytes.len() - 1);
            bytes[at..at + 2].copy_from_slice(&to);
            if let Ok(capture) = read_from(bytes.as_slice(), usize::MAX) {
                prop_assert!(capture.messages.len() <= 2);
            }
        }
    }
}
