//! CRC32C of every prefix.

use super::group::WORDS;
use super::{EveryKernel, EveryPrefix, Group};
use crate::arch::crc::{CrcKernel, CrcStep};
use crate::arch::lanes::WIDTH;
use crate::arch::stage::STRIDE;
use crate::crc32c::tail::Ladder;
use crate::crc32c::{Crc32c, INITIAL, On, finished};

impl EveryPrefix for Crc32c {
    #[inline]
    fn every_prefix(&self, group: &mut Group, out: &mut [u64]) {
        struct Every<'a>(&'a mut Group, &'a mut [u64]);
        impl CrcKernel for Every<'_> {
            type Output = ();
            #[inline(always)]
            fn run<S: CrcStep>(self, step: S) {
                On::<S, Ladder>::new(step).every_prefix(self.0, self.1);
            }
        }
        self.unit().run(Every(group, out));
    }

    #[inline(always)]
    fn run_every<K: EveryKernel>(&self, kernel: K) -> K::Output {
        struct Run<K>(K);
        impl<K: EveryKernel> CrcKernel for Run<K> {
            type Output = K::Output;
            #[inline(always)]
            fn run<S: CrcStep>(self, step: S) -> K::Output {
                self.0.run(&On::<S, Ladder>::new(step))
            }
        }
        self.unit().run(Run(kernel))
    }
}

impl<S: CrcStep> EveryPrefix for On<S, Ladder> {
    #[inline(always)]
    fn every_prefix(&self, group: &mut Group, out: &mut [u64]) {
        let Group { bytes, registers, ends, names, prefixes, height, .. } = group;
        if *names == 1 {
            chain::<S, 1>(self.step, bytes, registers, *height);
        } else {
            chain::<S, WIDTH>(self.step, bytes, registers, *height);
        }
        let eights = ends.as_chunks().0.iter().zip(out.as_chunks_mut().0);
        for (ends, hashes) in eights.take(prefixes.div_ceil(WIDTH)) {
            self.step.eight_ends(bytes, registers, ends, hashes);
            for hash in hashes {
                *hash = finished(*hash);
            }
        }
    }

    #[inline(always)]
    fn stage(&self, place: &mut [u8; STRIDE], bytes: &[u8]) {
        self.step.stage(place, bytes);
    }
}

/// Number of rows that are chained at a time: the end of the loop depends on the longest name of the group,
/// and larger steps make it easier to predict. Rows after the last one needed do no harm.
const STEP: usize = 4;

/// Stores the register before each of the `height` first words, and after the last of them, for the first N
/// names.
///
/// The state before word w of name n goes to the place of that word.
#[inline(always)]
fn chain<S: CrcStep, const N: usize>(
    step: S,
    bytes: &[u8; STRIDE * WIDTH],
    states: &mut [u64; WORDS * WIDTH],
    height: usize,
) {
    let (words, _) = bytes.as_chunks::<8>();
    let mut registers = [INITIAL; N];
    for rows in 0..(height / STEP + 1).min(WORDS / STEP) {
        for w in STEP * rows..STEP * (rows + 1) {
            for (n, register) in registers.iter_mut().enumerate() {
                states[WORDS * n + w] = *register;
                *register = step.u64(*register, u64::from_le_bytes(words[WORDS * n + w]));
            }
        }
    }
}
