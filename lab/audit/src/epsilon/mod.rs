//! ε of a scheme: the share of seeds for which two keys that are chosen without the seed collide.

mod binomial;
pub mod long;
mod proved;
pub mod search;
pub mod vectors;

pub use binomial::{at_least, clopper_pearson};
pub use proved::{Proved, proved};

use crate::draw::Draw;
use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault};
use hashlane_hash::scheme::Key;
use serde::Serialize;

/// Seeds under which keys are hashed at a time.
const BATCH: u64 = 1 << 11;

/// A share of seeds, measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Seeds for which the pair collided.
    pub collisions: u64,
    /// Seeds tried.
    pub seeds: u64,
    /// Lower bound of the share at 95 %.
    pub low: f64,
    /// Upper bound of the share at 95 %.
    pub high: f64,
}

impl Share {
    /// The share of `collisions` in `seeds`, with its Clopper–Pearson interval.
    pub fn new(collisions: u64, seeds: u64) -> Self {
        let (low, high) = clopper_pearson(collisions, seeds);
        Self { collisions, seeds, low, high }
    }

    /// The estimate.
    pub fn value(&self) -> f64 {
        self.collisions as f64 / self.seeds.max(1) as f64
    }
}

/// Measures the share of seeds for which two keys collide, by `seeds` random ones.
///
/// # Errors
/// The function fails.
pub fn measure(
    subject: &mut dyn AuditedHash,
    pair: &[Vec<u8>; 2],
    seeds: u64,
    draw: &mut Draw,
) -> Result<Share, Fault> {
    let keys: Keys = pair.iter().collect();
    let mut hashes = Vec::new();
    let mut collisions = 0;
    let mut left = seeds;
    while left > 0 {
        let batch: Vec<Key> = (0..left.min(BATCH)).map(|_| draw.key()).collect();
        left -= batch.len() as u64;
        subject.hash_under_all(&batch, &keys, &mut hashes)?;
        collisions += hashes.as_chunks::<2>().0.iter().filter(|[a, b]| a == b).count() as u64;
    }
    Ok(Share::new(collisions, seeds))
}
