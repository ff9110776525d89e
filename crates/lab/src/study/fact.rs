//! A figure on its way into the records.

use crate::stats::{Interval, median_interval};

/// One figure: its interval and number of samples.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// The figure and its bounds.
    pub interval: Interval,
    /// Number of samples behind it.
    pub samples: u64,
}

impl Fact {
    /// A figure without an uncertainty.
    pub fn exact(value: f64, samples: usize) -> Self {
        Self { interval: Interval::exact(value), samples: samples as u64 }
    }

    /// The median of `values`, bounded by [order statistics](median_interval); 0 of nothing.
    pub fn median(values: &[f64]) -> Self {
        Self::try_median(values).unwrap_or(Self::exact(0.0, values.len()))
    }

    /// [`median`](Self::median), or `None` of nothing.
    pub fn try_median(values: &[f64]) -> Option<Self> {
        let interval = median_interval(values)?;
        Some(Self { interval, samples: values.len() as u64 })
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
