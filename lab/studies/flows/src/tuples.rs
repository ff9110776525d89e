//! Named sets of tuples: which connections a host has.

use crate::ids::ids;
use hashlane_flow::tuple::Tuple;
use hashlane_lab::scatter::{Distinct, scatter};
use std::net::{Ipv4Addr, Ipv6Addr};

/// A set of tuples, generated: all different, and the same for the same seed on every machine.
///
/// Sets of tuples. Unless stated otherwise, the local end is 2001:db8::1 port 443 and foreign ports lie in
/// 1,024–65,535.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TupleSet {
    /// `seed`: the set of q2ven/inet6_ehashfn, whose words 0 and 1 of the foreign address are both 0, 1, 2, …
    /// as a little-endian machine writes them; the local address is `::` and all else is 0. Takes no seed.
    Seed,
    /// `random`: foreign addresses out of 2000::/3 and foreign ports, both drawn evenly.
    Random,
    /// `sequential`: foreign addresses that count up within a /64, from one port. Takes no seed.
    Sequential,
    /// `one-client`: one foreign address, which goes through all its 64,512 ports with one local port, then
    /// with the next: 2²⁰ tuples take the local ports 443 to 459. Takes no seed.
    OneClient,
    /// `nat`: 300 IPv4 addresses in turn. Behind each, many hosts share the ports, in an order that
    /// depends on the seed. When all ports are taken (19 million tuples), the next local port follows.
    Nat,
    /// `spray-foreign`: interface ids drawn evenly within one foreign /64.
    SprayForeign,
    /// `spray-local`: one foreign address and port; the local interface ids are drawn evenly as to their
    /// upper 32 bits, and the lower 32 are 1.
    SprayLocal,
    /// `spray-local-64`: as `spray-local`, with all 64 bits of the local interface ids drawn.
    SprayLocal64,
    /// `v4-mapped`: IPv4, with foreign addresses drawn evenly, reserved ones among them, and foreign ports.
    V4Mapped,
}

/// The server's end.
const LOCAL: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const LOCAL_V4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const LOCAL_PORT: u16 = 443;

/// A /64 of clients.
const FOREIGN_64: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0x1234, 0x5678, 0, 0, 0, 0);
const FOREIGN_PORT: u16 = 54321;

/// The ports of clients: all but the system ports (RFC 6335 §6).
const FIRST_PORT: u16 = 1024;
const PORTS: u32 = 65_536 - FIRST_PORT as u32;

/// NATs, in 198.18.0.0/15 (RFC 2544 appendix C.2.2).
const NATS: u32 = 300;

impl TupleSet {
    /// Tuples in the largest set that is generated; all sets have as many different ones.
    pub const MOST: usize = 1 << 28;

    /// Generates `count` tuples, if they take at most `budget` bytes.
    ///
    /// # Errors
    /// The set is larger than [`MOST`](Self::MOST) or than the budget.
    pub fn generate(self, count: usize, seed: u64, budget: u64) -> Result<Vec<Tuple>, SetError> {
        let bytes = bytes(count);
        if count > Self::MOST {
            return Err(SetError::TooMany { count });
        }
        if bytes > budget {
            return Err(SetError::OverBudget { count, bytes, budget });
        }
        let mut distinct = Distinct::new(seed);
        let start = distinct.draw() as u32;
        Ok((0..count as u32).map(|i| self.tuple(i, start, &mut distinct)).collect())
    }

    /// Tuple `i` of the set, below [`MOST`](Self::MOST); `start` and `distinct` come from the seed.
    fn tuple(self, i: u32, start: u32, distinct: &mut Distinct) -> Tuple {
        let from = |foreign, port| Tuple::new(LOCAL, LOCAL_PORT, foreign, port);
        let client = within(FOREIGN_64, 1);
        match self {
            Self::Seed => {
                let [a, b, c, d] = i.to_le_bytes();
                let foreign = [a, b, c, d, a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0];
                Tuple::new(Ipv6Addr::UNSPECIFIED, 0, foreign.into(), 0)
            }
            Self::Random => {
                let (interface, network) = (distinct.draw(), distinct.draw());
                let network =
                    within(Ipv6Addr::from_bits(u128::from(1 << 61 | network >> 3) << 64), interface);
                from(network, port(distinct.draw()))
            }
            Self::Sequential => from(within(FOREIGN_64, 1 + u64::from(i)), FOREIGN_PORT),
            Self::OneClient => {
                Tuple::new(LOCAL, LOCAL_PORT + (i / PORTS) as u16, client, FIRST_PORT + (i % PORTS) as u16)
            }
            Self::Nat => {
                let [_, _, c, d] = (i % NATS).to_be_bytes();
                let local_port = LOCAL_PORT + (i / NATS / PORTS) as u16;
                // The step and the number of ports (2¹⁰ · 3² · 7) have no common divisor, so all ports come
                // up.
                let step = u64::from(start) + u64::from(i / NATS) * 40_487;
                Tuple::v4(LOCAL_V4, local_port, Ipv4Addr::new(198, 18, c, d), port(step))
            }
            Self::SprayForeign => from(within(FOREIGN_64, distinct.draw()), FOREIGN_PORT),
            Self::SprayLocal => {
                let upper = u64::from(scatter(start.wrapping_add(i)));
                Tuple::new(within(LOCAL, upper << 32 | 1), LOCAL_PORT, client, FOREIGN_PORT)
            }
            Self::SprayLocal64 => {
                Tuple::new(within(LOCAL, distinct.draw()), LOCAL_PORT, client, FOREIGN_PORT)
            }
            Self::V4Mapped => {
                let foreign = Ipv4Addr::from_bits(scatter(start.wrapping_add(i)));
                Tuple::v4(LOCAL_V4, LOCAL_PORT, foreign, port(distinct.draw()))
            }
        }
    }
}

/// Bytes that a set of `count` tuples takes in memory.
pub const fn bytes(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<Tuple>() as u64)
}

/// The address of the /64 of `network` with the interface id `interface`.
fn within(network: Ipv6Addr, interface: u64) -> Ipv6Addr {
    Ipv6Addr::from_bits(network.to_bits() >> 64 << 64 | u128::from(interface))
}

/// A client's port out of a number.
fn port(number: u64) -> u16 {
    FIRST_PORT + (number % u64::from(PORTS)) as u16
}

ids! {
    TupleSet, UnknownSet "unknown set of tuples {:?}; known: {}":
    Seed "seed", Random "random", Sequential "sequential", OneClient "one-client", Nat "nat",
    SprayForeign "spray-foreign", SprayLocal "spray-local", SprayLocal64 "spray-local-64", V4Mapped "v4-mapped",
}

/// Reasons for which a set is not generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// There are not as many different tuples in every set.
    #[error("{count} tuples exceed the largest set, {}", TupleSet::MOST)]
    TooMany {
        /// Tuples asked for.
        count: usize,
    },
    /// The set takes more memory than it may.
    #[error(
        "{count} tuples take {bytes} bytes ({} MiB) of memory, more than the allowed {budget} ({} MiB)",
        .bytes.div_ceil(1 << 20),
        .budget >> 20
    )]
    OverBudget {
        /// Tuples asked for.
        count: usize,
        /// Memory needed, in bytes.
        bytes: u64,
        /// Memory allowed, in bytes.
        budget: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_hash::crc32c::Crc32c;
    use hashlane_hash::scheme::BytesHash;
    use std::collections::HashSet;

    fn generate(set: TupleSet, count: usize) -> Vec<Tuple> {
        set.generate(count, 7, u64::MAX).unwrap()
    }

    #[test]
    fn all_tuples_of_a_set_differ() {
        for set in TupleSet::ALL {
            for seed in [0, 7] {
                let tuples = set.generate(1 << 20, seed, u64::MAX).unwrap();
                assert_eq!(tuples.iter().collect::<HashSet<_>>().len(), 1 << 20, "{set}");
            }
        }
    }

    /// The counter of each set runs beyond the ports, and its last tuple still differs from its first ones.
    #[test]
    fn the_largest_set_has_the_ports_it_needs() {
        for set in [TupleSet::OneClient, TupleSet::Nat] {
            let last = TupleSet::MOST as u32 - 1;
            let tuple = set.tuple(last, 0, &mut Distinct::new(0));
            let round = if set == TupleSet::Nat { NATS * PORTS } else { PORTS };
            assert_eq!(u32::from(tuple.local_port()), 443 + last / round, "{set}");
        }
    }

    #[test]
    fn sets_are_the_same_on_every_machine() {
        let expected: [(&str, u64); 9] = [
            ("[::]:0 > [100:0:100::]:0", 0xdb518e0b),
            ("[2001:db8::1]:443 > [27fb:57d0:d977:d542:73d3:3b66:6a1e:21da]:17654", 0xca285607),
            ("[2001:db8::1]:443 > [2001:db8:1234:5678::2]:54321", 0xeef0eb3f),
            ("[2001:db8::1]:443 > [2001:db8:1234:5678::1]:1025", 0x8d8f9cad),
            ("192.0.2.1:443 > 198.18.0.1:33239", 0x5c863bc0),
            ("[2001:db8::1]:443 > [2001:db8:1234:5678:e698:4080:bab1:2a02]:54321", 0xaddd8b24),
            ("[2001:db8::35e3:75f8:0:1]:443 > [2001:db8:1234:5678::1]:54321", 0xa241dd8e),
            ("[2001:db8::e698:4080:bab1:2a02]:443 > [2001:db8:1234:5678::1]:54321", 0x8e285380),
            ("192.0.2.1:443 > 53.227.117.248:25090", 0x6720744a),
        ];
        for (set, (first, checksum)) in TupleSet::ALL.into_iter().zip(expected) {
            let tuples = generate(set, 1000);
            let bytes: Vec<u8> = tuples.iter().flat_map(|tuple| *tuple.as_bytes()).collect();
            let checked = Crc32c::detect().hash(&bytes);
            assert_eq!((tuples[1].to_string().as_str(), checked), (first, checksum), "{set}");
        }
    }

    #[test]
    fn each_set_varies_what_it_says() {
        for (set, places) in [
            (TupleSet::Seed, [16..19, 20..23]),
            (TupleSet::Random, [16..32, 34..36]),
            (TupleSet::Sequential, [29..32, 0..0]),
            (TupleSet::OneClient, [33..36, 0..0]),
            (TupleSet::Nat, [30..32, 34..36]),
            (TupleSet::SprayForeign, [24..32, 0..0]),
            (TupleSet::SprayLocal, [8..12, 0..0]),
            (TupleSet::SprayLocal64, [8..16, 0..0]),
            (TupleSet::V4Mapped, [28..32, 34..36]),
        ] {
            let tuples = generate(set, 200_000);
            let first = tuples[0].as_bytes();
            let varies = |at: &usize| tuples.iter().any(|tuple| tuple.as_bytes()[*at] != first[*at]);
            let varied: Vec<usize> = (0..Tuple::LEN).filter(varies).collect();
            assert_eq!(varied, places.into_iter().flatten().collect::<Vec<_>>(), "{set}");

            assert_eq!(generate(set, 100), tuples[..100], "a smaller set begins alike: {set}");
            let has_no_seed = matches!(set, TupleSet::Seed | TupleSet::Sequential | TupleSet::OneClient);
            assert_eq!(set.generate(100, 8, u64::MAX).unwrap() == tuples[..100], has_no_seed, "{set}");
        }
    }

    #[test]
    fn nats_use_every_port_before_the_next_local_one() {
        let tuples = generate(TupleSet::Nat, (NATS * PORTS / 50) as usize);
        assert!(tuples.iter().all(|tuple| tuple.is_v4() && tuple.foreign_port() >= FIRST_PORT));
        let mut ports: HashSet<u16> = HashSet::new();
        for step in 0..u64::from(PORTS) {
            ports.insert(port(step * 40_487));
        }
        assert_eq!(ports.len(), PORTS as usize);
    }

    #[test]
    fn ids_lead_back_to_their_sets() {
        for set in TupleSet::ALL {
            assert_eq!(set.id().parse(), Ok(set));
        }
        assert_eq!(
            "x".parse::<TupleSet>().unwrap_err().to_string(),
            "unknown set of tuples \"x\"; known: seed, random, sequential, one-client, nat, spray-foreign, \
             spray-local, spray-local-64, v4-mapped"
        );
    }

    #[test]
    fn refuses_what_does_not_fit_with_the_figure() {
        assert_eq!(bytes(1 << 20), 40 << 20);
        assert_eq!(TupleSet::Random.generate(3, 0, 120).map(|tuples| tuples.len()), Ok(3));
        let error = TupleSet::Random.generate(1 << 24, 0, 100 << 20).unwrap_err();
        assert_eq!(
            error.to_string(),
            "16777216 tuples take 671088640 bytes (640 MiB) of memory, more than the allowed 104857600 (100 MiB)"
        );
        let error = TupleSet::Seed.generate(usize::MAX, 0, u64::MAX).unwrap_err();
        assert_eq!(error, SetError::TooMany { count: usize::MAX });
    }
}
