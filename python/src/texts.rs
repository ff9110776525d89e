//! Columns of text or bytes under construction.

use crate::error::value;
use arrow_array::types::ByteArrayType;
use arrow_array::{ArrayRef, GenericByteArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use pyo3::PyResult;
use std::sync::Arc;

/// Text or bytes of rows, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    lengths: Vec<usize>,
    valid: Vec<bool>,
}

impl Texts {
    pub(crate) const fn new() -> Self {
        Self { bytes: Vec::new(), lengths: Vec::new(), valid: Vec::new() }
    }

    /// Room for so many rows.
    pub(crate) fn with_rows(rows: usize) -> Self {
        Self { lengths: Vec::with_capacity(rows), valid: Vec::with_capacity(rows), ..Self::new() }
    }

    pub(crate) fn push(&mut self, row: Option<impl AsRef<[u8]>>) {
        let before = self.bytes.len();
        self.valid.push(row.is_some());
        if let Some(row) = row {
            self.bytes.extend_from_slice(row.as_ref());
        }
        self.lengths.push(self.bytes.len() - before);
    }

    /// The array: of `LargeBinaryType` or `LargeUtf8Type`.
    ///
    /// # Errors
    /// `ValueError` for text that is not UTF-8.
    pub(crate) fn finish<T: ByteArrayType<Offset = i64>>(self) -> PyResult<ArrayRef> {
        let offsets = OffsetBuffer::from_lengths(self.lengths);
        let nulls = Some(NullBuffer::from(self.valid)).filter(|nulls| nulls.null_count() > 0);
        let array = GenericByteArray::<T>::try_new(offsets, self.bytes.into(), nulls);
        Ok(Arc::new(array.map_err(value)?))
    }
}
