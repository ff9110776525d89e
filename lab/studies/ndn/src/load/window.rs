//! The Interests of a consumer that are not answered yet.

use std::time::{Duration, Instant};

/// Counts of Interests, of one consumer or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Answered with Data of their name: the exchanges.
    pub answered: u64,
    /// Given up, as no Data arrived in time.
    pub lost: u64,
    /// Data of a name that is not outstanding, or packets that are not Data.
    pub unexpected: u64,
}

impl Counts {
    /// The sum.
    pub fn plus(self, other: Self) -> Self {
        Self {
            answered: self.answered + other.answered,
            lost: self.lost + other.lost,
            unexpected: self.unexpected + other.unexpected,
        }
    }

    /// Difference of these counts from the `earlier` ones.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            answered: self.answered.saturating_sub(earlier.answered),
            lost: self.lost.saturating_sub(earlier.lost),
            unexpected: self.unexpected.saturating_sub(earlier.unexpected),
        }
    }
}

/// A window: which numbers were asked for and when.
#[derive(Clone, Debug)]
pub(super) struct Window {
    size: usize,
    outstanding: Vec<(u64, Instant)>,
    next: u64,
    /// Counts of the Interests that are no longer outstanding.
    pub(super) counts: Counts,
}

impl Window {
    /// An empty window of `size` Interests.
    pub(super) fn new(size: usize) -> Self {
        Self { size, outstanding: Vec::with_capacity(size), next: 0, counts: Counts::default() }
    }

    /// The number of the next Interest, if there is room for one.
    #[inline]
    pub(super) fn ask(&mut self, now: Instant) -> Option<u64> {
        if self.outstanding.len() >= self.size {
            return None;
        }
        let number = self.next;
        self.next += 1;
        self.outstanding.push((number, now));
        Some(number)
    }

    /// Takes the Data of a number, or something that is no Data of this consumer. When it was asked for, if
    /// it was waited for.
    #[inline]
    pub(super) fn answer(&mut self, number: Option<u64>) -> Option<Instant> {
        match self.outstanding.iter().position(|(asked, _)| Some(*asked) == number) {
            Some(at) => {
                self.counts.answered += 1;
                Some(self.outstanding.swap_remove(at).1)
            }
            None => {
                self.counts.unexpected += 1;
                None
            }
        }
    }

    /// Gives up those that wait for `patience` and longer; how many.
    pub(super) fn give_up(&mut self, now: Instant, patience: Duration) -> usize {
        let before = self.outstanding.len();
        self.outstanding.retain(|(_, asked)| now.duration_since(*asked) < patience);
        let lost = before - self.outstanding.len();
        self.counts.lost += lost as u64;
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_no_more_than_fits_and_no_number_twice() {
        let now = Instant::now();
        let mut window = Window::new(2);
        assert_eq!([window.ask(now), window.ask(now), window.ask(now)], [Some(0), Some(1), None]);
        assert_eq!(window.answer(Some(0)), Some(now));
        assert_eq!([window.ask(now), window.ask(now)], [Some(2), None]);
        assert_eq!(window.counts, Counts { answered: 1, lost: 0, unexpected: 0 });
    }

    #[test]
    fn counts_what_is_lost_and_what_comes_late_twice_or_unasked() {
        let start = Instant::now();
        let patience = Duration::from_millis(500);
        let mut window = Window::new(2);
        let first = window.ask(start);
        let second = window.ask(start + Duration::from_millis(400));
        let later = start + Duration::from_millis(600);
        assert_eq!(window.give_up(later, patience), 1);
        assert_eq!(window.give_up(later, patience), 0);
        // There is room for another now.
        assert_eq!(window.ask(later), Some(2));
        assert_eq!(window.answer(second), Some(start + Duration::from_millis(400)));
        for unexpected in [first, second, Some(77), None] {
            assert_eq!(window.answer(unexpected), None);
        }
        assert_eq!(window.counts, Counts { answered: 1, lost: 1, unexpected: 4 });
        let since = window.counts.since(Counts { answered: 1, lost: 0, unexpected: 1 });
        assert_eq!(since, Counts { answered: 0, lost: 1, unexpected: 3 });
        assert_eq!(since.plus(since), Counts { answered: 0, lost: 2, unexpected: 6 });
    }
}
