//! Counts kept while a workload is measured, and the records made from them.

use hashlane_lab::study::Fact;
use hashlane_stats::{Interval, joint_median_interval, standard_deviation};
use std::collections::BTreeMap;

/// Parts of a repetition that are compared pair by pair.
const SEGMENTS: usize = 4;

/// The tallies of all methods of a workload.
#[derive(Debug)]
pub(crate) struct Tallies {
    /// In the order of the methods.
    pub(crate) methods: Vec<Tally>,
    /// Cost of the probe around no work, for each way of reading that a method has.
    pub(crate) empty: BTreeMap<Reads, Tally>,
}

/// The way in which a method is timed, on which the cost of the probe depends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reads {
    /// By the loop of the source's program, not by ours.
    pub(crate) in_c: bool,
    /// Units of work between two readings of the counter.
    pub(crate) units: usize,
}

impl Tallies {
    /// For `names` names in blocks of `block`, with the way of reading of each method.
    pub(crate) fn new(names: usize, block: usize, reads: &[Reads]) -> Self {
        let blocks = names.div_ceil(block);
        Self {
            methods: reads.iter().map(|reads| Tally::new(names, blocks, *reads)).collect(),
            empty: reads.iter().map(|reads| (*reads, Tally::new(names, blocks, *reads))).collect(),
        }
    }

    /// Closes a repetition that went over all blocks.
    pub(crate) fn end_repetition(&mut self) {
        for tally in self.methods.iter_mut().chain(self.empty.values_mut()) {
            tally.end_repetition();
        }
    }

    /// Repetitions closed.
    pub(crate) fn repetitions(&self) -> usize {
        self.methods.first().map_or(0, |tally| tally.means.len())
    }
}

/// The counts of one method.
///
/// All figures are counts of the counter, per name; those that are reported have the probe's own cost
/// subtracted, as often as the counter was read. Mean and mean of the minima have the same cost subtracted:
/// the minima of two quantised figures differ by up to a step more than the figures do, so that a mean of
/// minima less the probe's minimum can exceed the mean.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// The way of reading the counter.
    pub(crate) reads: Reads,
    names: usize,
    blocks: usize,
    /// The smallest count of each sample in any repetition.
    minima: Vec<u32>,
    /// Place of the next block's samples in `minima`.
    at: usize,
    /// Counts, names and samples of the current repetition's segments.
    current: [Sum; SEGMENTS],
    /// The same of all repetitions.
    segments: Vec<Sum>,
    /// Each repetition's mean, the probe's cost still in it.
    means: Vec<f64>,
    stream: u64,
    streams: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    counts: u64,
    names: u64,
    samples: u64,
}

impl Sum {
    /// The mean per name, less the probe's cost.
    fn mean_less(&self, empty: &Self) -> f64 {
        let cost = empty.counts as f64 / empty.samples as f64;
        (self.counts as f64 - cost * self.samples as f64) / self.names as f64
    }
}

impl Tally {
    fn new(names: usize, blocks: usize, reads: Reads) -> Self {
        Self { reads, names, blocks, ..Self::default() }
    }

    /// Adds the samples of block `number`, which has `names` names.
    pub(crate) fn add(&mut self, number: usize, names: usize, samples: &[u32]) {
        let segment = &mut self.current[number * SEGMENTS / self.blocks.max(1) % SEGMENTS];
        segment.names += names as u64;
        segment.samples += samples.len() as u64;
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
    pub(crate) fn add_stream(&mut self, count: u64) {
        self.stream += count;
    }

    fn end_repetition(&mut self) {
        self.at = 0;
        let counts: u64 = self.current.iter().map(|segment| segment.counts).sum();
        self.means.push(counts as f64 / self.names as f64);
        self.segments.extend(std::mem::take(&mut self.current));
        self.streams.push(std::mem::take(&mut self.stream) as f64 / self.names as f64);
    }

    /// Samples per name.
    pub(crate) fn samples(&self) -> f64 {
        self.minima.len() as f64 / self.names as f64
    }

    /// Counts of a sample of the probe's own tally: the median over the repetitions of their means.
    pub(crate) fn cost(&self) -> Fact {
        let mut fact = Fact::median(&self.means);
        fact.scale(1.0 / self.samples());
        fact
    }

    /// The smallest counts of a sample of the probe's own tally.
    pub(crate) fn least_cost(&self) -> Fact {
        let mut fact = self.minima_mean();
        fact.scale(1.0 / self.samples());
        fact
    }

    /// The mean of a repetition: the median over the repetitions.
    pub(crate) fn mean(&self, empty: &Self) -> Fact {
        Fact::median(&self.means).less(empty.cost().interval.value * self.samples())
    }

    /// The mean over the samples of each one's smallest count: at most the mean of any repetition.
    pub(crate) fn min_mean(&self, empty: &Self) -> Fact {
        self.minima_mean().less(empty.cost().interval.value * self.samples())
    }

    /// [`min_mean`](Self::min_mean) with the probe's cost in it. Its interval is a mean's, over the samples.
    fn minima_mean(&self) -> Fact {
        let minima: Vec<f64> = self.minima.iter().map(|&count| f64::from(count)).collect();
        // As the repetitions' means are made, to the last digit: no sum of minima exceeds a repetition's
        // sum.
        let sum: u64 = self.minima.iter().copied().map(u64::from).sum();
        let value = sum as f64 / self.names as f64;
        let deviation = standard_deviation(&minima).unwrap_or_default();
        let error = 1.96 * deviation / (minima.len().max(1) as f64).sqrt() * self.samples();
        let interval = Interval::bounded(value, value - error, value + error);
        Fact { interval, samples: minima.len() as u64, outliers: 0, launches: 1 }
    }

    /// The standard deviation of the repetitions' means.
    pub(crate) fn mean_deviation(&self) -> Fact {
        Fact::exact(standard_deviation(&self.means).unwrap_or_default(), self.means.len())
    }

    /// The mean of a repetition timed in one stretch: the median over the repetitions.
    pub(crate) fn stream(&self) -> Fact {
        Fact::median(&self.streams)
    }

    /// The mean of each segment of all repetitions.
    fn segments<'a>(&'a self, empty: &'a Self) -> impl Iterator<Item = f64> + 'a {
        self.segments.iter().zip(&empty.segments).map(|(segment, empty)| segment.mean_less(empty))
    }
}

impl Tallies {
    /// The tally of the probe around no work, read in the method's way.
    pub(crate) fn empty(&self, method: &Tally) -> Option<&Tally> {
        self.empty.get(&method.reads)
    }

    /// The time of one method divided by another's: the median of the ratios, pair by pair.
    pub(crate) fn ratio(&self, of: usize, to: usize) -> Option<Fact> {
        Fact::try_median(&self.ratios(of, to)?)
    }

    /// The time of the slowest of the methods divided by the fastest's: the largest ratio of two of them,
    /// with bounds that hold for all pairs together. `None` of fewer segments than such bounds take.
    pub(crate) fn slowest_to_fastest(&self, methods: &[usize]) -> Option<Fact> {
        let pairs: Vec<(usize, usize)> = methods
            .iter()
            .enumerate()
            .flat_map(|(n, of)| methods.iter().skip(n + 1).map(|to| (*of, *to)))
            .collect();
        let mut most = Interval::exact(1.0);
        let mut samples = 0;
        for (of, to) in &pairs {
            let ratios = self.ratios(*of, *to)?;
            let ratio = joint_median_interval(&ratios, pairs.len()).filter(Interval::is_conclusive)?;
            most = Interval::bounded(
                most.value.max(ratio.value).max(1.0 / ratio.value),
                most.low.max(ratio.low).max(1.0 / ratio.high),
                most.high.max(ratio.high).max(1.0 / ratio.low),
            );
            samples = ratios.len() as u64;
        }
        (samples > 0 && most.low > 0.0).then_some(Fact { interval: most, samples, outliers: 0, launches: 1 })
    }

    /// The time of one method divided by another's, pair by pair over the segments of all repetitions.
    fn ratios(&self, of: usize, to: usize) -> Option<Vec<f64>> {
        let pairs = self.segments(of)?.zip(self.segments(to)?);
        Some(pairs.map(|(of, to)| of / to).filter(|ratio| ratio.is_finite()).collect())
    }

    /// The means of a method's segments, without the probe's cost.
    fn segments(&self, method: usize) -> Option<impl Iterator<Item = f64>> {
        let method = self.methods.get(method)?;
        Some(method.segments(self.empty(method)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_distr::Distribution;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    fn ours(units: usize) -> Reads {
        Reads { in_c: false, units }
    }

    /// Two methods, the second with units of four names, and a probe that costs 10 around one unit.
    fn tallies() -> Tallies {
        let mut tallies = Tallies::new(8, 4, &[ours(1), ours(1)]);
        for repetition in 0..3 {
            for number in 0..2 {
                tallies.empty.get_mut(&ours(1)).unwrap().add(number, 4, &[10; 4]);
                tallies.methods[0].add(number, 4, &[110 + repetition; 4]);
                tallies.methods[1].add(number, 4, &[4 * 50 + 10]);
                tallies.methods[1].add_stream(160);
            }
            tallies.end_repetition();
        }
        tallies
    }

    #[test]
    fn means_and_minima_are_without_the_probe_s_cost() {
        let tallies = tallies();
        let (methods, empty) = (&tallies.methods, &tallies.empty[&ours(1)]);
        assert_eq!(methods[0].mean(empty).interval.value, 101.0);
        assert_eq!(methods[0].min_mean(empty).interval.value, 100.0);
        assert_eq!(methods[1].mean(empty).interval.value, 50.0);
        assert_eq!(methods[1].min_mean(empty).interval.value, 50.0);
        assert_eq!(methods[1].stream().interval.value, 40.0);
        assert_eq!((empty.cost().interval.value, empty.least_cost().interval.value), (10.0, 10.0));
        assert_eq!(methods[0].mean_deviation().interval.value, 1.0);
        assert_eq!(methods[1].mean_deviation().interval.value, 0.0);
    }

    #[test]
    fn ratios_are_taken_pair_by_pair() {
        let ratio = tallies().ratio(1, 0).unwrap();
        assert_eq!(ratio.interval.value, 50.0 / 101.0);
        // Two blocks fall into two of the segments; those without a name have no ratio.
        assert_eq!(ratio.samples, 6);
        assert!(ratio.interval.low >= 50.0 / 102.0 && ratio.interval.high <= 0.5);
    }

    #[test]
    fn the_slowest_over_the_fastest_is_the_largest_ratio_of_two() {
        let mut tallies = Tallies::new(8, 4, &[ours(1), ours(1), ours(1)]);
        for turn in 0..6 {
            for number in 0..2 {
                tallies.empty.get_mut(&ours(1)).unwrap().add(number, 4, &[10; 4]);
                // The machine slows down, and an interruption hits one method after the other.
                for at in 0..3 {
                    let interruption = if turn == at { 1000 } else { 0 };
                    let count = 10 + [110, 100, 120][at] * (1 + turn as u32) + interruption;
                    tallies.methods[at].add(number, 4, &[count; 4]);
                }
            }
            tallies.end_repetition();
        }
        let ratio = tallies.slowest_to_fastest(&[0, 1, 2]).unwrap();
        assert_eq!((ratio.interval.value, ratio.samples), (1.2, 12));
        assert!(ratio.interval.low >= 1.0 && ratio.interval.is_conclusive());
        assert!(tallies.slowest_to_fastest(&[]).is_none() && tallies.slowest_to_fastest(&[0, 3]).is_none());
    }

    #[test]
    fn a_probe_of_several_units_is_subtracted_once_for_each_reading() {
        let mut tallies = Tallies::new(8, 8, &[ours(1), ours(4)]);
        for _ in 0..2 {
            tallies.empty.get_mut(&ours(1)).unwrap().add(0, 8, &[10; 8]);
            tallies.empty.get_mut(&ours(4)).unwrap().add(0, 8, &[16; 2]);
            tallies.methods[0].add(0, 8, &[110; 8]);
            tallies.methods[1].add(0, 8, &[416; 2]);
            tallies.end_repetition();
        }
        for (at, cost) in [(0, 10.0), (1, 16.0)] {
            let method = &tallies.methods[at];
            let empty = tallies.empty(method).unwrap();
            assert_eq!((method.mean(empty).interval.value, empty.cost().interval.value), (100.0, cost));
        }
        assert_eq!(tallies.ratio(0, 1).unwrap().interval.value, 1.0);
    }

    /// A counter that shows whole steps of `step`, of a clock that starts anywhere between two of them.
    fn read(step: u32, duration: f64, phase: f64) -> u32 {
        let steps = (phase + duration / f64::from(step)).floor();
        steps as u32 * step
    }

    proptest! {
        // The probe takes 40 counts on a counter that steps by 26, so that its least reading is 26: less than
        // it costs.
        #[test]
        fn the_mean_of_the_minima_is_at_most_the_mean(
            step in 1u32..60, probe in 20.0..90.0, work in 0.0..400.0, noise in 0.0..30.0, seed in 0u64..1000,
        ) {
            const NAMES: usize = 64;
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut unit = || rand_distr::Uniform::new(0.0, 1.0).map_or(0.5, |all| all.sample(&mut random));
            for units in [1, 8] {
                let mut tallies = Tallies::new(NAMES, NAMES, &[ours(units)]);
                for _ in 0..10 {
                    let readings = NAMES / units;
                    let mut samples = |work: f64| -> Vec<u32> {
                        let work = work * units as f64;
                        (0..readings).map(|_| read(step, probe + work + noise * unit(), unit())).collect()
                    };
                    let (empty, method) = (samples(0.0), samples(work));
                    tallies.empty.get_mut(&ours(units)).unwrap().add(0, NAMES, &empty);
                    tallies.methods[0].add(0, NAMES, &method);
                    tallies.end_repetition();
                }
                let method = &tallies.methods[0];
                let empty = tallies.empty(method).unwrap();
                let (mean, minima) = (method.mean(empty).interval, method.min_mean(empty).interval);
                let (mean, minima) = (mean.value, minima.value);
                prop_assert!(minima <= mean, "{units} units: minima {minima}, mean {mean}");
            }
        }
    }
}
