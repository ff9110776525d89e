//! CRC32C of every prefix.

use super::{EveryPrefix, Group};
use crate::arch::crc::{CrcKernel, CrcStep};
use crate::arch::lanes::WIDTH;
use crate::crc32c::tail::{Ladder, Shifted, Tail, shifted};
use crate::crc32c::{Crc32c, INITIAL, finished};

impl EveryPrefix for Crc32c<Ladder> {
    #[inline]
    fn every_prefix(&self, group: &mut Group) {
        every_prefix(self, group);
    }
}

impl EveryPrefix for Crc32c<Shifted> {
    #[inline]
    fn every_prefix(&self, group: &mut Group) {
        every_prefix(self, group);
    }
}

#[inline]
fn every_prefix<T: Tail>(crc: &Crc32c<T>, group: &mut Group) {
    crc.unit().run(Kernel(group));
}

struct Kernel<'a>(&'a mut Group);

impl CrcKernel for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: CrcStep>(self, step: S) {
        let Group { words, states: [states, ..], slots, ends, hashes, names, prefixes, height } = self.0;
        if *names == 1 {
            chain::<S, 1>(step, words, states, *height);
        } else {
            chain::<S, WIDTH>(step, words, states, *height);
        }
        for ((hash, slot), end) in hashes.iter_mut().zip(slots).zip(ends).take(*prefixes) {
            let slot = *slot as usize % words.len();
            *hash = finished(shifted(step, states[slot], words[slot], *end as u32));
        }
    }
}

/// Keeps the register before each of the `height` first words, and after the last of them, for the first N names.
#[inline(always)]
fn chain<S: CrcStep, const N: usize>(step: S, words: &[u64], states: &mut [u64], height: usize) {
    let mut registers = [INITIAL; N];
    let (rows, _) = words.as_chunks::<WIDTH>();
    let (kept, _) = states.as_chunks_mut::<WIDTH>();
    for (row, kept) in rows.iter().zip(kept).take(height + 1) {
        for n in 0..N {
            kept[n] = registers[n];
            registers[n] = step.u64(registers[n], row[n]);
        }
    }
}
