//! Numbers on the command line.

use std::fmt::Display;
use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

/// Parses a whole number.
///
/// # Errors
/// The text is no number, or one that is too large.
pub fn number<T: FromStr<Err = ParseIntError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => "the number is too large".to_owned(),
        _ => "expected a whole number".to_owned(),
    })
}

/// Parser of whole numbers from `least` to `most`.
pub fn within<T>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr<Err = ParseIntError> + Copy + Display + PartialOrd + Send + Sync + 'static,
{
    move |text| {
        let parsed = number(text).ok().filter(|number| (least..=most).contains(number));
        parsed.ok_or_else(|| format!("expected a number from {least} to {most}"))
    }
}

/// Parses a whole number of at least 1.
///
/// # Errors
/// The text is no such number.
pub fn positive(text: &str) -> Result<u64, String> {
    number(text).ok().filter(|number| *number > 0).ok_or_else(|| "expected a number of at least 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_state_the_numbers_that_are_taken() {
        assert_eq!((number("7"), within(5_u16, 9)("9"), positive("1")), (Ok(7_u64), Ok(9), Ok(1)));
        assert_eq!(number::<u64>("x"), Err("expected a whole number".into()));
        assert_eq!(number::<u8>("256"), Err("the number is too large".into()));
        for text in ["4", "10", "x", "", "-1", "99999999999"] {
            assert_eq!(within(5_u16, 9)(text), Err("expected a number from 5 to 9".into()));
        }
        assert_eq!(positive("0"), Err("expected a number of at least 1".into()));
    }
}
