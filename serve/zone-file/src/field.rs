//! Fields of a record, as tokens.

use crate::error::FaultKind;
use crate::number::decimal;
use crate::scan::{Scanner, Token};

/// The next token.
pub(super) fn expect<'t>(scanner: &mut Scanner<'t>, field: &'static str) -> Result<Token<'t>, FaultKind> {
    scanner.next()?.ok_or(FaultKind::Expected { field, found: None })
}

/// Error that `token` stands where `field` is expected.
pub(super) fn found(field: &'static str, token: Token<'_>) -> FaultKind {
    FaultKind::Expected { field, found: Some(token.shown()) }
}

/// The next token as `parse` reads it.
pub(super) fn read<T>(
    scanner: &mut Scanner<'_>,
    field: &'static str,
    parse: impl FnOnce(&[u8]) -> Option<T>,
) -> Result<T, FaultKind> {
    let token = expect(scanner, field)?;
    parse(token.text).ok_or_else(|| found(field, token))
}

pub(super) fn u8_of(scanner: &mut Scanner<'_>) -> Result<u8, FaultKind> {
    read(scanner, "a number of 0 to 255", |text| u8::try_from(decimal(text)?).ok())
}

pub(super) fn u16_of(scanner: &mut Scanner<'_>) -> Result<u16, FaultKind> {
    read(scanner, "a number of 0 to 65535", |text| u16::try_from(decimal(text)?).ok())
}

/// A value that the standard library reads.
pub(super) fn standard<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
