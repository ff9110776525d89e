//! Number of distinct keys.

use crate::error::{Error, ReadError, alike, within};
use crate::hasher::Hasher;
use crate::keyed::Keyed;
use crate::keys::Keys;
use crate::registers::{LEAST_PRECISION, Registers, most_exact, standard_error};
use crate::sketch::Sketch;
use crate::wire::{Reader, SketchKind, Writer};
use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::siphash::SipHash13;
use std::sync::Arc;

/// Number of distinct keys, by SipHash-1-3: exact while small, by UltraLogLog beyond.
///
/// Up to 7/64 of 2^precision keys (1,792 at precision 14) their hashes are kept, 8 bytes and up to 8 free
/// ones a key, and the number is exact. Beyond, there are 2^precision bytes of registers, with a standard
/// error of at most 0.761 / √(2^precision): 0.59 % at precision 14. Merges lose none of it. The hash is
/// keyed: without the key, nobody can choose keys that count as few or as many.
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
    shared: Arc<Shared>,
    registers: Registers,
}

/// Parameters, which clones have in common.
#[derive(Clone, Debug)]
struct Shared {
    hash: Keyed,
    precision: u8,
}

/// Estimate of a number of distinct keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistinctResult {
    /// Number of distinct keys.
    pub keys: f64,
    /// Standard error, relative to the number; 0 while the number is exact.
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
        Ok(Self { shared: Arc::new(Shared { hash, precision }), registers: Registers::new(precision) })
    }

    /// Gives a sketch that was read from bytes its key, so that it can be updated.
    ///
    /// # Errors
    /// The sketch was made with another key.
    pub fn with_key(mut self, key: &Key) -> Result<Self, Error> {
        Arc::make_mut(&mut self.shared).hash.resume(key)?;
        Ok(self)
    }

    /// Number of registers, as a power of two.
    pub fn precision(&self) -> u8 {
        self.shared.precision
    }

    /// Most keys that are counted exactly: 7/64 of 2^precision.
    pub fn most_exact(&self) -> u64 {
        most_exact(self.shared.precision)
    }

    /// Takes the keys of a batch.
    ///
    /// # Errors
    /// The sketch has no key.
    pub fn update(&mut self, keys: &Keys<'_>) -> Result<(), Error> {
        let registers = &mut self.registers;
        self.shared.hash.hasher()?.for_each(*keys, |_, hashes| registers.extend(hashes));
        Ok(())
    }

    pub(crate) fn hasher(&self) -> Result<Hasher, Error> {
        self.shared.hash.hasher().cloned()
    }

    #[inline]
    pub(crate) fn add(&mut self, hash: u64) {
        self.registers.add(hash);
    }

    /// The number of distinct keys.
    pub fn result(&self) -> DistinctResult {
        let standard_error =
            if self.registers.is_exact() { 0.0 } else { standard_error(self.shared.precision) };
        DistinctResult { keys: self.registers.estimate(), standard_error }
    }
}

impl Sketch for Distinct {
    const KIND: SketchKind = SketchKind::Distinct;

    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.shared.hash.alike(&other.shared.hash)?;
        alike("precision", self.shared.precision, other.shared.precision)?;
        self.registers.merge(&other.registers);
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::new(Self::KIND);
        self.shared.hash.write(&mut to);
        to.byte(self.shared.precision);
        self.registers.write(&mut to);
        to.finish()
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let mut from = Reader::begin(bytes, Self::KIND)?;
        let hash = Keyed::read_as(&mut from, SipHash13::INFO.id)?;
        let precision = precision(&mut from, Self::MOST_PRECISION)?;
        let registers = Registers::read(&mut from, precision)?;
        from.finish()?;
        Ok(Self { shared: Arc::new(Shared { hash, precision }), registers })
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
