//! Arguments of an expression, which Polars passes on as the pickle of a dictionary.
//!
//! `python/hashlane/polars.py` packs them into bytes, the one value of the dictionary: for each argument
//! its length as `u32`, little-endian, and its bytes; for `None` the length 2^32 - 1. So no more of a
//! pickle is read than the few opcodes around these bytes.

use crate::error::value;
use pyo3::PyResult;

/// Packed arguments, read one after another.
pub(super) struct Arguments<'a>(&'a [u8]);

/// Length that stands for `None`.
const NONE: u32 = u32::MAX;

impl<'a> Arguments<'a> {
    /// The arguments in a pickle.
    ///
    /// # Errors
    /// `ValueError` for a pickle of anything else.
    pub(super) fn read(pickle: &'a [u8]) -> PyResult<Self> {
        packed(pickle)
            .map(Self)
            .ok_or_else(|| value("arguments of another version of hashlane: make the expression again"))
    }

    /// Bytes, or `None`.
    ///
    /// # Errors
    /// `ValueError` if the arguments end.
    pub(super) fn optional(&mut self) -> PyResult<Option<&'a [u8]>> {
        let short = || value("too few arguments: make the expression again with this version of hashlane");
        let (len, rest) = self.0.split_first_chunk().ok_or_else(short)?;
        let len = u32::from_le_bytes(*len);
        if len == NONE {
            self.0 = rest;
            return Ok(None);
        }
        let (bytes, rest) = rest.split_at_checked(len as usize).ok_or_else(short)?;
        self.0 = rest;
        Ok(Some(bytes))
    }

    /// Bytes.
    ///
    /// # Errors
    /// `ValueError` for `None`, and if the arguments end.
    pub(super) fn bytes(&mut self) -> PyResult<&'a [u8]> {
        self.optional()?.ok_or_else(|| value("a missing argument"))
    }

    /// Text.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes); `ValueError` for other bytes than UTF-8.
    pub(super) fn text(&mut self) -> PyResult<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(value)
    }

    /// A number, or `None`.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes); `ValueError` for other lengths than 8 bytes.
    pub(super) fn optional_number(&mut self) -> PyResult<Option<u64>> {
        let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).map_err(value);
        self.optional()?.map(number).transpose()
    }

    /// A number of at most `T`.
    ///
    /// # Errors
    /// As [`optional_number`](Self::optional_number); `ValueError` for a larger number.
    pub(super) fn number<T: TryFrom<u64>>(&mut self) -> PyResult<T> {
        let number = self.optional_number()?.ok_or_else(|| value("a missing number"))?;
        T::try_from(number).map_err(|_| value(format!("the argument {number} is too large")))
    }
}

/// The bytes that are the value of the one item of a pickled dictionary.
fn packed(mut pickle: &[u8]) -> Option<&[u8]> {
    let skip = |pickle: &mut &[u8], len: usize| -> Option<()> {
        *pickle = pickle.get(len..)?;
        Some(())
    };
    loop {
        let (opcode, rest) = pickle.split_first()?;
        pickle = rest;
        match opcode {
            // PROTO and FRAME.
            0x80 => skip(&mut pickle, 1)?,
            0x95 => skip(&mut pickle, 8)?,
            // EMPTY_DICT and MEMOIZE.
            b'}' | 0x94 => {}
            // SHORT_BINUNICODE: the item's key.
            0x8c => {
                let (len, rest) = pickle.split_first()?;
                pickle = rest.get(usize::from(*len)..)?;
            }
            // SHORT_BINBYTES, BINBYTES and BINBYTES8.
            b'C' => {
                let (len, rest) = pickle.split_first()?;
                return rest.get(..usize::from(*len));
            }
            b'B' => {
                let (len, rest) = pickle.split_first_chunk()?;
                return rest.get(..u32::from_le_bytes(*len) as usize);
            }
            0x8e => {
                let (len, rest) = pickle.split_first_chunk()?;
                return rest.get(..usize::try_from(u64::from_le_bytes(*len)).ok()?);
            }
            _ => return None,
        }
    }
}
