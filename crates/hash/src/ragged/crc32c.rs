//! CRC32C of many keys: the instruction has a latency of three cycles, which several keys at once hide.

use super::order::{for_each_run, one_by_one};
use super::{Keys, RaggedHash};
use crate::arch::crc::{CrcKernel, CrcStep};
use crate::crc32c::{Crc32c, INITIAL, finished};
use crate::load::le64_rest;

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
        for_each_run(keys, out.len().min(keys.count()), |run| {
            one_by_one(|key| hash(step, key), keys, run.first, run.places, out);
        });
    }
}

/// The last bytes in one step: no branch depends on their number.
#[inline(always)]
fn hash<S: CrcStep>(step: S, key: &[u8]) -> u64 {
    let mut register = INITIAL;
    for word in key.as_chunks().0 {
        register = step.u64(register, u64::from_le_bytes(*word));
    }
    finished(step.low_bytes(register, le64_rest(key), (key.len() % 8) as u32))
}

#[cfg(test)]
mod tests {
    use super::super::Joined;
    use super::*;
    use crate::arch::unit::CrcUnit;
    use crate::scheme::BytesHash;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn hashes_keys_of_any_lengths_as_one_at_a_time(
            keys in vec(prop_oneof![vec(any::<u8>(), 0..70), vec(any::<u8>(), 0..600)], 0..300),
            room in 0..310usize,
        ) {
            let bytes = keys.concat();
            let mut offsets = std::vec![0_i32];
            keys.iter().for_each(|key| offsets.push(offsets[offsets.len() - 1] + key.len() as i32));
            let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            for unit in CrcUnit::all() {
                let hash = Crc32c::on(unit);
                let mut expected = std::vec![7; room];
                expected.iter_mut().zip(&keys).for_each(|(out, key)| *out = hash.hash(key));
                let mut out = std::vec![7; room];
                hash.hash_ragged(slices.as_slice(), &mut out);
                prop_assert_eq!(&out, &expected);
                out.fill(7);
                hash.hash_ragged(&Joined { bytes: &bytes, offsets: &offsets }, &mut out);
                prop_assert_eq!(&out, &expected);
            }
        }
    }
}
