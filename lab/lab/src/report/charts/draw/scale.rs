//! Scales and their ticks.

use core::f64::consts::LN_10;

/// A linear or logarithmic scale from figures to places in a drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super::super) struct Scale {
    /// Ends of the range; logarithms if the scale is logarithmic.
    low: f64,
    high: f64,
    log: bool,
    /// Places of the ends.
    from: f64,
    to: f64,
}

impl Scale {
    /// From `low` to `high`, or a range of one around them if they are equal.
    pub(in super::super::super) fn linear(low: f64, high: f64) -> Self {
        // Beyond this the difference of two figures is not finite.
        let (low, high) = (low.clamp(-1e300, 1e300), high.clamp(-1e300, 1e300));
        let (low, high) = if high > low { (low, high) } else { (low, low + low.abs().max(1.0)) };
        Self { low, high, log: false, from: 0.0, to: 1.0 }
    }

    /// From `low` to `high`, both above zero; with room at both ends so that it spans at least `factor`.
    pub(in super::super::super) fn log(low: f64, high: f64, factor: f64) -> Self {
        let low = low.clamp(f64::MIN_POSITIVE, f64::MAX).ln();
        let high = high.clamp(f64::MIN_POSITIVE, f64::MAX).ln().max(low);
        let room = ((factor.ln() - (high - low)) / 2.0).max(0.0);
        Self { low: low - room, high: high + room, log: true, from: 0.0, to: 1.0 }
    }

    /// The scale laid out between two places.
    #[must_use]
    pub(in super::super::super) fn between(self, from: f64, to: f64) -> Self {
        Self { from, to, ..self }
    }

    /// The scale with `share` of its extent added at each end.
    #[must_use]
    pub(super) fn with_margin(self, share: f64) -> Self {
        let room = share * (self.high - self.low);
        Self { low: self.low - room, high: self.high + room, ..self }
    }

    /// The place of a figure; one outside the range is at its end.
    pub(in super::super::super) fn at(&self, value: f64) -> f64 {
        let value = match self.log {
            true if value > 0.0 => value.ln(),
            true => self.low,
            false => value,
        };
        let share = (value.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        self.from + if share.is_finite() { share } else { 0.0 } * (self.to - self.from)
    }

    /// Round figures within the range, at most about `count` of them and two at least where that is possible.
    pub(super) fn ticks(&self, count: usize) -> Vec<f64> {
        let count = count.max(2) as f64;
        if self.log { self.log_ticks(count) } else { self.linear_ticks(count) }
    }

    fn linear_ticks(&self, count: f64) -> Vec<f64> {
        let rough = (self.high - self.low) / count;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= rough);
        let Some(step) = step.filter(|step| *step > 0.0 && step.is_finite()) else { return Vec::new() };
        let first = (self.low / step).ceil();
        (0..=count as u32 + 1).map(|i| (first + f64::from(i)) * step).filter(|t| *t <= self.high).collect()
    }

    /// Powers of ten, with more between them if they are too few, and fewer if too many.
    fn log_ticks(&self, count: f64) -> Vec<f64> {
        let (low, high) = (self.low / LN_10, self.high / LN_10);
        let within: &[f64] = match high - low {
            decades if decades < 1.0 => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            decades if decades < 1.7 && count > 5.0 => &[1.0, 2.0, 5.0],
            decades if decades < 2.5 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let step = ((high - low) / count).ceil().max(1.0) as usize;
        let powers = (low.floor() as i32..=high.ceil() as i32).step_by(step);
        let ticks = powers.flat_map(|power| within.iter().map(move |m| m * 10f64.powi(power)));
        ticks.filter(|tick| tick.is_finite() && (self.low..=self.high).contains(&tick.ln())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(Scale::linear(0.0, 251.0).ticks(5), [0.0, 100.0, 200.0]);
        assert_eq!(Scale::linear(-0.4, 0.4).ticks(4), [-0.4, -0.2, 0.0, 0.2, 0.4]);
        assert_eq!(Scale::log(8.0, 70_000.0, 4.0).ticks(6), [10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!(Scale::log(20.0, 60.0, 4.0).ticks(6), [20.0, 30.0, 50.0]);
    }

    #[test]
    fn a_range_without_extent_has_a_place() {
        for scale in [Scale::linear(3.0, 3.0), Scale::log(3.0, 3.0, 4.0), Scale::linear(0.0, 0.0)] {
            let scale = scale.between(10.0, 20.0);
            assert!((10.0..=20.0).contains(&scale.at(3.0)), "{scale:?}");
        }
    }

    proptest! {
        #[test]
        fn every_figure_has_a_place_within(low: f64, high: f64, value: f64, log: bool) {
            prop_assume!(low.is_finite() && high.is_finite());
            let scale = if log { Scale::log(low, high, 4.0) } else { Scale::linear(low, high) };
            let scale = scale.between(10.0, 20.0);
            prop_assert!((10.0..=20.0).contains(&scale.at(value)) || value.is_nan());
            for tick in scale.ticks(6) {
                prop_assert!(tick.is_finite() && (10.0..=20.0).contains(&scale.at(tick)));
            }
            prop_assert!(scale.ticks(6).len() < 20);
        }
    }
}
