//! Comparison of two builds, A and B, or of two sets of records.
//!
//! - [`launches`]: launches of A and B in alternation, with a second launch of A in each round as the A/A
//!   control; these have verdicts.
//! - [`folders`]: two sets of records of separate runs, which have ratios and no verdict.
//! - [`repeats`]: sets of records of runs of one build, a test of their intervals.

pub mod folders;
pub mod launches;
mod rank;
pub mod repeats;
mod verdict;

#[cfg(test)]
mod tests;

pub use rank::Rank;
pub use verdict::{Doubt, Verdict};

use crate::{Key, metric};
use hashlane_stats::Interval;

/// A and B compared, study by study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Studies with rows in both, in the order of A.
    pub studies: Vec<Study>,
    /// Keys that only A has, of the metrics that were compared.
    pub only_a: Vec<Key>,
    /// Keys that only B has.
    pub only_b: Vec<Key>,
}

/// The rows of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// The study's slug.
    pub slug: String,
    /// Rows in the order of A.
    pub rows: Vec<Row>,
    /// Geometric mean of the ratios B / A; with bounds if the launches alternated for enough rounds.
    pub mean: Option<Interval>,
    /// The launches; `None` for separate runs.
    pub launches: Option<Launches>,
}

/// Launches of a study that alternated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Launches {
    /// Complete rounds of three launches.
    pub rounds: usize,
    /// Geometric mean of the ratios A′ / A, with bounds: the control of all rows together.
    pub control: Option<Interval>,
    /// Seconds of all rounds.
    pub seconds: f64,
}

/// A figure that both sides have.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Subject of the figure.
    pub key: Key,
    /// The figure of A.
    pub a: Interval,
    /// The figure of B.
    pub b: Interval,
    /// B / A; absent unless all figures are above 0. Of alternated launches, with bounds that hold for all
    /// rows together; of separate runs, with bounds that cover the noise within the runs and decide nothing.
    pub ratio: Option<Interval>,
    /// The control and the verdict; `None` for separate runs.
    pub judged: Option<Judged>,
}

/// Outcome of a row whose launches alternated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// A′ / A, the same build twice: 1 but for noise. Bounds as for B / A.
    pub control: Option<Interval>,
    /// The verdict.
    pub verdict: Verdict,
}

impl Comparison {
    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.studies.iter().flat_map(|study| &study.rows)
    }

    /// Adds the studies of another comparison.
    pub fn extend(&mut self, other: Self) {
        self.studies.extend(other.studies);
        self.only_a.extend(other.only_a);
        self.only_b.extend(other.only_b);
    }

    /// Rows that are slower in B, by `threshold` or more: 0.03 for 3 %.
    pub fn regressions(&self, threshold: f64) -> impl Iterator<Item = &Row> {
        self.rows().filter(move |row| {
            row.verdict() == Some(Verdict::Slower)
                && row.ratio.is_some_and(|ratio| ratio.value >= 1.0 + threshold)
        })
    }
}

impl Row {
    /// The verdict, if the launches alternated.
    pub fn verdict(&self) -> Option<Verdict> {
        self.judged.map(|judged| judged.verdict)
    }

    /// The row in one line: study, workload, scheme, metric; of a ratio of schemes, both.
    pub fn name(&self) -> String {
        name(&self.key)
    }
}

/// A key in one line: study, workload, scheme, metric; of a ratio of schemes, both.
pub fn name(key: &Key) -> String {
    let Key { study, workload, scheme, metric, unit, .. } = key;
    if is_ratio(metric) {
        return format!("{study} · {workload} · {scheme} / {unit} · {metric}");
    }
    format!("{study} · {workload} · {scheme} · {metric}")
}

/// Tests if a metric compares two schemes or workloads, whose second is its unit.
pub fn is_ratio(name: &str) -> bool {
    name == metric::MORE || name == metric::RATIO || name.starts_with("ratio_")
}

/// Tests if a unit is one of time, which is better if it is less.
pub fn is_time(unit: &str) -> bool {
    matches!(unit, "cycles" | "ns" | "us" | "ms" | "s")
}
