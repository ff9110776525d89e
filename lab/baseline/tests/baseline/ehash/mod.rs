//! The hashes of connections, compared with an independent implementation, the values of their sources, and
//! the claims of their documentation.

mod naive;
mod schemes;
mod spread;

use core::net::Ipv6Addr;
use hashlane_baseline::ehash::{Base, Flat, HSipHash, Jhash2, LinearPort, Secrets, SipHash, V1, V4};
use hashlane_baseline::ehash::{base, flat, hsiphash, jhash2, lport, siphash, v1, v4, v4_lport};
use hashlane_flow::ehash::TupleHash;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use naive::Bytes;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Random tuples and secrets, the same in every run.
struct Random(SplitMix64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.fill_bytes(&mut bytes);
        bytes
    }

    fn secrets(&mut self) -> Secrets {
        let (ehash, ipv6, mix) = (self.0.next_u32(), self.0.next_u32(), self.0.next_u32());
        Secrets { ehash, ipv6, mix, key: Key::new(self.bytes()) }
    }
}

fn tuple(bytes: &Bytes) -> Tuple {
    let bits = |at| bytes[at..at + 16].iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
    let address = |at| Ipv6Addr::from_bits(bits(at));
    let port = |at| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let tuple = Tuple::new(address(0), port(32), address(16), port(34));
    assert_eq!(tuple.as_bytes(), bytes);
    tuple
}

type Hash = fn(&Tuple, &Secrets) -> u32;

/// Compares both on a million tuples, each under new secrets.
fn agree(hash: Hash, naive: fn(&Bytes, &Secrets) -> u32) {
    let mut random = Random::new(1);
    for _ in 0..1_000_000 {
        let (bytes, secrets) = (random.bytes(), random.secrets());
        assert_eq!(hash(&tuple(&bytes), &secrets), naive(&bytes, &secrets), "{bytes:x?}");
    }
}

#[test]
fn base_agrees_with_the_naive_form() {
    agree(base, naive::base);
}

#[test]
fn v1_agrees_with_the_naive_form() {
    agree(v1, naive::v1);
}

#[test]
fn jhash2_agrees_with_the_naive_form() {
    agree(jhash2, naive::jhash2);
}

#[test]
fn hsiphash_agrees_with_the_naive_form() {
    agree(hsiphash, naive::hsiphash);
}

#[test]
fn siphash_agrees_with_the_naive_form() {
    agree(siphash, naive::siphash2u64);
}

#[test]
fn lport_agrees_with_the_naive_form() {
    agree(lport, naive::lport);
}

#[test]
fn flat_agrees_with_the_naive_form() {
    agree(flat, naive::flat);
}

#[test]
fn v4_agrees_with_the_naive_form() {
    agree(v4, naive::v4);
}

#[test]
fn v4_lport_agrees_with_the_naive_form() {
    agree(v4_lport, naive::v4_lport);
}

fn check<H: TupleHash>(id: &str, naive: fn(&Bytes, &Secrets) -> u32) {
    let hash = H::new(&Key::VECTOR).hash(&Tuple::CHECK);
    assert_eq!(H::INFO.id, id);
    assert_eq!(hash, H::INFO.check, "{id}: {hash:#010x}");
    assert_eq!(hash, u64::from(naive(Tuple::CHECK.as_bytes(), &Secrets::new(&Key::VECTOR))), "{id}");
}

#[test]
fn check_values_hold_and_agree_with_the_naive_form() {
    check::<Base>("base", naive::base);
    check::<V1>("v1", naive::v1);
    check::<Jhash2>("jhash2", naive::jhash2);
    check::<HSipHash>("hsiphash", naive::hsiphash);
    check::<SipHash>("siphash", naive::siphash2u64);
    check::<LinearPort>("lport", naive::lport);
    check::<Flat>("flat", naive::flat);
    check::<V4>("v4", naive::v4);
}

#[test]
fn secrets_are_derived_as_documented() {
    let bytes = Random::new(5).bytes();
    let secrets = Secrets::new(&Key::new(bytes));
    let word = |i: u64| naive::siphash(2, 4, &i.to_le_bytes(), bytes).to_le_bytes();
    assert_eq!([secrets.ehash.to_le_bytes(), secrets.ipv6.to_le_bytes()].as_flattened(), word(0));
    assert_eq!(secrets.mix.to_le_bytes(), word(1)[..4]);
    assert_eq!(secrets.key.to_bytes().as_slice(), [word(2), word(3)].as_flattened());
}

#[test]
fn secrets_stay_out_of_logs() {
    assert_eq!(format!("{:?}", Base(Secrets::SOURCE)), "Base(Secrets(..))");
}

/// Hashes a tuple and the same tuple with other bytes at `places`, a thousand times under other secrets, and
/// counts how often both hash alike.
fn alike(hash: Hash, places: core::ops::Range<usize>) -> usize {
    let mut random = Random::new(2);
    let pairs = (0..1000).map(|_| {
        let (bytes, secrets) = (random.bytes(), random.secrets());
        let mut other = bytes;
        other[places.clone()].copy_from_slice(&random.bytes::<36>()[places.clone()]);
        hash(&tuple(&bytes), &secrets) == hash(&tuple(&other), &secrets)
    });
    pairs.filter(|alike| *alike).count()
}

#[test]
fn only_flat_takes_the_whole_local_address() {
    for hash in [base as Hash, v1, jhash2, hsiphash, siphash, lport, v4, v4_lport] {
        assert_eq!(alike(hash, 0..12), 1000);
        assert_eq!(alike(hash, 12..16), 0);
    }
    assert_eq!(alike(flat, 0..12), 0);
}

#[test]
fn all_but_v4_take_the_whole_foreign_address() {
    for hash in [base as Hash, v1, jhash2, hsiphash, siphash, lport, flat] {
        for word in 4..8 {
            assert_eq!(alike(hash, 4 * word..4 * word + 4), 0);
        }
    }
    assert_eq!(alike(v4, 16..28), 1000);
}

#[test]
fn base_does_not_see_equal_changes_of_two_words() {
    let mut random = Random::new(3);
    for _ in 0..1000 {
        let (bytes, secrets, change) = (random.bytes(), random.secrets(), random.bytes::<4>());
        let mut other = bytes;
        for (i, change) in change.iter().enumerate() {
            other[16 + i] ^= change;
            other[20 + i] ^= change;
        }
        let of = |hash: Hash| hash(&tuple(&bytes), &secrets) == hash(&tuple(&other), &secrets);
        assert!(of(base));
        assert!(![v1 as Hash, jhash2, hsiphash, siphash, lport, flat].into_iter().any(of));
    }
}

#[test]
fn the_local_port_only_shifts_the_later_hashes() {
    let mut random = Random::new(4);
    for hash in [lport as Hash, flat, v4_lport] {
        let (bytes, secrets) = (random.bytes::<36>(), random.secrets());
        let at = |port: u16| {
            let mut bytes = bytes;
            bytes[32..34].copy_from_slice(&port.to_be_bytes());
            hash(&tuple(&bytes), &secrets)
        };
        assert!((0..=u16::MAX).all(|port| at(port) == at(0).wrapping_add(port.into())));
    }
}
