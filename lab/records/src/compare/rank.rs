//! The largest differences of a comparison.

use super::{Comparison, Row, Verdict};

/// Rows with the largest differences, the largest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Rank<'a> {
    /// Rows that take more in B.
    pub more: Vec<&'a Row>,
    /// Rows that take less in B.
    pub less: Vec<&'a Row>,
}

impl Comparison {
    /// All rows that differ, ranked: those that a verdict calls slower or faster or, of separate runs, all
    /// whose ratio is not 1.
    pub fn rank(&self) -> Rank<'_> {
        let ranked = |is_in: fn(&Row, f64) -> bool| {
            let mut rows: Vec<(&Row, f64)> =
                self.rows().filter_map(|row| Some((row, row.ratio?.value))).collect();
            rows.retain(|(row, ratio)| is_in(row, *ratio));
            rows.sort_by(|(_, a), (_, b)| b.ln().abs().total_cmp(&a.ln().abs()));
            rows.into_iter().map(|(row, _)| row).collect()
        };
        Rank {
            more: ranked(|row, ratio| {
                row.verdict().map_or(ratio > 1.0, |verdict| verdict == Verdict::Slower)
            }),
            less: ranked(|row, ratio| {
                row.verdict().map_or(ratio < 1.0, |verdict| verdict == Verdict::Faster)
            }),
        }
    }
}
