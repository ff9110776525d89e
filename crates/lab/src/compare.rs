//! Comparison of two sets of records.

use std::collections::BTreeMap;

use crate::record::{Key, RecordSet};
use crate::report::format::{figure, interval, plain, ratio};
use crate::report::terminal::{table, wrapped};
use crate::stats::{Interval, median, ratio::independent};

/// A fact that both sets have.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Subject of the fact.
    pub key: Key,
    /// The figure in the first set.
    pub a: Interval,
    /// The figure in the second set.
    pub b: Interval,
    /// The second figure over the first; absent unless all figures are above 0. The bounds cover the noise
    /// within both runs, not the differences between runs, so they decide nothing.
    pub ratio: Option<Interval>,
}

/// Two sets of records, A and B, fact by fact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Keys present in both, in the order of A.
    pub rows: Vec<Row>,
    /// Keys only in A.
    pub only_a: Vec<Key>,
    /// Keys only in B.
    pub only_b: Vec<Key>,
}

/// Longest list of keys that one side lacks.
const MAX_LISTED: usize = 20;

/// Compares `b` with `a`.
pub fn compare(a: &RecordSet, b: &RecordSet) -> Comparison {
    let mut comparison = Comparison::default();
    for record in a.iter() {
        let key = record.key();
        let Some(other) = b.find(&key) else {
            comparison.only_a.push(key);
            continue;
        };
        let (a, b) = (record.interval(), other.interval());
        comparison.rows.push(Row { key, a, b, ratio: independent(b, a) });
    }
    comparison.only_b = b.iter().map(|r| r.key()).filter(|key| a.find(key).is_none()).collect();
    comparison
}

impl Comparison {
    /// Tables of one `metric`, one for each study and workload, at most `width` columns wide as far as the
    /// ids of the schemes allow; then the range of the ratios, why there is no verdict on them, and the rows
    /// that one side lacks.
    pub fn text(&self, metric: &str, width: u16) -> String {
        let mut groups: BTreeMap<(&str, &str), Vec<&Row>> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.key.metric == metric) {
            groups.entry((&row.key.study, &row.key.workload)).or_default().push(row);
        }
        let mut out = String::new();
        for ((study, workload), rows) in &groups {
            let units: Vec<&str> = rows.iter().map(|row| row.key.unit.as_str()).collect();
            // A ratio's unit is a scheme, which may differ from row to row.
            let same = units.windows(2).all(|pair| pair.first() == pair.last());
            let unit = units.first().filter(|_| same).map(|unit| format!(", {unit}")).unwrap_or_default();
            let title = format!("{study} · {workload} · {metric}{unit}");
            out += &wrapped(&plain(&title), "", width);
            let line = |row: &&Row| {
                let show = if metric == crate::record::metric::RATIO { ratio } else { figure };
                let scheme = if same {
                    row.key.scheme.clone()
                } else {
                    format!("{} / {}", row.key.scheme, row.key.unit)
                };
                vec![
                    scheme,
                    show(row.a.value),
                    show(row.b.value),
                    row.ratio.map_or_else(dash, |r| ratio(r.value)),
                    row.ratio.map_or_else(dash, |r| interval(r, ratio)),
                ]
            };
            let header = ["scheme", "A", "B", "B / A", "noise within runs"];
            out += &table(&header, rows.iter().map(line).collect(), 1, width);
            out.push('\n');
        }
        if groups.is_empty() {
            out += &format!("A and B have no {} in common.\n\n", plain(metric));
        }
        out += &range(groups.values().flatten().copied());
        out += &wrapped(NO_VERDICT, "", width);
        out += &lacking("only in A", &self.only_a, metric);
        out += &lacking("only in B", &self.only_b, metric);
        out
    }
}

/// Reason why ratios of two runs decide nothing. The figures are of six runs of name-encodings by one build,
/// compared in pairs.
const NO_VERDICT: &str = "No verdict: A and B are separate runs. Clock rates, the layout of memory and neighbours on \
    the machine differ between runs, and the bounds at 95 % hold the noise within a run only: between six runs of \
    one build, 92 to 140 of 329 of them did not contain 1. Ratios of schemes within a run (--metric ratio) do not \
    have that fault.";

/// Median and range of the ratios.
fn range<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let ratios: Vec<f64> = rows.filter_map(|row| row.ratio).map(|of| of.value).collect();
    let (low, high) = (ratios.iter().copied().reduce(f64::min), ratios.iter().copied().reduce(f64::max));
    match (median(&ratios), low, high) {
        (Some(middle), Some(low), Some(high)) => {
            let [middle, low, high] = [middle, low, high].map(ratio);
            format!("B / A: median {middle}, from {low} to {high}, in {} rows.\n", ratios.len())
        }
        _ => String::new(),
    }
}

/// Rows of a metric that one side lacks.
fn lacking(title: &str, keys: &[Key], metric: &str) -> String {
    let keys: Vec<&Key> = keys.iter().filter(|key| key.metric == metric).collect();
    if keys.is_empty() {
        return String::new();
    }
    let mut out = format!("{title}: {}\n", keys.len());
    for key in keys.iter().take(MAX_LISTED) {
        let Key { study, workload, scheme, unit, probe, .. } = key;
        out += &plain(&format!("  {study} · {workload} · {scheme} · {unit} · {probe}"));
        out.push('\n');
    }
    if let Some(more) = keys.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        out += &format!("  and {more} more\n");
    }
    out
}

fn dash() -> String {
    "—".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;
    use crate::report::sample;

    /// B: the first scheme faster by a fifth, the second as before, the third unknown to A.
    fn two() -> (RecordSet, RecordSet) {
        let definition = sample::definition();
        let a = sample::records(&definition, &[]);
        let mut b = RecordSet::new();
        for record in a.iter() {
            let mut record: Record = record.clone();
            if record.scheme == "quux/by-element/summed" {
                for figure in [&mut record.value, &mut record.low, &mut record.high] {
                    *figure *= 0.8;
                }
            }
            if record.scheme == "foo/idle" {
                record.scheme = "\x1bfoo/run".into();
            }
            b.insert(record).unwrap();
        }
        (a, b)
    }

    #[test]
    fn prints_ratios_and_missing_rows() {
        let (a, b) = two();
        insta::assert_snapshot!(compare(&a, &b).text("cycles_mean", 100));
    }

    #[test]
    fn compares_ratios_by_both_schemes() {
        let (a, b) = two();
        let printed = compare(&a, &b).text("ratio", 160);
        assert!(printed.contains("foo/by-element/summed / quux/by-element/summed"), "{printed}");
        assert!(!printed.contains('\x1b'));
    }

    #[test]
    fn gives_no_verdict_on_separate_runs_however_far_apart() {
        let (a, mut b) = (two().0, RecordSet::new());
        for record in a.iter() {
            let mut record = record.clone();
            for figure in [&mut record.value, &mut record.low, &mut record.high] {
                *figure *= 0.5;
            }
            b.insert(record).unwrap();
        }
        let printed = compare(&a, &b).text("cycles_mean", 100);
        for verdict in ["faster", "slower", "difference"] {
            assert!(!printed.contains(verdict), "{printed}");
        }
        assert!(printed.contains("B / A: median 0.500, from 0.500 to 0.500, in 16 rows."), "{printed}");
        assert!(printed.contains("No verdict: A and B are separate runs."), "{printed}");
    }

    #[test]
    fn a_set_beside_itself_has_ratios_of_one() {
        let (a, _) = two();
        let comparison = compare(&a, &a);
        assert_eq!(comparison.rows.len(), a.len());
        assert!(comparison.only_a.is_empty() && comparison.only_b.is_empty());
        assert!(comparison.rows.iter().all(|row| row.ratio.is_some_and(|ratio| ratio.value == 1.0)));
    }

    #[test]
    fn ends_long_lists() {
        let key = two().0.iter().next().unwrap().key();
        let listed = lacking("only in A", &vec![key; MAX_LISTED + 3], "cycles_mean");
        assert_eq!(listed.lines().count(), 1 + MAX_LISTED + 1);
        assert!(listed.ends_with("and 3 more\n"), "{listed}");
    }

    #[test]
    fn reports_disjoint_sets() {
        let (a, _) = two();
        let printed = compare(&a, &RecordSet::new()).text("cycles_mean", 100);
        assert!(printed.starts_with("A and B have no cycles_mean in common."), "{printed}");
        assert!(printed.contains("only in A: 16") && !printed.contains("more"), "{printed}");
    }
}
