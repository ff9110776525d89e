//! An interval as a small inline SVG, over the range that fits a claim or target.

use minijinja::HtmlEscape;

use crate::report::charts::draw::Scale;
use crate::report::words;
use hashlane_stats::Interval;

const WIDTH: f64 = 140.0;
const HEIGHT: f64 = 18.0;

/// The ratios that the marks of one table span, on a logarithmic scale.
#[derive(Clone, Copy)]
pub(super) struct Axis(Scale);

impl Axis {
    /// An axis that holds every one of `ratios`, and 1.
    pub(super) fn over(ratios: impl Iterator<Item = f64>) -> Self {
        let positive = ratios.filter(|r| *r > 0.0 && r.is_finite());
        let (low, high) = positive.fold((1.0, 1.0), |(low, high), r| (f64::min(low, r), f64::max(high, r)));
        // A little room at the ends, and never a scale without extent.
        Self(Scale::log(low / 1.02, high * 1.02, 1.0).between(3.0, WIDTH - 3.0))
    }

    fn x(self, ratio: f64) -> f64 {
        self.0.at(ratio)
    }

    /// The mark of one ratio: the band of those that fit (its lower end open if absent), a line at 1, the
    /// interval, the estimate.
    pub(super) fn mark(self, ratio: Interval, fits: (Option<f64>, f64)) -> String {
        let (from, to) = (fits.0.map_or(0.0, |low| self.x(low)), self.x(fits.1));
        let (low, value, high) = (self.x(ratio.low), self.x(ratio.value), self.x(ratio.high));
        let (one, middle, width) = (self.x(1.0), HEIGHT / 2.0, (to - from).max(0.0));
        let label = words::ratio_with_bounds(ratio);
        format!(
            "<svg class=\"mark\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             role=\"img\" aria-label=\"{label}\"><title>{label}</title><rect class=\"fits\" x=\"{from:.1}\" \
             y=\"1\" width=\"{width:.1}\" height=\"{}\"/><path class=\"one\" d=\"M{one:.1} \
             0v{HEIGHT}\"/><path class=\"whisker\" d=\"M{low:.1} {middle}H{high:.1}\"/><circle \
             class=\"dot\" cx=\"{value:.1}\" cy=\"{middle}\" r=\"3.2\"/></svg>",
            HEIGHT - 2.0,
            label = HtmlEscape(&label),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_ratios_on_a_logarithmic_axis() {
        let axis = Axis::over([0.5, 2.0].into_iter());
        assert!((axis.x(1.0) - WIDTH / 2.0).abs() < 1e-9);
        assert!((axis.x(2.0) + axis.x(0.5) - WIDTH).abs() < 1e-9);
    }

    #[test]
    fn keeps_marks_within_the_drawing() {
        let axis = Axis::over([f64::NAN, -1.0, 0.0].into_iter());
        for ratio in [-1.0, 0.0, 1e-300, 1.0, 1e300] {
            assert!((0.0..=WIDTH).contains(&axis.x(ratio)), "{ratio}");
        }
    }

    #[test]
    fn draws_the_interval_beside_what_fits() {
        let ratio = Interval::bounded(1.05, 1.02, 1.09);
        insta::assert_snapshot!(
            Axis::over([1.2].into_iter()).mark(ratio, (Some(1.0), 1.15)).replace('>', ">\n")
        );
    }
}
