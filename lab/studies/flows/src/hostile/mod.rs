//! Hostile tuples, from an attacker who knows the hash but not its secret.

mod jhash;
mod linear;
mod rapidhash;

use super::tuples::TupleSet;
use crate::ids::ids;
use hashlane_flow::ehash::{TupleBytes, TupleHash};
use hashlane_flow::tuple::Tuple;
use hashlane_hash::crc32c::Crc32c;
use hashlane_hash::scheme::Key;
use hashlane_hash::toeplitz::Toeplitz;

/// Property that the hostile tuples share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attack {
    /// `random`: nothing. The control.
    Random,
    /// `xor`: words 0 and 1 of the foreign address differ by the same bits in all, and everything else is the
    /// same. The base hash of Linux takes only that difference (CVE-2023-1206).
    Xor,
    /// `local`: everything but the local address, which differs above its last 32 bits. Linux takes only
    /// those.
    Local,
    /// `crc32c`: differences in the lower half of the foreign address that CRC32C maps to 0. It is affine, so
    /// they are the same for every initial value.
    Crc32c,
    /// `toeplitz-published`: the same for Toeplitz under the key of Microsoft's specification of RSS.
    ToeplitzPublished,
    /// `toeplitz-span`: sums of 17 differences that Toeplitz maps to 0 under the secret key. The attacker is
    /// taken to have learnt 17 collisions by timing, which are found here with the key in place of the clock:
    /// each costs him some 2³² guesses against whole hashes, and 2¹⁷ or so against a table of 2¹⁷ buckets,
    /// whose low bits are all that matters. All 131,072 sums follow without another guess, because the hash
    /// is linear.
    ToeplitzSpan,
    /// `jhash-known`: collisions of jhash whose seed is known, computed backwards from its last mixing.
    JhashKnown,
    /// `rapidhash`: bytes 4–11 of the foreign address are what makes rapidhash multiply all the rest, the
    /// seed included, by
    /// 0. The attacker must be able to set them, which a /64 alone does not allow.
    RapidHash,
}

impl Attack {
    /// The first `count` tuples, all different; at most 131,072.
    ///
    /// `key` is the secret of the table that is attacked. Only [`ToeplitzSpan`](Self::ToeplitzSpan) looks at
    /// it, in place of the attacker's clock.
    pub fn generate(self, count: usize, seed: u64, key: &Key) -> Vec<Tuple> {
        let count = count.min(MOST);
        match self {
            // Not the seed of innocent tuples.
            Self::Random => set(TupleSet::Random, count, !seed),
            Self::Local => set(TupleSet::SprayLocal, count, seed),
            Self::Xor => (0..count as u32).map(xor).collect(),
            Self::Crc32c => linear::collisions(&TupleBytes::<Crc32c>::new(key), LOWER_HALF, count),
            Self::ToeplitzPublished => {
                linear::collisions(&hashlane_baseline::rss::PublishedToeplitz::new(key), LOWER_HALF, count)
            }
            Self::ToeplitzSpan => linear::collisions(&TupleBytes::<Toeplitz>::new(key), LOWER_HALF, count),
            Self::JhashKnown => jhash::collisions(0, count),
            Self::RapidHash => (0..count as u32).map(rapidhash::tuple).collect(),
        }
    }
}

/// Most tuples of an attack.
pub const MOST: usize = 1 << 17;

/// Bytes of the tuple that are the lower half of the foreign address.
const LOWER_HALF: std::ops::Range<usize> = 24..32;

fn set(set: TupleSet, count: usize, seed: u64) -> Vec<Tuple> {
    // So few fit into any memory.
    set.generate(count, seed, u64::MAX).unwrap_or_default()
}

/// Tuple `i` of those whose foreign words 0 and 1 differ by the same bits.
fn xor(i: u32) -> Tuple {
    let mut bytes = *Tuple::CHECK.as_bytes();
    let word = u32::from_le_bytes([0x20, 0x01, 0x0d, 0xb8]) ^ i.reverse_bits();
    bytes[16..20].copy_from_slice(&word.to_le_bytes());
    bytes[20..24].copy_from_slice(&(word ^ 0x5678_1234).to_le_bytes());
    Tuple::from_bytes(&bytes)
}

ids! {
    Attack, UnknownAttack "unknown flood {:?}; known: {}":
    Random "random", Xor "xor", Local "local", Crc32c "crc32c", ToeplitzPublished "toeplitz-published",
    ToeplitzSpan "toeplitz-span", JhashKnown "jhash-known", RapidHash "rapidhash",
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hashes::tuple_hashes;
    use std::collections::HashSet;

    /// The registered hashes that an attack collapses, under every secret.
    fn collapsed(attack: Attack) -> &'static [&'static str] {
        match attack {
            Attack::Random => &[],
            Attack::Xor => &["base"],
            Attack::Local => &["base", "v1", "jhash2", "hsiphash", "siphash", "lport"],
            Attack::Crc32c => &["crc32c"],
            Attack::ToeplitzPublished => &["toeplitz-published"],
            Attack::ToeplitzSpan => &["toeplitz"],
            Attack::JhashKnown => &["jhash-unseeded"],
            Attack::RapidHash => &["rapidhash"],
        }
    }

    #[test]
    fn tuples_of_an_attack_differ() {
        for attack in Attack::ALL {
            let tuples = attack.generate(MOST, 3, &Key::VECTOR);
            assert_eq!(tuples.iter().collect::<HashSet<_>>().len(), MOST, "{attack}");
            assert_eq!(attack.id().parse(), Ok(attack));
        }
        assert!("xo".parse::<Attack>().unwrap_err().to_string().contains("toeplitz-span"));
    }

    #[test]
    fn each_attack_collapses_what_it_is_made_for_and_nothing_else() {
        const TUPLES: usize = 4096;
        for key in [[1; 16], [0x5a; 16], [0xff; 16]].map(Key::new) {
            for attack in Attack::ALL {
                let tuples = attack.generate(TUPLES, 7, &key);
                // Of IPv6 addresses, the hash of IPv4 takes but the last word.
                for hash in tuple_hashes().iter().filter(|hash| hash.info.id != "v4") {
                    let distinct = (hash.hash)(&key, &tuples).into_iter().collect::<HashSet<_>>().len();
                    let hash = hash.info.id;
                    if collapsed(attack).contains(&hash) {
                        assert_eq!(distinct, 1, "{hash} under {attack}");
                    } else {
                        // Of 4,096 values of 32 bits, chance makes two equal in one case of 500.
                        assert!(distinct > TUPLES - 6, "{hash} under {attack}: {distinct}");
                    }
                }
            }
        }
    }
}
