//! SipHash-2-4 and SipHash-1-3: keyed hashes made for hash tables under attack.
//!
//! [`SipHash`] runs over the bytes of one key at a time; [`prefix`](crate::prefix) and
//! [`words`](crate::words) run the same steps in vector registers on eight inputs.
//!
//! Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF" (INDOCRYPT 2012), §2.

use crate::arch::lanes::Lanes;
use crate::arch::unit::LaneUnit;
use crate::load::le64_rest;
use crate::scheme::{BytesHash, Concatenative, Key, Keying, PrefixHash, Scheme, SchemeInfo};

/// SipHash with 2 rounds a word and 4 at the end: the authors' proposal.
pub type SipHash24 = SipHash<2, 4>;

/// SipHash with 1 round a word and 3 at the end: faster, with a smaller margin.
pub type SipHash13 = SipHash<1, 3>;

/// SipHash-`C`-`D` with 64 bits of result: `C` rounds for each word of the input, `D` rounds at the end.
#[derive(Clone)]
pub struct SipHash<const C: usize, const D: usize, U = LaneUnit> {
    pub(crate) initial: Words<u64>,
    /// The vector registers for hashing eight inputs at once.
    pub(crate) unit: U,
}

/// A choice of rounds that is registered as a scheme.
pub trait Variant {
    /// Facts about the scheme.
    const INFO: SchemeInfo;
}

impl Variant for SipHash24 {
    const INFO: SchemeInfo = SchemeInfo {
        id: "siphash-2-4",
        source: "Aumasson and Bernstein 2012",
        width: 64,
        keying: Keying::Secret(128),
        check: 0xca60_fc96_020e_fefd,
        safe: "Tables that remote parties fill, under a key that is random and kept, also where results are \
               seen: designed as a pseudorandom function (Aumasson and Bernstein 2012).",
    };
}

impl Variant for SipHash13 {
    const INFO: SchemeInfo = SchemeInfo {
        id: "siphash-1-3",
        source: "Aumasson and Bernstein 2012, with 1 and 3 rounds",
        width: 64,
        keying: Keying::Secret(128),
        check: 0xf3c7_afb3_38b5_c3ee,
        safe: "Tables that remote parties fill, under a key that is random and kept, while results stay \
               inside: fewer rounds than its authors propose for a pseudorandom function; Linux, Rust and \
               Python hash tables so.",
    };
}

impl<const C: usize, const D: usize> Scheme for SipHash<C, D>
where
    Self: Variant,
{
    const INFO: SchemeInfo = <Self as Variant>::INFO;

    fn new(key: &Key) -> Self {
        Self { initial: Words::new(key), unit: LaneUnit::detect() }
    }
}

impl<const C: usize, const D: usize> SipHash<C, D> {
    /// The same hash in registers of at most 256 bits, as on a CPU without AVX-512; for measurements.
    #[must_use]
    pub fn in_256_bits(self) -> Self {
        Self { unit: LaneUnit::detect_256(), ..self }
    }
}

impl<const C: usize, const D: usize, U: Clone> BytesHash for SipHash<C, D, U> {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        let mut words = self.initial;
        for word in bytes.as_chunks().0 {
            words.compress::<C>(u64::from_le_bytes(*word));
        }
        words.result::<C, D>(le64_rest(bytes), bytes.len() as u64)
    }
}

impl<const C: usize, const D: usize, U: Clone> PrefixHash for SipHash<C, D, U> {
    type State = State;

    #[inline]
    fn start(&self) -> State {
        State { words: self.initial, pending: 0, length: 0 }
    }

    /// Each word taken in joins the pending bytes with the low bytes of a word of `bytes`, by shifts that do
    /// not lie on the path from round to round.
    #[inline]
    fn extend(&self, state: &mut State, bytes: &[u8]) {
        let shift = 8 * (state.length % 8) as u32;
        // Two shifts, as one by 64 is not defined.
        let carry = |word: u64| word >> 1 >> (63 - shift);
        for word in bytes.as_chunks().0 {
            let word = u64::from_le_bytes(*word);
            state.words.compress::<C>(state.pending | word << shift);
            state.pending = carry(word);
        }
        let rest = le64_rest(bytes);
        state.pending |= rest << shift;
        if shift as usize / 8 + bytes.len() % 8 >= 8 {
            state.words.compress::<C>(state.pending);
            state.pending = carry(rest);
        }
        state.length = state.length.wrapping_add(bytes.len() as u64);
    }

    #[inline]
    fn finish(&self, state: &State) -> u64 {
        state.words.result::<C, D>(state.pending, state.length)
    }
}

impl<const C: usize, const D: usize, U: Clone> Concatenative for SipHash<C, D, U> {}

/// The running state of SipHash: its words after the last whole word, and the bytes after that.
#[derive(Clone, Copy)]
pub struct State {
    pub(crate) words: Words<u64>,
    /// The `length % 8` bytes not yet compressed, first byte lowest; the rest of the word is 0.
    pub(crate) pending: u64,
    /// Bytes taken in.
    pub(crate) length: u64,
}

/// One of SipHash's four words: 64 bits, or a vector of 64-bit lanes that belong to as many inputs.
pub(crate) trait Word: Copy {
    /// Sum modulo 2⁶⁴.
    fn add(self, by: Self) -> Self;
    fn xor(self, by: Self) -> Self;
    fn rotl<const N: i32>(self) -> Self;
}

impl Word for u64 {
    #[inline(always)]
    fn add(self, by: Self) -> Self {
        self.wrapping_add(by)
    }
    #[inline(always)]
    fn xor(self, by: Self) -> Self {
        self ^ by
    }
    #[inline(always)]
    fn rotl<const N: i32>(self) -> Self {
        self.rotate_left(N as u32)
    }
}

/// A vector as a word of SipHash: eight inputs.
#[derive(Clone, Copy)]
pub(crate) struct Vector<L: Lanes>(pub(crate) L, pub(crate) L::V);

impl<L: Lanes> Word for Vector<L> {
    #[inline(always)]
    fn add(self, by: Self) -> Self {
        Self(self.0, self.0.add(self.1, by.1))
    }
    #[inline(always)]
    fn xor(self, by: Self) -> Self {
        Self(self.0, self.0.xor(self.1, by.1))
    }
    #[inline(always)]
    fn rotl<const N: i32>(self) -> Self {
        Self(self.0, self.0.rotl::<N>(self.1))
    }
}

/// The words v0, v1, v2, v3 and the steps on them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<W>(pub(crate) [W; 4]);

impl Words<u64> {
    /// The words before the first byte: the paper's constants, combined with k0, k1, k0, k1 (§2.1).
    pub(crate) const fn new(key: &Key) -> Self {
        let (k0, k1) = key.halves();
        Self([
            0x736f_6d65_7073_6575 ^ k0,
            0x646f_7261_6e64_6f6d ^ k1,
            0x6c79_6765_6e65_7261 ^ k0,
            0x7465_6462_7974_6573 ^ k1,
        ])
    }

    /// The result after the last word: `rest`, the `length % 8` bytes left over, under the length's low byte;
    /// then `D` rounds (§2.2, §2.3). The bits of `rest` above those bytes must be 0.
    #[inline(always)]
    pub(crate) fn result<const C: usize, const D: usize>(self, rest: u64, length: u64) -> u64 {
        self.finish::<C, D>(rest | length << 56, 0xff)
    }
}

impl<L: Lanes> Words<Vector<L>> {
    /// The same words in every lane.
    #[inline(always)]
    pub(crate) fn splat(lanes: L, words: Words<u64>) -> Self {
        let Words([v0, v1, v2, v3]) = words;
        Self([
            Vector(lanes, lanes.splat(v0)),
            Vector(lanes, lanes.splat(v1)),
            Vector(lanes, lanes.splat(v2)),
            Vector(lanes, lanes.splat(v3)),
        ])
    }
}

impl<W: Word> Words<W> {
    /// One SipRound (§2.2, figure 2.1).
    #[inline(always)]
    fn round(&mut self) {
        let [mut v0, mut v1, mut v2, mut v3] = self.0;
        v0 = v0.add(v1);
        v2 = v2.add(v3);
        v1 = v1.rotl::<13>().xor(v0);
        v3 = v3.rotl::<16>().xor(v2);
        v0 = v0.rotl::<32>();
        v2 = v2.add(v1);
        v0 = v0.add(v3);
        v1 = v1.rotl::<17>().xor(v2);
        v3 = v3.rotl::<21>().xor(v0);
        v2 = v2.rotl::<32>();
        self.0 = [v0, v1, v2, v3];
    }

    /// Takes one word of input through `C` rounds (§2.2).
    #[inline(always)]
    pub(crate) fn compress<const C: usize>(&mut self, word: W) {
        self.0[3] = self.0[3].xor(word);
        for _ in 0..C {
            self.round();
        }
        self.0[0] = self.0[0].xor(word);
    }

    /// Takes the last word of input, then `D` rounds after `mark`, which is ff, has gone into v2 (§2.3).
    #[inline(always)]
    pub(crate) fn finish<const C: usize, const D: usize>(mut self, last: W, mark: W) -> W {
        self.compress::<C>(last);
        self.end::<D>(mark)
    }

    /// The `D` rounds after the last word, with `mark` as in [`finish`](Self::finish).
    #[inline(always)]
    pub(crate) fn end<const D: usize>(mut self, mark: W) -> W {
        self.0[2] = self.0[2].xor(mark);
        for _ in 0..D {
            self.round();
        }
        self.folded()
    }

    /// The exclusive or of all words.
    #[inline(always)]
    fn folded(self) -> W {
        let [v0, v1, v2, v3] = self.0;
        v0.xor(v1).xor(v2.xor(v3))
    }
}

impl Words<u64> {
    /// Both halves of a result of 128 bits, low first, after the last word: `D` rounds before each.
    #[inline(always)]
    pub(crate) fn end_halves<const D: usize>(mut self) -> [u64; 2] {
        self.0[2] ^= 0xee;
        for _ in 0..D {
            self.round();
        }
        let low = self.folded();
        self.0[1] ^= 0xdd;
        for _ in 0..D {
            self.round();
        }
        [low, self.folded()]
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;
    use siphasher::sip::{SipHasher13, SipHasher24};

    use super::*;
    use crate::scheme::CHECK_INPUT;
    use crate::vectors::{hex, rows};

    /// Compares with published results, in one piece and grown byte by byte.
    fn compare_with_table<S: Concatenative + Scheme>(file: &str) {
        let sip = S::new(&Key::VECTOR);
        let mut state = sip.start();
        let mut bytes = Vec::new();
        for row in rows(file) {
            assert_eq!(row[0], std::format!("{}", bytes.len()));
            assert_eq!(sip.hash(&bytes), hex(row[1]), "{} bytes", bytes.len());
            assert_eq!(sip.finish(&state), hex(row[1]), "{} bytes, one by one", bytes.len());
            let next = bytes.len() as u8;
            bytes.push(next);
            sip.extend(&mut state, &[next]);
        }
        assert_eq!(bytes.len(), 64);
    }

    #[test]
    fn siphash_2_4_gives_the_reference_results() {
        compare_with_table::<SipHash24>(include_str!("../../../vectors/siphash-2-4.txt"));
    }

    #[test]
    fn siphash_1_3_gives_the_published_results() {
        compare_with_table::<SipHash13>(include_str!("../../../vectors/siphash-1-3.txt"));
    }

    /// Appendix A of the paper: fifteen bytes.
    #[test]
    fn gives_the_result_of_the_paper() {
        let bytes: Vec<u8> = (0..15).collect();
        assert_eq!(SipHash24::new(&Key::VECTOR).hash(&bytes), 0xa129_ca61_49be_45e5);
    }

    #[test]
    fn check_values_hold_and_agree_with_the_oracle() {
        let key = Key::VECTOR.to_bytes();
        assert_eq!(SipHash24::new(&Key::VECTOR).hash(CHECK_INPUT), <SipHash24 as Scheme>::INFO.check);
        assert_eq!(SipHasher24::new_with_key(&key).hash(CHECK_INPUT), <SipHash24 as Scheme>::INFO.check);
        assert_eq!(SipHash13::new(&Key::VECTOR).hash(CHECK_INPUT), <SipHash13 as Scheme>::INFO.check);
        assert_eq!(SipHasher13::new_with_key(&key).hash(CHECK_INPUT), <SipHash13 as Scheme>::INFO.check);
    }

    /// Hashes `bytes` cut at `cuts`, and checks the hash of each prefix.
    fn in_pieces<S: Concatenative + Scheme>(sip: &S, bytes: &[u8], mut cuts: Vec<usize>) -> u64 {
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let mut state = sip.start();
        let mut from = 0;
        for to in cuts {
            sip.extend(&mut state, &bytes[from..to]);
            assert_eq!(sip.finish(&state), sip.hash(&bytes[..to]));
            from = to;
        }
        sip.finish(&state)
    }

    proptest! {
        #[test]
        fn agrees_with_the_oracle_however_the_bytes_are_cut(
            key: [u8; 16],
            bytes in proptest::collection::vec(any::<u8>(), 0..=300),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            let (sip24, sip13) = (SipHash24::new(&Key::new(key)), SipHash13::new(&Key::new(key)));
            let oracle24 = SipHasher24::new_with_key(&key).hash(&bytes);
            let oracle13 = SipHasher13::new_with_key(&key).hash(&bytes);
            prop_assert_eq!(sip24.hash(&bytes), oracle24);
            prop_assert_eq!(sip13.hash(&bytes), oracle13);
            prop_assert_eq!(in_pieces(&sip24, &bytes, cuts.clone()), oracle24);
            prop_assert_eq!(in_pieces(&sip13, &bytes, cuts), oracle13);
        }
    }
}
