//! CRC32C of every prefix.

use super::group::{STRIDE, WORDS};
use super::{EveryPrefix, Group};
use crate::arch::crc::{CrcKernel, CrcStep};
use crate::arch::lanes::WIDTH;
use crate::crc32c::tail::{Ladder, Shifted, Tail};
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
        let Group { octets, states: [states, ..], ends, hashes, names, prefixes, height, .. } = self.0;
        if *names == 1 {
            chain::<S, 1>(step, octets, states, *height);
        } else {
            chain::<S, WIDTH>(step, octets, states, *height);
        }
        let eights = ends.as_chunks().0.iter().zip(hashes.as_chunks_mut().0);
        for (ends, hashes) in eights.take(prefixes.div_ceil(WIDTH)) {
            step.eight_ends(octets, states, ends, hashes);
            for hash in hashes {
                *hash = finished(*hash);
            }
        }
    }
}

/// Keeps the register before each of the `height` first words, and after the last of them, for the first N names.
///
/// The state before word w of name n is kept where that word stands.
#[inline(always)]
fn chain<S: CrcStep, const N: usize>(
    step: S,
    octets: &[u8; STRIDE * WIDTH],
    states: &mut [u64; WORDS * WIDTH],
    height: usize,
) {
    let (words, _) = octets.as_chunks::<8>();
    let mut registers = [INITIAL; N];
    for w in 0..(height + 1).min(WORDS) {
        for (n, register) in registers.iter_mut().enumerate() {
            states[WORDS * n + w] = *register;
            *register = step.u64(*register, u64::from_le_bytes(words[WORDS * n + w]));
        }
    }
}
