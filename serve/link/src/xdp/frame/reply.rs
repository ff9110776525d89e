//! Replies: the headers of a datagram, turned round.

use super::{IPV4, IPV6, PROTOCOL, Received, UDP, pseudo};
use crate::xdp::checksum::Sum;
use std::net::IpAddr;

/// Hops that a reply may take: Linux's default (`net.ipv4.ip_default_ttl`).
const HOPS: u8 = 64;

impl Received {
    /// Writes a reply to the datagram of `frame`: to its sender, from its destination, in its virtual LAN.
    /// Returns the length of the written frame; `None` if `out` is shorter, or IP permits no such length.
    ///
    /// A reply is never fragmented: it has IPv4's "don't fragment", and so needs no identification
    /// (RFC 6864 §4.1).
    #[inline]
    pub fn reply(&self, frame: &[u8], payload: &[u8], out: &mut [u8]) -> Option<usize> {
        let (old_link, old_packet) = frame.split_at_checked(self.ip)?;
        let (old_header, old_datagram) = old_packet.split_at_checked(self.ip_header())?;
        let end = self.ip + self.packet_headers() + payload.len();
        let (link, packet) = out.get_mut(..end)?.split_at_mut_checked(self.ip)?;
        let length = u16::try_from(packet.len()).ok()?;
        let (header, datagram) = packet.split_at_mut_checked(self.ip_header())?;
        let addresses = match self.from.ip() {
            IpAddr::V4(_) => write_ipv4(header.first_chunk_mut()?, old_header.first_chunk()?, length),
            IpAddr::V6(_) => write_ipv6(header.first_chunk_mut()?, old_header.first_chunk()?, length),
        };
        turn(link.get_mut(..12)?, old_link.get(..12)?);
        link.get_mut(12..)?.copy_from_slice(old_link.get(12..)?);

        let ([a, b, c, d], length) = (*old_datagram.first_chunk()?, datagram.len() as u16);
        let [e, f] = length.to_be_bytes();
        datagram.get_mut(UDP..)?.copy_from_slice(payload);
        *datagram.first_chunk_mut()? = [c, d, a, b, e, f, 0, 0];
        let checksum = match pseudo(addresses, length).add(datagram).checksum() {
            // 0 would mean that the datagram has no checksum.
            [0, 0] => [0xff; 2],
            checksum => checksum,
        };
        datagram.get_mut(6..UDP)?.copy_from_slice(&checksum);
        Some(end)
    }
}

/// Writes the header of a packet of `length` bytes. Returns its addresses.
#[inline]
fn write_ipv4<'a>(header: &'a mut [u8; IPV4], old: &[u8; IPV4], length: u16) -> &'a [u8] {
    let [a, b] = length.to_be_bytes();
    let (fields, addresses) = header.split_at_mut(12);
    fields.copy_from_slice(&[0x45, 0, a, b, 0, 0, 0x40, 0, HOPS, PROTOCOL, 0, 0]);
    turn(addresses, &old[12..]);
    let checksum = Sum::default().add(fields).add(addresses).checksum();
    fields[10..].copy_from_slice(&checksum);
    addresses
}

/// Writes the header of a packet of `length` bytes. Returns its addresses.
#[inline]
fn write_ipv6<'a>(header: &'a mut [u8; IPV6], old: &[u8; IPV6], length: u16) -> &'a [u8] {
    let [a, b] = (length - IPV6 as u16).to_be_bytes();
    let (fields, addresses) = header.split_at_mut(8);
    fields.copy_from_slice(&[0x60, 0, 0, 0, a, b, PROTOCOL, HOPS]);
    turn(addresses, &old[8..]);
    addresses
}

/// Copies two addresses in the other order.
#[inline]
fn turn(to: &mut [u8], from: &[u8]) {
    let middle = from.len() / 2;
    let (first, second) = to.split_at_mut(middle);
    first.copy_from_slice(&from[middle..]);
    second.copy_from_slice(&from[..middle]);
}
