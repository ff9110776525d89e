//! Points of the last hour: rates and sizes at each sample.

use super::INTERVAL;
use crate::totals::Totals;
use hashlane_ndn_fw::face::Counter;
use hashlane_ndn_fw::forward::Counters;
use std::collections::VecDeque;
use std::time::Duration;

/// Time that the points cover.
pub(super) const SPAN: Duration = Duration::from_secs(3600);

/// Most points.
const POINTS: usize = (SPAN.as_secs() / INTERVAL.as_secs()) as usize;

/// A series of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Series {
    InInterests,
    OutInterests,
    InData,
    OutData,
    Satisfied,
    Expired,
    CsHits,
    CsMisses,
    /// Drops and losses of all reasons.
    Lost,
    /// Entries of the PIT.
    Pit,
}

/// Counters whose rates are the first series, in their order.
const RATES: [fn(&Counters) -> &Counter; 8] = [
    |all| &all.in_interests,
    |all| &all.out_interests,
    |all| &all.in_data,
    |all| &all.out_data,
    |all| &all.satisfied,
    |all| &all.unsatisfied,
    |all| &all.cs_hits,
    |all| &all.cs_misses,
];

/// Number of series.
const SERIES: usize = Series::Pit as usize + 1;

/// Values at one sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// Time since the start of the forwarder.
    pub(super) since: Duration,
    values: [f32; SERIES],
}

impl Point {
    /// Value of a series: a rate a second, or a size.
    pub(super) fn value(&self, series: Series) -> f64 {
        self.values.get(series as usize).copied().unwrap_or_default().into()
    }
}

/// The points of the last hour.
#[derive(Default)]
pub(super) struct History {
    points: VecDeque<Point>,
    /// Counters of the last sample: [`RATES`], and all losses.
    before: [u64; RATES.len() + 1],
}

impl History {
    /// Adds a sample, `seconds` after the last one; 0 for the first one, which has no rates.
    pub(super) fn add(&mut self, counters: &Totals, since: Duration, seconds: f64) {
        let lost: u64 = counters.losses().map(|(_, count)| count).sum();
        let now: [u64; RATES.len() + 1] =
            std::array::from_fn(|at| RATES.get(at).map_or(lost, |counter| counters.value(counter)));
        let before = std::mem::replace(&mut self.before, now);
        if seconds <= 0.0 {
            return;
        }
        let rate = |at: usize| {
            let [now, before] = [&now, &before].map(|all| all.get(at).copied().unwrap_or_default());
            (now.saturating_sub(before) as f64 / seconds) as f32
        };
        let pit = counters.value(|all| &all.pit_entries);
        let values = std::array::from_fn(|at| if at == Series::Pit as usize { pit as f32 } else { rate(at) });
        if self.points.len() >= POINTS {
            self.points.pop_front();
        }
        self.points.push_back(Point { since, values });
    }

    /// The points, the oldest first.
    pub(super) fn points(&self) -> Vec<Point> {
        self.points.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_ndn_fw::forward::DropReason;

    #[test]
    fn rates_are_differences_and_an_hour_is_kept() {
        let (counters, mut history) = (Totals::default(), History::default());
        counters.first().in_interests.add(1000);
        history.add(&counters, Duration::ZERO, 0.0);
        assert!(history.points().is_empty(), "nothing is known of the time before");
        for sample in 1..=2 * POINTS as u64 {
            counters.first().in_interests.add(50);
            counters.first().drops.count(DropReason::Loop);
            counters.first().pit_entries.set(sample);
            history.add(&counters, sample as u32 * INTERVAL, 5.0);
        }
        let points = history.points();
        assert_eq!(points.len(), POINTS);
        let last = points.last().expect("a point");
        assert_eq!((last.value(Series::InInterests), last.value(Series::OutData)), (10.0, 0.0));
        assert!((last.value(Series::Lost) - 0.2).abs() < 1e-6);
        assert_eq!(last.value(Series::Pit), 2.0 * POINTS as f64);
        assert_eq!(last.since - points[0].since, SPAN - INTERVAL);
    }
}
