//! Horizontal bars as data.

use super::Role;
use hashlane_stats::Interval;

/// Bar charts that share one scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarPlots {
    /// Name and unit of the axis: `time per message (ns)`.
    pub axis: String,
    /// Meanings of the roles, in their order; empty if the labels of the bars say it all.
    pub legend: Vec<(Role, String)>,
    /// Meaning of the whiskers, if there are any.
    pub whiskers: Option<String>,
    /// Meaning of the bars' second figure, if there is one.
    pub tick: Option<String>,
    /// A figure to compare the bars with, drawn as a line through all of them, and its label.
    pub reference: Option<(f64, String)>,
    /// Logarithmic scale. Bars then have no zero: their lengths compare factors.
    pub log: bool,
    /// The charts.
    pub plots: Vec<BarPlot>,
}

/// One chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarPlot {
    /// Caption; empty if the page has said it already.
    pub caption: String,
    /// The whole title, for those who do not see the drawing.
    pub title: String,
    /// Groups of bars.
    pub groups: Vec<Group>,
}

/// Bars under one heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Heading; `None` if there is one group.
    pub heading: Option<String>,
    /// Bars, from the top.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Label at its left.
    pub label: String,
    /// Title, for those who do not see the drawing.
    pub title: String,
    /// Role, which decides the colour.
    pub role: Role,
    /// Length, with its bounds; `None` if it was not measured.
    pub value: Option<Interval>,
    /// Parts stacked from zero, with their names; empty if the bar is plain. Up to eight in a chart have
    /// tints of their own. A logarithmic scale has none.
    pub segments: Vec<(String, f64)>,
    /// Outline only.
    pub hollow: bool,
    /// Figure printed next to the bar.
    pub figure: String,
    /// Second figure, drawn as a tick.
    pub tick: Option<f64>,
}

impl Bar {
    /// A plain bar, its title made of the label and the figure.
    pub fn new(label: &str, role: Role, value: Option<Interval>, figure: &str) -> Self {
        let title =
            if value.is_some() { format!("{label}: {figure}") } else { format!("{label}: not measured") };
        Self {
            label: label.to_owned(),
            title,
            role,
            value,
            segments: Vec::new(),
            hollow: false,
            figure: figure.to_owned(),
            tick: None,
        }
    }
}
