//! Hashes without a secret, as found in devices and tables. Studies show that anyone can flood them.

use hashlane_flow::ehash::TupleHash;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::jhash::Jhash;
use hashlane_hash::scheme::{BytesHash, Key, Keying, Scheme, SchemeInfo};
use hashlane_hash::toeplitz::Rss;

/// The key in Microsoft's specification of receive-side scaling, which many drivers set ("Verifying the RSS
/// Hash Calculation").
pub const PUBLISHED_KEY: [u8; 40] = [
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0,
    0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42,
    0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
];

/// Toeplitz under the published key: of a received packet source and destination, then their ports.
#[derive(Clone)]
pub struct PublishedToeplitz(Rss);

impl TupleHash for PublishedToeplitz {
    const INFO: SchemeInfo = SchemeInfo {
        id: "toeplitz-published",
        source: "Microsoft, RSS hashing functions, with the key of its examples",
        width: 32,
        keying: Keying::None,
        check: 0x7360_29ec,
        safe: "Packets that no adversary chooses, spread over queues: the key is public, the hash linear.",
    };

    fn new(_: &Key) -> Self {
        Self(Rss::new(&PUBLISHED_KEY))
    }

    #[inline(always)]
    fn hash(&self, tuple: &Tuple) -> u64 {
        u64::from(self.0.hash(tuple.reversed().as_bytes()))
    }
}

/// jhash over the bytes of the tuple with the constant seed 0.
#[derive(Clone)]
pub struct UnseededJhash(Jhash);

impl TupleHash for UnseededJhash {
    const INFO: SchemeInfo = SchemeInfo {
        id: "jhash-unseeded",
        source: "Linux include/linux/jhash.h, with initval 0",
        width: 32,
        keying: Keying::None,
        check: 0x5e9c_12c6,
        safe: "Tuples that no adversary chooses: collisions are computed, not searched for.",
    };

    fn new(_: &Key) -> Self {
        Self(Jhash::new(&Key::new([0; 16])))
    }

    #[inline(always)]
    fn hash(&self, tuple: &Tuple) -> u64 {
        self.0.hash(tuple.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    /// The first rows of Microsoft's table: 66.9.149.187:2794 to 161.142.100.80:1766, which with ports gives
    /// 51ccc178.
    #[test]
    fn has_the_key_of_the_specification() {
        let source: Ipv4Addr = [66, 9, 149, 187].into();
        let destination: Ipv4Addr = [161, 142, 100, 80].into();
        let mut input = [0; 12];
        input[..4].copy_from_slice(&source.octets());
        input[4..8].copy_from_slice(&destination.octets());
        input[8..10].copy_from_slice(&2794u16.to_be_bytes());
        input[10..].copy_from_slice(&1766u16.to_be_bytes());
        assert_eq!(Rss::new(&PUBLISHED_KEY).hash(&input), 0x51cc_c178);
    }
}
