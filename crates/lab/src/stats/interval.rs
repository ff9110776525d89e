//! An estimate with its bounds, and what an interval of a ratio says.

/// An estimate, and the bounds between which the truth lies at 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// What the interval of a ratio of times says.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// The whole interval lies below 1.
    Faster,
    /// The whole interval lies above 1.
    Slower,
    /// The interval spans 1.
    NoDifferenceSeen {
        /// The difference that the same interval, centred on it, would just have told from none: 0.05 is 5 %.
        could_have_seen: f64,
    },
}

impl Interval {
    /// The verdict on a ratio of times, from the interval alone; `None` unless 0 < low ≤ high and both are finite.
    pub fn verdict(&self) -> Option<Verdict> {
        if !(self.low > 0.0 && self.low <= self.high && self.high.is_finite()) {
            return None;
        }
        Some(if self.high < 1.0 {
            Verdict::Faster
        } else if self.low > 1.0 {
            Verdict::Slower
        } else {
            // On the logarithmic scale, where a ratio and its inverse lie as far from 1.
            Verdict::NoDifferenceSeen { could_have_seen: (self.high / self.low).sqrt() - 1.0 }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(low: f64, value: f64, high: f64) -> Option<Verdict> {
        Interval { value, low, high }.verdict()
    }

    #[test]
    fn draws_the_verdict_from_the_interval() {
        assert_eq!(verdict(0.90, 0.95, 0.99), Some(Verdict::Faster));
        assert_eq!(verdict(1.01, 1.05, 1.10), Some(Verdict::Slower));
        assert!(matches!(verdict(0.95, 0.96, 1.0), Some(Verdict::NoDifferenceSeen { .. })));
        assert!(matches!(verdict(1.0, 1.05, 1.1), Some(Verdict::NoDifferenceSeen { .. })));
    }

    #[test]
    fn says_what_difference_it_could_have_seen() {
        let Some(Verdict::NoDifferenceSeen { could_have_seen }) = verdict(1.0 / 1.08, 1.0, 1.08) else {
            panic!("the interval spans 1");
        };
        assert!((could_have_seen - 0.08).abs() < 1e-12);
    }

    #[test]
    fn has_no_verdict_on_what_is_not_a_ratio() {
        assert_eq!(verdict(0.0, 0.5, 0.9), None);
        assert_eq!(verdict(1.2, 1.1, 1.05), None);
        assert_eq!(verdict(f64::NAN, 1.0, 2.0), None);
        assert_eq!(verdict(0.5, 1.0, f64::INFINITY), None);
    }
}
