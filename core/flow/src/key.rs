//! Keys of flow tables as words: [`Tuple4`] for IPv4 in 16 bytes, [`MeterKey`] for flows of a meter.
//!
//! [`Tuple`](crate::tuple::Tuple) is the key of one host's connections and has no protocol in it. The keys
//! here hold the protocol and the virtual LAN, and [`MeterKey`] the tunnel, so one table takes all of them.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::net::{Ipv4Addr, Ipv6Addr};

/// Key of a flow table: an array of words. All its bytes are hashed and compared.
pub trait FlowKey: Copy + Eq {
    /// The array: `[u64; N]`, N from 1 to 8.
    type Words;

    /// The words, in the machine's own order.
    fn as_words(&self) -> &Self::Words;

    /// The words of many keys, for hashes of several at once.
    fn memories(keys: &[Self]) -> &[Self::Words];
}

/// Both ends of an IPv4 flow, its protocol and its virtual LAN.
///
/// In memory it is 16 bytes in network order: local address (0–3), foreign address (4–7), local port (8–9),
/// foreign port (10–11), protocol (12), zero (13), VLAN id (14–15; 12 bits, 0 without one).
#[derive(Clone, Copy, Eq, bytemuck::NoUninit)]
#[repr(transparent)]
pub struct Tuple4 {
    memory: [u64; 2],
}

impl Tuple4 {
    /// A flow between two ends, each an address and a port; `vlan` is 0 without a virtual LAN.
    #[inline(always)]
    pub const fn new(local: (Ipv4Addr, u16), foreign: (Ipv4Addr, u16), protocol: u8, vlan: u16) -> Self {
        let addresses = (local.0.to_bits() as u64) << 32 | foreign.0.to_bits() as u64;
        let ports = (local.1 as u64) << 48 | (foreign.1 as u64) << 32;
        let rest = (protocol as u64) << 24 | (vlan & VLAN_ID) as u64;
        Self { memory: [addresses.to_be(), (ports | rest).to_be()] }
    }

    /// The same flow as its other end sees it.
    #[must_use]
    #[inline(always)]
    pub const fn reversed(&self) -> Self {
        Self::new(self.foreign(), self.local(), self.protocol(), self.vlan())
    }

    /// The local address and port.
    #[inline(always)]
    pub const fn local(&self) -> (Ipv4Addr, u16) {
        let [addresses, ports] = self.words();
        (Ipv4Addr::from_bits((addresses >> 32) as u32), (ports >> 48) as u16)
    }

    /// The foreign address and port.
    #[inline(always)]
    pub const fn foreign(&self) -> (Ipv4Addr, u16) {
        let [addresses, ports] = self.words();
        (Ipv4Addr::from_bits(addresses as u32), (ports >> 32) as u16)
    }

    /// The protocol's number (IANA, "Assigned Internet Protocol Numbers").
    #[inline(always)]
    pub const fn protocol(&self) -> u8 {
        (self.words()[1] >> 24) as u8
    }

    /// The VLAN id, or 0.
    #[inline(always)]
    pub const fn vlan(&self) -> u16 {
        self.words()[1] as u16
    }

    /// The bytes as big-endian numbers.
    const fn words(&self) -> [u64; 2] {
        let [a, b] = self.memory;
        [u64::from_be(a), u64::from_be(b)]
    }
}

impl FlowKey for Tuple4 {
    type Words = [u64; 2];

    #[inline(always)]
    fn as_words(&self) -> &[u64; 2] {
        &self.memory
    }

    #[inline(always)]
    fn memories(keys: &[Self]) -> &[[u64; 2]] {
        bytemuck::cast_slice(keys)
    }
}

/// Compares all words at once, without a branch between them.
impl PartialEq for Tuple4 {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        let ([a, b], [x, y]) = (self.memory, other.memory);
        (a ^ x) | (b ^ y) == 0
    }
}

impl Hash for Tuple4 {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(bytemuck::bytes_of(&self.memory));
    }
}

impl fmt::Debug for Tuple4 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (local, foreign) = (self.local(), self.foreign());
        write!(f, "Tuple4({}:{} > {}:{}", local.0, local.1, foreign.0, foreign.1)?;
        write!(f, ", protocol {}, VLAN {})", self.protocol(), self.vlan())
    }
}

/// Tunnel that carries a flow. The numbers are the values in [`MeterKey`]'s bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum TunnelKind {
    /// No tunnel.
    #[default]
    None = 0,
    /// IPv4 or IPv6 in IP (protocols 4 and 41).
    Ip = 1,
    /// GRE (RFC 2784); the id is its key (RFC 2890).
    Gre = 2,
    /// VXLAN (RFC 7348); the id is the VNI of 24 bits.
    Vxlan = 3,
    /// GTP-U (3GPP TS 29.281); the id is 0 in a key, as each direction has its own TEID.
    Gtpu = 4,
}

impl TunnelKind {
    const fn from_byte(byte: u8) -> Self {
        match byte {
            1 => Self::Ip,
            2 => Self::Gre,
            3 => Self::Vxlan,
            4 => Self::Gtpu,
            _ => Self::None,
        }
    }
}

/// Properties that both directions of a flow share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The protocol's number (IANA, "Assigned Internet Protocol Numbers").
    pub protocol: u8,
    /// IP version: 4 or 6.
    pub version: u8,
    /// VLAN ids, the outer one first; 0 for a tag that is missing. 12 bits each.
    pub vlans: [u16; 2],
    /// Kind of the innermost tunnel.
    pub tunnel: TunnelKind,
    /// Number of the innermost tunnel, or 0.
    pub tunnel_id: u32,
}

/// A flow of a meter: two ends in a canonical order, protocol, IP version, virtual LANs and tunnel.
///
/// Both directions of a biflow have the same key (RFC 5103). The first end is the one with the lower address,
/// by numbers in network order, or with the lower port between equal addresses.
///
/// In memory it is 48 bytes in network order:
///
/// | bytes | field |
/// | --- | --- |
/// | 0–15 | address of the first end; IPv4 as an IPv4-mapped address (RFC 4291 §2.5.5.2) |
/// | 16–31 | address of the second end |
/// | 32–33 | port of the first end |
/// | 34–35 | port of the second end |
/// | 36 | protocol |
/// | 37 | IP version |
/// | 38–39 | outer VLAN id, or 0 |
/// | 40–41 | inner VLAN id, or 0 |
/// | 42 | kind of the innermost tunnel ([`TunnelKind`]) |
/// | 43 | zero |
/// | 44–47 | tunnel id, or 0 |
#[derive(Clone, Copy, Eq, bytemuck::NoUninit)]
#[repr(transparent)]
pub struct MeterKey {
    memory: [u64; 6],
}

impl MeterKey {
    /// Bytes of a key.
    pub const LEN: usize = 48;

    /// A key of no packet: all bytes are zero.
    pub const EMPTY: Self = Self { memory: [0; 6] };

    /// The key of a packet from `source` to `destination`, each an address and a port, and `true` if the
    /// packet runs from the second end to the first.
    #[inline(always)]
    pub const fn new(source: (Ipv6Addr, u16), destination: (Ipv6Addr, u16), scope: Scope) -> (Self, bool) {
        let (from, to) = (source.0.to_bits(), destination.0.to_bits());
        Self::from_bits((from, source.1), (to, destination.1), scope)
    }

    /// As [`new`](Self::new), between two IPv4 addresses.
    #[inline(always)]
    pub const fn v4(source: (Ipv4Addr, u16), destination: (Ipv4Addr, u16), scope: Scope) -> (Self, bool) {
        let (from, to) = (v4_mapped(source.0.to_bits()), v4_mapped(destination.0.to_bits()));
        Self::from_bits((from, source.1), (to, destination.1), scope)
    }

    #[inline(always)]
    pub(crate) const fn from_bits(
        source: (u128, u16),
        destination: (u128, u16),
        scope: Scope,
    ) -> (Self, bool) {
        let (same, higher) = (source.0 == destination.0, source.0 > destination.0);
        let reversed = higher | (same & (source.1 > destination.1));
        // Exchanged without a branch: the order of addresses is not predictable.
        let address = (source.0 ^ destination.0) & (reversed as u128).wrapping_neg();
        let port = (source.1 ^ destination.1) & (reversed as u16).wrapping_neg();
        let (first, second) = (source.0 ^ address, destination.0 ^ address);
        let ends = ((source.1 ^ port) as u64) << 48 | ((destination.1 ^ port) as u64) << 32;
        let kind = (scope.protocol as u64) << 24 | (scope.version as u64) << 16;
        let outer = (scope.vlans[0] & VLAN_ID) as u64;
        let inner = ((scope.vlans[1] & VLAN_ID) as u64) << 48;
        let tunnel = (scope.tunnel as u64) << 40 | scope.tunnel_id as u64;
        let memory = [
            ((first >> 64) as u64).to_be(),
            (first as u64).to_be(),
            ((second >> 64) as u64).to_be(),
            (second as u64).to_be(),
            (ends | kind | outer).to_be(),
            (inner | tunnel).to_be(),
        ];
        (Self { memory }, reversed)
    }

    /// The 48 bytes.
    #[inline(always)]
    pub fn as_bytes(&self) -> &[u8; Self::LEN] {
        bytemuck::bytes_of(&self.memory).first_chunk().unwrap_or(&[0; Self::LEN])
    }

    /// Address and port of the first end.
    #[inline(always)]
    pub const fn first(&self) -> (Ipv6Addr, u16) {
        (self.address(0), (self.word(4) >> 48) as u16)
    }

    /// Address and port of the second end.
    #[inline(always)]
    pub const fn second(&self) -> (Ipv6Addr, u16) {
        (self.address(2), (self.word(4) >> 32) as u16)
    }

    /// The key without ports and protocol: the same for all flows and fragments between two hosts in the same
    /// virtual LANs and tunnel.
    #[must_use]
    #[inline(always)]
    pub const fn between_hosts(&self) -> Self {
        const VERSION_AND_VLAN: u64 = 0xff_ffff;
        let mut memory = self.memory;
        memory[4] = (self.word(4) & VERSION_AND_VLAN).to_be();
        Self { memory }
    }

    /// Source and destination of a packet that runs in that direction.
    #[inline(always)]
    pub const fn ends(&self, reversed: bool) -> [(Ipv6Addr, u16); 2] {
        let ends = [self.first(), self.second()];
        if reversed { [ends[1], ends[0]] } else { ends }
    }

    /// Properties that both directions share.
    pub const fn scope(&self) -> Scope {
        let (ends, rest) = (self.word(4), self.word(5));
        Scope {
            protocol: (ends >> 24) as u8,
            version: (ends >> 16) as u8,
            vlans: [ends as u16, (rest >> 48) as u16],
            tunnel: TunnelKind::from_byte((rest >> 40) as u8),
            tunnel_id: rest as u32,
        }
    }

    /// The protocol's number (IANA, "Assigned Internet Protocol Numbers").
    #[inline(always)]
    pub const fn protocol(&self) -> u8 {
        (self.word(4) >> 24) as u8
    }

    /// Type × 256 + code of an ICMP or ICMPv6 flow, of the query if it has queries and replies; `None` for
    /// other protocols.
    pub const fn icmp(&self) -> Option<u16> {
        match self.protocol() {
            1 | 58 => Some(self.first().1 | self.second().1),
            _ => None,
        }
    }

    /// Returns true for a flow of IPv4 packets.
    #[inline(always)]
    pub const fn is_v4(&self) -> bool {
        (self.word(4) >> 16) as u8 == 4
    }

    const fn word(&self, at: usize) -> u64 {
        u64::from_be(self.memory[at])
    }

    const fn address(&self, at: usize) -> Ipv6Addr {
        Ipv6Addr::from_bits((self.word(at) as u128) << 64 | self.word(at + 1) as u128)
    }
}

impl FlowKey for MeterKey {
    type Words = [u64; 6];

    #[inline(always)]
    fn as_words(&self) -> &[u64; 6] {
        &self.memory
    }

    #[inline(always)]
    fn memories(keys: &[Self]) -> &[[u64; 6]] {
        bytemuck::cast_slice(keys)
    }
}

/// Compares all words at once, without a branch between them.
impl PartialEq for MeterKey {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        let ([a, b, c, d, e, f], [u, v, w, x, y, z]) = (self.memory, other.memory);
        (a ^ u) | (b ^ v) | (c ^ w) | (d ^ x) | (e ^ y) | (f ^ z) == 0
    }
}

impl Hash for MeterKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(self.as_bytes());
    }
}

impl fmt::Debug for MeterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [(first, port), (second, other)] = self.ends(false);
        write!(f, "MeterKey([{first}]:{port} - [{second}]:{other}, {:?})", self.scope())
    }
}

const VLAN_ID: u16 = 0xfff;

const fn v4_mapped(bits: u32) -> u128 {
    0xffff_0000_0000 | bits as u128
}

#[cfg(test)]
mod tests;
