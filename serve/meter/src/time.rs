//! Times with their unit: `500ms`, `60s`, `5min`, `1h`.

use serde::de::Visitor;
use std::fmt;
use std::time::Duration;

/// Longest time: a fortnight.
const LONGEST: Duration = Duration::from_secs(14 * 24 * 3600);

/// Parses a time with its unit.
///
/// # Errors
/// The text has no number or unit, or the time is not from 1 ms to 336 h.
pub fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "ms" => Some(0),
        "s" => Some(1),
        "min" | "m" => Some(60),
        "h" => Some(3600),
        _ => None,
    };
    let time = seconds.zip(number.parse::<u64>().ok()).and_then(|(seconds, number)| match seconds {
        0 => Some(Duration::from_millis(number)),
        seconds => number.checked_mul(seconds).map(Duration::from_secs),
    });
    time.filter(|time| (Duration::from_millis(1)..=LONGEST).contains(time))
        .ok_or_else(|| "expected a time from 1ms to 336h with its unit: 500ms, 60s, 5min, 1h".to_owned())
}

/// A time as [`parse`] reads it, to the millisecond.
#[must_use]
pub fn text(time: Duration) -> String {
    match time.as_millis() {
        millis if millis % 1000 == 0 => format!("{}s", millis / 1000),
        millis => format!("{millis}ms"),
    }
}

/// A time in nanoseconds.
#[must_use]
pub fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Visitor of the text of a time.
struct TimeText;

impl Visitor<'_> for TimeText {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time with its unit, such as \"30s\"")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

/// Times in a configuration, as text with a unit.
pub(crate) mod required {
    use serde::{Deserializer, Serializer};
    use std::time::Duration;

    pub(crate) fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::text(*time))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        super::parse(&deserializer.deserialize_str(super::TimeText)?).map_err(serde::de::Error::custom)
    }
}

/// Times in a configuration; the empty text stands for no time.
pub(crate) mod optional {
    use serde::{Deserializer, Serializer};
    use std::time::Duration;

    pub(crate) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&time.map(super::text).unwrap_or_default())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        match deserializer.deserialize_str(super::TimeText)?.as_str() {
            "" => Ok(None),
            text => super::parse(text).map(Some).map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_a_range() {
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("5min"), Ok(Duration::from_secs(300)));
        assert_eq!(parse("1h"), Ok(Duration::from_secs(3600)));
        for wrong in ["", "5", "s", "0s", "-1s", "1.5s", "337h", "99999999999999999999s", "5 s"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_written_as_they_are_read() {
        for time in [1, 500, 1000, 1500, 60_000, 336 * 3_600_000].map(Duration::from_millis) {
            assert_eq!(parse(&text(time)), Ok(time));
        }
    }
}
