//! The histogram of q2ven/inet6_ehashfn (README, "Hash Variance"; `test/variance.c`), digit for digit.

use super::{Hash, base, hsiphash, jhash2, siphash};
use core::net::Ipv6Addr;
use hashlane_baseline::ehash::Secrets;
use hashlane_flow::tuple::Tuple;

/// Counts of 2²⁰ tuples in each of ten bins. The foreign address's words 0 and 1 are the tuple's number, all
/// else is zero; a slot is the hash modulo 65535, and a bin is 6553 slots, so that five slots are in none.
fn bins(hash: Hash) -> [u32; 10] {
    let mut slots = vec![0; 0xffff];
    for i in 0..1_u128 << 20 {
        let words = u128::from((i as u32).swap_bytes());
        let foreign = Ipv6Addr::from_bits(words << 96 | words << 64);
        let tuple = Tuple::new(Ipv6Addr::UNSPECIFIED, 0, foreign, 0);
        slots[hash(&tuple, &Secrets::SOURCE) as usize % 0xffff] += 1;
    }
    core::array::from_fn(|bin| slots[bin * 0xffff / 10..][..6553].iter().sum())
}

#[test]
fn base_fills_one_bin() {
    assert_eq!(bins(base), [0, 0, 0, 0, 0, 0, 0, 0, 1_048_576, 0]);
}

#[test]
fn jhash2_fills_the_published_bins() {
    assert_eq!(
        bins(jhash2),
        [105_133, 104_608, 104_990, 105_347, 104_384, 105_046, 105_246, 104_105, 104_707, 104_924]
    );
}

#[test]
fn hsiphash_fills_the_published_bins() {
    assert_eq!(
        bins(hsiphash),
        [105_120, 104_649, 104_640, 104_860, 104_571, 104_951, 104_890, 105_153, 104_869, 104_787]
    );
}

#[test]
fn siphash_fills_the_published_bins() {
    assert_eq!(
        bins(siphash),
        [104_866, 104_806, 104_664, 104_865, 105_197, 105_204, 104_779, 104_611, 104_796, 104_687]
    );
}
