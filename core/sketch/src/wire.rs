//! The bytes of a sketch.
//!
//! ```text
//! sketch = "HLSK" version kind parameters content
//! ```
//! Version and kind are one byte. Numbers without a size are LEB128: seven bits a byte, the lowest first, in
//! the shortest form. Others are little-endian.

use crate::error::{Error, ReadError};

const MAGIC: &[u8; 4] = b"HLSK";
const VERSION: u8 = 1;

/// Most that a count holds: it fits a signed number of 64 bits.
pub(crate) const MOST: u64 = i64::MAX as u64;

/// The total after an addition.
///
/// # Errors
/// [`Error::Full`] above [`MOST`].
pub(crate) fn grown(total: u64, added: u64) -> Result<u64, Error> {
    total.checked_add(added).filter(|total| *total <= MOST).ok_or(Error::Full)
}

/// The sum of numbers, or 2⁶⁴ − 1 if it is larger.
pub(crate) fn total(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}

/// Kinds of sketches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SketchKind {
    /// [`Spread`](crate::Spread).
    Spread = 1,
    /// [`Prefixes`](crate::Prefixes).
    Prefixes = 2,
    /// [`Imbalance`](crate::Imbalance).
    Imbalance = 3,
    /// [`Distinct`](crate::Distinct).
    Distinct = 4,
    /// [`HeavyHitters`](crate::HeavyHitters).
    HeavyHitters = 5,
    /// [`Groups`](crate::Groups) of a sketch.
    Groups = 6,
}

impl SketchKind {
    /// Kind of the sketch that these bytes begin with.
    ///
    /// # Errors
    /// The bytes do not begin with the header of a sketch.
    pub fn of(bytes: &[u8]) -> Result<Self, ReadError> {
        let kind = Reader::new(bytes).header()?;
        let all =
            [Self::Spread, Self::Prefixes, Self::Imbalance, Self::Distinct, Self::HeavyHitters, Self::Groups];
        all.into_iter().find(|known| *known as u8 == kind).ok_or(ReadError::SketchKind { kind })
    }
}

/// Bytes of a sketch that is written.
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn new(kind: SketchKind) -> Self {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([VERSION, kind as u8]);
        Self(bytes)
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(crate) fn word(&mut self, word: u64) {
        self.0.extend(word.to_le_bytes());
    }

    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// A count, at most [`MOST`].
    pub(crate) fn count(&mut self, count: u64) {
        self.number(count.min(MOST));
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Bytes with their number before them.
    pub(crate) fn string(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes(bytes);
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Cursor over the bytes of a sketch.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Reads the header of any sketch: its kind.
    pub(crate) fn header(&mut self) -> Result<u8, ReadError> {
        if self.bytes(MAGIC.len()) != Ok(MAGIC) {
            return Err(ReadError::Magic);
        }
        match self.byte()? {
            VERSION => self.byte(),
            version => Err(ReadError::Version { version }),
        }
    }

    /// Begins a sketch of this kind.
    pub(crate) fn begin(bytes: &'a [u8], kind: SketchKind) -> Result<Self, ReadError> {
        let mut reader = Self::new(bytes);
        match reader.header()? {
            found if found == kind as u8 => Ok(reader),
            kind => Err(ReadError::SketchKind { kind }),
        }
    }

    /// Offset of the next field.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Bytes that are left.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'a [u8], ReadError> {
        let end = self.at.checked_add(len);
        let bytes = end.and_then(|end| self.bytes.get(self.at..end));
        let bytes = bytes.ok_or(ReadError::Truncated { at: self.at })?;
        self.at += len;
        Ok(bytes)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, ReadError> {
        let at = self.at;
        let [byte] = self.bytes(1)? else { return Err(ReadError::Truncated { at }) };
        Ok(*byte)
    }

    pub(crate) fn word(&mut self) -> Result<u64, ReadError> {
        let at = self.at;
        let bytes = self.bytes(8)?.first_chunk().ok_or(ReadError::Truncated { at })?;
        Ok(u64::from_le_bytes(*bytes))
    }

    pub(crate) fn half_word(&mut self) -> Result<u32, ReadError> {
        let at = self.at;
        let bytes = self.bytes(4)?.first_chunk().ok_or(ReadError::Truncated { at })?;
        Ok(u32::from_le_bytes(*bytes))
    }

    /// A number in its shortest form, at most `most`.
    pub(crate) fn number(&mut self, field: &'static str, most: u64) -> Result<u64, ReadError> {
        let at = self.at;
        let (mut number, mut shift) = (0_u64, 0);
        loop {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // Bits that would fall out, or a last byte that adds none.
            if shift > 63 || bits << shift >> shift != bits || (byte == 0 && shift > 0) {
                return Err(ReadError::Field { field, at });
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
        }
        if number <= most { Ok(number) } else { Err(ReadError::Field { field, at }) }
    }

    pub(crate) fn count(&mut self, field: &'static str) -> Result<u64, ReadError> {
        self.number(field, MOST)
    }

    /// Bytes with their number, at most `most`, before them.
    pub(crate) fn string(&mut self, field: &'static str, most: usize) -> Result<&'a [u8], ReadError> {
        let len = self.number(field, most as u64)?;
        self.bytes(len as usize)
    }

    /// Ends the sketch.
    pub(crate) fn finish(self) -> Result<(), ReadError> {
        if self.left() == 0 { Ok(()) } else { Err(ReadError::Trailing { at: self.at }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Result<u64, ReadError> {
        let mut reader = Reader::new(bytes);
        let number = reader.number("number", u64::MAX)?;
        reader.finish()?;
        Ok(number)
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(number: u64, shift in 0..64_u32) {
            let mut writer = Writer(Vec::new());
            writer.number(number >> shift);
            prop_assert_eq!(read(&writer.0), Ok(number >> shift));
        }

        #[test]
        fn accepted_numbers_have_one_form(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
            if let Ok(number) = read(&bytes) {
                let mut writer = Writer(Vec::new());
                writer.number(number);
                prop_assert_eq!(writer.0, bytes);
            }
        }
    }

    #[test]
    fn rejects_longer_forms_and_numbers_beyond_64_bits() {
        assert_eq!(read(&[0x80, 0]), Err(ReadError::Field { field: "number", at: 0 }));
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(read(&most), Ok(u64::MAX));
        let beyond = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2];
        assert_eq!(read(&beyond), Err(ReadError::Field { field: "number", at: 0 }));
        assert_eq!(read(&[0x80; 20]), Err(ReadError::Field { field: "number", at: 0 }));
        assert_eq!(read(&[0x80]), Err(ReadError::Truncated { at: 1 }));
        assert_eq!(read(&[1, 1]), Err(ReadError::Trailing { at: 1 }));
    }
}
