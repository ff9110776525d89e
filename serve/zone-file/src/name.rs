//! Names and strings in presentation form (RFC 1035 §5.1).

use crate::error::FaultKind;
use crate::scan::{Token, shown};
use hashlane_dns::slices::Parts as _;
use hashlane_name::dns::{MAX_LABEL_LEN, MAX_NAME_LEN};

/// Appends the name of `token` in wire form. `origin` ends it if it is relative, and is the name `@`.
pub(super) fn name(token: Token<'_>, origin: Option<&[u8]>, out: &mut Vec<u8>) -> Result<(), FaultKind> {
    let start = out.len();
    let text = token.text;
    if text == b"." {
        out.push(0);
        return Ok(());
    }
    if text == b"@" && !token.quoted {
        out.extend_from_slice(origin.ok_or(FaultKind::NoOrigin)?);
        return Ok(());
    }
    let absolute = if token.escaped { escaped_labels(text, out) } else { labels(text, out) }
        .inspect_err(|_| out.truncate(start))?;
    if absolute {
        out.push(0);
    } else {
        out.extend_from_slice(origin.ok_or(FaultKind::NoOrigin)?);
    }
    if out.len() - start > MAX_NAME_LEN {
        out.truncate(start);
        return Err(FaultKind::NameTooLong(shown(text)));
    }
    Ok(())
}

/// Appends labels. Returns true if the name ends with a dot.
#[inline]
fn labels(text: &[u8], out: &mut Vec<u8>) -> Result<bool, FaultKind> {
    let mut rest = text;
    loop {
        let len = rest.iter().position(|byte| *byte == b'.').unwrap_or(rest.len());
        let (label, after) = rest.split_at(len);
        match label.len() {
            0 => return Err(FaultKind::EmptyLabel(shown(text))),
            1..=MAX_LABEL_LEN => out.push(label.len() as u8),
            _ => return Err(FaultKind::LabelTooLong(shown(text))),
        }
        out.extend_from_slice(label);
        match after {
            [] => return Ok(false),
            [_] => return Ok(true),
            [_, after @ ..] => rest = after,
        }
    }
}

fn escaped_labels(text: &[u8], out: &mut Vec<u8>) -> Result<bool, FaultKind> {
    let mut rest = text;
    loop {
        let at = out.len();
        out.push(0);
        let absolute = loop {
            match *rest {
                [] => break None,
                [b'.', ref after @ ..] => {
                    rest = after;
                    break Some(after.is_empty());
                }
                [b'\\', ref after @ ..] => {
                    let (byte, taken) = unescape(after).ok_or_else(|| FaultKind::Escape(shown(text)))?;
                    out.push(byte);
                    rest = after.part(taken..);
                }
                [byte, ref after @ ..] => {
                    out.push(byte);
                    rest = after;
                }
            }
        };
        match (out.len() - at - 1, out.get_mut(at)) {
            (0, _) | (_, None) => return Err(FaultKind::EmptyLabel(shown(text))),
            (len @ 1..=MAX_LABEL_LEN, Some(place)) => *place = len as u8,
            _ => return Err(FaultKind::LabelTooLong(shown(text))),
        }
        match absolute {
            None => return Ok(false),
            Some(true) => return Ok(true),
            Some(false) => {}
        }
    }
}

/// Decodes the escape in the text after a backslash. Returns the byte, and the number of bytes it takes.
fn unescape(after: &[u8]) -> Option<(u8, usize)> {
    match *after {
        [a @ b'0'..=b'9', ref rest @ ..] => {
            let [b @ b'0'..=b'9', c @ b'0'..=b'9', ..] = *rest else { return None };
            let digit = |digit: u8| u16::from(digit - b'0');
            Some((u8::try_from(100 * digit(a) + 10 * digit(b) + digit(c)).ok()?, 3))
        }
        [byte, ..] => Some((byte, 1)),
        [] => None,
    }
}

/// Appends the bytes of a token, at most `most`.
///
/// # Errors
/// A bad escape, or `None` for more bytes.
fn bytes(token: Token<'_>, most: usize, out: &mut Vec<u8>) -> Result<Option<()>, FaultKind> {
    if !token.escaped {
        if token.text.len() > most {
            return Ok(None);
        }
        out.extend_from_slice(token.text);
        return Ok(Some(()));
    }
    let start = out.len();
    let mut rest = token.text;
    while let [byte, after @ ..] = rest {
        let (byte, taken) = match *byte {
            b'\\' => unescape(after).ok_or_else(|| FaultKind::Escape(token.shown()))?,
            byte => (byte, 0),
        };
        if out.len() - start == most {
            return Ok(None);
        }
        out.push(byte);
        rest = after.part(taken..);
    }
    Ok(Some(()))
}

/// Appends a character string: a length byte, and at most 255 bytes.
pub(super) fn string(token: Token<'_>, out: &mut Vec<u8>) -> Result<(), FaultKind> {
    let at = out.len();
    out.push(0);
    bytes(token, 255, out)?.ok_or(FaultKind::StringTooLong)?;
    let len = out.len() - at - 1;
    if let Some(place) = out.get_mut(at) {
        *place = u8::try_from(len).map_err(|_| FaultKind::StringTooLong)?;
    }
    Ok(())
}

/// Appends text without a length.
pub(super) fn text(token: Token<'_>, out: &mut Vec<u8>) -> Result<(), FaultKind> {
    bytes(token, usize::from(u16::MAX), out)?.ok_or(FaultKind::DataTooLong)
}
