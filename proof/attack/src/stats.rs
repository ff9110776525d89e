//! Counts and round-trip times of an innocent in one phase.

use serde::Serialize;
use std::time::Duration;

/// Interests of one innocent in one phase of an attack.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(into = "Figures")]
pub(crate) struct Tally {
    /// Interests sent.
    pub(crate) sent: u64,
    /// Interests answered by Data in time.
    pub(crate) answered: u64,
    /// Interests sent back with a Nack.
    pub(crate) nacked: u64,
    /// Round-trip times in microseconds.
    pub(crate) round_trips: Vec<u64>,
}

/// A tally in JSON: quantiles in place of all round-trip times.
#[derive(Serialize)]
struct Figures {
    sent: u64,
    answered: u64,
    nacked: u64,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
}

impl From<Tally> for Figures {
    fn from(tally: Tally) -> Self {
        let (p50_ms, p99_ms) = (tally.quantile(0.5), tally.quantile(0.99));
        let Tally { sent, answered, nacked, .. } = tally;
        Self { sent, answered, nacked, p50_ms, p99_ms }
    }
}

impl Tally {
    pub(crate) fn add_answer(&mut self, round_trip: Duration) {
        self.answered += 1;
        self.round_trips.push(u64::try_from(round_trip.as_micros()).unwrap_or(u64::MAX));
    }

    /// Adds the counts of another one.
    pub(crate) fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.answered += other.answered;
        self.nacked += other.nacked;
        self.round_trips.extend(other.round_trips);
    }

    /// Interests without Data.
    pub(crate) fn lost(&self) -> u64 {
        self.sent.saturating_sub(self.answered)
    }

    /// Part of the Interests that got no Data. Range: 0..=1.
    pub(crate) fn loss(&self) -> f64 {
        if self.sent == 0 { 0.0 } else { self.lost() as f64 / self.sent as f64 }
    }

    /// Answers that took at most `millis`.
    pub(crate) fn within(&self, millis: f64) -> u64 {
        self.round_trips.iter().filter(|micros| **micros as f64 <= millis * 1e3).count() as u64
    }

    /// Round-trip time in milliseconds that a part `q` of the answers did not exceed; `None` without answers.
    pub(crate) fn quantile(&self, q: f64) -> Option<f64> {
        let mut sorted = self.round_trips.clone();
        sorted.sort_unstable();
        let rank = (q * sorted.len() as f64).ceil().max(1.0) as usize;
        sorted.get(rank - 1).map(|micros| *micros as f64 / 1e3)
    }
}

/// A number with three significant digits.
pub(crate) fn digits(number: f64) -> String {
    let magnitude = if number > 0.0 { number.log10().floor() } else { 0.0 };
    let decimals = (2.0 - magnitude).clamp(0.0, 3.0) as usize;
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A part as a percentage.
pub(crate) fn percent(part: f64) -> String {
    format!("{} %", digits(part * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_quantiles_are_those_of_the_counts() {
        let mut tally = Tally { sent: 100, ..Tally::default() };
        for millis in (1..=90).rev() {
            tally.add_answer(Duration::from_millis(millis));
        }
        assert_eq!((tally.lost(), tally.loss()), (10, 0.1));
        assert_eq!(tally.quantile(0.5), Some(45.0));
        assert_eq!(tally.quantile(0.99), Some(90.0));
        assert_eq!(tally.quantile(0.0), Some(1.0));
        let none = Tally::default();
        assert_eq!((none.loss(), none.quantile(0.5)), (0.0, None));
    }

    #[test]
    fn numbers_have_three_digits() {
        let texts = [0.0, 0.12345, 1.0, 12.345, 99.99, 123.4, 7312.0].map(digits);
        assert_eq!(texts, ["0", "0.123", "1", "12.3", "100", "123", "7312"]);
        assert_eq!(percent(0.415), "41.5 %");
    }
}
