//! CRC32C of keys of any lengths, without a branch on the length of one key.
//!
//! An empty register stays empty over zeros, so a key may have zeros before it. CRC32C is linear: the initial
//! register changes the hash by a difference that depends on the length alone, and comes from a table. Short
//! keys that follow each other in memory are taken by the words before their ends, masked. Of other keys,
//! eight registers take the words in step, by masked loads; CPUs without these hash them key by key.

use super::tail::Shifted;
use super::{Crc32c, INITIAL, On, finished};
use crate::arch::crc::{CrcKernel, CrcStep};
use crate::arch::lanes::WIDTH;
use crate::ragged::{Eight, Keys, RaggedHash, one_by_one};

/// Bytes of the longest key that is hashed in step with others.
const LONGEST: usize = 512;

/// Bytes of a key that are taken at a time.
const BLOCK: usize = 8 * WIDTH;

/// Keys that are hashed one after the other without a branch.
const RUN: usize = 64;

/// Places of [`STARTS`]: a power of two above [`LONGEST`], so that an index needs no division.
const PLACES: usize = (LONGEST + 1).next_power_of_two();

/// The hash of as many zeros as the index: the effect of the initial register and the final inversion.
static STARTS: [u32; PLACES] = {
    let mut starts = [0; PLACES];
    let mut register = INITIAL as u32;
    let mut len = 0;
    while len <= LONGEST {
        starts[len] = finished(register as u64) as u32;
        let mut bit = 0;
        while bit < 8 {
            register = register >> 1 ^ (0x82f6_3b78 & (register & 1).wrapping_neg());
            bit += 1;
        }
        len += 1;
    }
    starts
};

impl RaggedHash for Crc32c {
    #[inline]
    fn hash_ragged<K: Keys + ?Sized>(&self, keys: &K, out: &mut [u64]) {
        self.unit().run(Ragged { keys, out });
    }
}

struct Ragged<'a, K: ?Sized> {
    keys: &'a K,
    out: &'a mut [u64],
}

impl<K: Keys + ?Sized> CrcKernel for Ragged<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<S: CrcStep>(self, step: S) {
        let Self { keys, out } = self;
        let room = out.len().min(keys.count());
        let (runs, rest) = out.get_mut(..room).unwrap_or_default().as_chunks_mut();
        let mut first = 0;
        for out in runs {
            if !run(step, keys, first, out) {
                eights(step, keys, first, out, S::IN_STEP);
            }
            first += RUN;
        }
        eights(step, keys, first, rest, S::IN_STEP);
    }
}

/// Hashes the keys from `first` on, eight in step where that is faster.
#[inline(always)]
fn eights<S: CrcStep, K: Keys + ?Sized>(step: S, keys: &K, mut first: usize, out: &mut [u64], in_step: bool) {
    let (eights, rest) = out.as_chunks_mut();
    for out in eights {
        if !in_step || !eight(step, keys, first, out) {
            one_by_one(&On::<S, Shifted>::new(step), keys, first, out);
        }
        first += WIDTH;
    }
    one_by_one(&On::<S, Shifted>::new(step), keys, first, rest);
}

/// Hashes the keys from `first` on, which are joined and short. Returns false if they are not.
#[inline(always)]
fn run<S: CrcStep, K: Keys + ?Sized>(step: S, keys: &K, first: usize, out: &mut [u64; RUN]) -> bool {
    let mut lengths = [0; RUN];
    let Some(bytes) = keys.joined(first, BLOCK, &mut lengths) else { return false };
    let longest = lengths.into_iter().fold(0, u64::max);
    // Each key takes as many words as the longest: few long keys among short ones cost too much.
    if longest > BLOCK as u64 || longest * RUN as u64 > 3 * (bytes.len() - BLOCK) as u64 + 16 * RUN as u64 {
        return false;
    }
    let shortest = lengths.into_iter().fold(longest, u64::min);
    let lengths = lengths.map(|length| length as u8);
    // Keys of equally many words need a mask for the first word alone.
    let masked = longest.div_ceil(8) - shortest.div_ceil(8) + 1;
    match (longest.div_ceil(8), masked) {
        (0 | 1, _) => words::<S, 8, 1>(step, bytes, &lengths, out),
        (2, 1) => words::<S, 16, 1>(step, bytes, &lengths, out),
        (3, 1) => words::<S, 24, 1>(step, bytes, &lengths, out),
        (4, 1) => words::<S, 32, 1>(step, bytes, &lengths, out),
        (5, 1) => words::<S, 40, 1>(step, bytes, &lengths, out),
        (6, 1) => words::<S, 48, 1>(step, bytes, &lengths, out),
        (7, 1) => words::<S, 56, 1>(step, bytes, &lengths, out),
        (8, 1) => words::<S, 64, 1>(step, bytes, &lengths, out),
        (2, _) => words::<S, 16, 2>(step, bytes, &lengths, out),
        (3, _) => words::<S, 24, 3>(step, bytes, &lengths, out),
        (4, _) => words::<S, 32, 4>(step, bytes, &lengths, out),
        (5, _) => words::<S, 40, 5>(step, bytes, &lengths, out),
        (6, _) => words::<S, 48, 6>(step, bytes, &lengths, out),
        (7, _) => words::<S, 56, 7>(step, bytes, &lengths, out),
        _ => words::<S, 64, 8>(step, bytes, &lengths, out),
    }
}

/// Masks of a block: the one that begins at `len` keeps the last `len` of 64 bytes. Long enough that no
/// length needs a check.
static MASKS: [u8; 2 * BLOCK + u8::MAX as usize] = {
    let mut masks = [0; _];
    let mut at = BLOCK;
    while at < masks.len() {
        masks[at] = 0xff;
        at += 1;
    }
    masks
};

/// Hashes keys of at most `N` bytes, which follow `BLOCK` other bytes: each by the `N` bytes before its end,
/// with zeros in place of other keys' bytes, which the first `M` words may have. Returns false if `bytes`
/// ends before them.
#[inline(always)]
fn words<S: CrcStep, const N: usize, const M: usize>(
    step: S,
    bytes: &[u8],
    lengths: &[u8; RUN],
    out: &mut [u64; RUN],
) -> bool {
    let mut bytes = bytes.get(BLOCK - N..).unwrap_or_default();
    for (out, len) in out.iter_mut().zip(lengths) {
        let len = usize::from(*len);
        let Some(rest) = bytes.get(len..) else { return false };
        bytes = rest;
        let Some(block) = bytes.first_chunk::<N>() else { return false };
        let masks = MASKS[BLOCK - N + len..].as_chunks().0;
        let (masked, whole) = block.as_chunks().0.split_at(M);
        let mut register = 0;
        for (word, mask) in masked.iter().zip(masks) {
            register = step.u64(register, u64::from_le_bytes(*word) & u64::from_le_bytes(*mask));
        }
        for word in whole {
            register = step.u64(register, u64::from_le_bytes(*word));
        }
        *out = register ^ u64::from(STARTS[len]);
    }
    true
}

/// Hashes the eight keys from `first` on. Returns false if they are faster one by one.
#[inline(always)]
fn eight<S: CrcStep, K: Keys + ?Sized>(step: S, keys: &K, first: usize, out: &mut [u64; WIDTH]) -> bool {
    let Some(eight) = keys.eight(first) else { return false };
    let lengths = eight.lengths();
    let longest = lengths.into_iter().fold(0, u64::max);
    // One long key among short ones: a word of all takes as long as about two words of one.
    if longest > LONGEST as u64 || longest > 64 && lengths.into_iter().sum::<u64>() < 2 * longest {
        return false;
    }
    let longest = longest as usize;
    let mut registers = [0; WIDTH];
    let mut from = (BLOCK - longest.next_multiple_of(8) % BLOCK) % BLOCK / 8;
    for after in (0..longest).step_by(BLOCK).rev() {
        let mut blocks = [[0; WIDTH]; WIDTH];
        for (i, block) in blocks.iter_mut().enumerate() {
            step.block_before(eight.key(i), after, block);
        }
        for w in from..WIDTH {
            for (register, block) in registers.iter_mut().zip(&blocks) {
                *register = step.u64(*register, block[w]);
            }
        }
        from = 0;
    }
    for i in 0..WIDTH {
        out[i] = registers[i] ^ u64::from(STARTS[lengths[i] as usize % PLACES]);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::unit::CrcUnit;
    use crate::ragged::Joined;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// The kernel in step, also where one key at a time is faster.
    struct InStep<'a, K: ?Sized>(Ragged<'a, K>);

    impl<K: Keys + ?Sized> CrcKernel for InStep<'_, K> {
        type Output = ();

        fn run<S: CrcStep>(self, step: S) {
            eights(step, self.0.keys, 0, self.0.out, true);
        }
    }

    /// Hashes `keys` as slices and joined with both kinds of offsets, against an independent implementation.
    fn agrees(keys: &[Vec<u8>], room: usize) {
        let mut expected = std::vec![7; room];
        for (out, key) in expected.iter_mut().zip(keys) {
            *out = u64::from(::crc32c::crc32c(key));
        }
        let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let bytes = keys.concat();
        let mut wide = std::vec![0_i64];
        keys.iter().for_each(|key| wide.push(wide[wide.len() - 1] + key.len() as i64));
        let narrow: Vec<i32> = wide.iter().map(|offset| *offset as i32).collect();
        for unit in CrcUnit::all() {
            let mut out = std::vec![7; room];
            Crc32c::on(unit).hash_ragged(slices.as_slice(), &mut out);
            assert_eq!(out, expected, "{unit:?}");
            out.fill(7);
            unit.run(InStep(Ragged { keys: slices.as_slice(), out: &mut out }));
            assert_eq!(out, expected, "{unit:?}");
            out.fill(7);
            Crc32c::on(unit).hash_ragged(&Joined { bytes: &bytes, offsets: &wide }, &mut out);
            assert_eq!(out, expected, "{unit:?}");
            out.fill(7);
            unit.run(InStep(Ragged { keys: &Joined { bytes: &bytes, offsets: &narrow }, out: &mut out }));
            assert_eq!(out, expected, "{unit:?}");
        }
    }

    proptest! {
        #[test]
        fn hashes_keys_of_any_lengths_as_one_at_a_time(
            keys in prop_oneof![
                vec(prop_oneof![vec(any::<u8>(), 0..70), vec(any::<u8>(), 0..600)], 0..70),
                vec(vec(any::<u8>(), 0..20), 0..200),
                vec(vec(any::<u8>(), 0..66), 0..200),
                (0..8_usize).prop_flat_map(|words| {
                    vec(vec(any::<u8>(), 8 * words + 1..8 * words + 9), 0..200)
                }),
            ],
            room in 0..200usize,
        ) {
            agrees(&keys, room);
        }
    }

    #[test]
    fn hashes_each_length_beside_each_other() {
        for len in 0..=LONGEST + 1 {
            let keys: Vec<Vec<u8>> =
                (0..8).map(|i| std::vec![i ^ 0xa5; (len + usize::from(i)) % (LONGEST + 2)]).collect();
            agrees(&keys, 8);
        }
    }

    #[test]
    fn takes_keys_with_wrong_offsets_as_empty() {
        let keys = Joined { bytes: b"123456789", offsets: &[0_i32, 9, 1, 10, -1, i32::MIN, 9, 2, 2, 2] };
        let mut out = [7; 9];
        Crc32c::detect().hash_ragged(&keys, &mut out);
        assert_eq!(out, [0xe306_9283, 0, 0, 0, 0, 0, 0, 0, 0]);
        // Among the offsets of a run.
        for wrong in [i32::MIN, -1, 0, 3, 200, i32::MAX] {
            for place in 0..=3 * RUN {
                let mut offsets: Vec<i32> = (0..=3 * RUN as i32).collect();
                offsets[place] = wrong;
                let keys = Joined { bytes: &[b'a'; 3 * RUN], offsets: &offsets };
                let mut out = [7; 3 * RUN];
                Crc32c::detect().hash_ragged(&keys, &mut out);
                let expected: Vec<u64> =
                    (0..3 * RUN).map(|place| u64::from(::crc32c::crc32c(keys.key(place)))).collect();
                assert_eq!(out.as_slice(), expected, "{wrong} at {place}");
            }
        }
    }
}
