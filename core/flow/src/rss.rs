//! Receive-side scaling (RSS): the queue that a network card chooses for a packet.
//!
//! Source: Microsoft, "RSS Hashing Functions". Queues are named in turn by an indirection table of 128
//! entries, as Linux fills it (`ethtool_rxfh_indir_default`, include/linux/ethtool.h).

use crate::tuple::Tuple;
use hashlane_hash::toeplitz::Rss;

/// Entries of the indirection table.
pub const ENTRIES: usize = 128;

/// Key of a card.
pub type CardKey = [u8; Rss::MAX_LEN + 4];

/// Key under which both directions of a connection have one hash: it repeats every 16 bits, so that swapped
/// addresses and ports add the same. A card takes it by `ethtool -X`, as its `hkey`.
///
/// It is public, and any key that repeats so has 16 bits alone: a remote party can aim all its flows at one
/// queue. [`Shards`](crate::shards::Shards) has a secret key.
///
/// Source: Woo and Park, "Scalable TCP Session Monitoring with Symmetric Receive-side Scaling", KAIST, 2012.
pub const SYMMETRIC_KEY: CardKey = {
    let mut key = [0x6d; Rss::MAX_LEN + 4];
    let mut at = 1;
    while at < key.len() {
        key[at] = 0x5a;
        at += 2;
    }
    key
};

/// Hash of a received packet: of its source and destination address and its two ports. IPv4 addresses have
/// four bytes.
pub fn hash(rss: &Rss, received: &Tuple) -> u32 {
    let sent = received.reversed();
    let bytes = sent.as_bytes();
    if received.is_v4() {
        let mut short = [0; 12];
        short[..4].copy_from_slice(&bytes[12..16]);
        short[4..8].copy_from_slice(&bytes[28..32]);
        short[8..].copy_from_slice(&bytes[32..36]);
        rss.hash(&short)
    } else {
        rss.hash(bytes)
    }
}

/// Queue of a received packet, of `queues`, which are 1 to [`ENTRIES`].
pub fn queue(rss: &Rss, received: &Tuple, queues: usize) -> usize {
    hash(rss, received) as usize % ENTRIES % queues.clamp(1, ENTRIES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::{Ipv4Addr, Ipv6Addr};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_directions_of_a_flow_reach_one_queue(
            addresses: [u128; 2],
            ports: [u16; 2],
            queues in 1..=ENTRIES,
        ) {
            let rss = Rss::new(&SYMMETRIC_KEY);
            let [a, b] = addresses.map(Ipv6Addr::from_bits);
            let [c, d] = addresses.map(|bits| Ipv4Addr::from_bits(bits as u32));
            for tuple in [Tuple::new(a, ports[0], b, ports[1]), Tuple::v4(c, ports[0], d, ports[1])] {
                prop_assert_eq!(queue(&rss, &tuple, queues), queue(&rss, &tuple.reversed(), queues));
            }
        }
    }
}
