//! A figure on its way into the records.

use crate::stats::{Bootstrap, Interval};

/// One figure: its interval, and how many samples it comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fact {
    /// The figure and its bounds at 95 %.
    pub(super) interval: Interval,
    /// How many samples it comes from.
    pub(super) samples: u64,
}

impl Fact {
    /// A figure without an uncertainty.
    pub(super) fn exact(value: f64, samples: usize) -> Self {
        Self { interval: Interval { value, low: value, high: value }, samples: samples as u64 }
    }

    /// The median of `values`, with the interval that the bootstrap gives it; 0 of nothing.
    pub(super) fn median(values: &[f64]) -> Self {
        Self::try_median(values).unwrap_or(Self::exact(0.0, values.len()))
    }

    /// [`median`](Self::median), or `None` of nothing.
    pub(super) fn try_median(values: &[f64]) -> Option<Self> {
        let interval = Bootstrap::default().median(values)?;
        Some(Self { interval, samples: values.len() as u64 })
    }

    /// Multiplies the figure.
    pub(super) fn scale(&mut self, by: f64) {
        let Interval { value, low, high } = self.interval;
        self.interval = Interval { value: value * by, low: low * by, high: high * by };
    }
}
