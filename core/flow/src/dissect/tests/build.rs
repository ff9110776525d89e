//! Headers around bytes.

use super::super::{Dissected, Options, dissect};
use crate::captured::ETHERNET;
use core::net::{Ipv4Addr, Ipv6Addr};
use std::vec::Vec;

pub(super) const A: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
pub(super) const B: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 2);
pub(super) const A6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
pub(super) const B6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);

pub(super) fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    [&[2; 6][..], &[4; 6], &ether_type.to_be_bytes(), payload].concat()
}

/// An IPv4 packet from `A` to `B`.
pub(super) fn v4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    v4_between(A, B, protocol, payload)
}

pub(super) fn v4_between(from: Ipv4Addr, to: Ipv4Addr, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut header = [0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    header[2..4].copy_from_slice(&(20 + payload.len() as u16).to_be_bytes());
    header[12..16].copy_from_slice(&from.octets());
    header[16..].copy_from_slice(&to.octets());
    [&header, payload].concat()
}

/// A part of an IPv4 packet from `A` to `B`; the offset is in units of 8 bytes.
pub(super) fn v4_part(id: u16, offset: u16, more: bool, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = v4(protocol, payload);
    packet[4..6].copy_from_slice(&id.to_be_bytes());
    packet[6..8].copy_from_slice(&(u16::from(more) << 13 | offset).to_be_bytes());
    packet
}

/// An IPv6 packet from `A6` to `B6`.
pub(super) fn v6(next: u8, payload: &[u8]) -> Vec<u8> {
    let mut header = [0; 40];
    header[0] = 0x60;
    header[4..6].copy_from_slice(&(payload.len() as u16).to_be_bytes());
    (header[6], header[7]) = (next, 64);
    header[8..24].copy_from_slice(&A6.octets());
    header[24..].copy_from_slice(&B6.octets());
    [&header, payload].concat()
}

/// An IPv6 fragment header and its bytes.
pub(super) fn v6_part(id: u32, offset: u16, more: bool, next: u8, payload: &[u8]) -> Vec<u8> {
    let field = offset << 3 | u16::from(more);
    v6(44, &[&[next, 0][..], &field.to_be_bytes(), &id.to_be_bytes(), payload].concat())
}

pub(super) fn udp(from: u16, to: u16, payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len() as u16).to_be_bytes();
    [&from.to_be_bytes()[..], &to.to_be_bytes(), &length, &[0; 2], payload].concat()
}

pub(super) fn tcp(from: u16, to: u16, flags: u8) -> Vec<u8> {
    let rest = [0, 0, 0, 1, 0, 0, 0, 2, 0x50, flags, 1, 0, 0, 0, 0, 0];
    [&from.to_be_bytes()[..], &to.to_be_bytes(), &rest].concat()
}

pub(super) fn of_ethernet(ether_type: u16, payload: &[u8]) -> Dissected {
    dissect(ETHERNET, &ethernet(ether_type, payload), Options::default()).unwrap()
}

/// The flow of an IP packet in an Ethernet frame, inside of tunnels.
pub(super) fn inside(packet: &[u8]) -> Dissected {
    let ether_type = if packet[0] >> 4 == 4 { 0x0800 } else { 0x86dd };
    dissect(ETHERNET, &ethernet(ether_type, packet), Options { tunnels: true }).unwrap()
}

/// Ports of source and destination.
pub(super) fn ports(dissected: &Dissected) -> [u16; 2] {
    dissected.key.ends(dissected.reversed).map(|(_, port)| port)
}
