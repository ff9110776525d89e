//! Set of hashes, exact while it is small and an estimate of its size beyond.

mod exact;
mod likelihood;
mod ultra;

pub(crate) use likelihood::likeliest_mean;
pub(crate) use ultra::standard_error;

use crate::error::ReadError;
use crate::wire::{Reader, Writer};
use exact::Hashes;
use ultra::Ultra;

/// Distinct hashes: all of them up to [`most_exact`] of them, [UltraLogLog registers](Ultra) beyond.
///
/// The state follows from the set of hashes alone, whatever their order and the merges between: the hashes
/// are kept until there is one more than fits, and the registers then follow from them.
#[derive(Clone, Debug)]
pub(crate) enum Registers {
    Exact(Hashes),
    Dense(Ultra),
}

/// Least precision: 16 registers.
pub(crate) const LEAST_PRECISION: u8 = 4;

/// Number of hashes that registers of this precision keep as they are: 7/64 of 2^precision, so that they
/// take no more memory than the registers.
pub(crate) const fn most_exact(precision: u8) -> u64 {
    exact::most(precision) as u64
}

/// Form in the bytes: hashes, ascending, after their number; or registers.
const EXACT: u8 = 0;
const DENSE: u8 = 1;

impl Registers {
    /// No hashes. The precision must be 4 to 18.
    pub(crate) fn new(precision: u8) -> Self {
        Self::Exact(Hashes::new(precision))
    }

    #[inline]
    pub(crate) fn add(&mut self, hash: u64) {
        self.extend(&[hash]);
    }

    /// Adds hashes. Hash 0 counts as hash 1, as 0 marks a free place in the set.
    #[inline]
    pub(crate) fn extend(&mut self, hashes: &[u64]) {
        let mut hashes = hashes.iter().map(|hash| (*hash).max(1));
        if let Self::Exact(set) = self {
            let Some(more) = hashes.find(|hash| !set.insert(*hash)) else { return };
            let mut dense = Ultra::new(set.precision());
            set.iter().for_each(|hash| dense.add(hash));
            dense.add(more);
            *self = Self::Dense(dense);
        }
        if let Self::Dense(dense) = self {
            hashes.for_each(|hash| dense.add(hash));
        }
    }

    /// Adds the hashes of others of the same precision.
    pub(crate) fn merge(&mut self, other: &Self) {
        match (&mut *self, other) {
            (Self::Dense(ours), Self::Dense(theirs)) => ours.merge(theirs),
            (_, Self::Exact(theirs)) => theirs.iter().for_each(|hash| self.add(hash)),
            (Self::Exact(_), Self::Dense(_)) => {
                let ours = core::mem::replace(self, other.clone());
                self.merge(&ours);
            }
        }
    }

    /// Number of distinct hashes: exact, or an estimate that follows from the registers.
    pub(crate) fn estimate(&self) -> f64 {
        match self {
            Self::Exact(set) => set.len() as f64,
            Self::Dense(dense) => dense.estimate(),
        }
    }

    /// Returns true while the number of hashes is exact.
    pub(crate) const fn is_exact(&self) -> bool {
        matches!(self, Self::Exact(_))
    }

    pub(crate) fn write(&self, to: &mut Writer) {
        match self {
            Self::Exact(set) => {
                let mut hashes: Vec<u64> = set.iter().collect();
                hashes.sort_unstable();
                to.byte(EXACT);
                to.number(hashes.len() as u64);
                hashes.into_iter().for_each(|hash| to.word(hash));
            }
            Self::Dense(dense) => {
                to.byte(DENSE);
                to.bytes(dense.bytes());
            }
        }
    }

    /// Reads registers of a precision of 4 to 18.
    pub(crate) fn read(from: &mut Reader<'_>, precision: u8) -> Result<Self, ReadError> {
        let at = from.at();
        match from.byte()? {
            EXACT => {
                let number = from.number("number of hashes", most_exact(precision))?;
                let (mut set, mut before) = (Hashes::new(precision), 0);
                for _ in 0..number {
                    let (at, hash) = (from.at(), from.word()?);
                    if hash <= before || !set.insert(hash) {
                        return Err(ReadError::Field { field: "hash", at });
                    }
                    before = hash;
                }
                Ok(Self::Exact(set))
            }
            DENSE => {
                let at = from.at();
                let dense = Ultra::from_bytes(from.bytes(1 << precision)?);
                dense.map(Self::Dense).map_err(|place| ReadError::Field { field: "register", at: at + place })
            }
            _ => Err(ReadError::Field { field: "form of the registers", at }),
        }
    }
}

#[cfg(test)]
mod tests;
