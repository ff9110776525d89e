//! Second preimages of FNV-1a under a known seed: small numbers, added to the states of one key, that sum up
//! to 0 at its end.

use super::lattice::{LATTICES, Order};
use super::{About, Attack, FEWEST, Knowledge, Miss, Target};
use crate::draw::Draw;
use crate::keys::Keys;
use std::collections::BTreeSet;

/// A width of FNV-1a.
pub(super) struct Fnv {
    id: &'static str,
    /// Bits of the state.
    width: u32,
    prime: u64,
    /// Starting state, which the seed is combined with.
    basis: u64,
    /// Numbers x₀, x₁, … such that the sum of xᵢ · primeⁿ⁻ⁱ is 0 modulo 2 to the power of the width.
    ///
    /// Found by lattice reduction (LLL), and checked by a test.
    steps: &'static [i8],
    aims_at: &'static [&'static str],
}

pub(super) const ALL: [Fnv; 2] = [
    Fnv {
        id: "fnv-64-lattice",
        width: 64,
        prime: 0x100_0000_01b3,
        basis: 0xcbf2_9ce4_8422_2325,
        steps: &[5, 0, -2, 8, -3, 0, -7, -7, -2, 2, 8, 4, 5, 1, -6, -2],
        aims_at: &["fnv-1a", "fnv-1a-offset"],
    },
    Fnv {
        id: "fnv-32-lattice",
        width: 32,
        prime: 0x0100_0193,
        basis: 0x811c_9dc5,
        steps: &[-1, 2, -1, 4, 4, 2, -6, -4],
        aims_at: &[],
    },
];

/// Bytes of a key if none are demanded: room for the steps at enough places.
const LENGTH: usize = 36;

/// Places at which the steps are added to one key, at most.
const MOST_SUMS: u64 = 5;

/// Keys that are tried for each that is wanted.
const TRIALS: usize = 64;

impl Attack for Fnv {
    fn about(&self) -> About {
        About {
            id: self.id,
            title: "a byte changes the state by a small number, and small numbers sum up to 0 at the end",
            source: "by own analysis: short vectors of a lattice (Lenstra, Lenstra and Lovász, 1982)",
            knowledge: Knowledge::Seed,
            aims_at: self.aims_at,
        }
    }

    /// From the public start: the given key and the second one meet in one state before a seed comes in.
    fn second_key(&self, given: &[u8]) -> Option<Vec<u8>> {
        let lattice = LATTICES.iter().find(|lattice| lattice.is_of(self.prime, self.width))?;
        let mask = u64::MAX >> (64 - self.width);
        let step = |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(self.prime) & mask;
        let state = given.iter().fold(self.basis, step);
        lattice.key(Order::After, self.basis, state, given.len(), &mut Draw::new(state))
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(LENGTH);
        // The seed is combined with the basis, or not used.
        let mut missed = Miss::NotApplicable("it needs longer keys".to_owned());
        for start in [target.key.halves().0 ^ self.basis, self.basis] {
            let first = self.keys_from(start, length, FEWEST, target.draw);
            match target.colliding(first) {
                Ok(_) => return Ok(self.keys_from(start, length, target.count, target.draw)),
                Err(miss) => missed = miss,
            }
        }
        Err(missed)
    }
}

impl Fnv {
    /// Keys of one hash under the starting state, as many as `count` if they are found.
    fn keys_from(&self, start: u64, length: usize, count: usize, draw: &mut Draw) -> Keys {
        let mut seen = BTreeSet::new();
        for _ in 0..TRIALS * count {
            if seen.len() == count {
                break;
            }
            let Some(sums) = self.sums(length, draw) else { break };
            seen.extend(self.key(start, &sums));
        }
        seen.into_iter().collect()
    }

    /// The steps, added or taken away at random places; `None` if a key of `length` bytes has no room.
    fn sums(&self, length: usize, draw: &mut Draw) -> Option<Vec<i64>> {
        let places = (length + 1).checked_sub(self.steps.len())?.max(1) as u64;
        let mut sums = vec![0; length];
        for _ in 0..=draw.word() % MOST_SUMS {
            let choice = draw.word();
            let sign = if choice >> 63 == 0 { 1 } else { -1 };
            let sums = sums.get_mut((choice % places) as usize..)?;
            sums.iter_mut().zip(self.steps).for_each(|(sum, step)| *sum += sign * i64::from(*step));
        }
        Some(sums)
    }

    /// The key that reaches the state of as many zeros, if each step can be made by the byte of its place.
    ///
    /// A byte changes the lowest eight bits of the state to any value, so that a step is a small number as
    /// long as it carries nothing out of them.
    fn key(&self, start: u64, sums: &[i64]) -> Option<Vec<u8>> {
        let mask = u64::MAX >> (64 - self.width);
        let mut state = start & mask;
        sums.iter()
            .map(|step| {
                let low = u8::try_from(state & 0xff).ok()?;
                let wanted = u8::try_from(i64::from(low) + step).ok()?;
                state = (state ^ u64::from(low ^ wanted)).wrapping_mul(self.prime) & mask;
                Some(low ^ wanted)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn hash(fnv: &Fnv, key: &[u8]) -> u64 {
        let mask = u64::MAX >> (64 - fnv.width);
        key.iter()
            .fold(fnv.basis & mask, |state, byte| (state ^ u64::from(*byte)).wrapping_mul(fnv.prime) & mask)
    }

    #[test]
    fn steps_sum_up_to_zero_and_their_keys_collide() {
        for fnv in &ALL {
            let sum = fnv
                .steps
                .iter()
                .fold(0u64, |sum, step| sum.wrapping_mul(fnv.prime).wrapping_add_signed(i64::from(*step)));
            assert_eq!(sum << (64 - fnv.width), 0, "{}", fnv.id);
            let mut draw = Draw::new(1);
            let keys = (0..500).filter_map(|_| {
                let sums = fnv.sums(40, &mut draw).unwrap();
                fnv.key(fnv.basis, &sums)
            });
            let keys: HashSet<Vec<u8>> = keys.collect();
            assert!(keys.len() > 200, "{}: {}", fnv.id, keys.len());
            assert!(keys.iter().all(|key| hash(fnv, key) == hash(fnv, &[0; 40])), "{}", fnv.id);
        }
    }
}
