//! The chart that shows a study's answer.

use super::{BarPlots, Forest, LinePlots};

/// The key chart of a study, on its card and at its head.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyChart {
    /// Bars.
    Bars(BarPlots),
    /// Lines.
    Lines(LinePlots),
    /// Intervals.
    Forest(Forest),
}
