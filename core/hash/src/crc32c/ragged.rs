//! CRC32C of keys of any lengths, eight at once.
//!
//! An empty register stays empty over zeros. So keys of several lengths, with zeros before them, end
//! together, and eight registers take their words in step: no branch depends on the length of one key. CRC32C
//! is linear: the initial register changes the hash by a difference that depends on the length alone, and
//! comes from a table. CPUs without masked loads hash key by key.

use super::tail::Shifted;
use super::{Crc32c, INITIAL, On, finished};
use crate::arch::crc::{CrcKernel, CrcStep};
use crate::arch::lanes::WIDTH;
use crate::ragged::{Eight, Keys, RaggedHash, one_by_one};

/// Bytes of the longest key that is hashed in step with others.
const LONGEST: usize = 512;

/// Bytes of a key that are taken at a time.
const BLOCK: usize = 8 * WIDTH;

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
        if S::IN_STEP {
            self.in_step(step);
        } else {
            one_by_one(&On::<S, Shifted>::new(step), self.keys, 0, self.out);
        }
    }
}

impl<K: Keys + ?Sized> Ragged<'_, K> {
    #[inline(always)]
    fn in_step<S: CrcStep>(self, step: S) {
        let Self { keys, out } = self;
        let room = out.len().min(keys.count());
        let (eights, rest) = out.get_mut(..room).unwrap_or_default().as_chunks_mut();
        let mut first = 0;
        for out in eights {
            if !eight(step, keys, first, out) {
                one_by_one(&On::<S, Shifted>::new(step), keys, first, out);
            }
            first += WIDTH;
        }
        one_by_one(&On::<S, Shifted>::new(step), keys, first, rest);
    }
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
            self.0.in_step(step);
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
            keys in vec(prop_oneof![vec(any::<u8>(), 0..70), vec(any::<u8>(), 0..600)], 0..70),
            room in 0..80usize,
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
    }
}
