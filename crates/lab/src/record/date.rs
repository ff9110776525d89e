//! The date and time of a run.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time in UTC to the second, as `2025-01-31T23:59:59Z` (RFC 3339 §5.6); years 1970 to 9999, times outside as the nearer
/// end.
pub fn utc(time: SystemTime) -> String {
    const LAST: u64 = 253_402_300_799;
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()).min(LAST);
    let (mut day, second) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn agrees_with_known_times() {
        // From `date -u -d @N`.
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
            (u64::MAX / 4, "9999-12-31T23:59:59Z"),
        ] {
            if let Some(time) = UNIX_EPOCH.checked_add(Duration::from_secs(seconds)) {
                assert_eq!(utc(time), expected);
            }
        }
        assert_eq!(utc(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00Z");
    }
}
