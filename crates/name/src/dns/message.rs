//! Names in messages, where they may end in a pointer to what was written before (RFC 1035 §4.1.4).

use super::{MAX_NAME_LEN, NameBuf};
use core::error::Error;
use core::fmt;

/// The most pointers of one name. No writer needs more than one for each label.
const MAX_POINTERS: usize = 127;

/// Reads the name at `at` of a message, pointers resolved; gives it and the offset of what follows it.
///
/// It takes time in proportion to the name that it reads, whatever the pointers are: each must lead to a place before the
/// run of labels that it ends, no name has more than 127 of them, and none is longer than 255 octets.
///
/// # Errors
/// The first rule broken, and where.
pub fn read(message: &[u8], at: usize) -> Result<(NameBuf, usize), ParseError> {
    let mut name = NameBuf::ROOT;
    let mut len = 0;
    // Where the labels in hand began, and where they go on.
    let (mut run, mut next) = (at, at);
    let mut end = None;
    let mut pointers = 0;
    loop {
        let label = message.get(next..).unwrap_or_default();
        match *label {
            [0, ..] => return Ok((name, end.unwrap_or(next + 1))),
            [octets @ 1..=63, ref rest @ ..] => {
                let octets = usize::from(octets);
                let label = rest.get(..octets).ok_or(ParseError::Truncated { at: next })?;
                // The root is to come.
                if len + 1 + octets >= MAX_NAME_LEN {
                    return Err(ParseError::NameTooLong { at: next });
                }
                name.push(label)?;
                len += 1 + octets;
                next += 1 + octets;
            }
            [high @ 0xc0..=0xff, low, ..] => {
                let target = usize::from(u16::from_be_bytes([high & 0x3f, low]));
                pointers += 1;
                if target >= run {
                    return Err(ParseError::PointerNotBackward { at: next, target });
                }
                if pointers > MAX_POINTERS {
                    return Err(ParseError::TooManyPointers { at: next });
                }
                end = end.or(Some(next + 2));
                (run, next) = (target, target);
            }
            [] | [0xc0..=0xff] => return Err(ParseError::Truncated { at: next }),
            [_, ..] => return Err(ParseError::ReservedLabelType { at: next }),
        }
    }
}

/// The rule that a name breaks, and the offset where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// The input ends inside the label, or the pointer, that starts at `at`.
    Truncated {
        /// Offset of its first octet.
        at: usize,
    },
    /// The input goes on after the name's end.
    TrailingOctets {
        /// Offset of the first octet that is not of the name.
        at: usize,
    },
    /// The two top bits of a length are 01 or 10, which are reserved.
    ReservedLabelType {
        /// Offset of the length.
        at: usize,
    },
    /// A pointer, where none may stand.
    PointerNotAllowed {
        /// Offset of the pointer.
        at: usize,
    },
    /// A pointer that does not lead to a place before the labels that it ends: a loop, or a way forward.
    PointerNotBackward {
        /// Offset of the pointer.
        at: usize,
        /// Where it leads.
        target: usize,
    },
    /// A name of more than 127 pointers.
    TooManyPointers {
        /// Offset of the first pointer that is too many.
        at: usize,
    },
    /// A label of no octet, or of more than 63.
    LabelLength {
        /// Offset of the label.
        at: usize,
        /// Its octets.
        len: usize,
    },
    /// A name of more than 255 octets.
    NameTooLong {
        /// Offset of the label that is too many.
        at: usize,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { at } => write!(f, "the label at offset {at} is cut off"),
            Self::TrailingOctets { at } => write!(f, "octets follow the name at offset {at}"),
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
                write!(f, "the label at offset {at} has {len} octets; 1 to 63 are possible")
            }
            Self::NameTooLong { at } => {
                write!(f, "with the label at offset {at} the name has more than 255 octets")
            }
        }
    }
}

impl Error for ParseError {}
