//! Verdicts on a row, from B / A and A′ / A.

use core::fmt;

use hashlane_stats::Interval;

/// Verdict on B in comparison with A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// B takes less time: B / A lies below 1, and further from it than A′ / A may.
    Faster,
    /// B takes more time: B / A lies above 1, and further from it than A′ / A may.
    Slower,
    /// B / A spans 1.
    NoDifference {
        /// The smallest difference that the launches could have shown: 0.01 for 1 %.
        smallest: f64,
    },
    /// No verdict is given.
    Undecided(Doubt),
}

/// Reason why a verdict is withheld.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Doubt {
    /// There were fewer rounds than the bounds of so many rows need.
    FewRounds {
        /// Rounds that are needed.
        needed: usize,
    },
    /// A′ / A excludes 1 in this row, by more than 3 % or where B / A does not.
    Control,
    /// The geometric mean of A′ / A over all rows excludes 1 by more than 3 %.
    AllControls,
    /// B / A excludes 1, but is no further from it than A′ / A may be.
    WithinControl,
    /// A difference of 10 % could not have been seen.
    Noise {
        /// The smallest difference that could have been seen.
        smallest: f64,
    },
}

/// Smallest visible difference beyond which "no difference" would say nothing.
const NOISY: f64 = 0.1;

/// Difference of a build from itself beyond which nothing is decided: 3 %.
const MOST_CONTROL: f64 = 0.03;

/// The verdict on the ratios `ratio` (B / A) and `control` (A′ / A), whose bounds hold for all rows together.
///
/// A difference is called only if B / A lies further from 1 than A′ / A may: a machine that makes a build
/// differ from itself as much as from the other decides nothing.
pub(super) fn judge(ratio: Interval, control: Interval) -> Verdict {
    if is_broken(control) {
        return Verdict::Undecided(Doubt::Control);
    }
    // The bound of A′ / A that is further from 1, on the logarithmic scale.
    let noise = control.high.max(1.0 / control.low);
    let smallest = smallest(ratio, control);
    if ratio.low > noise {
        Verdict::Slower
    } else if ratio.high < 1.0 / noise {
        Verdict::Faster
    } else if excludes_1(ratio) {
        Verdict::Undecided(Doubt::WithinControl)
    } else if excludes_1(control) {
        Verdict::Undecided(Doubt::Control)
    } else if smallest > NOISY {
        Verdict::Undecided(Doubt::Noise { smallest })
    } else {
        Verdict::NoDifference { smallest }
    }
}

/// Tests if A′ / A excludes 1 by so much that no difference can be trusted.
pub(super) fn is_broken(control: Interval) -> bool {
    control.low > 1.0 + MOST_CONTROL || control.high < 1.0 - MOST_CONTROL
}

/// Tests if the bounds are on one side of 1.
fn excludes_1(interval: Interval) -> bool {
    interval.low > 1.0 || interval.high < 1.0
}

/// The smallest difference for which the bounds of two such ratios would be apart: half the width of each.
fn smallest(ratio: Interval, control: Interval) -> f64 {
    let half = |of: Interval| (of.high / of.low).ln() / 2.0;
    (half(ratio) + half(control)).exp_m1()
}

/// The verdict in words.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Faster => f.write_str("faster"),
            Self::Slower => f.write_str("slower"),
            Self::NoDifference { smallest } => {
                write!(f, "no difference ≥ {}", percent(*smallest))
            }
            Self::Undecided(doubt) => write!(f, "undecided: {doubt}"),
        }
    }
}

/// The reason in words.
impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewRounds { needed } => write!(f, "needs {needed} rounds"),
            Self::Control => f.write_str("A′ / A excludes 1"),
            Self::AllControls => f.write_str("mean A′ / A excludes 1"),
            Self::WithinControl => f.write_str("within A′ / A"),
            Self::Noise { smallest } => write!(f, "noise hides < {}", percent(*smallest)),
        }
    }
}

/// A share as per cent, with the digits that count: `1.2 %`, `14 %`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(ratio: (f64, f64), control: (f64, f64)) -> Verdict {
        let interval = |(low, high): (f64, f64)| Interval::bounded(f64::midpoint(low, high), low, high);
        judge(interval(ratio), interval(control))
    }

    #[test]
    fn calls_only_what_lies_beyond_the_control() {
        assert_eq!(verdict((1.02, 1.04), (0.99, 1.01)), Verdict::Slower);
        assert_eq!(verdict((0.5, 0.6), (0.9, 1.2)), Verdict::Faster);
        assert_eq!(verdict((1.02, 1.04), (0.97, 1.01)), Verdict::Undecided(Doubt::WithinControl));
        assert_eq!(verdict((0.96, 0.98), (0.99, 1.03)), Verdict::Undecided(Doubt::WithinControl));
    }

    #[test]
    fn a_control_that_differs_withholds_verdicts() {
        assert_eq!(verdict((2.0, 2.1), (1.04, 1.05)), Verdict::Undecided(Doubt::Control));
        assert_eq!(verdict((0.99, 1.01), (0.97, 0.99)), Verdict::Undecided(Doubt::Control));
        assert_eq!(verdict((1.02, 1.04), (1.001, 1.01)), Verdict::Slower);
    }

    #[test]
    fn states_the_smallest_visible_difference() {
        let Verdict::NoDifference { smallest } = verdict((0.99, 1.01), (0.99, 1.01)) else { unreachable!() };
        assert!((smallest - 0.0202).abs() < 1e-4, "{smallest}");
        let noisy = verdict((0.9, 1.1), (0.99, 1.01));
        assert!(
            matches!(noisy, Verdict::Undecided(Doubt::Noise { smallest }) if smallest > 0.1),
            "{noisy:?}"
        );
    }
}
