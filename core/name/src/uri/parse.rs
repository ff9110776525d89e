//! Reading a URI.

use alloc::vec::Vec;

use super::{DIGEST_PREFIXES, NUMBER_PREFIXES, UriError};
use crate::MAX_NAME_LEN;
use crate::build::{NameBuilder, OwnedName};
use crate::component::{Component, DIGEST_LEN, GENERIC};
use crate::layout::Layout;

/// The name of an NDN URI, with or without its scheme.
///
/// # Errors
/// The first rule that the text breaks, with its offset.
pub fn parse_uri<E: Layout>(text: &[u8]) -> Result<OwnedName<E>, UriError> {
    let mut path = text;
    if let Some(after_scheme) = after_scheme(text) {
        path = after_scheme;
        if let Some(authority) = path.strip_prefix(b"//") {
            let len = authority.iter().position(|&byte| byte == b'/').unwrap_or(authority.len());
            path = authority.get(len..).unwrap_or_default();
        }
    }
    let mut at = text.len() - path.len();
    let Some((b'/', mut components)) = path.split_first() else {
        return Err(UriError::MissingSlash { at });
    };
    at += 1;
    // The slash of "/" alone and a trailing one precede no component.
    if let [before @ .., b'/'] = components {
        components = before;
        if components.is_empty() {
            return Err(UriError::FewPeriods { at });
        }
    }
    let mut builder = NameBuilder::new();
    if components.is_empty() {
        return Ok(builder.finish());
    }
    let mut value = Vec::new();
    for component in components.split(|&byte| byte == b'/') {
        value.clear();
        let typ = parse_component(component, at, &mut value)?;
        builder.push(Component { typ, value: &value }).map_err(|error| UriError::Build { at, error })?;
        at += component.len() + 1;
    }
    Ok(builder.finish())
}

/// The text after the scheme `ndn:`, in either case (RFC 3986 §3.1).
pub(super) fn after_scheme(text: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = text.split_at_checked(4)?;
    scheme.eq_ignore_ascii_case(b"ndn:").then_some(rest)
}

/// Reads the component `text` at offset `at`: appends its value to `value` and returns its type.
fn parse_component(text: &[u8], at: usize, value: &mut Vec<u8>) -> Result<u16, UriError> {
    let Some(equals) = text.iter().position(|&byte| byte == b'=') else {
        unescape(text, at, value)?;
        return Ok(GENERIC);
    };
    let (prefix, rest) = text.split_at(equals);
    let text = rest.get(1..).unwrap_or_default();
    let text_at = at + equals + 1;
    let typ_of = |prefixes: &[(u16, &str)]| {
        prefixes.iter().find(|(_, known)| known.as_bytes() == prefix).map(|&(typ, _)| typ)
    };
    if prefix.first().is_some_and(u8::is_ascii_digit) {
        let typ = decimal(prefix).and_then(|typ| u16::try_from(typ).ok()).filter(|&typ| typ != 0);
        let typ = typ.ok_or(UriError::BadType { at })?;
        unescape(text, text_at, value)?;
        Ok(typ)
    } else if let Some(typ) = typ_of(&NUMBER_PREFIXES) {
        let number = decimal(text).ok_or(UriError::BadNumber { at: text_at })?;
        write_integer(number, value);
        Ok(typ)
    } else if let Some(typ) = typ_of(&DIGEST_PREFIXES) {
        if text.len() != 2 * DIGEST_LEN {
            return Err(UriError::BadDigest { at: text_at });
        }
        for digits in text.as_chunks::<2>().0 {
            value.push(hex_byte(*digits).ok_or(UriError::BadDigest { at: text_at })?);
        }
        Ok(typ)
    } else {
        Err(UriError::UnknownPrefix { at })
    }
}

/// Appends the value whose escaped form is `text`, at offset `at`.
fn unescape(text: &[u8], at: usize, value: &mut Vec<u8>) -> Result<(), UriError> {
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let at = at + text.len() - rest.len();
        rest = after;
        if byte == b'%' {
            let (digits, after) = after.split_first_chunk::<2>().ok_or(UriError::BadEscape { at })?;
            value.push(hex_byte(*digits).ok_or(UriError::BadEscape { at })?);
            rest = after;
        } else if is_bare(byte) {
            value.push(byte);
        } else {
            return Err(UriError::Unescaped { at, byte });
        }
        if value.len() > MAX_NAME_LEN + 3 {
            // Too long for any name: let the builder say so, and hold no more of it.
            return Ok(());
        }
    }
    // An escaped period is a period (RFC 3986 §6.2.2.2).
    if value.iter().all(|&byte| byte == b'.') {
        let len = value.len().checked_sub(3).ok_or(UriError::FewPeriods { at })?;
        value.truncate(len);
    }
    Ok(())
}

/// Returns true if a segment of a URI's path may contain `byte` unescaped (RFC 3986 §3.3, pchar).
const fn is_bare(byte: u8) -> bool {
    is_unreserved(byte) || matches!(byte, b'!' | b'$' | b'&'..=b',' | b';' | b'=' | b':' | b'@')
}

/// Returns true if an escaped value contains `byte` as it is (RFC 3986 §2.3).
pub(super) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn hex_byte([high, low]: [u8; 2]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(high)? << 4 | digit(low)?) as u8)
}

/// The decimal number without leading zeros that `text` is.
fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || (text.len() > 1 && text.starts_with(b"0")) {
        return None;
    }
    text.iter().try_fold(0u64, |number, &byte| {
        let digit = char::from(byte).to_digit(10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Appends `number` as the shortest NonNegativeInteger: 1, 2, 4 or 8 bytes in network order.
fn write_integer(number: u64, value: &mut Vec<u8>) {
    let bytes = number.to_be_bytes();
    let len = match number {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    };
    value.extend_from_slice(bytes.get(bytes.len() - len..).unwrap_or_default());
}
