//! Chains of colliding words, for someone who knows the seed: after each pair of words the state is the same,
//! so that n pairs give 2ⁿ keys.

use super::oracle::Oracle;
use super::unit::{Unit, product, write};
use super::word_pairs::colliding;
use super::{Search, about};
use crate::attack::{About, Knowledge};
use crate::keys::Keys;
use crate::subject::Fault;

/// Pairs of a chain.
const PAIRS: usize = 12;

/// Bytes behind the words.
const END: usize = 16;

/// Failures after which a chain begins anew, with other words.
const FAILURES: u32 = 3;

/// A chain that grows by a pair in each step.
#[derive(Debug, Default)]
pub(super) struct Chain {
    chains: usize,
    failures: u32,
    key: Vec<u8>,
    units: Vec<Unit>,
}

impl Search for Chain {
    fn about(&self) -> About {
        about(
            "blind/chain",
            "the seed has leaked: pairs of words that lead to one state follow each other",
            "search without priors: birthday search; Joux, Multicollisions in iterated hash functions, \
             CRYPTO 2004",
            Knowledge::Seed,
        )
    }

    fn step(&mut self, oracle: &mut Oracle<'_>) -> Result<Vec<Keys>, Fault> {
        if self.failures >= FAILURES || self.key.is_empty() {
            let chains = self.chains + 1;
            let length = oracle.lengths(&[PAIRS * bytes(chains) + END])[0];
            *self = Self { chains, key: oracle.draw.bytes(length), ..Self::default() };
            return Ok(Vec::new());
        }
        let bytes = bytes(self.chains);
        let (at, seed, length) = (self.units.len() * bytes, oracle.leaked(), self.key.len());
        if at + 2 * bytes > length || self.units.len() == PAIRS {
            self.failures = FAILURES;
            return Ok(vec![product(&self.units, &self.key, oracle.scope.count)]);
        }
        let pairs = colliding(oracle, &self.key, at, bytes, &seed)?;
        for forms in pairs {
            let unit = Unit { at, forms };
            // The state, and not the hash by chance: the same with other bytes behind.
            let mut other = self.key.clone();
            write(&mut other, at + bytes, &oracle.draw.bytes(length - at - bytes));
            let pair = [0, 1].map(|form| {
                let mut key = other.clone();
                unit.write(form, &mut key);
                key
            });
            let hashes = oracle.under(&seed, &pair.iter().collect())?;
            if hashes.first() == hashes.get(1) {
                unit.write(0, &mut self.key);
                self.units.push(unit);
                self.failures = 0;
                return Ok(Vec::new());
            }
        }
        self.failures += 1;
        Ok(Vec::new())
    }
}

/// Bytes of a word in a chain of this number.
fn bytes(chain: usize) -> usize {
    [8, 4][chain % 2]
}
