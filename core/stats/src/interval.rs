//! An estimate with its bounds.

/// An estimate, and bounds for the true value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// Probability, at least, that the true value lies within the bounds: 1 for an exact figure,
    /// [`CONFIDENCE`] for bounds of enough samples, less for bounds of fewer.
    pub coverage: f64,
    /// `true` if the bounds hold within one launch of a program only: another launch may lie outside.
    pub one_launch: bool,
}

/// Coverage of the bounds that records and reports state, and that a verdict needs.
pub const CONFIDENCE: f64 = 0.95;

/// Samples below which no two order statistics bound the median at [`CONFIDENCE`].
pub const ENOUGH_SAMPLES: u64 = 6;

impl Interval {
    /// A figure without uncertainty.
    pub fn exact(value: f64) -> Self {
        Self { value, low: value, high: value, coverage: 1.0, one_launch: false }
    }

    /// A figure with bounds at [`CONFIDENCE`].
    pub fn bounded(value: f64, low: f64, high: f64) -> Self {
        Self { value, low, high, coverage: CONFIDENCE, one_launch: false }
    }

    /// The interval with figure and bounds multiplied by `factor`, which is not negative.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let Self { value, low, high, .. } = self;
        Self { value: value * factor, low: low * factor, high: high * factor, ..self }
    }

    /// True if the coverage is enough for a verdict.
    pub fn is_conclusive(&self) -> bool {
        self.coverage >= CONFIDENCE
    }
}

/// Coverage of the bounds of the median of `samples` samples: [`CONFIDENCE`], or with fewer than
/// [`ENOUGH_SAMPLES`] the coverage of the smallest and the largest sample.
///
/// Source: each sample lies below the median with probability 1/2, so both extremes lie on one side of it
/// with 2 · 0.5ⁿ (David and Nagaraja, Order Statistics, 2003, §7.1).
pub fn coverage(samples: u64) -> f64 {
    if samples >= ENOUGH_SAMPLES {
        return CONFIDENCE;
    }
    usize::try_from(samples).map_or(CONFIDENCE, coverage_of_extremes)
}

/// Coverage of the median by the smallest and the largest of `samples` samples.
pub(crate) fn coverage_of_extremes(samples: usize) -> f64 {
    (1.0 - 2.0 * 0.5f64.powf(samples as f64)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_cover_less() {
        assert_eq!([0, 1, 2, 3, 4, 5].map(coverage), [0.0, 0.0, 0.5, 0.75, 0.875, 0.9375]);
        assert_eq!([6, 7, 1000, u64::MAX].map(coverage), [CONFIDENCE; 4]);
    }

    #[test]
    fn only_bounds_at_the_full_confidence_are_conclusive() {
        assert!(Interval::exact(1.0).is_conclusive() && Interval::bounded(1.0, 0.9, 1.1).is_conclusive());
        let of_five = Interval { coverage: coverage(5), ..Interval::bounded(1.0, 0.9, 1.1) };
        assert!(!of_five.is_conclusive());
    }

    #[test]
    fn scaling_keeps_the_coverage() {
        let scaled = Interval { coverage: 0.75, ..Interval::bounded(2.0, 1.0, 4.0) }.scaled(0.5);
        assert_eq!(scaled, Interval { coverage: 0.75, ..Interval::bounded(1.0, 0.5, 2.0) });
    }
}
