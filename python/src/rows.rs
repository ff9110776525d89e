//! The rows of an array as bytes.

use crate::error::{type_name, wrong_type};
use crate::views::{Scratch, gather_views};
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray, StringArray,
    StringViewArray,
};
use arrow_schema::DataType;
use hashlane_sketch::Keys;
use pyo3::PyResult;
use std::ops::Range;

/// The rows of an array as bytes: of text its UTF-8, of an integer its little-endian bytes.
#[derive(Debug)]
pub(crate) enum Rows<'a> {
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    TextView(&'a StringViewArray),
    Bytes(&'a BinaryArray),
    LargeBytes(&'a LargeBinaryArray),
    BytesView(&'a BinaryViewArray),
    /// Rows of one width, one after the other.
    Fixed {
        bytes: arrow_buffer::Buffer,
        width: usize,
    },
    /// Nulls alone.
    Null,
}

impl<'a> Rows<'a> {
    /// The rows of `array`, an argument called `name`.
    ///
    /// # Errors
    /// `TypeError` for other types than text, bytes and integers.
    pub(crate) fn of(name: &str, array: &'a ArrayRef) -> PyResult<Self> {
        Ok(match array.data_type() {
            DataType::Utf8 => Self::Text(array.as_string()),
            DataType::LargeUtf8 => Self::LargeText(array.as_string()),
            DataType::Utf8View => Self::TextView(array.as_string_view()),
            DataType::Binary => Self::Bytes(array.as_binary()),
            DataType::LargeBinary => Self::LargeBytes(array.as_binary()),
            DataType::BinaryView => Self::BytesView(array.as_binary_view()),
            DataType::FixedSizeBinary(width) => Self::fixed(array, (*width).try_into().unwrap_or_default()),
            DataType::Null => Self::Null,
            kind if kind.is_integer() => Self::fixed(array, kind.primitive_width().unwrap_or_default()),
            DataType::Struct(_) => {
                return Err(wrong_type(format!("{name}: a table or struct, expected one column of it")));
            }
            kind => {
                return Err(wrong_type(format!(
                    "{name}: a column of {}; expected text, bytes or integers: cast it first",
                    type_name(kind)
                )));
            }
        })
    }

    /// The rows of `array`, an argument called `name`, which are names or messages.
    ///
    /// # Errors
    /// `TypeError` for other types than text and bytes: the bytes of an integer are no name.
    pub(crate) fn of_strings(name: &str, array: &'a ArrayRef) -> PyResult<Self> {
        match array.data_type() {
            kind if kind.is_integer() => {
                Err(wrong_type(format!("{name}: a column of {}; expected text or bytes", type_name(kind))))
            }
            _ => Self::of(name, array),
        }
    }

    fn fixed(array: &ArrayRef, width: usize) -> Self {
        let data = array.to_data();
        let (from, len) = (data.offset().saturating_mul(width), data.len().saturating_mul(width));
        let bytes = data.buffers().first().map(|buffer| buffer.slice_with_length(from, len));
        Self::Fixed { bytes: bytes.unwrap_or_default(), width }
    }

    /// The rows in `range` as keys; rows of views, and rows without bytes, by way of `scratch`. The key of a
    /// null is of no meaning.
    ///
    /// # Errors
    /// Offsets that are not in order.
    pub(crate) fn keys<'s, 'r: 's>(
        &'r self,
        range: Range<usize>,
        scratch: &'s mut Scratch<'r>,
    ) -> Result<Keys<'s>, hashlane_sketch::Error> {
        let (from, to) = (range.start, range.end);
        match self {
            Self::Text(array) => Keys::offsets32(part(array.value_offsets(), from, to), array.value_data()),
            Self::Bytes(array) => Keys::offsets32(part(array.value_offsets(), from, to), array.value_data()),
            Self::LargeText(array) => {
                Keys::offsets64(part(array.value_offsets(), from, to), array.value_data())
            }
            Self::LargeBytes(array) => {
                Keys::offsets64(part(array.value_offsets(), from, to), array.value_data())
            }
            Self::Fixed { bytes, width } if *width > 0 => {
                let bytes = bytes.as_slice().get(from.saturating_mul(*width)..to.saturating_mul(*width));
                Keys::rows(bytes.unwrap_or_default(), *width)
            }
            Self::TextView(array) => scratch.views(array, range),
            Self::BytesView(array) => scratch.views(array, range),
            Self::Fixed { .. } | Self::Null => {
                self.gather(range, &mut scratch.slices);
                Ok(Keys::slices(&scratch.slices))
            }
        }
    }

    /// Replaces `out` with the bytes of the rows in `range`. The bytes of a null are of no meaning.
    pub(crate) fn gather<'s>(&'s self, range: Range<usize>, out: &mut Vec<&'s [u8]>) {
        out.clear();
        match self {
            Self::Text(array) => out.extend(range.map(|row| array.value(row).as_bytes())),
            Self::LargeText(array) => out.extend(range.map(|row| array.value(row).as_bytes())),
            Self::Bytes(array) => out.extend(range.map(|row| array.value(row))),
            Self::LargeBytes(array) => out.extend(range.map(|row| array.value(row))),
            Self::TextView(array) => gather_views(array, range, out),
            Self::BytesView(array) => gather_views(array, range, out),
            Self::Fixed { bytes, width } => out.extend(range.map(|row| {
                let from = row.saturating_mul(*width);
                bytes.as_slice().get(from..from + width).unwrap_or_default()
            })),
            Self::Null => out.extend(range.map(|_| &[][..])),
        }
    }

    /// The bytes of one row.
    pub(crate) fn row(&self, row: usize) -> &[u8] {
        match self {
            Self::Text(array) => array.value(row).as_bytes(),
            Self::LargeText(array) => array.value(row).as_bytes(),
            Self::Bytes(array) => array.value(row),
            Self::LargeBytes(array) => array.value(row),
            Self::TextView(array) => array.value(row).as_bytes(),
            Self::BytesView(array) => array.value(row),
            Self::Fixed { bytes, width } => {
                let from = row.saturating_mul(*width);
                bytes.as_slice().get(from..from + width).unwrap_or_default()
            }
            Self::Null => &[],
        }
    }
}

/// The offsets of the rows from `from` to before `to`.
fn part<O>(offsets: &[O], from: usize, to: usize) -> &[O] {
    offsets.get(from..=to).unwrap_or_default()
}
