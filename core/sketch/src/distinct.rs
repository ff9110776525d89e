//! Number of distinct keys.

use crate::error::{Error, ReadError, alike, within};
use crate::keyed::Keyed;
use crate::keys::Keys;
use crate::registers::{LEAST_PRECISION, Registers, standard_error};
use crate::sketch::Sketch;
use crate::wire::{Reader, SketchKind, Writer};
use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::siphash::SipHash13;

/// Number of distinct keys, by HyperLogLog over SipHash-1-3.
///
/// Takes 2^precision bytes, in memory and written. The estimate has a standard error of 1.04 /
/// √(2^precision): 0.8 % at precision 14. The hash is keyed: without the key, nobody can choose keys that
/// count as few or as many.
///
/// ```
/// use hashlane_hash::scheme::Key;
/// use hashlane_sketch::{Distinct, Keys};
///
/// let mut distinct = Distinct::new(14, &Key::new([7; 16]))?;
/// let rows: Vec<u8> = (0..100_000_u32).flat_map(|row| (row % 5000).to_be_bytes()).collect();
/// distinct.update(&Keys::rows(&rows, 4)?)?;
/// let result = distinct.result();
/// assert!((result.keys - 5000.0).abs() < 4.0 * result.standard_error * 5000.0);
/// # Ok::<(), hashlane_sketch::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Distinct {
    hash: Keyed,
    precision: u8,
    registers: Registers,
}

/// Estimate of a number of distinct keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistinctResult {
    /// Number of distinct keys, estimated.
    pub keys: f64,
    /// Standard error, relative to the number.
    pub standard_error: f64,
}

impl Distinct {
    /// Largest precision: 256 KiB.
    pub const MOST_PRECISION: u8 = 18;

    /// No keys, in 2^`precision` registers; valid: 4 to 18.
    ///
    /// # Errors
    /// The precision is out of range.
    pub fn new(precision: u8, key: &Key) -> Result<Self, Error> {
        let (least, most) = (LEAST_PRECISION.into(), Self::MOST_PRECISION.into());
        within("precision", precision.into(), least, most)?;
        let hash = Keyed::new(SipHash13::INFO.id, key)?;
        Ok(Self { hash, precision, registers: Registers::new(precision) })
    }

    /// Gives a sketch that was read from bytes its key, so that it can be updated.
    ///
    /// # Errors
    /// The sketch was made with another key.
    pub fn with_key(mut self, key: &Key) -> Result<Self, Error> {
        self.hash.resume(key)?;
        Ok(self)
    }

    /// Number of registers, as a power of two.
    pub fn precision(&self) -> u8 {
        self.precision
    }

    /// Takes the keys of a batch.
    ///
    /// # Errors
    /// The sketch has no key.
    pub fn update(&mut self, keys: &Keys<'_>) -> Result<(), Error> {
        let registers = &mut self.registers;
        self.hash.hasher()?.for_each(*keys, |_, hashes| hashes.iter().for_each(|hash| registers.add(*hash)));
        Ok(())
    }

    /// The estimate.
    pub fn result(&self) -> DistinctResult {
        DistinctResult { keys: self.registers.estimate(), standard_error: standard_error(self.precision) }
    }
}

impl Sketch for Distinct {
    const KIND: SketchKind = SketchKind::Distinct;

    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.hash.alike(&other.hash)?;
        alike("precision", self.precision, other.precision)?;
        self.registers.merge(&other.registers);
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::new(Self::KIND);
        self.hash.write(&mut to);
        to.byte(self.precision);
        self.registers.write(&mut to);
        to.finish()
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let mut from = Reader::begin(bytes, Self::KIND)?;
        let hash = Keyed::read_as(&mut from, SipHash13::INFO.id)?;
        let precision = precision(&mut from, Self::MOST_PRECISION)?;
        let registers = Registers::read(&mut from, precision)?;
        from.finish()?;
        Ok(Self { hash, precision, registers })
    }
}

/// Reads a precision, at most `most`.
pub(crate) fn precision(from: &mut Reader<'_>, most: u8) -> Result<u8, ReadError> {
    let at = from.at();
    let precision = from.byte()?;
    if (LEAST_PRECISION..=most).contains(&precision) {
        Ok(precision)
    } else {
        Err(ReadError::Field { field: "precision", at })
    }
}
