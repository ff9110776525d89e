//! What is kept of the counts while a workload is measured, and what becomes of it.

use super::fact::Fact;
use crate::stats::{mean, median, standard_deviation};

/// Parts of a repetition that are compared pair by pair.
const SEGMENTS: usize = 4;

/// The tallies of all subjects of a workload.
#[derive(Debug)]
pub(super) struct Tallies {
    /// In the order of the subjects.
    pub(super) subjects: Vec<Tally>,
    /// What the probe itself costs.
    pub(super) empty: Tally,
}

impl Tallies {
    /// For `names` names in blocks of `block`, and subjects of these units.
    pub(super) fn new(names: usize, block: usize, units: impl Iterator<Item = usize>) -> Self {
        let blocks = names.div_ceil(block);
        Self {
            subjects: units.map(|_| Tally::new(names, blocks)).collect(),
            empty: Tally::new(names, blocks),
        }
    }

    /// Closes a repetition that went over all blocks.
    pub(super) fn end_repetition(&mut self) {
        for tally in self.subjects.iter_mut().chain([&mut self.empty]) {
            tally.end_repetition();
        }
    }

    /// Repetitions closed.
    pub(super) fn repetitions(&self) -> usize {
        self.empty.means.len()
    }
}

/// The counts of one subject.
///
/// All figures are of the counter, for a name; those that are reported have the probe's own cost subtracted, as often
/// as the probe was read for a name (once in a burst).
#[derive(Clone, Debug)]
pub(super) struct Tally {
    names: usize,
    blocks: usize,
    /// The smallest count of each unit of work in any repetition.
    minima: Vec<u32>,
    /// Where the next block's units go in `minima`.
    at: usize,
    /// Counts, names and units of the current repetition's segments.
    current: [Sum; SEGMENTS],
    /// The same of all repetitions.
    segments: Vec<Sum>,
    /// Each repetition's mean, the probe's cost still in it, and the probe's readings for a name.
    means: Vec<f64>,
    stream: u64,
    streams: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    counts: u64,
    names: u64,
    units: u64,
}

impl Sum {
    /// The mean for a name, less what the probe cost.
    fn mean_less(&self, empty: f64) -> f64 {
        (self.counts as f64 - empty * self.units as f64) / self.names as f64
    }
}

impl Tally {
    fn new(names: usize, blocks: usize) -> Self {
        Self {
            names,
            blocks,
            minima: Vec::new(),
            at: 0,
            current: Default::default(),
            segments: Vec::new(),
            means: Vec::new(),
            stream: 0,
            streams: Vec::new(),
        }
    }

    /// Adds the counts of the units of block `number`, which has `names` names.
    pub(super) fn add(&mut self, number: usize, names: usize, samples: &[u32]) {
        let segment = &mut self.current[number * SEGMENTS / self.blocks.max(1) % SEGMENTS];
        segment.names += names as u64;
        segment.units += samples.len() as u64;
        segment.counts += samples.iter().map(|&count| u64::from(count)).sum::<u64>();
        for &count in samples {
            match self.minima.get_mut(self.at) {
                Some(least) => *least = count.min(*least),
                None => self.minima.push(count),
            }
            self.at += 1;
        }
    }

    /// Adds the count of a block timed in one stretch.
    pub(super) fn add_stream(&mut self, count: u64) {
        self.stream += count;
    }

    fn end_repetition(&mut self) {
        self.at = 0;
        let counts: u64 = self.current.iter().map(|segment| segment.counts).sum();
        self.means.push(counts as f64 / self.names as f64);
        self.segments.extend(std::mem::take(&mut self.current));
        self.streams.push(std::mem::take(&mut self.stream) as f64 / self.names as f64);
    }

    /// The probe's readings for a name.
    fn readings(&self) -> f64 {
        self.minima.len() as f64 / self.names as f64
    }

    /// The mean of a repetition: the median over the repetitions.
    pub(super) fn mean(&self, empty: &Self) -> Fact {
        let cost = median(&empty.means).unwrap_or_default() * self.readings();
        Fact::median(&self.means.iter().map(|mean| mean - cost).collect::<Vec<_>>())
    }

    /// [`mean`](Self::mean) with the probe's cost in it.
    pub(super) fn raw_mean(&self) -> Fact {
        Fact::median(&self.means)
    }

    /// The mean over the names of each one's smallest count.
    pub(super) fn min_mean(&self, empty: &Self) -> Fact {
        let mut fact = self.raw_min_mean();
        let cost = empty.raw_min_mean().interval.value * self.readings();
        for bound in [&mut fact.interval.value, &mut fact.interval.low, &mut fact.interval.high] {
            *bound -= cost;
        }
        fact
    }

    /// [`min_mean`](Self::min_mean) with the probe's cost in it. Its interval is that of a mean over names.
    pub(super) fn raw_min_mean(&self) -> Fact {
        let minima: Vec<f64> = self.minima.iter().map(|&count| f64::from(count)).collect();
        let mut fact = Fact::exact(mean(&minima).unwrap_or_default(), self.names);
        let error = standard_deviation(&minima).unwrap_or_default() / (minima.len() as f64).sqrt();
        fact.interval.low -= 1.96 * error;
        fact.interval.high += 1.96 * error;
        fact.scale(self.readings());
        fact
    }

    /// The standard deviation of the repetitions' means.
    pub(super) fn mean_deviation(&self) -> Fact {
        Fact::exact(standard_deviation(&self.means).unwrap_or_default(), self.means.len())
    }

    /// The mean of a repetition timed in one stretch: the median over the repetitions.
    pub(super) fn stream(&self) -> Fact {
        Fact::median(&self.streams)
    }

    /// This subject's time over `to`'s, pair by pair over the segments of all repetitions: the median of the ratios.
    pub(super) fn ratio(&self, to: &Self, empty: &Self) -> Option<Fact> {
        let pairs = self.segments.iter().zip(&to.segments).zip(&empty.segments);
        let ratios: Vec<f64> = pairs
            .map(|((of, to), empty)| {
                let cost = empty.counts as f64 / empty.units as f64;
                of.mean_less(cost) / to.mean_less(cost)
            })
            .filter(|ratio| ratio.is_finite())
            .collect();
        Fact::try_median(&ratios)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two subjects, the second with one reading for four names, and a probe that costs 10.
    fn tallies() -> Tallies {
        let mut tallies = Tallies::new(8, 4, [1, 4].into_iter());
        for repetition in 0..3 {
            for number in 0..2 {
                tallies.empty.add(number, 4, &[10; 4]);
                tallies.subjects[0].add(number, 4, &[110 + repetition; 4]);
                tallies.subjects[1].add(number, 4, &[4 * 50 + 10]);
                tallies.subjects[1].add_stream(160);
            }
            tallies.end_repetition();
        }
        tallies
    }

    #[test]
    fn means_and_minima_are_without_the_probe_s_cost() {
        let Tallies { subjects, empty } = &tallies();
        assert_eq!(subjects[0].mean(empty).interval.value, 101.0);
        assert_eq!(subjects[0].min_mean(empty).interval.value, 100.0);
        assert_eq!(subjects[1].mean(empty).interval.value, 50.0);
        assert_eq!(subjects[1].min_mean(empty).interval.value, 50.0);
        assert_eq!(subjects[1].stream().interval.value, 40.0);
        assert_eq!(empty.raw_mean().interval.value, 10.0);
        assert_eq!(subjects[0].mean_deviation().interval.value, 1.0);
        assert_eq!(subjects[1].mean_deviation().interval.value, 0.0);
    }

    #[test]
    fn ratios_are_taken_pair_by_pair() {
        let Tallies { subjects, empty } = &tallies();
        let ratio = subjects[1].ratio(&subjects[0], empty).unwrap();
        assert_eq!(ratio.interval.value, 50.0 / 101.0);
        // Two blocks fall into two of the segments; those without a name have no ratio.
        assert_eq!(ratio.samples, 6);
        assert!(ratio.interval.low >= 50.0 / 102.0 && ratio.interval.high <= 0.5);
    }
}
