//! Numbers and times.

/// A decimal number of digits alone.
pub(super) fn decimal(text: &[u8]) -> Option<u32> {
    if text.is_empty() || text.len() > 10 {
        return None;
    }
    let mut value = 0_u64;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = 10 * value + u64::from(digit);
    }
    u32::try_from(value).ok()
}

/// Seconds of a time: a number, or numbers with the units `s`, `m`, `h`, `d` and `w`, such as `1h30m`. The
/// last number may lack its unit, then it counts seconds. `None` if it is no time, or longer than 2³² − 1 s.
pub(super) fn time(text: &[u8]) -> Option<u32> {
    if let Some(seconds) = decimal(text) {
        return Some(seconds);
    }
    let (mut sum, mut number) = (0_u32, None::<u32>);
    for byte in text {
        let unit = match byte.to_ascii_lowercase() {
            digit @ b'0'..=b'9' => {
                let before = number.unwrap_or(0).checked_mul(10)?;
                number = Some(before.checked_add(u32::from(digit - b'0'))?);
                continue;
            }
            b's' => 1,
            b'm' => 60,
            b'h' => 3600,
            b'd' => 86_400,
            b'w' => 604_800,
            _ => return None,
        };
        sum = sum.checked_add(number.take()?.checked_mul(unit)?)?;
    }
    if text.is_empty() { None } else { sum.checked_add(number.unwrap_or(0)) }
}

/// Seconds since 1970 of a time of a signature (RFC 4034 §3.2), modulo 2³²: `YYYYMMDDHHmmSS` in UTC, or a
/// number of at most ten digits.
pub(super) fn stamp(text: &[u8]) -> Option<u32> {
    if text.len() != 14 {
        return decimal(text);
    }
    let part = |range: core::ops::Range<usize>| text.get(range).and_then(decimal);
    let (year, month, day) = (part(0..4)?, part(4..6)?, part(6..8)?);
    let (hour, minute, second) = (part(8..10)?, part(10..12)?, part(12..14)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_of = |month: u32| match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => 31,
    };
    let valid = year >= 1970
        && (1..=12).contains(&month)
        && (1..=days_of(month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    if !valid {
        return None;
    }
    let leaps_before = |year: u32| (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400;
    let days = 365 * (year - 1970) + leaps_before(year) - leaps_before(1970)
        + (1..month).map(days_of).sum::<u32>()
        + day
        - 1;
    let seconds = u64::from(days) * 86_400 + u64::from(hour * 3600 + minute * 60 + second);
    Some(seconds as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_with_units() {
        for (text, seconds) in [
            ("0", 0),
            ("300", 300),
            ("1h30m", 5400),
            ("1W2d", 777_600),
            ("1m30", 90),
            ("4294967295", u32::MAX),
        ] {
            assert_eq!(time(text.as_bytes()), Some(seconds), "{text}");
        }
        for text in ["", "h", "1x", "1hh", "4294967296", "9999w", "-1", "+1", "1.5h", "99999999999"] {
            assert_eq!(time(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn reads_the_times_of_signatures() {
        // Computed with `date -u -d … +%s`.
        for (text, seconds) in [
            ("19700101000000", 0),
            ("20000229235959", 951_868_799),
            ("20300101000000", 1_893_456_000),
            ("20381231235959", 2_177_452_799),
            ("1893456000", 1_893_456_000),
            // Modulo 2³².
            ("21060207062816", 0),
        ] {
            assert_eq!(stamp(text.as_bytes()), Some(seconds), "{text}");
        }
        for text in ["20010229000000", "20011301000000", "20010100000000", "20010101240000", "2001010100000x"]
        {
            assert_eq!(stamp(text.as_bytes()), None, "{text}");
        }
    }
}
