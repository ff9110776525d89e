//! Errors of sketches.

use core::fmt;

/// Error of building, updating or merging a sketch. A failed operation leaves the sketch as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No registered hash has this id.
    #[error("unknown hash {id:?}; `hashlane schemes` lists those that there are")]
    UnknownScheme {
        /// The id.
        id: String,
    },
    /// No encoding of names has this id.
    #[error("unknown encoding of names {id:?}; there are offset, ccnx and ndn")]
    UnknownEncoding {
        /// The id.
        id: String,
    },
    /// A parameter outside its range.
    #[error("{name} is {value}, but must be from {least} to {most}")]
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
    #[error("{len} bytes are not a whole number of rows of {width} bytes")]
    Ragged {
        /// Number of bytes.
        len: usize,
        /// Bytes of a row.
        width: usize,
    },
    /// The sketch takes rows of another width.
    #[error("rows have {width} bytes, but this sketch takes rows of {expected} bytes, or of 12 with IPv4")]
    Width {
        /// Bytes of a row.
        width: usize,
        /// The width that the sketch takes.
        expected: usize,
    },
    /// An offset is negative, lower than the one before it, or beyond the end of the bytes.
    #[error("offset {at} is negative, lower than the one before it, or beyond the end of the bytes")]
    Offset {
        /// Its number, from 0.
        at: usize,
    },
    /// The string of a view is not in its buffer.
    #[error("view {at} is of bytes that are not in its buffer")]
    View {
        /// Its number, from 0.
        at: usize,
    },
    /// A column has another number of rows than the keys.
    #[error("column {column} has {rows} rows, but there are {keys} keys")]
    Rows {
        /// Name of the column.
        column: &'static str,
        /// Its rows.
        rows: usize,
        /// Rows of keys.
        keys: usize,
    },
    /// A key that is too long for the sketch.
    #[error("key of row {row} has {len} bytes, but at most {most} are possible")]
    KeyTooLong {
        /// Its row, from 0.
        row: usize,
        /// Its bytes.
        len: usize,
        /// Most bytes of a key.
        most: usize,
    },
    /// A total would pass 2⁶³ − 1.
    #[error("the total would pass 2^63 - 1: begin another sketch")]
    Full,
    /// More groups than a limit.
    #[error("more than {most} groups: raise the limit, or group by less")]
    TooManyGroups {
        /// The limit.
        most: usize,
    },
    /// A sketch that groups begin with has keys.
    #[error("the sketch that groups begin with has keys: pass a new one")]
    NotEmpty,
    /// The sketch was read from bytes, which hold no key.
    #[error("a sketch read from bytes has no key: give it the key it was made with before an update")]
    NoKey,
    /// The key is not the one that the sketch was made with.
    #[error("the key is not the one that this sketch was made with")]
    WrongKey,
    /// The two sketches differ in a parameter.
    #[error("sketches of different {parameter} cannot be merged: {ours} and {theirs}")]
    Unlike {
        /// Name of the parameter.
        parameter: &'static str,
        /// Its value in the sketch that takes the other.
        ours: String,
        /// Its value in the other.
        theirs: String,
    },
}

/// Error of reading a sketch from bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The first bytes are not a sketch's.
    #[error("not a sketch: the first bytes are not HLSK")]
    Magic,
    /// A version of the format that this release does not read.
    #[error("format version {version} is unknown; this release reads version 1")]
    Version {
        /// Its number.
        version: u8,
    },
    /// A sketch of another kind.
    #[error("a sketch of another kind ({kind})")]
    SketchKind {
        /// Number of the kind.
        kind: u8,
    },
    /// The bytes end within a field.
    #[error("truncated sketch: the bytes end in the field at {at}")]
    Truncated {
        /// Offset of the field.
        at: usize,
    },
    /// A field with a value that no sketch has.
    #[error("damaged sketch: invalid {field} at byte {at}")]
    Field {
        /// Name of the field.
        field: &'static str,
        /// Its offset.
        at: usize,
    },
    /// Groups with sketches that have too much in common with the empty one.
    #[error("groups of more than 1 GiB, and 128 bytes of memory for each byte, from byte {at} on")]
    Expanded {
        /// Offset after the group that passes the limit.
        at: usize,
    },
    /// Bytes after the end of the sketch.
    #[error("bytes after the end of the sketch, from byte {at} on")]
    Trailing {
        /// Offset of the first one.
        at: usize,
    },
}

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
