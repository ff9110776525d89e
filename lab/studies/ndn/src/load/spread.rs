//! The order in which the names of a pair visit its prefixes.

use std::num::NonZeroU64;

/// A prime above every count of prefixes, so that it has no factor in common with any.
const MULTIPLIER: u64 = 2_654_435_761;

/// Prefixes of a pair, numbered from 0. Each name begins with one of them.
///
/// The name of number *n* has the prefix *n* × `MULTIPLIER` modulo the count of prefixes. That is a
/// permutation: each run of as many numbers visits every prefix once, so that no prefix is used again before
/// all others were. Prefixes used one after another were registered far apart, at addresses that no
/// prefetcher foresees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spread(NonZeroU64);

impl Spread {
    /// Most prefixes.
    pub(super) const MAX: u64 = 1 << 30;

    /// A spread over `prefixes` prefixes; `None` if there are none, or more than [`MAX`](Self::MAX).
    pub(super) fn over(prefixes: usize) -> Option<Self> {
        NonZeroU64::new(prefixes as u64).filter(|prefixes| prefixes.get() <= Self::MAX).map(Self)
    }

    /// Number of prefixes.
    pub(super) fn prefixes(self) -> u64 {
        self.0.get()
    }

    /// The prefix of a name.
    #[inline]
    pub(super) fn prefix_of(self, number: u64) -> u64 {
        number % self.0 * MULTIPLIER % self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_each_prefix_once_before_it_visits_one_again() {
        for prefixes in [1, 7, 62, 63, 1000, 62_500] {
            let spread = Spread::over(prefixes).unwrap();
            let mut seen = vec![0; prefixes];
            (0..3 * prefixes as u64).for_each(|number| seen[spread.prefix_of(number) as usize] += 1);
            assert!(seen.iter().all(|visits| *visits == 3));
        }
    }

    #[test]
    fn names_one_after_another_have_prefixes_far_apart() {
        let spread = Spread::over(62_500).unwrap();
        let least = (1..16).map(|ahead| {
            let distance = spread.prefix_of(ahead).abs_diff(spread.prefix_of(0));
            distance.min(62_500 - distance)
        });
        assert!(least.min() > Some(1000));
    }

    #[test]
    fn there_are_neither_none_nor_too_many() {
        assert_eq!(Spread::over(0), None);
        assert_eq!(Spread::over(Spread::MAX as usize + 1), None);
        assert_eq!(Spread::over(3).map(Spread::prefixes), Some(3));
    }
}
