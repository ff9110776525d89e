//! Lines on logarithmic axes as data.

use super::Role;
use hashlane_stats::Interval;

/// Line charts that share their scales, both logarithmic, and the styles of their lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinePlots {
    /// Name and unit of the horizontal axis.
    pub x: String,
    /// Name and unit of the vertical axis: `time per lookup (ns)`.
    pub y: String,
    /// All series, the most interesting first.
    pub series: Vec<Series>,
    /// Ranges of `x` that are shaded and named.
    pub shades: Vec<Shade>,
    /// The charts.
    pub plots: Vec<LinePlot>,
}

/// A series, with its style in every chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name, as [`Line::name`] has it.
    pub name: String,
    /// Role, which decides the colour of an emphasised line.
    pub role: Role,
    /// Thick, in its role's colour and with a label at its end; otherwise thin and grey, named in a table.
    pub emphasised: bool,
    /// Label at the end of an emphasised line; its name if `None`, no label if empty.
    pub label: Option<String>,
}

/// A shaded range of the horizontal axis, such as what fits the L2 cache.
#[derive(Clone, Debug, PartialEq)]
pub struct Shade {
    /// Left end.
    pub from: f64,
    /// Right end; infinite if the range is open.
    pub to: f64,
    /// Label at its top.
    pub label: String,
}

/// One chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinePlot {
    /// Caption; empty if the page has said it already.
    pub caption: String,
    /// Note below the caption; may be empty.
    pub note: String,
    /// Lines.
    pub lines: Vec<Line>,
}

/// One series in one chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Name of the series.
    pub name: String,
    /// Points from left to right. An `x` of zero is drawn at the left edge.
    pub points: Vec<(f64, Interval)>,
}

impl Series {
    /// An emphasised series with a label at its end.
    pub fn labelled(name: &str, role: Role, label: &str) -> Self {
        Self { label: Some(label.to_owned()), ..Self::new(name, role, true) }
    }

    /// A series whose label is its name.
    pub fn new(name: &str, role: Role, emphasised: bool) -> Self {
        Self { name: name.to_owned(), role, emphasised, label: None }
    }
}
