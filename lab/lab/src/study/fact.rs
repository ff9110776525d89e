//! A figure on its way into the records.

use hashlane_records::over_launches;
use hashlane_stats::{Interval, median_interval};

/// One figure: its interval and number of samples.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// The figure and its bounds.
    pub interval: Interval,
    /// Number of samples behind it.
    pub samples: u64,
    /// Samples far from the median: more than 3.5 robust standard deviations, which are 1.4826 median
    /// absolute deviations (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993).
    pub outliers: u64,
    /// Launches of a program, if the bounds hold between them; 1 within one launch.
    pub launches: u64,
}

impl Fact {
    /// A figure without an uncertainty.
    pub fn exact(value: f64, samples: usize) -> Self {
        Self { interval: Interval::exact(value), samples: samples as u64, outliers: 0, launches: 1 }
    }

    /// The median of `values`, bounded by [order statistics](median_interval); 0 of nothing.
    pub fn median(values: &[f64]) -> Self {
        Self::try_median(values).unwrap_or(Self::exact(0.0, values.len()))
    }

    /// [`median`](Self::median), or `None` of nothing.
    pub fn try_median(values: &[f64]) -> Option<Self> {
        let interval = median_interval(values)?;
        let outliers = outliers(values, interval.value);
        Some(Self { interval, samples: values.len() as u64, outliers, launches: 1 })
    }

    /// The median of the figures of launches, with bounds that hold [between](over_launches) them; as
    /// [`median`](Self::median) of one launch.
    pub fn over_launches(values: &[f64]) -> Self {
        let fact = Self::median(values);
        match over_launches(values) {
            Some(interval) => Self { interval, launches: fact.samples, ..fact },
            None => fact,
        }
    }

    /// The figure less a constant.
    pub fn less(mut self, constant: f64) -> Self {
        for figure in [&mut self.interval.value, &mut self.interval.low, &mut self.interval.high] {
            *figure -= constant;
        }
        self
    }

    /// Multiplies the figure.
    pub fn scale(&mut self, by: f64) {
        self.interval = self.interval.scaled(by);
    }
}

/// Values far from their median.
fn outliers(values: &[f64], median: f64) -> u64 {
    let distances: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
    let Some(typical) = hashlane_stats::median(&distances) else { return 0 };
    distances.iter().filter(|distance| **distance > 3.5 * 1.4826 * typical).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_outliers() {
        assert_eq!(Fact::median(&[1.0, 1.01, 0.99, 1.02, 0.98, 5.0]).outliers, 1);
        assert_eq!(Fact::median(&[1.0, 1.01, 0.99, 1.02, 0.98, 1.03]).outliers, 0);
        assert_eq!(Fact::median(&[]).outliers, 0);
    }
}
