//! Arguments that most calls have once: keys, sizes, names of functions.

use crate::api::{Chunk, Column, Type};
use hashlane_hash::scheme::{Key, Keying, SchemeInfo};
use hashlane_sketch::hasher;
use std::ops::RangeInclusive;

/// The 16 bytes of a secret key.
///
/// # Errors
/// Another number of bytes.
pub(crate) fn secret(bytes: &[u8]) -> Result<Key, String> {
    let key = bytes.try_into().map_err(|_| {
        format!("the key has {} bytes, expected 16: pass 32 hexadecimal digits by unhex()", bytes.len())
    })?;
    Ok(Key::new(key))
}

/// The 40 bytes of the key of a network card.
///
/// # Errors
/// Another number of bytes.
pub(crate) fn card(bytes: &[u8]) -> Result<&[u8; 40], String> {
    bytes
        .try_into()
        .map_err(|_| format!("the key of a card has {} bytes, expected 40: see `ethtool -x`", bytes.len()))
}

/// An argument that is the same for all rows: its column, its type and its name.
pub(crate) type Parameter = (usize, Type, &'static str);

/// Checks that no row lacks one of these arguments; a form of the function may have no such argument, or one
/// of another type in its place. Otherwise an unset variable had the result of no rows.
///
/// # Errors
/// One of them is null.
pub(crate) fn check_given(input: &Chunk<'_>, parameters: &[Parameter]) -> Result<(), String> {
    for (number, of, name) in parameters {
        if *number >= input.columns() {
            continue;
        }
        let column = input.column(*number)?;
        if column.is(*of) && column.may_have_nulls() && (0..input.rows()).any(|row| column.is_null(row)) {
            let next = match of {
                Type::Blob => ": if it is a variable, SET VARIABLE sets it",
                _ => "",
            };
            return Err(format!("{name} is null{next}"));
        }
    }
    Ok(())
}

/// The integer of a row that is not null.
///
/// # Errors
/// It is outside of `range`.
pub(crate) fn number(
    name: &str,
    column: &Column<'_>,
    row: usize,
    range: RangeInclusive<u64>,
) -> Result<u64, String> {
    let number = column.integer(row).ok_or_else(|| format!("{name} is no integer"))?;
    u64::try_from(number)
        .ok()
        .filter(|number| range.contains(number))
        .ok_or_else(|| format!("{name} must be from {} to {}, not {number}", range.start(), range.end()))
}

/// Checks that all rows of a group have its arguments. `bytes` are a row's as they stand: only rows that
/// differ from the one before in them are compared by `has`.
///
/// # Errors
/// `why` if they differ; errors of `has`.
pub(crate) fn check_equal<T: PartialEq>(
    rows: &[usize],
    bytes: impl Fn(usize) -> T,
    has: impl Fn(usize) -> Result<bool, String>,
    why: &str,
) -> Result<(), String> {
    let mut last = None;
    for row in rows {
        let now = bytes(*row);
        if last.as_ref() != Some(&now) && !has(*row)? {
            return Err(why.to_owned());
        }
        last = Some(now);
    }
    Ok(())
}

/// The text of a row that is not null, at most 64 bytes.
///
/// # Errors
/// It is longer.
pub(crate) fn word<'a>(name: &str, column: &Column<'a>, row: usize) -> Result<&'a str, String> {
    let bytes = column.bytes(row).unwrap_or_default();
    let word = std::str::from_utf8(bytes).ok().filter(|word| word.len() <= 64);
    word.ok_or_else(|| format!("{name} {:?} is unknown", shortened(bytes)))
}

/// The start of a text, for errors.
pub(crate) fn shortened(text: &[u8]) -> String {
    String::from_utf8_lossy(text.get(..240).unwrap_or(text)).chars().take(60).collect()
}

/// Facts about the hash of this project with the id.
///
/// # Errors
/// There is none.
pub(crate) fn scheme(id: &str) -> Result<SchemeInfo, String> {
    hasher::info(id).ok_or_else(|| {
        format!("unknown scheme {id:?}; known: {}", hasher::ids().collect::<Vec<_>>().join(", "))
    })
}

/// The key of a scheme.
///
/// # Errors
/// A keyed scheme without a key, an unkeyed one with a key, or a key of another length.
pub(crate) fn scheme_key(info: &SchemeInfo, key: Option<&[u8]>) -> Result<Key, String> {
    match (info.keying, key) {
        (Keying::None, None) => Ok(Key::VECTOR),
        (Keying::None, Some(_)) => {
            Err(format!("{} takes no key: anyone can compute its hashes; omit the key", info.id))
        }
        (_, None) => Err(format!("{} needs a key of 16 bytes as the last argument", info.id)),
        (_, Some(key)) => secret(key),
    }
}
