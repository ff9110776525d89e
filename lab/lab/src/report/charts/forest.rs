//! Differences or ratios with their intervals as data (a forest plot).

use super::Role;
use hashlane_stats::Interval;

/// Intervals below each other on one scale, with the line of no difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Forest {
    /// Caption; empty if the page has said it already.
    pub caption: String,
    /// Name and unit of the axis: `difference to name (points of CPU)`.
    pub axis: String,
    /// Figure of no difference: 0 for differences, 1 for ratios.
    pub zero: f64,
    /// Rows, from the top.
    pub rows: Vec<ForestRow>,
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct ForestRow {
    /// Label at its left.
    pub label: String,
    /// Role, which decides the colour.
    pub role: Role,
    /// The figure with its bounds; `None` if it was not measured.
    pub interval: Option<Interval>,
    /// Figure printed at the right.
    pub figure: String,
}
