//! The bytes of HLL sketches.
//!
//! ```text
//! 0        preamble, in words of 4 bytes: 2 for a list, 3 for a set, 10 for registers
//! 1, 2     version of the format, 1; family of the sketch, 7
//! 3, 4     lg_k; lg of the places of a set or of the exceptions
//! 5        flags: 4 empty, 8 compact, 16 merged
//! 6        coupons of a list; least value of HLL_4
//! 7        mode (list, set, registers) and, four times, HllType
//! 8        coupons of a list; or the number of coupons of a set, and they
//! 8, 16, 24  estimate of the stream; Σ 2^−value over values below 32; over the others
//! 32, 36   registers that have the least value; number of exceptions
//! 40       registers; then exceptions of HLL_4, as coupons with the register as address
//! ```
//! Numbers are little-endian. Without the flag "compact", the places of a hash table follow, 0 for a free
//! one.

use super::{ADDRESS, Dense, Hll, HllType, MOST_VALUE, State, most_coupons};
use crate::error::ReadError;
use crate::wire::Reader;
use std::collections::{HashMap, HashSet};

const VERSION: u8 = 1;
const FAMILY: u8 = 7;
const EMPTY: u8 = 4;
const COMPACT: u8 = 8;
const MERGED: u8 = 16;

/// Modes, with the words of their preambles.
const LIST: (u8, u8) = (0, 2);
const SET: (u8, u8) = (1, 3);
const REGISTERS: (u8, u8) = (2, 10);

/// Places of a list.
const LIST_PLACES: usize = 8;

/// Mark of HLL_4 for a register whose value is among the exceptions.
const EXCEPTION: u8 = 15;

/// lg of the places of a hash table, 3/4 full at most, and at least `least`.
fn lg_places(entries: usize, least: u8) -> u8 {
    (least..26).find(|lg| 4 * entries <= 3 << lg).unwrap_or(26)
}

impl Hll {
    /// The sketch as Apache DataSketches writes it, compact.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.state {
            State::Coupons(coupons) => {
                let mut sorted: Vec<u32> = coupons.iter().copied().collect();
                sorted.sort_unstable();
                let is_list = sorted.len() < LIST_PLACES;
                let count = sorted.len() as u32;
                let mut out = if is_list {
                    let flags = COMPACT | if sorted.is_empty() { EMPTY } else { 0 };
                    self.header(LIST, 3, flags, count as u8)
                } else {
                    self.header(SET, lg_places(sorted.len(), 5), COMPACT, 0)
                };
                if !is_list {
                    out.extend(count.to_le_bytes());
                }
                sorted.iter().for_each(|coupon| out.extend(coupon.to_le_bytes()));
                out
            }
            State::Dense(dense) => self.write_registers(dense),
        }
    }

    fn header(&self, (mode, words): (u8, u8), lg_places: u8, flags: u8, sixth: u8) -> Vec<u8> {
        vec![words, VERSION, FAMILY, self.lg_k, lg_places, flags, sixth, (self.kind as u8) << 2 | mode]
    }

    fn write_registers(&self, dense: &Dense) -> Vec<u8> {
        let values = &dense.values;
        let least = match self.kind {
            HllType::Hll4 => values.iter().copied().min().unwrap_or(0),
            _ => 0,
        };
        let exceptions: Vec<u32> = match self.kind {
            HllType::Hll4 => {
                let beyond = (0_u32..).zip(values).filter(|(_, value)| **value - least >= EXCEPTION);
                beyond.map(|(place, value)| u32::from(*value) << ADDRESS | place).collect()
            }
            _ => Vec::new(),
        };
        let flags = COMPACT | if dense.hip.is_some() { 0 } else { MERGED };
        let lg = if exceptions.is_empty() { 0 } else { lg_places(exceptions.len(), 2) };
        let mut out = self.header(REGISTERS, lg, flags, least);
        for number in [self.result().keys, dense.sums[0], dense.sums[1]] {
            out.extend(number.to_le_bytes());
        }
        let at_least = values.iter().filter(|value| **value == least).count();
        out.extend((at_least as u32).to_le_bytes());
        out.extend((exceptions.len() as u32).to_le_bytes());
        match self.kind {
            HllType::Hll8 => out.extend_from_slice(values),
            HllType::Hll6 => {
                for four in values.chunks(4) {
                    let bits = four.iter().rev().fold(0_u32, |bits, value| bits << 6 | u32::from(*value));
                    out.extend(bits.to_le_bytes().iter().take(3));
                }
                // Theirs read two bytes for each register.
                out.push(0);
            }
            HllType::Hll4 => {
                let half = |value: &u8| (*value - least).min(EXCEPTION);
                out.extend(
                    values
                        .chunks(2)
                        .map(|two| two.iter().rev().fold(0, |byte, value| byte << 4 | half(value))),
                );
                exceptions.iter().for_each(|exception| out.extend(exception.to_le_bytes()));
            }
        }
        out
    }

    /// The sketch of bytes of Apache DataSketches, compact or not; they may come from anyone. Memory is in
    /// proportion to their number.
    ///
    /// # Errors
    /// The bytes are no HLL sketch of version 1, or damaged, with the offset.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let mut from = Reader::new(bytes);
        let wrong = |field, at| ReadError::Field { field, at };
        let words = from.byte()?;
        let version = from.byte()?;
        if version != VERSION {
            return Err(ReadError::Version { version });
        }
        if from.byte()? != FAMILY {
            return Err(wrong("family of an HLL sketch", 2));
        }
        let lg_k = from.byte()?;
        let _places = from.byte()?;
        let (flags, sixth, mode) = (from.byte()?, from.byte()?, from.byte()?);
        let kind = match mode >> 2 {
            0 => HllType::Hll4,
            1 => HllType::Hll6,
            2 => HllType::Hll8,
            _ => return Err(wrong("type of the registers", 7)),
        };
        let mut sketch = Self::new(lg_k, kind).map_err(|_| wrong("lg_k", 3))?;
        match (mode & 3, words) {
            LIST => {
                sketch.state = State::Coupons(coupons(&mut from, usize::from(sixth))?);
            }
            SET => {
                let number = from.half_word()? as usize;
                sketch.state = State::Coupons(coupons(&mut from, number)?);
            }
            REGISTERS => sketch.state = State::Dense(registers(&mut from, lg_k, kind, sixth, flags)?),
            _ => return Err(wrong("mode or words of the preamble", 7)),
        }
        from.finish()?;
        if matches!(&sketch.state, State::Coupons(coupons) if coupons.len() > most_coupons(lg_k)) {
            sketch.spill();
        }
        Ok(sketch)
    }
}

/// Reads coupons to the end, without the free places between them.
fn coupons(from: &mut Reader<'_>, number: usize) -> Result<HashSet<u32>, ReadError> {
    let start = from.at();
    let mut coupons = HashSet::new();
    while from.left() > 0 {
        let at = from.at();
        let coupon = from.half_word()?;
        if coupon != 0 && (coupon >> ADDRESS == 0 || !coupons.insert(coupon)) {
            return Err(ReadError::Field { field: "coupon", at });
        }
    }
    if coupons.len() == number {
        Ok(coupons)
    } else {
        Err(ReadError::Field { field: "number of coupons", at: start })
    }
}

fn registers(
    from: &mut Reader<'_>,
    lg_k: u8,
    kind: HllType,
    least: u8,
    flags: u8,
) -> Result<Dense, ReadError> {
    let at = from.at();
    let estimate = f64::from_bits(from.word()?);
    // The sums, and the registers with the least value, follow from the registers.
    from.bytes(20)?;
    let (count_at, exceptions) = (from.at(), from.half_word()? as usize);
    let number = 1_usize << lg_k;
    let registers_at = from.at();
    let wrong = |place| ReadError::Field { field: "register", at: registers_at + place };
    let values: Box<[u8]> = match kind {
        HllType::Hll8 => from.bytes(number)?.into(),
        HllType::Hll6 => {
            let bytes = from.bytes(number / 4 * 3 + 1)?;
            let four = |three: &[u8]| {
                let bits = three.iter().rev().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
                [0, 6, 12, 18].map(|shift| (bits >> shift) as u8 & 63)
            };
            bytes.chunks_exact(3).take(number / 4).flat_map(four).collect()
        }
        HllType::Hll4 => {
            let halves = from.bytes(number / 2)?.iter().flat_map(|byte| [byte & 15, byte >> 4]);
            let mut values: Vec<u8> = halves.collect();
            let marked = values.iter().filter(|value| **value == EXCEPTION).count();
            let beyond = self::exceptions(from, number)?;
            if marked != exceptions || beyond.len() != exceptions {
                return Err(ReadError::Field { field: "number of exceptions", at: count_at });
            }
            for (place, value) in values.iter_mut().enumerate() {
                let held = match *value {
                    EXCEPTION => *beyond.get(&place).ok_or_else(|| wrong(place / 2))?,
                    value => value.saturating_add(least),
                };
                *value = held;
            }
            values.into_boxed_slice()
        }
    };
    if let Some(place) = values.iter().position(|value| *value > MOST_VALUE) {
        return Err(wrong(place));
    }
    if kind != HllType::Hll4 && exceptions > 0 {
        return Err(ReadError::Field { field: "number of exceptions", at: count_at });
    }
    let mut dense = Dense::of(values);
    if flags & MERGED == 0 {
        if !(estimate.is_finite() && estimate >= 0.0) {
            return Err(ReadError::Field { field: "estimate", at });
        }
        dense.hip = Some(estimate);
    }
    Ok(dense)
}

/// Reads exceptions to the end, without the free places between them: values by register.
fn exceptions(from: &mut Reader<'_>, registers: usize) -> Result<HashMap<usize, u8>, ReadError> {
    let mut values = HashMap::new();
    while from.left() > 0 {
        let at = from.at();
        let pair = from.half_word()?;
        let (place, value) = (pair as usize & ((1 << ADDRESS) - 1), (pair >> ADDRESS) as u8);
        if pair != 0 && (place >= registers || value < EXCEPTION || values.insert(place, value).is_some()) {
            return Err(ReadError::Field { field: "exception", at });
        }
    }
    Ok(values)
}
