//! Keys of a fixed size, as words: one at a time without a loop, or many at once.
//!
//! A key is an array of `N` words in memory. Its first `LEN` bytes are hashed; the bytes after them must be
//! 0. The results equal the hash of bytes. Eight keys fill the lanes of a vector: one AVX-512 register, two
//! of AVX2, or arrays that the compiler spreads over the registers of the target.

use crate::arch::lanes::{LaneKernel, Lanes, WIDTH};
use crate::arch::unit::LaneUnit;
use crate::jhash::{JHASH_INITVAL, Jhash, Lane, mixed, mixed_last};
use crate::siphash::{SipHash, Vector, Word, Words};

/// A hash of the first `LEN` bytes of keys of `N` words.
pub trait WordsHash<const N: usize, const LEN: usize> {
    /// The hash of one key, equal to the hash of its bytes.
    fn hash_words(&self, key: &[u64; N]) -> u64;

    /// Writes the hash of each of `keys` to its place in `out`. Keys beyond the length of `out` are ignored,
    /// and places beyond the number of keys unchanged.
    fn hash_burst(&self, keys: &[[u64; N]], out: &mut [u64]);
}

/// The last word of a SipHash input: the bytes left over, and the length.
const fn last(length: usize) -> u64 {
    (length as u64) << 56
}

impl<const C: usize, const D: usize, const N: usize, const LEN: usize> WordsHash<N, LEN> for SipHash<C, D> {
    #[inline(always)]
    fn hash_words(&self, key: &[u64; N]) -> u64 {
        const { assert!(LEN.div_ceil(8) == N && LEN < 256) };
        let mut words = self.initial;
        for word in &key[..LEN / 8] {
            words.compress::<C>(u64::from_le(*word));
        }
        let rest = if LEN.is_multiple_of(8) { 0 } else { u64::from_le(key[N - 1]) };
        words.result::<C, D>(rest, LEN as u64)
    }

    #[inline]
    fn hash_burst(&self, keys: &[[u64; N]], out: &mut [u64]) {
        const { assert!(LEN.div_ceil(8) == N && LEN < 256) };
        self.unit.run(SipBurst::<C, D, N, LEN> { initial: self.initial, keys, out });
    }
}

struct SipBurst<'a, const C: usize, const D: usize, const N: usize, const LEN: usize> {
    initial: Words<u64>,
    keys: &'a [[u64; N]],
    out: &'a mut [u64],
}

impl<const C: usize, const D: usize, const N: usize, const LEN: usize> LaneKernel
    for SipBurst<'_, C, D, N, LEN>
{
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { initial, keys, out } = self;
        let sip = SipEights::<L, C, D, LEN> {
            lanes,
            initial: Words::splat(lanes, initial),
            last: lanes.splat(last(LEN)),
            mark: lanes.splat(0xff),
        };
        sip.all(keys, out);
    }
}

/// SipHash in lanes, with the values that all keys share.
struct SipEights<L: Lanes, const C: usize, const D: usize, const LEN: usize> {
    lanes: L,
    initial: Words<Vector<L>>,
    last: L::V,
    mark: L::V,
}

impl<L: Lanes, const C: usize, const D: usize, const N: usize, const LEN: usize> Eights<N>
    for SipEights<L, C, D, LEN>
{
    const PAIRS: bool = L::PAIRS;

    #[inline(always)]
    fn eight(&self, keys: &[[u64; N]; WIDTH], out: &mut [u64; WIDTH]) {
        let Self { lanes, initial: mut words, last, mark } = *self;
        let columns = lanes.columns(keys);
        for column in columns.iter().take(LEN / 8) {
            words.compress::<C>(Vector(lanes, *column));
        }
        let last = if LEN.is_multiple_of(8) { last } else { lanes.xor(columns[N - 1], last) };
        let hashes = words.finish::<C, D>(Vector(lanes, last), Vector(lanes, mark));
        lanes.store(hashes.1, out);
    }

    #[inline(always)]
    fn sixteen(&self, keys: &[[[u64; N]; WIDTH]; 2], out: &mut [[u64; WIDTH]; 2]) {
        let Self { lanes, initial: Words([v0, v1, v2, v3]), last, mark } = *self;
        let both = |one, other| Both(Vector(lanes, one), Vector(lanes, other));
        let mut words = Words([Both(v0, v0), Both(v1, v1), Both(v2, v2), Both(v3, v3)]);
        // All words are read before the first round, so that no load stands between two rounds.
        let (one, other) = (lanes.columns(&keys[0]), lanes.columns(&keys[1]));
        let mut columns = [both(last, last); N];
        for (at, column) in columns.iter_mut().enumerate() {
            *column = both(one[at], other[at]);
        }
        for column in columns.iter().take(LEN / 8) {
            words.compress::<C>(*column);
        }
        let mut last = both(last, last);
        if !LEN.is_multiple_of(8) {
            last = last.xor(columns[N - 1]);
        }
        let hashes = words.finish::<C, D>(last, both(mark, mark));
        lanes.store(hashes.0.1, &mut out[0]);
        lanes.store(hashes.1.1, &mut out[1]);
    }
}

/// Two vectors in step: the CPU works on one while the other waits.
#[derive(Clone, Copy)]
struct Both<W>(W, W);

impl<W: Word> Word for Both<W> {
    #[inline(always)]
    fn add(self, by: Self) -> Self {
        Self(self.0.add(by.0), self.1.add(by.1))
    }
    #[inline(always)]
    fn xor(self, by: Self) -> Self {
        Self(self.0.xor(by.0), self.1.xor(by.1))
    }
    #[inline(always)]
    fn rotl<const N: i32>(self) -> Self {
        Self(self.0.rotl::<N>(), self.1.rotl::<N>())
    }
}

/// `LEN` is a multiple of 4: jhash2 of as many 32-bit words.
impl<const N: usize, const LEN: usize> WordsHash<N, LEN> for Jhash {
    #[inline(always)]
    fn hash_words(&self, key: &[u64; N]) -> u64 {
        let word = |at: usize| (u64::from_le(key[at / 2 % N]) >> (32 * (at % 2))) as u32;
        u64::from(jhash2::<u32, LEN>(start::<N, LEN>(self.initval), word))
    }

    #[inline]
    fn hash_burst(&self, keys: &[[u64; N]], out: &mut [u64]) {
        LaneUnit::detect().run(JhashBurst::<N, LEN> { initval: self.initval, keys, out });
    }
}

/// Start of jhash2 of `LEN` bytes.
#[inline(always)]
fn start<const N: usize, const LEN: usize>(initval: u32) -> u32 {
    const { assert!(LEN.is_multiple_of(4) && LEN > 0 && LEN.div_ceil(8) == N) };
    JHASH_INITVAL.wrapping_add(LEN as u32).wrapping_add(initval)
}

/// jhash2 of `LEN / 4` words from `word`, each of one input or of several inputs in a vector.
#[inline(always)]
fn jhash2<L: Lane, const LEN: usize>(start: L, word: impl Fn(usize) -> L) -> L {
    let mut lanes = [start; 3];
    let mut at = 0;
    loop {
        let left = LEN / 4 - at;
        lanes[0] = lanes[0].add(word(at));
        if left > 1 {
            lanes[1] = lanes[1].add(word(at + 1));
        }
        if left > 2 {
            lanes[2] = lanes[2].add(word(at + 2));
        }
        if left <= 3 {
            return mixed_last(lanes);
        }
        lanes = mixed(lanes);
        at += 3;
    }
}

/// Eight inputs of 32 bits in a vector.
struct Eight<L: Lanes>(L, L::V32);

impl<L: Lanes> Clone for Eight<L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Lanes> Copy for Eight<L> {}

impl<L: Lanes> Lane for Eight<L> {
    #[inline(always)]
    fn add(self, by: Self) -> Self {
        Self(self.0, self.0.add_32(self.1, by.1))
    }
    #[inline(always)]
    fn sub(self, by: Self) -> Self {
        Self(self.0, self.0.sub_32(self.1, by.1))
    }
    #[inline(always)]
    fn xor(self, by: Self) -> Self {
        Self(self.0, self.0.xor_32(self.1, by.1))
    }
    #[inline(always)]
    fn rotl<const N: u32>(self) -> Self {
        Self(self.0, self.0.rotl_32::<N>(self.1))
    }
}

struct JhashBurst<'a, const N: usize, const LEN: usize> {
    initval: u32,
    keys: &'a [[u64; N]],
    out: &'a mut [u64],
}

impl<const N: usize, const LEN: usize> LaneKernel for JhashBurst<'_, N, LEN> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let start = lanes.splat_32(start::<N, LEN>(self.initval));
        JhashEights::<L, LEN> { lanes, start }.all(self.keys, self.out);
    }
}

/// jhash2 in lanes, from the same start for all keys.
struct JhashEights<L: Lanes, const LEN: usize> {
    lanes: L,
    start: L::V32,
}

impl<L: Lanes, const N: usize, const LEN: usize> Eights<N> for JhashEights<L, LEN> {
    #[inline(always)]
    fn eight(&self, keys: &[[u64; N]; WIDTH], out: &mut [u64; WIDTH]) {
        let Self { lanes, start } = *self;
        // A loop: `map` of an array is a call where the registers are wider than the build's.
        let mut halves = [[start; 2]; N];
        for (halves, column) in halves.iter_mut().zip(lanes.columns(keys)) {
            *halves = lanes.halves(column);
        }
        let word = |at: usize| Eight(lanes, halves[at / 2 % N][at % 2]);
        let Eight(_, hashes) = jhash2::<_, LEN>(Eight(lanes, start), word);
        lanes.store(lanes.widen_32(hashes), out);
    }
}

/// A hash of eight keys at once.
trait Eights<const N: usize> {
    /// True if [`sixteen`](Self::sixteen) is faster than [`eight`](Self::eight) twice.
    const PAIRS: bool = false;

    /// Marked `#[inline(always)]`, so that it is compiled for the registers of its caller.
    fn eight(&self, keys: &[[u64; N]; WIDTH], out: &mut [u64; WIDTH]);

    /// Twice eight keys; marked likewise.
    #[inline(always)]
    fn sixteen(&self, keys: &[[[u64; N]; WIDTH]; 2], out: &mut [[u64; WIDTH]; 2]) {
        self.eight(&keys[0], &mut out[0]);
        self.eight(&keys[1], &mut out[1]);
    }

    /// Hashes keys eight at a time. If the last group is smaller, keys of zeros fill it.
    #[inline(always)]
    fn all(&self, keys: &[[u64; N]], out: &mut [u64]) {
        let (whole, rest) = keys.as_chunks::<WIDTH>();
        let (whole_out, rest_out) = out.as_chunks_mut::<WIDTH>();
        let full = whole.len().min(whole_out.len());
        let paired = if Self::PAIRS { full - full % 2 } else { 0 };
        let (pairs, single) = whole.split_at_checked(paired).unwrap_or((&[], whole));
        let (pairs_out, single_out) = whole_out.split_at_mut(paired.min(whole_out.len()));
        for (keys, out) in pairs.as_chunks().0.iter().zip(pairs_out.as_chunks_mut().0) {
            self.sixteen(keys, out);
        }
        for (keys, out) in single.iter().zip(single_out) {
            self.eight(keys, out);
        }
        // If `out` is shorter than `keys`, only the first of the rest have a place.
        let rest = whole.get(whole_out.len()).map_or(rest, <[_; WIDTH]>::as_slice);
        let rest_out = whole_out.get_mut(whole.len()).map_or(rest_out, <[_; WIDTH]>::as_mut_slice);
        if !rest.is_empty() && !rest_out.is_empty() {
            let (mut last, mut hashes) = ([[0; N]; WIDTH], [0; WIDTH]);
            last.iter_mut().zip(rest).for_each(|(to, key)| *to = *key);
            self.eight(&last, &mut hashes);
            rest_out.iter_mut().zip(hashes).take(rest.len()).for_each(|(to, hash)| *to = hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::{BytesHash, Key, Scheme};
    use crate::siphash::{SipHash13, SipHash24};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Keys of 36 bytes and of 40, alone and in bursts with every kind of lanes that there is, against the
    /// bytes' hash.
    fn agrees<H: BytesHash + WordsHash<5, 36> + WordsHash<5, 40>>(on: &H, keys: &[[u64; 5]], room: usize) {
        let bytes = |key: &[u64; 5]| key.map(u64::to_ne_bytes).as_flattened().to_vec();
        let short: Vec<[u64; 5]> = keys.iter().map(|key| short(*key)).collect();
        let mut expected = std::vec![7; room];
        let mut out = expected.clone();
        for (at, key) in short.iter().enumerate() {
            let hash = on.hash(&bytes(key)[..36]);
            assert_eq!(WordsHash::<5, 36>::hash_words(on, key), hash);
            expected.get_mut(at).into_iter().for_each(|place| *place = hash);
        }
        WordsHash::<5, 36>::hash_burst(on, &short, &mut out);
        assert_eq!(out, expected);
        for (at, key) in keys.iter().enumerate() {
            let hash = on.hash(&bytes(key));
            assert_eq!(WordsHash::<5, 40>::hash_words(on, key), hash);
            expected.get_mut(at).into_iter().for_each(|place| *place = hash);
        }
        WordsHash::<5, 40>::hash_burst(on, keys, &mut out);
        assert_eq!(out, expected);
    }

    fn short(mut key: [u64; 5]) -> [u64; 5] {
        let mut last = key[4].to_ne_bytes();
        last[4..].fill(0);
        key[4] = u64::from_ne_bytes(last);
        key
    }

    proptest! {
        #[test]
        fn hashes_words_as_their_bytes(key: [u8; 16], keys in vec(any::<[u64; 5]>(), 0..70), room in 0..80usize) {
            let key = Key::new(key);
            for unit in LaneUnit::all() {
                agrees(&SipHash24 { unit, ..SipHash24::new(&key) }, &keys, room);
                agrees(&SipHash13 { unit, ..SipHash13::new(&key) }, &keys, room);
            }
            agrees(&Jhash::new(&key), &keys, room);
        }
    }
}
