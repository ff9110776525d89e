//! Errors of sketches.

use core::fmt;

/// Error of building, updating or merging a sketch. A failed operation leaves the sketch as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No registered hash has this id.
    UnknownScheme {
        /// The id.
        id: String,
    },
    /// No encoding of names has this id.
    UnknownEncoding {
        /// The id.
        id: String,
    },
    /// A parameter outside its range.
    Parameter {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: u64,
        /// The least valid value.
        least: u64,
        /// The largest valid value.
        most: u64,
    },
    /// The bytes of fixed-width keys are not a whole number of rows.
    Ragged {
        /// Number of bytes.
        len: usize,
        /// Bytes of a row.
        width: usize,
    },
    /// The sketch takes rows of another width.
    Width {
        /// Bytes of a row.
        width: usize,
        /// The width that the sketch takes.
        expected: usize,
    },
    /// An offset is negative, lower than the one before it, or beyond the end of the bytes.
    Offset {
        /// Its number, from 0.
        at: usize,
    },
    /// The string of a view is not in its buffer.
    View {
        /// Its number, from 0.
        at: usize,
    },
    /// A column has another number of rows than the keys.
    Rows {
        /// Name of the column.
        column: &'static str,
        /// Its rows.
        rows: usize,
        /// Rows of keys.
        keys: usize,
    },
    /// A key that is too long for the sketch.
    KeyTooLong {
        /// Its row, from 0.
        row: usize,
        /// Its bytes.
        len: usize,
        /// Most bytes of a key.
        most: usize,
    },
    /// A total would pass 2⁶³ − 1.
    Full,
    /// The sketch was read from bytes, which hold no key.
    NoKey,
    /// The key is not the one that the sketch was made with.
    WrongKey,
    /// The two sketches differ in a parameter.
    Unlike {
        /// Name of the parameter.
        parameter: &'static str,
        /// Its value in the sketch that takes the other.
        ours: String,
        /// Its value in the other.
        theirs: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownScheme { id } => {
                write!(f, "unknown hash {id:?}; `hashlane schemes` lists those that there are")
            }
            Self::UnknownEncoding { id } => {
                write!(f, "unknown encoding of names {id:?}; there are offset, ccnx and ndn")
            }
            Self::Parameter { name, value, least, most } => {
                write!(f, "{name} is {value}, but must be from {least} to {most}")
            }
            Self::Ragged { len, width } => {
                write!(f, "{len} bytes are not a whole number of rows of {width} bytes")
            }
            Self::Width { width, expected } => write!(
                f,
                "rows have {width} bytes, but this sketch takes rows of {expected} bytes, or of 12 with IPv4"
            ),
            Self::Offset { at } => write!(
                f,
                "offset {at} is negative, lower than the one before it, or beyond the end of the bytes"
            ),
            Self::View { at } => write!(f, "view {at} is of bytes that are not in its buffer"),
            Self::Rows { column, rows, keys } => {
                write!(f, "column {column} has {rows} rows, but there are {keys} keys")
            }
            Self::KeyTooLong { row, len, most } => {
                write!(f, "key of row {row} has {len} bytes, but at most {most} are possible")
            }
            Self::Full => f.write_str("the total would pass 2^63 - 1: begin another sketch"),
            Self::NoKey => f.write_str(
                "a sketch read from bytes has no key: give it the key it was made with before an update",
            ),
            Self::WrongKey => f.write_str("the key is not the one that this sketch was made with"),
            Self::Unlike { parameter, ours, theirs } => {
                write!(f, "sketches of different {parameter} cannot be merged: {ours} and {theirs}")
            }
        }
    }
}

impl core::error::Error for Error {}

/// Error of reading a sketch from bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// The first bytes are not those of a sketch.
    Magic,
    /// A version of the format that this release does not read.
    Version {
        /// Its number.
        version: u8,
    },
    /// A sketch of another kind.
    Kind {
        /// Number of the kind.
        kind: u8,
    },
    /// The bytes end within a field.
    Truncated {
        /// Offset of the field.
        at: usize,
    },
    /// A field with a value that no sketch has.
    Field {
        /// Name of the field.
        field: &'static str,
        /// Its offset.
        at: usize,
    },
    /// Bytes after the end of the sketch.
    Trailing {
        /// Offset of the first one.
        at: usize,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("not a sketch: the first bytes are not HLSK"),
            Self::Version { version } => {
                write!(f, "format version {version} is unknown; this release reads version 1")
            }
            Self::Kind { kind } => write!(f, "a sketch of another kind ({kind})"),
            Self::Truncated { at } => write!(f, "truncated sketch: the bytes end in the field at {at}"),
            Self::Field { field, at } => write!(f, "damaged sketch: invalid {field} at byte {at}"),
            Self::Trailing { at } => write!(f, "bytes after the end of the sketch, from byte {at} on"),
        }
    }
}

impl core::error::Error for ReadError {}

/// Checks that a parameter is within its range.
pub(crate) fn within(name: &'static str, value: u64, least: u64, most: u64) -> Result<(), Error> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(Error::Parameter { name, value, least, most }) }
}

/// Checks that a parameter is the same in both sketches of a merge.
pub(crate) fn alike<T: PartialEq + fmt::Display>(
    parameter: &'static str,
    ours: T,
    theirs: T,
) -> Result<(), Error> {
    if ours == theirs {
        return Ok(());
    }
    Err(Error::Unlike { parameter, ours: ours.to_string(), theirs: theirs.to_string() })
}
