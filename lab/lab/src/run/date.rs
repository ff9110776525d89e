//! The date and time of a run.

use jiff::civil::DateTime;
use std::time::{Duration, SystemTime};

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// The time in UTC to the second, as `2025-01-31T23:59:59Z` (RFC 3339 §5.6). Range: the years 1970 to 9999;
/// other times give the nearer end.
pub fn utc(time: SystemTime) -> String {
    let since = Duration::from_secs(time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs()));
    EPOCH.saturating_add(since).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

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
