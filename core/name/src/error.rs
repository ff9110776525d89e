//! Rules that encoded names and lists of components must keep.

use crate::{MAX_COMPONENTS, MAX_NAME_LEN};

/// The rule that an encoded name breaks, and the offset (bytes from the start of the encoded name) where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The input ends inside an element that starts at `at`.
    #[error("the input ends inside the element at offset {at}")]
    Truncated {
        /// Offset of the element.
        at: usize,
    },
    /// Bytes follow the name.
    #[error("the name ends at offset {at}, but the input goes on; pass exactly one name")]
    TrailingBytes {
        /// Offset of the first byte that is not of the name.
        at: usize,
    },
    /// The input is longer than [`MAX_NAME_LEN`].
    #[error("the name has {len} bytes, expected at most {MAX_NAME_LEN}")]
    NameTooLong {
        /// Bytes of the input.
        len: usize,
    },
    /// The outer type is not a name's.
    #[error("the outer type at offset 0 is {typ}, which is not a name's")]
    NotAName {
        /// The type, at offset 0.
        typ: u64,
    },
    /// A TLV number is not in its shortest form.
    #[error("the number at offset {at} is not in its shortest form")]
    NotShortest {
        /// Offset of the number.
        at: usize,
    },
    /// A component's type is 0, which is reserved.
    #[error("the component type at offset {at} is 0, which is reserved")]
    ZeroType {
        /// Offset of the type.
        at: usize,
    },
    /// A component's type is over 65,535.
    #[error("the component type at offset {at} is over 65535")]
    TypeTooLarge {
        /// Offset of the type.
        at: usize,
    },
    /// A component runs past the end of its name.
    #[error("the component at offset {at} runs past the end of the name")]
    Overrun {
        /// Offset of the component.
        at: usize,
    },
    /// A digest component's value has not 32 bytes.
    #[error("the digest component at offset {at} must have a value of 32 bytes")]
    DigestLength {
        /// Offset of the component.
        at: usize,
    },
    /// The name has more than [`MAX_COMPONENTS`] components.
    #[error("the component at offset {at} is one more than the {MAX_COMPONENTS} allowed")]
    TooManyComponents {
        /// Offset of the first component that is too many.
        at: usize,
    },
    /// An end in the index of an offset name is before the preceding end.
    #[error("the component end at offset {at} lies before the end that precedes it")]
    EndDecreases {
        /// Offset of the end.
        at: usize,
    },
    /// The last end in the index of an offset name is not the length of its segments.
    #[error("the length at offset {at} is not the end of the last component")]
    LastEnd {
        /// Offset of the length field.
        at: usize,
    },
}

/// The rule that a sequence of components breaks, and the index of the component where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A component's type is 0, which is reserved.
    #[error("component {index} has type 0, expected 1 to 65535")]
    ZeroType {
        /// Index of the component, from 0.
        index: usize,
    },
    /// A digest component's value has not 32 bytes.
    #[error("component {index} is a digest of {len} bytes, expected 32")]
    DigestLength {
        /// Index of the component, from 0.
        index: usize,
        /// Bytes of its value.
        len: usize,
    },
    /// There are more than [`MAX_COMPONENTS`] components.
    #[error("the name has more than {MAX_COMPONENTS} components")]
    TooManyComponents,
    /// The encoded name would be longer than [`MAX_NAME_LEN`].
    #[error("with component {index} the encoded name is over {MAX_NAME_LEN} bytes")]
    NameTooLong {
        /// Index of the component that is too much, from 0.
        index: usize,
    },
}
