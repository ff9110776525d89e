//! Messages as datagrams in a capture.

use anyhow::Result;
use hashlane_dns::wire::{Flags, Header};
use hashlane_flow::captured::RAW;
use hashlane_link::capture::Writer;
use std::io::Write;
use std::net::Ipv4Addr;
use std::time::Duration;

/// The longest message that fits into a datagram: an IPv4 packet has at most 65,535 bytes, 20 of them in its
/// header and 8 in UDP's.
pub(super) const MAX_DATAGRAM: u16 = u16::MAX - (IP + UDP) as u16;

/// Bytes of an IPv4 header without options (RFC 791 §3.1).
const IP: usize = 20;

/// Bytes of a UDP header (RFC 768).
const UDP: usize = 8;

/// Writes messages into a capture of raw IP packets, a microsecond apart.
pub(super) struct Capture<W: Write> {
    writer: Writer<W>,
    packets: u64,
}

impl<W: Write> Capture<W> {
    pub(super) fn new(to: W) -> Result<Self> {
        Ok(Self { writer: Writer::new(to, RAW)?, packets: 0 })
    }

    /// Writes a message of at most [`MAX_DATAGRAM`] bytes: from port 53 if it is a response, else to port 53.
    pub(super) fn write(&mut self, header: Header, message: &[u8]) -> Result<()> {
        let packet = packet(header.flags.contains(Flags::RESPONSE), message);
        let time = Duration::from_micros(self.packets);
        self.writer.write(time, &packet)?;
        self.packets += 1;
        Ok(())
    }

    pub(super) fn into_writer(self) -> W {
        self.writer.into_inner()
    }
}

/// An IPv4 packet over the loopback interface.
fn packet(response: bool, message: &[u8]) -> Vec<u8> {
    const ADDRESS: [u8; 4] = Ipv4Addr::LOCALHOST.octets();
    const DNS: [u8; 2] = 53_u16.to_be_bytes();
    const OTHER: [u8; 2] = 53_000_u16.to_be_bytes();
    let (from, to) = if response { (DNS, OTHER) } else { (OTHER, DNS) };
    let udp_len = ((UDP + message.len()) as u16).to_be_bytes();
    let total = ((IP + UDP + message.len()) as u16).to_be_bytes();

    // Version and length, total length, DF, a time to live of 64, UDP.
    let mut packet = vec![0x45, 0, total[0], total[1], 0, 0, 0x40, 0, 64, 17, 0, 0];
    packet.extend([ADDRESS, ADDRESS].as_flattened());
    let sum = checksum(&[&packet]);
    packet[10..12].copy_from_slice(&sum);

    let mut udp = [from, to, udp_len, [0; 2]];
    // Covers addresses, protocol and length, too (RFC 768); 0 would mean "no checksum".
    let pseudo = [&ADDRESS[..], &ADDRESS, &[0, 17], &udp_len].concat();
    udp[3] = match checksum(&[&pseudo, udp.as_flattened(), message]) {
        [0, 0] => [0xff; 2],
        sum => sum,
    };
    packet.extend(udp.as_flattened());
    packet.extend_from_slice(message);
    packet
}

/// The checksum of IP and UDP over parts; all but the last have an even number of bytes (RFC 1071).
fn checksum(parts: &[&[u8]]) -> [u8; 2] {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let word = |chunk: &[u8]| u32::from(chunk[0]) << 8 | chunk.get(1).copied().map_or(0, u32::from);
    // At most 32,773 words of 16 bits: no carry is lost.
    let mut sum: u32 = words.map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{NetSlice, SlicedPacket, TransportSlice};

    #[test]
    fn an_independent_reader_finds_every_field_right() {
        for (response, message) in [(true, &b"odd"[..]), (false, b"even"), (true, &[0xff; 65_507])] {
            let octets = packet(response, message);
            let sliced = SlicedPacket::from_ip(&octets).unwrap();
            let Some(NetSlice::Ipv4(ip)) = sliced.net else { panic!("{sliced:?}") };
            let header = ip.header().to_header();
            assert_eq!(header.header_checksum, header.calc_header_checksum());
            assert_eq!(header.source, [127, 0, 0, 1]);
            let Some(TransportSlice::Udp(udp)) = sliced.transport else { panic!() };
            let expected = udp.to_header().calc_checksum_ipv4(&header, message).unwrap();
            assert_eq!((udp.checksum(), udp.payload()), (expected, message));
            assert_eq!(udp.source_port() == 53, response);
        }
        assert_eq!(MAX_DATAGRAM, 65_507);
    }
}
