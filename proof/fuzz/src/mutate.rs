//! Deterministic mutations of inputs, for machines without libFuzzer.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Longest mutated input, in bytes.
const MAX_LEN: usize = 1 << 14;

/// Numbers at which parsers and limits change their course.
const EDGES: [u64; 12] =
    [0, 1, 0x7f, 0x80, 0xfc, 0xfd, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX];

/// Source of mutated inputs. The same seed and the same inputs give the same sequence.
#[derive(Clone, Debug)]
pub struct Mutator(SplitMix64);

impl Mutator {
    /// A sequence of mutations.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// The next input: one of `inputs` after a few changes, or now and then random bytes.
    pub fn mutate(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let picked = self.pick(inputs);
        if picked.is_empty() || self.below(16) == 0 {
            return self.random(1024);
        }
        let mut input = picked.to_vec();
        for _ in 0..=self.below(5) {
            self.change(&mut input, inputs);
        }
        input.truncate(MAX_LEN);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, inputs: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let (start, end) = self.range(input.len());
        match self.below(9) {
            0 | 1 => {
                let bit = 1 << self.below(8);
                input.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bit);
            }
            2 => {
                let byte = self.0.next_u64() as u8;
                input.iter_mut().skip(at).take(1).for_each(|old| *old = byte);
            }
            3 => {
                let bytes = EDGES[self.below(EDGES.len())].to_be_bytes();
                let len = 1 << self.below(4);
                let old = input.iter_mut().skip(at);
                old.zip(&bytes[8 - len..]).for_each(|(old, byte)| *old = *byte);
            }
            4 => {
                let bytes = self.random(16);
                input.splice(at..at, bytes);
            }
            5 => drop(input.drain(start..end)),
            6 => {
                let copy = input[start..end].to_vec();
                input.splice(at..at, copy);
            }
            7 => {
                let other = self.pick(inputs);
                let (from, to) = self.range(other.len());
                input.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                let other = self.pick(inputs);
                let (from, _) = self.range(other.len());
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
        }
    }

    fn pick<'a>(&mut self, inputs: &'a [Vec<u8>]) -> &'a [u8] {
        inputs.get(self.below(inputs.len())).map_or(&[], Vec::as_slice)
    }

    /// A range of some bytes, more often a short one.
    fn range(&mut self, len: usize) -> (usize, usize) {
        let start = self.below(len + 1);
        let most = if self.below(4) == 0 { len } else { 32 };
        (start, start + self.below((len - start).min(most) + 1))
    }

    fn random(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most)).map(|_| self.0.next_u64() as u8).collect()
    }

    /// A number below `limit`; 0 if that is 0.
    fn below(&mut self, limit: usize) -> usize {
        (((self.0.next_u64() >> 32) * limit as u64) >> 32) as usize
    }
}
