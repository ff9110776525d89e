//! The presentation form of names (RFC 1035 §5.1, RFC 4343 §2.1).
//!
//! Dots separate labels. `\.` is a dot within a label, `\\` a backslash, and `\` with three digits the byte
//! of that value; before any other byte the backslash is ignored. In output, bytes that are not printable
//! ASCII become `\DDD`, and characters with a meaning in zone files get a backslash.

use super::{MAX_LABEL_LEN, NameBuf, ParseError};
use core::str::FromStr;

/// Reads a name in presentation form. The name is absolute, with or without a trailing dot; `.` is the root.
///
/// # Errors
/// The first rule broken, and its offset in the text.
pub fn parse(text: &[u8]) -> Result<NameBuf, TextError> {
    let mut name = NameBuf::ROOT;
    match text {
        [] => return Err(TextError::Empty),
        b"." => return Ok(name),
        _ => {}
    }
    let mut label = [0; MAX_LABEL_LEN];
    let mut len = 0;
    let (mut at, mut start) = (0, 0);
    while let Some(&byte) = text.get(at) {
        let (byte, taken) = match byte {
            b'.' => {
                end_label(&mut name, &label[..len], start)?;
                (len, at) = (0, at + 1);
                start = at;
                continue;
            }
            b'\\' => escaped(&text[at + 1..]).ok_or(TextError::BadEscape { at })?,
            byte => (byte, 1),
        };
        *label.get_mut(len).ok_or(TextError::LabelTooLong { at: start })? = byte;
        (len, at) = (len + 1, at + taken);
    }
    // After a dot at the end comes no further label.
    if start < text.len() {
        end_label(&mut name, &label[..len], start)?;
    }
    Ok(name)
}

/// Decodes the escape in `after`, the text after a backslash. Returns the byte and the length of the escape,
/// backslash included.
fn escaped(after: &[u8]) -> Option<(u8, usize)> {
    match *after {
        [a @ b'0'..=b'9', ref rest @ ..] => {
            let [b @ b'0'..=b'9', c @ b'0'..=b'9', ..] = *rest else { return None };
            let digit = |digit: u8| u16::from(digit - b'0');
            let value = 100 * digit(a) + 10 * digit(b) + digit(c);
            Some((u8::try_from(value).ok()?, 4))
        }
        [byte, ..] => Some((byte, 2)),
        [] => None,
    }
}

fn end_label(name: &mut NameBuf, label: &[u8], at: usize) -> Result<(), TextError> {
    name.push(label).map_err(|error| match error {
        ParseError::NameTooLong { .. } => TextError::NameTooLong { at },
        _ => TextError::EmptyLabel { at },
    })
}

impl FromStr for NameBuf {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        parse(text.as_bytes())
    }
}

/// The rule that a name in presentation form breaks, and the offset in the text where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// There is no text.
    #[error("empty name; write \".\" for the root")]
    Empty,
    /// Two dots in a row, or a leading dot.
    #[error("empty label at offset {at}")]
    EmptyLabel {
        /// Offset of the second dot.
        at: usize,
    },
    /// A label of more than 63 bytes.
    #[error("label longer than 63 bytes at offset {at}")]
    LabelTooLong {
        /// Offset of the label.
        at: usize,
    },
    /// A name of more than 255 bytes.
    #[error("name longer than 255 bytes, by the label at offset {at}")]
    NameTooLong {
        /// Offset of the label that is too many.
        at: usize,
    },
    /// A backslash at the end, or before digits that are not three or give more than 255.
    #[error("bad escape at offset {at}, expected \\ and a character or three digits up to 255")]
    BadEscape {
        /// Offset of the backslash.
        at: usize,
    },
}
