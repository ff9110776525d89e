//! Runs of one build on one machine: a test of the intervals, which must hold the values of other runs.

use super::{is_ratio, is_time};
use crate::{Record, RecordSet};

/// Shares of the intervals of runs that hold the values of others.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeats {
    /// The study's slug.
    pub study: String,
    /// The rows: ratios or times.
    pub rows: &'static str,
    /// Rows that all runs have.
    pub count: usize,
    /// Share of intervals that hold the value of the next run.
    pub next: f64,
    /// Share of intervals that hold the value of another run, over all pairs.
    pub other: f64,
    /// Share of pairs of intervals that do not touch.
    pub apart: f64,
    /// Median of the intervals' widths, as shares of their values.
    pub width: f64,
}

/// Compares `runs`, in their order, study by study: ratios, then times. Exact figures are left out.
pub fn repeats(runs: &[RecordSet]) -> Vec<Repeats> {
    let Some(first) = runs.first() else { return Vec::new() };
    let mut all = Vec::new();
    for study in first.studies() {
        for (name, is_in) in
            [("ratios", (|r| is_ratio(&r.metric)) as fn(&Record) -> bool), ("times", is_timed)]
        {
            let rows = first.iter().filter(|record| record.study == study && is_in(record));
            let rows: Vec<Vec<&Record>> = rows
                .filter_map(|record| runs.iter().map(|run| run.find(&record.key())).collect())
                .filter(|row: &Vec<&Record>| row.iter().any(|record| record.low < record.high))
                .collect();
            if let Some(repeats) = of_rows(study, name, &rows) {
                all.push(repeats);
            }
        }
    }
    all
}

fn is_timed(record: &Record) -> bool {
    is_time(&record.unit) && !is_ratio(&record.metric)
}

fn of_rows(study: &str, name: &'static str, rows: &[Vec<&Record>]) -> Option<Repeats> {
    let holds = |a: &Record, b: &Record| a.low <= b.value && b.value <= a.high;
    let share = |tests: Vec<bool>| {
        (!tests.is_empty()).then(|| tests.iter().filter(|test| **test).count() as f64 / tests.len() as f64)
    };
    let pairs = |test: &dyn Fn(&Record, &Record) -> bool| -> Vec<bool> {
        let of_row = |row: &Vec<&Record>| {
            let (places, row) = (0..row.len(), row.clone());
            let others = places.flat_map(|a| (0..row.len()).filter(move |b| *b != a).map(move |b| (a, b)));
            others.map(|(a, b)| test(row[a], row[b])).collect::<Vec<_>>()
        };
        rows.iter().flat_map(of_row).collect()
    };
    let next = rows.iter().flat_map(|row| row.windows(2)).map(|pair| holds(pair[0], pair[1])).collect();
    let widths: Vec<f64> = rows.iter().flatten().map(|r| (r.high - r.low) / r.value.abs()).collect();
    Some(Repeats {
        study: study.to_owned(),
        rows: name,
        count: rows.len(),
        next: share(next)?,
        other: share(pairs(&holds))?,
        apart: share(pairs(&|a, b| a.high < b.low || b.high < a.low))?,
        width: hashlane_stats::median(&widths)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_intervals_that_hold_the_values_of_other_runs() {
        let first = super::super::tests::run();
        let shifted = |factor: f64| {
            let mut run = RecordSet::new();
            for record in first.iter() {
                let mut record = record.clone();
                for figure in [&mut record.value, &mut record.low, &mut record.high] {
                    *figure *= factor;
                }
                run.insert(record).unwrap();
            }
            run
        };
        let same = repeats(&[shifted(1.0), shifted(1.001), shifted(1.0)]);
        assert_eq!(same.iter().map(|r| r.rows).collect::<Vec<_>>(), ["ratios", "times"]);
        assert!(
            same.iter().all(|r| (r.next, r.other, r.apart) == (1.0, 1.0, 0.0) && r.count > 4),
            "{same:?}"
        );
        // The second run lies outside the others, and does not touch them.
        let apart = repeats(&[shifted(1.0), shifted(1.5), shifted(1.0)]);
        assert!(apart.iter().all(|r| r.next == 0.0 && (r.other - 1.0 / 3.0).abs() < 1e-9), "{apart:?}");
        assert!(apart.iter().all(|r| (r.apart - 2.0 / 3.0).abs() < 1e-9), "{apart:?}");
        assert!(repeats(&[]).is_empty() && repeats(&[shifted(1.0)]).is_empty());
    }
}
