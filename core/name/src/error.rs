//! Rules that encoded names and lists of components must keep.

use core::error::Error;
use core::fmt;

use crate::{MAX_COMPONENTS, MAX_NAME_LEN};

/// The rule that an encoded name breaks, and the offset (bytes from the start of the encoded name) where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// The input ends inside an element that starts at `at`.
    Truncated {
        /// Offset of the element.
        at: usize,
    },
    /// Bytes follow the name.
    TrailingBytes {
        /// Offset of the first byte that is not of the name.
        at: usize,
    },
    /// The input is longer than [`MAX_NAME_LEN`].
    NameTooLong {
        /// Bytes of the input.
        len: usize,
    },
    /// The outer type is not that of a name.
    NotAName {
        /// The type, at offset 0.
        typ: u64,
    },
    /// A TLV number is not in its shortest form.
    NotShortest {
        /// Offset of the number.
        at: usize,
    },
    /// A component's type is 0, which is reserved.
    ZeroType {
        /// Offset of the type.
        at: usize,
    },
    /// A component's type is over 65,535.
    TypeTooLarge {
        /// Offset of the type.
        at: usize,
    },
    /// A component runs past the end of its name.
    Overrun {
        /// Offset of the component.
        at: usize,
    },
    /// A digest component's value has not 32 bytes.
    DigestLength {
        /// Offset of the component.
        at: usize,
    },
    /// The name has more than [`MAX_COMPONENTS`] components.
    TooManyComponents {
        /// Offset of the first component that is too many.
        at: usize,
    },
    /// An end in the index of an offset name is before the preceding end.
    EndDecreases {
        /// Offset of the end.
        at: usize,
    },
    /// The last end in the index of an offset name is not the length of its segments.
    LastEnd {
        /// Offset of the length field.
        at: usize,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated { at } => write!(f, "the input ends inside the element at offset {at}"),
            Self::TrailingBytes { at } => {
                write!(f, "the name ends at offset {at}, but the input goes on; pass exactly one name")
            }
            Self::NameTooLong { len } => {
                write!(f, "the name has {len} bytes, expected at most {MAX_NAME_LEN}")
            }
            Self::NotAName { typ } => {
                write!(f, "the outer type at offset 0 is {typ}, which is not that of a name")
            }
            Self::NotShortest { at } => {
                write!(f, "the number at offset {at} is not in its shortest form")
            }
            Self::ZeroType { at } => write!(f, "the component type at offset {at} is 0, which is reserved"),
            Self::TypeTooLarge { at } => {
                write!(f, "the component type at offset {at} is over 65535")
            }
            Self::Overrun { at } => {
                write!(f, "the component at offset {at} runs past the end of the name")
            }
            Self::DigestLength { at } => {
                write!(f, "the digest component at offset {at} must have a value of 32 bytes")
            }
            Self::TooManyComponents { at } => {
                write!(f, "the component at offset {at} is one more than the {MAX_COMPONENTS} allowed")
            }
            Self::EndDecreases { at } => {
                write!(f, "the component end at offset {at} lies before the end that precedes it")
            }
            Self::LastEnd { at } => {
                write!(f, "the length at offset {at} is not the end of the last component")
            }
        }
    }
}

impl Error for ParseError {}

/// The rule that a sequence of components breaks, and the index of the component where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A component's type is 0, which is reserved.
    ZeroType {
        /// Index of the component, from 0.
        index: usize,
    },
    /// A digest component's value has not 32 bytes.
    DigestLength {
        /// Index of the component, from 0.
        index: usize,
        /// Bytes of its value.
        len: usize,
    },
    /// There are more than [`MAX_COMPONENTS`] components.
    TooManyComponents,
    /// The encoded name would be longer than [`MAX_NAME_LEN`].
    NameTooLong {
        /// Index of the component that is too much, from 0.
        index: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ZeroType { index } => write!(f, "component {index} has type 0, expected 1 to 65535"),
            Self::DigestLength { index, len } => {
                write!(f, "component {index} is a digest of {len} bytes, expected 32")
            }
            Self::TooManyComponents => {
                write!(f, "the name has more than {MAX_COMPONENTS} components")
            }
            Self::NameTooLong { index } => {
                write!(f, "with component {index} the encoded name is over {MAX_NAME_LEN} bytes")
            }
        }
    }
}

impl Error for BuildError {}
