//! Rules of names in wire form.

use super::MAX_POINTERS;
use core::error::Error;
use core::fmt;

/// The rule that a name breaks, and the offset where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// The input ends inside the label, or the pointer, that starts at `at`.
    Truncated {
        /// Offset of its first byte.
        at: usize,
    },
    /// The input goes on after the name's end.
    TrailingBytes {
        /// Offset of the first byte that is not of the name.
        at: usize,
    },
    /// The two top bits of a length are 01 or 10, which are reserved.
    ReservedLabelType {
        /// Offset of the length.
        at: usize,
    },
    /// A pointer in a place that allows none.
    PointerNotAllowed {
        /// Offset of the pointer.
        at: usize,
    },
    /// A pointer whose target is not before the labels that it ends: a loop, or a forward pointer.
    PointerNotBackward {
        /// Offset of the pointer.
        at: usize,
        /// Its target.
        target: usize,
    },
    /// A name of more than 127 pointers.
    TooManyPointers {
        /// Offset of the first pointer that is too many.
        at: usize,
    },
    /// A label of no byte, or of more than 63.
    LabelLength {
        /// Offset of the label.
        at: usize,
        /// Its bytes.
        len: usize,
    },
    /// A name of more than 255 bytes.
    NameTooLong {
        /// Offset of the label that is too many.
        at: usize,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { at } => write!(f, "the label at offset {at} is cut off"),
            Self::TrailingBytes { at } => write!(f, "bytes follow the name at offset {at}"),
            Self::ReservedLabelType { at } => {
                write!(f, "the length at offset {at} begins with the reserved bits 01 or 10")
            }
            Self::PointerNotAllowed { at } => {
                write!(f, "the name ends in a pointer at offset {at}, where none may be")
            }
            Self::PointerNotBackward { at, target } => {
                write!(
                    f,
                    "the pointer at offset {at} leads to offset {target}, which is not before its own labels"
                )
            }
            Self::TooManyPointers { at } => {
                write!(f, "the pointer at offset {at} is the {}th of one name", MAX_POINTERS + 1)
            }
            Self::LabelLength { at, len } => {
                write!(f, "the label at offset {at} has {len} bytes; 1 to 63 are possible")
            }
            Self::NameTooLong { at } => {
                write!(f, "with the label at offset {at} the name has more than 255 bytes")
            }
        }
    }
}

impl Error for ParseError {}
