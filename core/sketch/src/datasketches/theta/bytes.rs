//! The bytes of Theta sketches, compact and without compression.
//!
//! ```text
//! 0        preamble, in words of 8 bytes: 1 without keys or with one hash, 2 if exact, 3 with theta
//! 1, 2     version of the format, 3; family of compact sketches, 3
//! 3, 4     unused
//! 5        flags: 1 big-endian, 2 read only, 4 empty, 8 compact, 16 ordered, 32 one hash
//! 6        seed hash, 2 bytes
//! 8, 12    number of hashes; a sampling rate that is not used
//! 16       theta
//! ```
//! Numbers are little-endian; hashes of 8 bytes follow the preamble. The bytes do not tell `lg_k`.

use super::{ONE, READ_LG_K, Theta};
use crate::error::ReadError;
use crate::wire::Reader;

const VERSION: u8 = 3;
const FAMILY: u8 = 3;
const BIG_ENDIAN: u8 = 1;
const READ_ONLY: u8 = 2;
const EMPTY: u8 = 4;
const COMPACT: u8 = 8;
const ORDERED: u8 = 16;

/// The first two bytes of the hash of the seed.
const SEED_HASH: u16 = 0x93cc;

impl Theta {
    /// The sketch as Apache DataSketches writes it: compact, ordered, not compressed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { theta, hashes, has_keys, .. } = self.compacted();
        let words = match (theta < ONE, hashes.len()) {
            _ if !has_keys => 1,
            (true, _) => 3,
            (false, 1) => 1,
            (false, _) => 2,
        };
        let flags = READ_ONLY | COMPACT | ORDERED | if has_keys { 0 } else { EMPTY };
        let mut out = vec![words, VERSION, FAMILY, 0, 0, flags];
        out.extend(SEED_HASH.to_le_bytes());
        if words > 1 {
            out.extend((hashes.len() as u64).to_le_bytes());
        }
        if words > 2 {
            out.extend(theta.to_le_bytes());
        }
        hashes.iter().for_each(|hash| out.extend(hash.to_le_bytes()));
        out
    }

    /// The sketch of bytes of Apache DataSketches, compact, ordered or not; they may come from anyone. Memory
    /// is in proportion to their number. Its `lg_k` is 12, or more if it has more hashes.
    ///
    /// # Errors
    /// The bytes are no compact Theta sketch of version 3 under the default seed, or damaged, with the
    /// offset.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let mut from = Reader::new(bytes);
        let wrong = |field, at| Err(ReadError::Field { field, at });
        // The upper bits have the growth of a table, which a compact sketch has not.
        let words = from.byte()? & 0x3f;
        if from.byte()? != VERSION {
            return wrong("version (3 is read: serialize without compression)", 1);
        }
        if from.byte()? != FAMILY {
            return wrong("family (compact Theta sketches are read: call compact)", 2);
        }
        from.bytes(2)?;
        let flags = from.byte()?;
        let seed = u16::from_le_bytes([from.byte()?, from.byte()?]);
        if flags & BIG_ENDIAN != 0 || flags & COMPACT == 0 {
            return wrong("flags (compact and little-endian is read)", 5);
        }
        let mut sketch = Self { lg_k: READ_LG_K, theta: ONE, hashes: Vec::new(), has_keys: false };
        if flags & EMPTY != 0 {
            return from.finish().map(|()| sketch);
        }
        if seed != SEED_HASH {
            return wrong("seed hash (the default seed is read)", 6);
        }
        let number = match words {
            1 => 1,
            2 | 3 => {
                let number = from.half_word()?;
                from.half_word()?;
                number as usize
            }
            _ => return wrong("words of the preamble", 0),
        };
        if words == 3 {
            sketch.theta = from.word()?;
            if !(1..=ONE).contains(&sketch.theta) {
                return wrong("theta", 16);
            }
        }
        let start = from.at();
        // Before memory is taken.
        let data = from.bytes(number.saturating_mul(8))?;
        from.finish()?;
        sketch.hashes = data.as_chunks().0.iter().map(|hash| u64::from_le_bytes(*hash)).collect();
        let range = 1..sketch.theta;
        if let Some(place) = sketch.hashes.iter().position(|hash| !range.contains(hash)) {
            return wrong("hash", start + 8 * place);
        }
        let unsorted = |hashes: &[u64]| hashes.windows(2).position(|pair| pair.first() >= pair.last());
        if flags & ORDERED != 0
            && let Some(place) = unsorted(&sketch.hashes)
        {
            return wrong("order of the hashes", start + 8 * (place + 1));
        }
        sketch.hashes.sort_unstable();
        if unsorted(&sketch.hashes).is_some() {
            return wrong("hash, which is there twice", start);
        }
        sketch.has_keys = true;
        let lg_k = number.next_power_of_two().trailing_zeros() as u8;
        sketch.lg_k = lg_k.clamp(READ_LG_K, *Self::LG_K.end());
        Ok(sketch)
    }
}
