//! The times in certificates: `YYYYMMDDThhmmss`, in UTC.
//!
//! Source: NDN Packet Format 0.3, Certificate, SignatureInfo; the days of the civil calendar as in ISO 8601.

/// Seconds in a day.
const DAY: u64 = 86_400;
/// The last second that has a text of this form: the end of the year 9999.
pub const LAST: u64 = 253_402_300_799;

/// Seconds since 1970 that `text` is; `None` where it is no time, or one before 1970.
pub fn parse(text: &[u8]) -> Option<u64> {
    let text: &[u8; 15] = text.try_into().ok()?;
    let number = |from: usize, to: usize| {
        text.get(from..to)?.iter().try_fold(0, |number, octet| {
            octet.is_ascii_digit().then(|| number * 10 + u64::from(octet - b'0'))
        })
    };
    let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let (hour, minute, second) = (number(9, 11)?, number(11, 13)?, number(13, 15)?);
    let in_range = year >= 1970
        && (1..=12).contains(&month)
        && (1..=days_of_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    (text[8] == b'T' && in_range).then(|| {
        let months: u64 = (1..month).map(|month| days_of_month(year, month)).sum();
        (days_before(year) + months + day - 1) * DAY + hour * 3600 + minute * 60 + second
    })
}

/// The text of `seconds` since 1970; of [`LAST`], where they are more.
pub fn text(seconds: u64) -> [u8; 15] {
    let seconds = seconds.min(LAST);
    let (mut days, time) = (seconds / DAY, seconds % DAY);
    // A year has 365 days at least, so that this guess is at most as many years off as there were leap days over 365.
    let mut year = 1970 + days / 366;
    while days_before(year + 1) <= days {
        year += 1;
    }
    days -= days_before(year);
    let mut month = 1;
    while days >= days_of_month(year, month) {
        days -= days_of_month(year, month);
        month += 1;
    }
    let mut text = *b"00000000T000000";
    let mut put = |at: usize, digits: usize, mut number: u64| {
        for octet in text.iter_mut().skip(at).take(digits).rev() {
            *octet = b'0' + (number % 10) as u8;
            number /= 10;
        }
    };
    put(0, 4, year);
    put(4, 2, month);
    put(6, 2, days + 1);
    put(9, 2, time / 3600);
    put(11, 2, time / 60 % 60);
    put(13, 2, time % 60);
    text
}

/// Days from 1970 to the first of January of `year`, which is 1970 or later.
fn days_before(year: u64) -> u64 {
    let leap_days = |year: u64| year / 4 - year / 100 + year / 400;
    (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969)
}

fn days_of_month(year: u64, month: u64) -> u64 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tells_known_times() {
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
    fn refuses_what_is_no_time() {
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
