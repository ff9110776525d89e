//! The hash of every suffix of a name, out of one pass over its bytes.
//!
//! A name of the DNS is compressed by finding the longest of its suffixes in the names written before. Here
//! the bytes are taken in words of eight from the *end*, so that a word's place, and with it its key, is the
//! same in every suffix that covers it. One pass gives the running sums; the hash of a suffix is then a sum,
//! and one product for the bytes that fill no word. No step waits for a table, and the hash of the whole name
//! does not depend on its labels.
//!
//! The sum is MULTILINEAR-HM of Lemire and Kaser (*Strongly universal string hashing is fast*, The Computer
//! Journal 57 (11), 2014, §3): one product for eight bytes, modulo 2⁶⁴; the high half is the hash. It is
//! strongly universal: two suffixes chosen without knowledge of results collide with a probability of 2⁻³².
//!
//! The hash is close to linear, so the theorem no longer holds once results leak. An observer who learns
//! which suffixes collide, from timing or from lengths, may predict others. `SuffixTable` of `hashlane-dns`
//! therefore bounds the cost of a collision, lets no length depend on one below that bound, and draws a new
//! key after 4,080 messages.

use crate::expand::key_word;
use crate::load::le64_short;
use crate::scheme::{BytesHash, Key, Keying, Scheme, SchemeInfo};

/// The longest bytes that [`SuffixHash::sums`] takes: the longest name, and one byte.
pub const MAX_LEN: usize = 256;

/// Words of [`MAX_LEN`] bytes, and one that is never filled.
const WORDS: usize = MAX_LEN / 8 + 1;

/// The hash under a key.
///
/// The key words are expanded from 128 bits: word `i`, from 0, is SipHash-2-4 of the bytes `suffixes` and
/// `i`, little-endian. Those for the first 264 bytes are held.
#[derive(Clone)]
pub struct SuffixHash {
    /// The initial value of the sum, and the multiplier of the length.
    start: [u64; 2],
    /// Key words of the low and the high half of each word, from the end.
    pairs: [[u64; 2]; WORDS],
    key: Key,
}

/// The result of one pass over a name: its words from the end, each with the sum of those before it.
#[derive(Clone, Debug)]
pub struct SuffixSums([[u64; 2]; WORDS]);

impl Default for SuffixSums {
    fn default() -> Self {
        Self([[0; 2]; WORDS])
    }
}

impl SuffixSums {
    /// The sum over the last `words` words of eight bytes.
    #[inline(always)]
    pub fn sum(&self, words: usize) -> u64 {
        self.0.get(words).map_or(0, |[_, sum]| *sum)
    }
}

impl SuffixHash {
    fn pair(key: &Key, word: usize) -> [u64; 2] {
        [2 + 2 * word, 3 + 2 * word].map(|index| key_word(key, b"suffixes", index))
    }

    #[inline(always)]
    fn term([low, high]: [u64; 2], word: u64) -> u64 {
        (word & 0xffff_ffff).wrapping_add(low).wrapping_mul((word >> 32).wrapping_add(high))
    }

    /// The first `len` of the bytes, fewer than eight, at the high end of a word; unspecified for 0.
    #[inline(always)]
    fn head(bytes: &[u8], len: usize) -> u64 {
        let word = match bytes.first_chunk() {
            Some(first) => u64::from_le_bytes(*first),
            None => le64_short(bytes),
        };
        word << (8 * (len.wrapping_neg() % 8))
    }

    #[inline(always)]
    fn finish(&self, sum: u64, len: usize) -> u32 {
        (sum.wrapping_add(self.start[1].wrapping_mul(len as u64)) >> 32) as u32
    }

    /// Takes `bytes`; only the last [`MAX_LEN`] count. `fold` is applied first to each word of eight bytes,
    /// for example to ignore the case of letters.
    #[inline(always)]
    pub fn sums(&self, bytes: &[u8], fold: impl Fn(u64) -> u64, into: &mut SuffixSums) {
        self.resume_sums(bytes, fold, (0, self.start[0]), into);
    }

    /// Takes `bytes` as [`sums`](Self::sums) does, but for the last words: their number and their sum
    /// are given, and `into` keeps what it has of them.
    #[inline(always)]
    pub fn resume_sums(
        &self,
        bytes: &[u8],
        fold: impl Fn(u64) -> u64,
        (skipped, mut sum): (usize, u64),
        into: &mut SuffixSums,
    ) {
        let bytes = &bytes[bytes.len().saturating_sub(MAX_LEN)..];
        let (head, words) = bytes.as_rchunks::<8>();
        let new = words.len().saturating_sub(skipped);
        let (kept, pairs) = (into.0.get_mut(skipped..), self.pairs.get(skipped..));
        let places = kept.unwrap_or_default().iter_mut().zip(pairs.unwrap_or_default());
        for (word, (kept, pair)) in words[..new].iter().rev().zip(places) {
            let word = fold(u64::from_le_bytes(*word));
            *kept = [word, sum];
            sum = sum.wrapping_add(Self::term(*pair, word));
        }
        // The bytes that fill no word are at the high end of one, as they would be with others before them.
        // If there are none, no suffix reads the word.
        if let Some(kept) = into.0.get_mut(words.len()) {
            *kept = [fold(Self::head(bytes, head.len())), sum];
        }
    }

    /// The hash of the last `len` bytes of the input of `sums`; unspecified if there were fewer.
    #[inline(always)]
    pub fn suffix(&self, sums: &SuffixSums, len: usize) -> u32 {
        let (at, rest) = (len / 8, len % 8);
        let (Some([word, sum]), Some(pair)) = (sums.0.get(at), self.pairs.get(at)) else { return 0 };
        // All ones for a whole word, zero for an empty one.
        let mask = !(u64::MAX >> (8 * rest));
        self.finish(sum.wrapping_add(Self::term(*pair, word & mask)), len)
    }

    /// The sum over the whole words at the end of `bytes`: what [`SuffixSums::sum`] gives for as many words.
    #[inline(always)]
    pub fn sum(&self, bytes: &[u8], fold: impl Fn(u64) -> u64) -> u64 {
        let (_, words) = bytes.as_rchunks::<8>();
        let terms = words.iter().rev().zip(&self.pairs);
        terms.fold(self.start[0], |sum, (word, pair)| {
            sum.wrapping_add(Self::term(*pair, fold(u64::from_le_bytes(*word))))
        })
    }

    /// The hash of all of `bytes`, at most [`MAX_LEN`], without the hashes of other suffixes.
    #[inline(always)]
    pub fn hash_folded(&self, bytes: &[u8], fold: impl Fn(u64) -> u64) -> u32 {
        self.resume(bytes, fold, 0, self.start[0])
    }

    /// The hash of all of `bytes`, at most [`MAX_LEN`], given the sum of the last `words` words:
    /// [`SuffixSums::sum`] of a name with the same end.
    #[inline(always)]
    pub fn resume(&self, bytes: &[u8], fold: impl Fn(u64) -> u64, words: usize, mut sum: u64) -> u32 {
        let mut left = bytes.len().saturating_sub(8 * words);
        let mut word = words;
        while left >= 8 {
            let (Some(bytes), Some(pair)) = (bytes[left - 8..].first_chunk(), self.pairs.get(word)) else {
                break;
            };
            sum = sum.wrapping_add(Self::term(*pair, fold(u64::from_le_bytes(*bytes))));
            (left, word) = (left - 8, word + 1);
        }
        let (last, pair) = (Self::head(bytes, left), self.pairs.get(word));
        let last = if left == 0 { 0 } else { fold(last) };
        self.finish(sum.wrapping_add(pair.map_or(0, |pair| Self::term(*pair, last))), bytes.len())
    }

    /// The sum over words that are not held.
    #[cold]
    fn beyond(&self, words: &[[u8; 8]], last: u64) -> u64 {
        let words = words.iter().rev().map(|word| u64::from_le_bytes(*word)).chain([last]);
        let terms = words.enumerate().skip(WORDS);
        terms.fold(0, |sum, (at, word)| sum.wrapping_add(Self::term(Self::pair(&self.key, at), word)))
    }
}

impl Scheme for SuffixHash {
    const INFO: SchemeInfo = SchemeInfo {
        id: "multilinear-hm",
        source: "Lemire and Kaser 2014, MULTILINEAR-HM, over words from the end; key expanded by SipHash-2-4",
        width: 32,
        keying: Keying::Seed(128),
        check: 0xee12_07dc,
        safe: "Inputs chosen without knowledge of results: strongly universal. Where an observer may learn \
               of collisions, as from timing or lengths, only if a collision's cost is bounded and the key \
               is redrawn before enough is learnt: the hash is close to linear.",
    };

    fn new(key: &Key) -> Self {
        Self {
            start: [0, 1].map(|index| key_word(key, b"suffixes", index)),
            pairs: core::array::from_fn(|word| Self::pair(key, word)),
            key: *key,
        }
    }
}

impl BytesHash for SuffixHash {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        let (head, words) = bytes.as_rchunks::<8>();
        let mut sum = self.start[0];
        for (word, pair) in words.iter().rev().zip(&self.pairs) {
            sum = sum.wrapping_add(Self::term(*pair, u64::from_le_bytes(*word)));
        }
        let mut last = [0; 8];
        last[8 - head.len()..].copy_from_slice(head);
        let last = u64::from_le_bytes(last);
        sum = sum.wrapping_add(match self.pairs.get(words.len()) {
            Some(pair) => Self::term(*pair, last),
            None => self.beyond(words, last),
        });
        u64::from(self.finish(sum, bytes.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::CHECK_INPUT;
    use proptest::prelude::*;
    use siphasher::sip::SipHasher24;

    /// The sum in 128 bits, half word by half word, from the paper's formula.
    fn naive(key: &Key, bytes: &[u8]) -> u64 {
        let sip = SipHasher24::new_with_key(&key.to_bytes());
        let word = |i: usize| u128::from(sip.hash([*b"suffixes", (i as u64).to_le_bytes()].as_flattened()));
        let mut padded = std::vec![0; 8 - bytes.len() % 8];
        padded.extend_from_slice(bytes);
        let half =
            |bytes: &[u8]| bytes.iter().rev().fold(0_u128, |value, byte| value << 8 | u128::from(*byte));
        let mut sum = word(0) + word(1) * bytes.len() as u128;
        for (i, bytes) in padded.rchunks(8).enumerate() {
            let low = (half(&bytes[..4]) + word(2 + 2 * i)) % (1 << 64);
            let high = (half(&bytes[4..]) + word(3 + 2 * i)) % (1 << 64);
            sum = (sum + low * high % (1 << 64)) % (1 << 64);
        }
        ((sum % (1 << 64)) >> 32) as u64
    }

    #[test]
    fn check_value_holds_and_agrees_with_the_naive_form() {
        assert_eq!(naive(&Key::VECTOR, CHECK_INPUT), SuffixHash::INFO.check);
        assert_eq!(SuffixHash::new(&Key::VECTOR).hash(CHECK_INPUT), SuffixHash::INFO.check);
    }

    #[test]
    fn agrees_with_the_naive_form_where_the_held_words_end() {
        let bytes: [u8; 300] = core::array::from_fn(|i| 255 - i as u8);
        let hash = SuffixHash::new(&Key::VECTOR);
        for length in 240..=bytes.len() {
            assert_eq!(hash.hash(&bytes[..length]), naive(&Key::VECTOR, &bytes[..length]), "{length}");
        }
    }

    proptest! {
        #[test]
        fn one_pass_gives_the_hash_of_every_suffix(
            key: [u8; 16],
            bytes in proptest::collection::vec(any::<u8>(), 0..=MAX_LEN),
        ) {
            let (hash, mut sums) = (SuffixHash::new(&Key::new(key)), SuffixSums::default());
            // Leftovers of an earlier name do not count.
            hash.sums(&[0xa5; MAX_LEN], |word| word, &mut sums);
            hash.sums(&bytes, |word| word, &mut sums);
            for from in 0..=bytes.len() {
                let expected = naive(&Key::new(key), &bytes[from..]);
                prop_assert_eq!(u64::from(hash.suffix(&sums, bytes.len() - from)), expected);
                prop_assert_eq!(hash.hash(&bytes[from..]), expected);
                let words = (bytes.len() - from) / 8;
                prop_assert_eq!(hash.sum(&bytes[from..], |word| word), sums.sum(words));
                prop_assert_eq!(u64::from(hash.hash_folded(&bytes[from..], |word| word)), expected);
                let mut resumed = SuffixSums::default();
                hash.resume_sums(&bytes, |word| word, (words, sums.sum(words)), &mut resumed);
                prop_assert_eq!(&resumed.0[words..=bytes.len() / 8], &sums.0[words..=bytes.len() / 8]);
                let whole = hash.resume(&bytes, |word| word, words, sums.sum(words));
                prop_assert_eq!(u64::from(whole), naive(&Key::new(key), &bytes));
            }
        }

        #[test]
        fn folds_every_byte(bytes in proptest::collection::vec(any::<u8>(), 0..=64)) {
            let (hash, mut sums) = (SuffixHash::new(&Key::VECTOR), SuffixSums::default());
            hash.sums(&bytes, |word| word & u64::from_ne_bytes([0x0f; 8]), &mut sums);
            let folded: std::vec::Vec<u8> = bytes.iter().map(|byte| byte & 0x0f).collect();
            prop_assert_eq!(u64::from(hash.suffix(&sums, bytes.len())), hash.hash(&folded));
        }
    }
}
