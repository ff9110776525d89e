//! Registers of HyperLogLog: an estimate of the number of distinct hashes.

use crate::error::ReadError;
use crate::wire::{Reader, Writer};
use core::hash::BuildHasherDefault;
use hyperloglockless::HyperLogLog;
use std::hash::DefaultHasher;

/// Its hasher is never called: hashes go in as they are.
type Unused = BuildHasherDefault<DefaultHasher>;

/// 2^precision registers of a byte. The state is a maximum for each register, so that any order of updates
/// and merges gives the same one.
///
/// Source: Flajolet, Fusy, Gandouet and Meunier, "HyperLogLog" (AofA 2007); Qin, Kim and Tung, "LogLog-Beta
/// and more" (2016), for the estimate.
#[derive(Clone, Debug)]
pub(crate) struct Registers(HyperLogLog<Unused>);

/// Least precision: 16 registers.
pub(crate) const LEAST_PRECISION: u8 = 4;

/// Largest value of a register: one more than a hash has bits.
const MOST: u8 = 65;

impl Registers {
    /// No hashes. The precision must be 4 to 18.
    pub(crate) fn new(precision: u8) -> Self {
        Self(HyperLogLog::with_hasher(precision.clamp(LEAST_PRECISION, 18), Unused::default()))
    }

    #[inline]
    pub(crate) fn add(&mut self, hash: u64) {
        self.0.insert_hash(hash);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.parts().0
    }

    /// Adds the hashes of others of the same precision.
    pub(crate) fn merge(&mut self, other: &Self) {
        let merged = self.0.union(&other.0);
        debug_assert!(merged.is_ok(), "the caller checks the precision");
    }

    /// Estimate of the number of distinct hashes. It follows from the registers alone: the sum that they keep
    /// up to date depends in its last bits on their order.
    pub(crate) fn estimate(&self) -> f64 {
        Self::of(self.bytes()).0.raw_count()
    }

    fn of(registers: &[u8]) -> Self {
        let zeros = registers.iter().filter(|register| **register == 0).count();
        let sum = registers.iter().map(|register| (-f64::from(*register)).exp2()).sum();
        Self(HyperLogLog::from_parts(registers.into(), Unused::default(), zeros, sum))
    }

    pub(crate) fn write(&self, to: &mut Writer) {
        to.bytes(self.bytes());
    }

    pub(crate) fn read(from: &mut Reader<'_>, precision: u8) -> Result<Self, ReadError> {
        let at = from.at();
        let registers = from.bytes(1 << precision.clamp(LEAST_PRECISION, 18))?;
        match registers.iter().position(|register| *register > MOST) {
            Some(number) => Err(ReadError::Field { field: "register", at: at + number }),
            None => Ok(Self::of(registers)),
        }
    }
}

/// Standard error of an estimate relative to the number, at this precision.
pub(crate) fn standard_error(precision: u8) -> f64 {
    hyperloglockless::error_for_precision(precision.clamp(LEAST_PRECISION, 18))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_hash::fixed::siphash_1u64;
    use hashlane_hash::scheme::Key;

    /// Every number of a few, and a sample of large ones, within four standard errors.
    #[test]
    fn estimates_are_within_their_error_at_every_size() {
        for precision in [4, 10, 12, 14, 18] {
            let mut registers = Registers::new(precision);
            for number in 0..200_000_u64 {
                registers.add(siphash_1u64(number, &Key::VECTOR));
                let counted = (number + 1) as f64;
                if (number + 1).is_power_of_two() || number % 20_000 == 19_999 {
                    let error = (registers.estimate() - counted).abs() / counted;
                    let limit = 4.0 * standard_error(precision);
                    assert!(error < limit + 0.5 / counted, "{precision}: {error} at {counted}");
                }
            }
        }
    }

    #[test]
    fn no_hashes_are_none_and_full_registers_are_finite() {
        assert_eq!(Registers::new(12).estimate(), 0.0);
        let full = Registers::read(&mut Reader::new(&[MOST; 16]), 4).unwrap();
        assert!(full.estimate().is_finite());
        let damaged = Registers::read(&mut Reader::new(&[MOST + 1; 16]), 4).unwrap_err();
        assert_eq!(damaged, ReadError::Field { field: "register", at: 0 });
    }
}
