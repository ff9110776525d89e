//! Names in messages, which may end in a pointer to an earlier name (RFC 1035 §4.1.4).

use super::{MAX_NAME_LEN, MAX_POINTERS, NameBuf, ParseError};

/// Reads the name at `at` of a message and resolves its pointers. Returns the name and the offset after it.
///
/// The time is proportional to the length of the name: each pointer must lead before the run of labels that
/// it ends, a name has at most 127 pointers, and none is longer than 255 bytes.
///
/// # Errors
/// The first rule broken, and its offset.
pub fn read(message: &[u8], at: usize) -> Result<(NameBuf, usize), ParseError> {
    let mut name = NameBuf::ROOT;
    let mut len = 0;
    // The start of the current run of labels, and the next label.
    let (mut run, mut next) = (at, at);
    let mut end = None;
    let mut pointers = 0;
    loop {
        let label = message.get(next..).unwrap_or_default();
        match *label {
            [0, ..] => return Ok((name, end.unwrap_or(next + 1))),
            [bytes @ 1..=63, ref rest @ ..] => {
                let bytes = usize::from(bytes);
                let label = rest.get(..bytes).ok_or(ParseError::Truncated { at: next })?;
                // The root still needs one byte.
                if len + 1 + bytes >= MAX_NAME_LEN {
                    return Err(ParseError::NameTooLong { at: next });
                }
                name.push(label)?;
                len += 1 + bytes;
                next += 1 + bytes;
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
