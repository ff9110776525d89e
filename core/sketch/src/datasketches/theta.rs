//! Theta sketches.

mod bytes;

use super::{SEED, murmur};
use crate::error::{Error, within};
use crate::keys::Keys;

/// Number of distinct keys, as the Theta sketch of Apache DataSketches: their bytes and their hash.
///
/// Not keyed: see the [module](super). The sketch keeps the least 2^`lg_k` hashes, and theta, the least hash
/// that it left out: exact up to 2^`lg_k` keys, then with a standard error of 1 / √(2^`lg_k`). Any split and
/// order of the keys, and of merges of sketches with one `lg_k`, gives the same bytes.
///
/// ```
/// use hashlane_sketch::Keys;
/// use hashlane_sketch::datasketches::Theta;
///
/// let mut users = Theta::new(12)?;
/// users.update(&Keys::slices(&[b"ada", b"grace", b"ada"]));
/// assert_eq!(users.result().keys, 2.0);
/// let theirs = Theta::from_bytes(&users.to_bytes())?;
/// users.merge(&theirs);
/// assert_eq!(users.result().keys, 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Source: Dasgupta, Lang, Rhodes and Thaler, "A Framework for Estimating Stream Expression Cardinalities"
/// (ICDT 2016).
#[derive(Clone, Debug)]
pub struct Theta {
    lg_k: u8,
    /// Bound of the hashes: 1 to [`ONE`].
    theta: u64,
    /// Hashes from 1 to below `theta`: some may be there twice until [`compact`](Self::compact).
    hashes: Vec<u64>,
    /// Keys were added, perhaps none with a hash below `theta`.
    has_keys: bool,
}

/// Estimate of a number of distinct keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThetaResult {
    /// Number of distinct keys.
    pub keys: f64,
    /// Standard error, relative to the number; 0 if the number is exact.
    pub standard_error: f64,
}

/// Theta of a sketch that left no hash out: the bound of hashes of 63 bits.
const ONE: u64 = i64::MAX as u64;

/// `lg_k` of a sketch that was read, at least: the default of Apache DataSketches. The bytes do not have it.
const READ_LG_K: u8 = 12;

impl Theta {
    /// Range of `lg_k`.
    pub const LG_K: core::ops::RangeInclusive<u8> = 4..=26;

    /// No keys, and room for 2^`lg_k` hashes of 8 bytes; valid: 4 to 26.
    ///
    /// # Errors
    /// `lg_k` is out of range.
    pub fn new(lg_k: u8) -> Result<Self, Error> {
        within("lg_k", lg_k.into(), (*Self::LG_K.start()).into(), (*Self::LG_K.end()).into())?;
        Ok(Self { lg_k, theta: ONE, hashes: Vec::new(), has_keys: false })
    }

    /// Number of hashes that are kept, as a power of two.
    pub fn lg_k(&self) -> u8 {
        self.lg_k
    }

    /// Takes the keys of a batch, integers as 8 bytes. Empty keys are ignored.
    pub fn update(&mut self, keys: &Keys<'_>) {
        for key in keys.iter().filter(|key| !key.is_empty()) {
            self.has_keys = true;
            let [hash, _] = murmur::hash(key, SEED);
            self.add(hash >> 1);
        }
    }

    fn add(&mut self, hash: u64) {
        if hash == 0 || hash >= self.theta {
            return;
        }
        // Half of the room is free after a compaction, so that each costs little by hash.
        if self.hashes.len() >= 2 << self.lg_k {
            self.compact();
        }
        if hash < self.theta {
            self.hashes.push(hash);
        }
    }

    /// Sorts the hashes, leaves out those that are there twice, and of more than 2^`lg_k` the largest.
    fn compact(&mut self) {
        let theta = self.theta;
        self.hashes.retain(|hash| *hash < theta);
        self.hashes.sort_unstable();
        self.hashes.dedup();
        if let Some(least) = self.hashes.get(1 << self.lg_k) {
            self.theta = *least;
            self.hashes.truncate(1 << self.lg_k);
        }
    }

    fn compacted(&self) -> Self {
        let mut compact = self.clone();
        compact.compact();
        compact
    }

    /// Adds the keys of another sketch. The larger `lg_k` of both holds.
    pub fn merge(&mut self, other: &Self) {
        if !other.has_keys {
            return;
        }
        self.has_keys = true;
        self.lg_k = self.lg_k.max(other.lg_k);
        self.theta = self.theta.min(other.theta);
        other.hashes.iter().for_each(|hash| self.add(*hash));
        self.compact();
    }

    /// The estimate.
    pub fn result(&self) -> ThetaResult {
        let Self { theta, hashes, .. } = self.compacted();
        let kept = hashes.len() as f64;
        if theta == ONE {
            return ThetaResult { keys: kept, standard_error: 0.0 };
        }
        // Of each key the hash is below theta with this probability.
        let share = theta as f64 / ONE as f64;
        ThetaResult { keys: kept / share, standard_error: 1.0 / kept.max(1.0).sqrt() }
    }
}

#[cfg(test)]
mod tests;
