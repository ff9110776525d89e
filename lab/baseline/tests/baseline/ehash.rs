//! The hashes of connections, compared with an independent implementation and the check values.

#[path = "naive.rs"]
mod naive;

use core::net::Ipv6Addr;
use hashlane_baseline::ehash::{self, Base, Secrets};
use hashlane_flow::ehash::TupleHash;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::{Key, SchemeInfo};
use naive::Bytes;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::HashSet;

fn draw<const N: usize>(random: &mut SplitMix64) -> [u8; N] {
    let mut bytes = [0; N];
    random.fill_bytes(&mut bytes);
    bytes
}

fn tuple(bytes: &Bytes) -> Tuple {
    let bits = |at| bytes[at..at + 16].iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
    let address = |at| Ipv6Addr::from_bits(bits(at));
    let port = |at| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let tuple = Tuple::new(address(0), port(32), address(16), port(34));
    assert_eq!(tuple.as_bytes(), bytes);
    tuple
}

/// Compares both on many tuples, each under new secrets.
#[test]
fn hashes_agree_with_the_naive_forms() {
    type Hash = fn(&Tuple, &Secrets) -> u32;
    type Naive = fn(&Bytes, &Secrets) -> u32;
    let hashes: [(Hash, Naive); 9] = [
        (ehash::base, naive::base),
        (ehash::v1, naive::v1),
        (ehash::jhash2, naive::jhash2),
        (ehash::hsiphash, naive::hsiphash),
        (ehash::siphash, naive::siphash2u64),
        (ehash::lport, naive::lport),
        (ehash::flat, naive::flat),
        (ehash::v4, naive::v4),
        (ehash::v4_lport, naive::v4_lport),
    ];
    let mut random = SplitMix64::seed_from_u64(1);
    for _ in 0..100_000 {
        let bytes = draw(&mut random);
        let [ehash, ipv6, mix] = [0; 3].map(|_| random.next_u32());
        let secrets = Secrets { ehash, ipv6, mix, key: Key::new(draw(&mut random)) };
        for (number, (hash, naive)) in hashes.iter().enumerate() {
            assert_eq!(hash(&tuple(&bytes), &secrets), naive(&bytes, &secrets), "{number}, {bytes:x?}");
        }
    }
}

#[test]
fn secrets_are_derived_as_documented_and_stay_out_of_logs() {
    let bytes = draw(&mut SplitMix64::seed_from_u64(5));
    let secrets = Secrets::new(&Key::new(bytes));
    let word = |i: u64| naive::siphash(2, 4, &i.to_le_bytes(), bytes).to_le_bytes();
    assert_eq!([secrets.ehash.to_le_bytes(), secrets.ipv6.to_le_bytes()].as_flattened(), word(0));
    assert_eq!(secrets.mix.to_le_bytes(), word(1)[..4]);
    assert_eq!(secrets.key.to_bytes().as_slice(), [word(2), word(3)].as_flattened());
    assert_eq!(format!("{:?}", Base(secrets)), "Base(Secrets(..))");
}

#[test]
fn every_check_value_holds_and_ids_are_unique() {
    macro_rules! list {
        ($($hash:ty),* $(,)?) => {
            vec![$((<$hash>::INFO, <$hash>::new(&Key::VECTOR).hash(&Tuple::CHECK))),*]
        };
    }
    let mut all: Vec<(SchemeInfo, u64)> = hashlane_baseline::for_each_tuple_hash!(list);
    for (info, hash) in &all {
        assert_eq!(*hash, info.check, "{}: {hash:#x}", info.id);
        assert!(info.width == 64 || hash >> info.width == 0, "{}", info.id);
    }
    all.extend(hashlane_flow::for_each_tuple_hash!(list));
    let ids: HashSet<_> = all.iter().map(|(info, _)| info.id).collect();
    assert_eq!(ids.len(), all.len());
}
