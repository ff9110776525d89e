//! Standard deviations of the repetitions' means, beside the one that the source states.

use hashlane_lab::definition::Definition;
use hashlane_lab::report::{Block, Section, Shown, Table, facts};
use hashlane_records::RecordSet;
use hashlane_stats::format::{NONE, figure};
use hashlane_stats::median;

use crate::figures::{self, SchemeRow};
use crate::tables::{self, Repeatability};

/// The deviations of each workload's schemes, below the source's; `None` if the study states none.
pub(crate) fn section(definition: &Definition, records: &RecordSet, workloads: &[&str]) -> Option<Section> {
    // The study was checked when it was read.
    let Repeatability { below, words, .. } = tables::repeatability(definition).ok().flatten()?;
    let row = |workload: &&str| {
        let rows: Vec<_> = figures::schemes(definition, records, workload).collect();
        let share = |row: &SchemeRow<'_>| Some(100.0 * row.deviation? / row.mean?.value);
        let deviations = sorted(rows.iter().filter_map(|row| row.deviation));
        let shares = sorted(rows.iter().filter_map(share));
        let (least, most) = (deviations.first()?, deviations.last()?);
        let under = deviations.iter().filter(|deviation| **deviation < below).count();
        let middle = |values: &[f64]| median(values).map_or(NONE.to_owned(), figure);
        Some(vec![
            (*workload).to_owned(),
            middle(&deviations),
            format!("{} to {}", figure(*least), figure(*most)),
            format!("{} %", middle(&shares)),
            format!("{under} of {}", deviations.len()),
        ])
    };
    let rows: Vec<_> = workloads.iter().filter_map(row).collect();
    let unit = facts::unit(definition, records);
    (!rows.is_empty()).then(|| Section {
        title: "Repeatability".to_owned(),
        note: format!(
            "The source: “{words}”. Here the deviation is that of the repetitions' means, too. Where it is \
             larger, other processes or other guests of the host interrupted some turns: in a quick run a \
             scheme's turns of a repetition take a few milliseconds together, and one interruption changes \
             their mean. The source's repetitions of 1,000,000 names take thirty times as long. The median \
             of the repetitions, and ratios taken pair by pair, do not depend on such outliers."
        ),
        findings: Vec::new(),
        blocks: vec![Block::Table(Table {
            caption: format!("Standard deviation of the means, {unit} per {}", definition.per),
            columns: vec![
                "workload".to_owned(),
                "median scheme".to_owned(),
                "all schemes".to_owned(),
                "share of the mean".to_owned(),
                format!("below the source's {}", figure(below)),
            ],
            left: 1,
            rows,
            shown: Shown::Folded,
        })],
    })
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}
