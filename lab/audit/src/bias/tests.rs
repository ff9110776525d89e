use super::*;
use crate::registered;
use crate::subject::SubjectInfo;
use hashlane_hash::scheme::{BytesHash, Key, Keying, Scheme};
use hashlane_hash::siphash::SipHash24;
use hashlane_rig::long;

/// A hash of eight bytes, of a test's own.
struct OfWord(SubjectInfo, fn(u64, u64) -> u64);

impl AuditedHash for OfWord {
    fn info(&self) -> &SubjectInfo {
        &self.0
    }

    fn hash_all(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        hashes.clear();
        for key_bytes in keys.iter() {
            let word = key_bytes.try_into().map_err(|_| Fault::Length(key_bytes.len()))?;
            hashes.push((self.1)(key.halves().0, u64::from_le_bytes(word)));
        }
        Ok(())
    }
}

fn of_word(hash: fn(u64, u64) -> u64) -> OfWord {
    let info = SubjectInfo {
        id: "test/word".to_owned(),
        source: "a test".to_owned(),
        width: 64,
        keying: Keying::Seed(64),
        lengths: Lengths::Exactly(8),
    };
    OfWord(info, hash)
}

fn biased(subject: &mut dyn AuditedHash, length: Option<usize>, seed: u64) -> Bias {
    let [geometry, ..] = Geometry::named();
    bias(subject, &geometry, length, 4096, &mut Draw::new(seed)).unwrap().unwrap()
}

/// The hash of integers that github.com/puzpuzpuz/xsync #192 describes (February 2026): the halves of the
/// product of the seeded key with the first prime of XXH64, folded by exclusive or. The issue states 19 % for
/// the keys that differ by 0x150_0000_0000, in 256 buckets by the lowest bits.
fn folded_once(seed: u64, key: u64) -> u64 {
    let product = u128::from(key ^ seed) * 0x9e37_79b1_85eb_ca87;
    (product >> 64) as u64 ^ product as u64
}

#[test]
fn the_published_bias_of_a_folded_product_is_found() {
    for seed in 0..long::pick(2, 20) {
        let bias = biased(&mut of_word(folded_once), None, seed);
        assert!(bias.is_biased() && bias.whole.collisions == 0, "seed {seed}: {}", bias.difference);
        let share = bias.share(8).unwrap();
        assert!(share.low > 0.10, "seed {seed}, {}, {:?}: {share:?}", bias.difference, bias.side);
    }
    // Its keys make a table slower, but are no flood.
    let bias = biased(&mut of_word(folded_once), None, 0);
    let effect = bias.effect.as_deref().unwrap();
    let [hostile, random] = effect.compared();
    assert!(effect.seeds == 0 && hostile > 1.5 * random, "{hostile} {random}");
    // The difference of the issue itself.
    let stated = Suspect {
        length: 8,
        difference: Difference::Xor(0x0150_0000_0000_u64.to_le_bytes().to_vec()),
        score: 0.0,
    };
    let looks = look(&mut of_word(folded_once), 64, &[stated], TRIALS, &mut Draw::new(1)).unwrap();
    let share = Share::new(at_least_equal(&looks[0].equal[Side::Low as usize], 8), TRIALS);
    assert!(share.low < 0.19 && share.high > 0.18, "{share:?}");
}

/// The long form has 100 seeds: `HASHLANE_LONG=1`, as `cargo xtask nightly` sets it.
#[test]
fn functions_without_bias_raise_no_alarm() {
    let mut subjects = registered::subjects();
    for id in ["siphash-1-3", "siphash-2-4", "highwayhash64", "blake3-keyed", "multilinear"] {
        let subject = subjects.iter_mut().find(|subject| subject.info().id == id).unwrap();
        for seed in 0..long::pick(1, 100) {
            let bias = biased(subject, None, seed);
            assert!(!bias.is_biased(), "{id}, seed {seed}, {}: {:?}", bias.difference, bias.share(bias.bits));
            assert!(bias.effect.is_none() && bias.searched > 1_000_000, "{id}");
        }
    }
}

#[test]
fn highest_bits_that_are_always_zero_are_no_bias_of_differences() {
    fn narrow(seed: u64, key: u64) -> u64 {
        SipHash24::new(&Key::new([seed as u8; 16])).hash(&key.to_le_bytes()) >> 31
    }
    fn seeded(seed: u64, key: u64) -> u64 {
        narrow(seed, key) | seed << 57
    }
    let bias = biased(&mut of_word(narrow), None, 1);
    let constant = bias.constant.unwrap();
    assert_eq!((constant.bits, constant.is_zero), (31, true));
    assert!(constant.to_string().starts_with("the highest 31 bits of the hash are always 0 "), "{constant}");
    assert!(!bias.is_biased(), "{bias}");
    // Bits that the seed alone decides, and none.
    let constant = biased(&mut of_word(seeded), None, 1).constant.unwrap();
    assert_eq!((constant.bits, constant.is_zero), (31, false));
    assert_eq!(biased(&mut of_word(folded_once), None, 0).constant, None);
}
