//! Tests of quality, of the kind of SMHasher3's that bear on security, for the table of all functions.
//!
//! They ask if a function looks random on key sets and seeds of simple patterns, which nobody has chosen to
//! harm it. A function that fails may still be hard to attack, and one that passes may be broken: the columns
//! stand side by side for that comparison. The names come from SMHasher3's tests; key sets, sizes and
//! statistics are our own and smaller, so that all functions take seconds.
//!
//! Source: Frank J. T. Wojcik, SMHasher3, github.com/fwojcik/smhasher3 at 7ad8939d; it descends from SMHasher
//! (Austin Appleby) and its fork by Reini Urban.

mod avalanche;
mod collisions;
mod key_sets;
mod published;
mod seeds;

pub use published::{Published, published};

use crate::draw::Draw;
use crate::subject::{AuditedHash, Fault};
use hashlane_hash::scheme::Keying;
use key_sets::KeySet;
use serde::Serialize;

/// Names of the tests, in the order of SMHasher3: tests of keys, then tests of seeds.
pub const TESTS: [&str; 13] = [
    "Avalanche",
    "Zeroes",
    "Cyclic",
    "Sparse",
    "Permutation",
    "TwoBytes",
    "Seed",
    "SeedZeroes",
    "SeedSparse",
    "SeedBlockLen",
    "SeedBlockOffset",
    "SeedAvalanche",
    "BadSeeds",
];

/// Probability that a random function fails a test, for all tests together.
pub const LEVEL: f64 = 1e-6;

/// Tests that a function went through and those that it failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Names of the tests that apply: tests of seeds need a seed, some need keys of several lengths.
    pub run: Vec<&'static str>,
    /// Names of the tests that it failed.
    pub failed: Vec<&'static str>,
}

/// Tests with their keys, which are made once for all functions.
#[derive(Debug)]
pub struct Suite {
    sets: Vec<KeySet>,
    seed: u64,
}

impl Suite {
    /// Tests whose random choices follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { sets: key_sets::all(&mut Draw::new(seed)), seed }
    }

    /// Tests a function.
    ///
    /// # Errors
    /// The function has failed.
    pub fn run(&self, subject: &mut dyn AuditedHash) -> Result<Outcome, Fault> {
        let mut draw = Draw::new(self.seed ^ 0x736d_6861_7368_6572);
        let mut evidence = Evidence::default();
        let (key, lengths) = (draw.key(), subject.info().lengths);
        for set in self.sets.iter().filter(|set| set.fits(lengths)) {
            let mut hashes = Vec::new();
            subject.hash_all(&key, &set.keys, &mut hashes)?;
            let logs = match set.flips {
                Some(flips) => avalanche::of_flips(&hashes, flips, subject.info().width),
                None => vec![collisions::log_p_value(&mut hashes, subject.info().width)],
            };
            evidence.add(set.test, logs);
        }
        let bits = match subject.info().keying {
            Keying::None => 0,
            Keying::Seed(bits) | Keying::Secret(bits) => bits.min(64),
        };
        if bits > 0 {
            seeds::run(subject, &seeds::Seeds { bits, base: key }, &mut draw, &mut evidence)?;
        }
        Ok(evidence.outcome())
    }
}

/// Natural logarithms of bounds of p-values, by test.
#[derive(Debug, Default)]
struct Evidence(Vec<(&'static str, Vec<f64>)>);

impl Evidence {
    fn add(&mut self, test: &'static str, logs: impl IntoIterator<Item = f64>) {
        match self.0.iter_mut().find(|(name, _)| *name == test) {
            Some((_, all)) => all.extend(logs),
            None => self.0.push((test, logs.into_iter().collect())),
        }
    }

    /// Bonferroni's correction twice: the level is shared by the tests, and in each by its comparisons.
    fn outcome(&self) -> Outcome {
        let criterion = (LEVEL / TESTS.len() as f64).ln();
        let failed = |logs: &Vec<f64>| {
            let least = logs.iter().copied().fold(0.0, f64::min);
            least + (logs.len() as f64).ln() < criterion
        };
        let mut outcome = Outcome::default();
        for test in TESTS {
            let Some((_, logs)) = self.0.iter().find(|(name, logs)| *name == test && !logs.is_empty()) else {
                continue;
            };
            outcome.run.push(test);
            if failed(logs) {
                outcome.failed.push(test);
            }
        }
        outcome
    }
}

impl Outcome {
    /// Text of a cell: the tests that failed, and the number of those that were run.
    pub fn text(&self) -> String {
        let run = self.run.len();
        match self.failed.as_slice() {
            [] => format!("none of {run}"),
            failed if failed.len() == run => format!("all {run}"),
            failed => format!("{} of {run}: {}", failed.len(), failed.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests;
