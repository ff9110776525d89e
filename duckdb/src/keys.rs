//! Columns of keys as bytes: the UTF-8 of text, the bytes of blobs, integers in little-endian order.

use crate::api::{Column, Type};
use hashlane_sketch::Keys;
use std::ops::Range;

/// Types of keys.
pub(crate) const TYPES: [Type; 10] = [
    Type::Varchar,
    Type::Blob,
    Type::TinyInt,
    Type::SmallInt,
    Type::Integer,
    Type::BigInt,
    Type::UTinyInt,
    Type::USmallInt,
    Type::UInteger,
    Type::UBigInt,
];

/// The rows of a column as bytes. The bytes of a null have no meaning.
pub(crate) enum KeyRows<'a> {
    Slices(Vec<&'a [u8]>),
    Fixed(&'a [u8], usize),
}

impl<'a> KeyRows<'a> {
    /// The rows of `column`.
    ///
    /// # Errors
    /// A type that is not in [`TYPES`].
    pub(crate) fn of(column: &Column<'a>) -> Result<Self, String> {
        if let Some((bytes, width)) = column.fixed() {
            return Ok(Self::Fixed(bytes, width));
        }
        let mut slices = Vec::with_capacity(column.rows());
        match column.gather(&mut slices) {
            true => Ok(Self::Slices(slices)),
            false => Err("expected text, bytes or integers: cast the argument first".to_owned()),
        }
    }

    /// The keys of the rows in `range`.
    pub(crate) fn keys(&self, range: Range<usize>) -> Result<Keys<'_>, String> {
        match self {
            Self::Slices(slices) => Ok(Keys::slices(slices.get(range).unwrap_or_default())),
            Self::Fixed(bytes, width) => {
                let rows = bytes.get(range.start * width..range.end * width);
                Keys::rows(rows.unwrap_or_default(), *width).map_err(|error| error.to_string())
            }
        }
    }

    /// Calls `each` with the keys of these rows, in order.
    ///
    /// # Errors
    /// The errors of `each`.
    pub(crate) fn with<T>(
        &self,
        rows: &[usize],
        each: impl FnOnce(&Keys<'_>) -> Result<T, hashlane_sketch::Error>,
    ) -> Result<T, String> {
        if let (Some(first), Some(last)) = (rows.first(), rows.last())
            && last.wrapping_sub(*first).wrapping_add(1) == rows.len()
        {
            return each(&self.keys(*first..last + 1)?).map_err(|error| error.to_string());
        }
        let key = |row: &usize| match self {
            Self::Slices(slices) => slices.get(*row).copied().unwrap_or_default(),
            Self::Fixed(bytes, width) => bytes.get(row * width..(row + 1) * width).unwrap_or_default(),
        };
        let gathered: Vec<&[u8]> = rows.iter().map(key).collect();
        each(&Keys::slices(&gathered)).map_err(|error| error.to_string())
    }
}
