//! Timing several subjects in alternation: round after round, each has its turn in each.

use super::fact::Fact;
use std::array;
use std::convert::Infallible;

/// The places of `count` subjects, in the order of their turns in a round. Another subject is first in each
/// round, and from round to round the order has another stride, so that no subject always follows the same
/// other one: that one's turn decides what is in the caches.
pub fn order(count: usize, round: usize) -> impl Iterator<Item = usize> {
    let strides: Vec<usize> =
        (1..count).filter(|stride| greatest_common_divisor(*stride, count) == 1).collect();
    let stride = strides.get(round % strides.len().max(1)).copied().unwrap_or(1);
    (0..count).map(move |at| (at * stride + round) % count)
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The times of the subjects, round by round.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    /// Times of each subject.
    times: Vec<Vec<f64>>,
    /// Each turn was a launch of a program.
    launches: bool,
}

impl Rounds {
    /// Gives each of `subjects` its turn in each of `rounds`: `prepare` is called before each round with its
    /// number, `time` with the subject whose turn it is, in their [`order`].
    ///
    /// `time` is a closure and `S` any type: timed subjects differ in their input, unit and number of
    /// figures, and share only their turns.
    ///
    /// Ends early, with the complete rounds, if `prepare` returns `false`.
    pub fn run<S>(
        subjects: &mut [S],
        rounds: usize,
        prepare: impl FnMut(usize) -> bool,
        mut time: impl FnMut(&mut S) -> f64,
    ) -> Self {
        let timed = Self::try_run(subjects, rounds, prepare, |subject| Ok::<_, Infallible>([time(subject)]));
        timed.map_or_else(|never| match never {}, |[rounds]| rounds)
    }

    /// As [`run`](Self::run), of turns with several figures, which can fail: the rounds of each figure.
    ///
    /// # Errors
    /// The first error of a turn.
    pub fn try_run<S, E, const N: usize>(
        subjects: &mut [S],
        rounds: usize,
        mut prepare: impl FnMut(usize) -> bool,
        mut time: impl FnMut(&mut S) -> Result<[f64; N], E>,
    ) -> Result<[Self; N], E> {
        let mut times: [_; N] = array::from_fn(|_| vec![Vec::with_capacity(rounds); subjects.len()]);
        for round in 0..rounds {
            if !prepare(round) {
                break;
            }
            for at in order(subjects.len(), round) {
                let Some(subject) = subjects.get_mut(at) else { continue };
                for (times, figure) in times.iter_mut().zip(time(subject)?) {
                    times.get_mut(at).into_iter().for_each(|times| times.push(figure));
                }
            }
        }
        Ok(times.map(Self::of))
    }

    /// Rounds from figures already measured: for each subject, round by round.
    pub fn of(times: Vec<Vec<f64>>) -> Self {
        Self { times, launches: false }
    }

    /// [`of`](Self::of) turns that each launched a program: the bounds of figures hold between launches.
    pub fn of_launches(times: Vec<Vec<f64>>) -> Self {
        Self { times, launches: true }
    }

    /// The rounds with all times multiplied.
    pub fn scaled(mut self, by: f64) -> Self {
        self.times.iter_mut().flatten().for_each(|time| *time *= by);
        self
    }

    /// Adds rounds of the same subjects that were timed later.
    pub fn append(&mut self, later: Self) {
        self.times.resize(self.times.len().max(later.times.len()), Vec::new());
        for (times, more) in self.times.iter_mut().zip(later.times) {
            times.extend(more);
        }
    }

    /// Number of rounds.
    pub fn len(&self) -> usize {
        self.times.first().map_or(0, Vec::len)
    }

    /// `true` if there was no round.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The median of a subject's times.
    pub fn time(&self, subject: usize) -> Fact {
        let times = self.times.get(subject).map_or(&[][..], Vec::as_slice);
        self.median(times).unwrap_or(Fact::exact(0.0, times.len()))
    }

    /// The time of one subject over another's, round by round: the median of the ratios.
    pub fn ratio(&self, of: usize, to: usize) -> Option<Fact> {
        self.compare(of, to, |of, to| of / to)
    }

    /// Difference of one subject's figure and another's, round by round: the median of the differences.
    pub fn difference(&self, of: usize, to: usize) -> Option<Fact> {
        self.compare(of, to, |of, to| of - to)
    }

    /// The largest figure of a subject over the smallest: the noise between turns of the same subject. `None`
    /// for a single turn.
    pub fn apart(&self, subject: usize) -> Option<Fact> {
        let figures = self.times.get(subject).filter(|figures| figures.len() > 1)?;
        let (least, most) = figures
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(least, most), figure| (least.min(*figure), most.max(*figure)));
        (least > 0.0).then(|| Fact::exact(most / least, figures.len()))
    }

    fn compare(&self, of: usize, to: usize, by: impl Fn(f64, f64) -> f64) -> Option<Fact> {
        let pairs = self.times.get(of)?.iter().zip(self.times.get(to)?);
        let figures: Vec<f64> =
            pairs.map(|(of, to)| by(*of, *to)).filter(|figure| figure.is_finite()).collect();
        self.median(&figures)
    }

    fn median(&self, figures: &[f64]) -> Option<Fact> {
        let fact = Fact::try_median(figures)?;
        Some(if self.launches { Fact::over_launches(figures) } else { fact })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_ratios_within_a_round() {
        // The machine slows down from round to round; the ratio stays.
        let mut slowness = 0.0;
        let mut turns = Vec::new();
        let mut subjects = [(0, 1.0), (1, 3.0), (2, 5.0)];
        let rounds = Rounds::run(
            &mut subjects,
            4,
            |round| {
                slowness = 1.0 + round as f64;
                true
            },
            |(at, time)| {
                turns.push(*at);
                *time
            },
        );
        assert_eq!(turns, [0, 1, 2, 1, 0, 2, 2, 0, 1, 0, 2, 1]);
        assert_eq!((rounds.len(), slowness), (4, 4.0));
        assert_eq!(rounds.ratio(2, 1).map(|ratio| ratio.interval.value), Some(5.0 / 3.0));
        assert_eq!(rounds.time(1).interval.value, 3.0);
        assert!(rounds.ratio(0, 3).is_none());
    }

    #[test]
    fn every_subject_has_one_turn_in_a_round_and_follows_various_others() {
        for count in 0..20 {
            let mut before = vec![std::collections::BTreeSet::new(); count];
            for round in 0..3 * count {
                let turns: Vec<usize> = order(count, round).collect();
                let mut sorted = turns.clone();
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..count), "{count}, {round}: {turns:?}");
                assert_eq!(turns.first(), Some(&(round % count)));
                for pair in turns.windows(2) {
                    before[pair[1]].insert(pair[0]);
                }
            }
            if count > 2 {
                assert!(before.iter().all(|others| others.len() > 1), "{count}: {before:?}");
            }
        }
    }

    #[test]
    fn bounds_of_launched_programs_hold_between_launches() {
        let times = vec![vec![5.0, 7.0, 9.0], vec![1.0, 2.0, 3.0]];
        let (launched, within) = (Rounds::of_launches(times.clone()), Rounds::of(times));
        for of in [|rounds: &Rounds| rounds.time(0), |rounds: &Rounds| rounds.ratio(0, 1).unwrap()] {
            let (launched, within) = (of(&launched), of(&within));
            assert_eq!((launched.launches, within.launches), (3, 1));
            assert!(launched.interval.is_conclusive() && launched.interval.high > within.interval.high);
        }
    }

    #[test]
    fn takes_differences_within_a_round() {
        let rounds = Rounds::of(vec![vec![5.0, 7.0, 9.0], vec![1.0, 3.0, 5.5]]);
        assert_eq!(rounds.difference(0, 1).map(|more| more.interval.value), Some(4.0));
        assert_eq!(rounds.difference(1, 0).map(|more| more.interval.value), Some(-4.0));
        assert!(rounds.difference(0, 2).is_none());
    }

    #[test]
    fn appends_later_rounds() {
        let mut rounds = Rounds::default();
        rounds.append(Rounds::of(vec![vec![1.0], vec![2.0]]));
        rounds.append(Rounds::of(vec![vec![3.0, 3.0], vec![9.0, 9.0]]));
        assert_eq!((rounds.len(), rounds.time(0).interval.value), (3, 3.0));
        assert_eq!(rounds.ratio(1, 0).map(|ratio| ratio.interval.value), Some(3.0));
    }

    #[test]
    fn reports_the_spread_of_the_turns_of_one_subject() {
        let rounds = Rounds::of(vec![vec![5.0, 4.0, 6.0], vec![1.0, 0.0, 2.0]]);
        assert_eq!(rounds.apart(0).map(|apart| apart.interval.value), Some(1.5));
        assert!(rounds.apart(1).is_none() && rounds.apart(2).is_none());
    }

    #[test]
    fn ends_with_whole_rounds() {
        let rounds = Rounds::run(&mut [(), ()], 10, |round| round < 3, |()| 1.0);
        assert_eq!((rounds.len(), rounds.time(0).samples, rounds.time(1).samples), (3, 3, 3));
    }
}
