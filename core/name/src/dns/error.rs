//! Rules of names in wire form.

use super::MAX_POINTERS;

/// The rule that a name breaks, and the offset where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The input ends inside the label, or the pointer, that starts at `at`.
    #[error("label or pointer cut off at offset {at}")]
    Truncated {
        /// Offset of its first byte.
        at: usize,
    },
    /// Bytes follow the name.
    #[error("trailing bytes after the name at offset {at}")]
    TrailingBytes {
        /// Offset of the first byte that is not of the name.
        at: usize,
    },
    /// The two top bits of a length are 01 or 10, which are reserved.
    #[error("reserved label type (top bits 01 or 10) at offset {at}")]
    ReservedLabelType {
        /// Offset of the length.
        at: usize,
    },
    /// A pointer in a place that allows none.
    #[error("compression pointer at offset {at} of a name without a message")]
    PointerNotAllowed {
        /// Offset of the pointer.
        at: usize,
    },
    /// A pointer whose target is not before the labels that it ends: a loop, or a forward pointer.
    #[error("compression pointer at offset {at} to offset {target}, which is not before its own labels")]
    PointerNotBackward {
        /// Offset of the pointer.
        at: usize,
        /// Its target.
        target: usize,
    },
    /// A name of more than 127 pointers.
    #[error("more than {MAX_POINTERS} compression pointers in one name, at offset {at}")]
    TooManyPointers {
        /// Offset of the first pointer that is too many.
        at: usize,
    },
    /// A label of no byte, or of more than 63.
    #[error("label of {len} bytes at offset {at}, expected 1 to 63")]
    LabelLength {
        /// Offset of the label.
        at: usize,
        /// Its bytes.
        len: usize,
    },
    /// A name of more than 255 bytes.
    #[error("name longer than 255 bytes, by the label at offset {at}")]
    NameTooLong {
        /// Offset of the label that is too many.
        at: usize,
    },
}
