//! Times in certificates: `YYYYMMDDThhmmss`, in UTC.
//!
//! Source: NDN Packet Format 0.3, Certificate, SignatureInfo.

use core::time::Duration;
use jiff::civil::DateTime;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
/// The last second that this form can write: the end of the year 9999.
pub const LAST: u64 = 253_402_300_799;

/// Seconds from 1970 to the time that `text` states; `None` if it states none, or one before 1970.
pub fn parse(text: &[u8]) -> Option<u64> {
    let text: &[u8; 15] = text.try_into().ok()?;
    let number = |from: usize, to: usize| {
        text.get(from..to)?
            .iter()
            .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i16::from(byte - b'0')))
    };
    let small = |from: usize| i8::try_from(number(from, from + 2)?).ok();
    let (year, month, day) = (number(0, 4)?, small(4)?, small(6)?);
    let (hour, minute, second) = (small(9)?, small(11)?, small(13)?);
    let time = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
    (text[8] == b'T').then(|| u64::try_from(time.duration_since(EPOCH).as_secs()).ok())?
}

/// The text of the time `seconds` after 1970; later times than [`LAST`] give the text of [`LAST`].
pub fn text(seconds: u64) -> [u8; 15] {
    let time = EPOCH.saturating_add(Duration::from_secs(seconds));
    let mut text = *b"00000000T000000";
    let mut put = |at: usize, digits: usize, mut number: u16| {
        for byte in text.iter_mut().skip(at).take(digits).rev() {
            *byte = b'0' + (number % 10) as u8;
            number /= 10;
        }
    };
    put(0, 4, time.year().unsigned_abs());
    let rest =
        [(4, time.month()), (6, time.day()), (9, time.hour()), (11, time.minute()), (13, time.second())];
    for (at, number) in rest {
        put(at, 2, number.unsigned_abs().into());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn agrees_with_known_times() {
        // Computed with GNU date.
        for (written, seconds) in [
            (b"19700101T000000", 0),
            (b"20000229T120000", 951_825_600),
            (b"20201231T235959", 1_609_459_199),
            (b"21000301T000000", 4_107_542_400),
            (b"99991231T235959", LAST),
        ] {
            assert_eq!((parse(written), text(seconds)), (Some(seconds), *written));
        }
        assert_eq!(text(u64::MAX), *b"99991231T235959");
    }

    #[test]
    fn rejects_malformed_times() {
        for written in [
            "",
            "20200101T00000",
            "20200101T0000000",
            "20200101 000000",
            "20200101t000000",
            "20201301T000000",
            "20200001T000000",
            "20200100T000000",
            "20200132T000000",
            "20210229T000000",
            "21000229T000000",
            "20200101T240000",
            "20200101T006000",
            "20200101T000060",
            "2020-101T000000",
            "19691231T235959",
            "+2020101T000000",
        ] {
            assert_eq!(parse(written.as_bytes()), None, "{written}");
        }
    }

    proptest! {
        #[test]
        fn reads_what_it_writes(seconds in 0..=LAST) {
            prop_assert_eq!(parse(&text(seconds)), Some(seconds));
        }
    }
}
