//! A bar for each scheme of a workload.

use super::{Bar, BarPlot, BarPlots, Block, Facts, Group, Role};
use hashlane_records::Record;
use hashlane_stats::format::{interval, significant};

/// Bars of one metric on one workload, in the order of the study's schemes.
#[derive(Clone, Copy, Debug)]
pub struct SchemeBars<'a> {
    /// Label of the workload.
    pub workload: &'a str,
    /// Metric of the records.
    pub metric: &'a str,
    /// Unit printed behind the figures.
    pub unit: &'a str,
    /// Name and unit of the axis: `time per message (ns)`.
    pub axis: &'a str,
    /// The whole title, for those who do not see the drawing.
    pub title: &'a str,
}

impl SchemeBars<'_> {
    /// The chart, with `role` of each scheme's id; `None` if nothing was measured.
    pub fn draw(&self, facts: &Facts<'_>, role: impl Fn(&str) -> Role) -> Option<Block> {
        let bar = |id: &str| {
            let value = facts.record(self.workload, id, self.metric).map(Record::interval)?;
            let figure = format!("{} {}", significant(value.value), self.unit);
            let title = format!("{id}: {figure} {}", interval(value, significant));
            Some(Bar { title, ..Bar::new(id, role(id), Some(value), &figure) })
        };
        let bars: Vec<Bar> = facts.schemes_on(self.workload).filter_map(bar).collect();
        (!bars.is_empty()).then(|| {
            Block::Bars(BarPlots {
                axis: self.axis.to_owned(),
                whiskers: Some("95 %".to_owned()),
                plots: vec![BarPlot {
                    caption: String::new(),
                    title: self.title.to_owned(),
                    groups: vec![Group { heading: None, bars }],
                }],
                ..BarPlots::default()
            })
        })
    }
}
