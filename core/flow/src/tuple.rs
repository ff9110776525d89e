//! The key of a connection: two addresses and two ports.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::net::{Ipv4Addr, Ipv6Addr};

/// A connection as seen by one of its ends: the local address and port, the foreign address and port.
///
/// In memory it is 36 bytes in network order and 4 bytes of zeros: local address (0–15), foreign address
/// (16–31), local port (32–33), foreign port (34–35). An IPv4 address is an IPv4-mapped IPv6 address (RFC
/// 4291 §2.5.5.2), so that no two connections of either family share a tuple. The protocol is not part of it:
/// hosts keep one table for each.
#[derive(Clone, Copy, Eq, bytemuck::NoUninit)]
#[repr(transparent)]
pub struct Tuple {
    /// The bytes above as words of the machine's own order.
    memory: [u64; 5],
}

impl Tuple {
    /// TupleBytes of a tuple: two addresses of 16, two ports of 2.
    pub const LEN: usize = 36;

    /// The tuple for which the check values of tuple hashes hold: local 2001:db8::1 port 443, foreign
    /// 2001:db8:1234:5678:9abc:def0:1122:3344 port 54321.
    pub const CHECK: Self = Self::new(
        Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
        443,
        Ipv6Addr::new(0x2001, 0xdb8, 0x1234, 0x5678, 0x9abc, 0xdef0, 0x1122, 0x3344),
        54321,
    );

    /// A connection between two IPv6 addresses.
    pub const fn new(local: Ipv6Addr, local_port: u16, foreign: Ipv6Addr, foreign_port: u16) -> Self {
        let [l0, l1] = halves(local);
        let [f0, f1] = halves(foreign);
        let [a, b] = local_port.to_be_bytes();
        let [c, d] = foreign_port.to_be_bytes();
        Self { memory: [l0, l1, f0, f1, u64::from_ne_bytes([a, b, c, d, 0, 0, 0, 0])] }
    }

    /// The tuple of these 36 bytes.
    pub const fn from_bytes(bytes: &[u8; Self::LEN]) -> Self {
        let mut memory = [0; 5];
        let (words, rest) = bytes.as_chunks::<8>();
        let mut at = 0;
        while at < 4 {
            memory[at] = u64::from_ne_bytes(words[at]);
            at += 1;
        }
        memory[4] = u64::from_ne_bytes([rest[0], rest[1], rest[2], rest[3], 0, 0, 0, 0]);
        Self { memory }
    }

    /// A connection between two IPv4 addresses, as IPv4-mapped ones.
    pub const fn v4(local: Ipv4Addr, local_port: u16, foreign: Ipv4Addr, foreign_port: u16) -> Self {
        Self::new(local.to_ipv6_mapped(), local_port, foreign.to_ipv6_mapped(), foreign_port)
    }

    /// The 36 bytes.
    #[inline(always)]
    pub fn as_bytes(&self) -> &[u8; Self::LEN] {
        bytemuck::bytes_of(&self.memory).first_chunk().unwrap_or(&[0; Self::LEN])
    }

    /// The bytes as little-endian words; the high half of the last word is 0.
    #[inline(always)]
    pub fn words(&self) -> [u64; 5] {
        let [a, b, c, d, e] = self.memory;
        [u64::from_le(a), u64::from_le(b), u64::from_le(c), u64::from_le(d), u64::from_le(e)]
    }

    /// The local address as four little-endian words, as a little-endian kernel reads `s6_addr32`.
    #[inline(always)]
    pub fn local_words(&self) -> [u32; 4] {
        let [a, b, ..] = self.words();
        [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32]
    }

    /// The foreign address as four little-endian words.
    #[inline(always)]
    pub fn foreign_words(&self) -> [u32; 4] {
        let [_, _, a, b, _] = self.words();
        [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32]
    }

    /// The memory of many tuples, for hashes of several at once.
    #[inline(always)]
    pub fn memories(tuples: &[Self]) -> &[[u64; 5]] {
        bytemuck::cast_slice(tuples)
    }

    /// The same connection as its other end sees it.
    #[must_use]
    pub const fn reversed(&self) -> Self {
        let [l0, l1, f0, f1, ports] = self.memory;
        let [a, b, c, d, ..] = ports.to_ne_bytes();
        Self { memory: [f0, f1, l0, l1, u64::from_ne_bytes([c, d, a, b, 0, 0, 0, 0])] }
    }

    /// The local address.
    pub fn local(&self) -> Ipv6Addr {
        address(self.memory[0], self.memory[1])
    }

    /// The foreign address.
    pub fn foreign(&self) -> Ipv6Addr {
        address(self.memory[2], self.memory[3])
    }

    /// The local port.
    #[inline(always)]
    pub const fn local_port(&self) -> u16 {
        let [a, b, ..] = self.memory[4].to_ne_bytes();
        u16::from_be_bytes([a, b])
    }

    /// The foreign port.
    #[inline(always)]
    pub const fn foreign_port(&self) -> u16 {
        let [_, _, a, b, ..] = self.memory[4].to_ne_bytes();
        u16::from_be_bytes([a, b])
    }

    /// Returns true if both addresses are IPv4-mapped.
    pub fn is_v4(&self) -> bool {
        self.local().to_ipv4_mapped().is_some() && self.foreign().to_ipv4_mapped().is_some()
    }
}

/// Compares all words at once, without a branch between them; the derived form would call a comparison of
/// bytes.
impl PartialEq for Tuple {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        let [a, b, c, d, e] = self.memory;
        let [v, w, x, y, z] = other.memory;
        (a ^ v) | (b ^ w) | (c ^ x) | (d ^ y) | (e ^ z) == 0
    }
}

impl Hash for Tuple {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(self.as_bytes());
    }
}

/// The memory of a tuple: words in the machine's own order.
impl AsRef<[u64; 5]> for Tuple {
    #[inline(always)]
    fn as_ref(&self) -> &[u64; 5] {
        &self.memory
    }
}

/// `[local]:port > [foreign]:port`, IPv4-mapped addresses as IPv4.
impl fmt::Display for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |f: &mut fmt::Formatter<'_>, address: Ipv6Addr, port| match address.to_ipv4_mapped() {
            Some(v4) => write!(f, "{v4}:{port}"),
            None => write!(f, "[{address}]:{port}"),
        };
        end(f, self.local(), self.local_port())?;
        f.write_str(" > ")?;
        end(f, self.foreign(), self.foreign_port())
    }
}

impl fmt::Debug for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tuple({self})")
    }
}

const fn halves(address: Ipv6Addr) -> [u64; 2] {
    let bits = address.to_bits();
    [((bits >> 64) as u64).to_be(), (bits as u64).to_be()]
}

fn address(high: u64, low: u64) -> Ipv6Addr {
    Ipv6Addr::from_bits(u128::from(u64::from_be(high)) << 64 | u128::from(u64::from_be(low)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    proptest! {
        #[test]
        fn lays_out_its_bytes_in_network_order(local: [u8; 16], foreign: [u8; 16], ports: [u16; 2]) {
            let tuple = Tuple::new(local.into(), ports[0], foreign.into(), ports[1]);
            let bytes = tuple.as_bytes();
            prop_assert_eq!(&bytes[..16], &local);
            prop_assert_eq!(&bytes[16..32], &foreign);
            prop_assert_eq!(&bytes[32..34], &ports[0].to_be_bytes());
            prop_assert_eq!(&bytes[34..], &ports[1].to_be_bytes());
            prop_assert_eq!(Tuple::from_bytes(bytes), tuple);
            let mut padded = [0; 40];
            padded[..36].copy_from_slice(bytes);
            let words: [[u8; 8]; 5] = tuple.words().map(u64::to_le_bytes);
            prop_assert_eq!(words.as_flattened(), &padded);
            let words = [tuple.local_words(), tuple.foreign_words()].map(|words| words.map(u32::to_le_bytes));
            prop_assert_eq!(words[0].as_flattened(), &local);
            prop_assert_eq!(words[1].as_flattened(), &foreign);
        }

        #[test]
        fn differs_by_any_bit(local: [u8; 16], foreign: [u8; 16], ports: [u16; 2], bit in 0..288usize) {
            let tuple = Tuple::new(local.into(), ports[0], foreign.into(), ports[1]);
            let mut bytes = *tuple.as_bytes();
            prop_assert_eq!(Tuple::from_bytes(&bytes), tuple);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert_ne!(Tuple::from_bytes(&bytes), tuple);
        }

        #[test]
        fn gives_back_its_parts_from_either_end(local: [u8; 16], foreign: [u8; 16], ports: [u16; 2]) {
            let tuple = Tuple::new(local.into(), ports[0], foreign.into(), ports[1]);
            let other = Tuple::new(foreign.into(), ports[1], local.into(), ports[0]);
            prop_assert_eq!(tuple.reversed(), other);
            prop_assert_eq!((tuple.local(), tuple.foreign()), (local.into(), foreign.into()));
            prop_assert_eq!((tuple.local_port(), tuple.foreign_port()), (ports[0], ports[1]));
        }
    }

    #[test]
    fn shows_ipv4_addresses_as_such() {
        let tuple = Tuple::v4([192, 0, 2, 1].into(), 80, [198, 51, 100, 7].into(), 4000);
        assert!(tuple.is_v4());
        assert_eq!(tuple.to_string(), "192.0.2.1:80 > 198.51.100.7:4000");
        assert!(!Tuple::CHECK.is_v4());
        assert_eq!(
            Tuple::CHECK.to_string(),
            "[2001:db8::1]:443 > [2001:db8:1234:5678:9abc:def0:1122:3344]:54321"
        );
    }
}
