//! Two sets of records, side by side.

use std::collections::BTreeMap;

use crate::record::{Key, RecordSet};
use crate::report::terminal::{table, wrapped};
use crate::report::{figure, interval, plain, ratio};
use crate::stats::{Interval, Verdict, ratio::independent};

/// A fact that both sets have.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is about.
    pub key: Key,
    /// The figure in the first set.
    pub a: Interval,
    /// The figure in the second set.
    pub b: Interval,
    /// The second figure over the first; absent unless all figures are above 0.
    pub ratio: Option<Interval>,
    /// What the ratio's interval says; absent without a ratio, and where both figures are exact.
    pub verdict: Option<Verdict>,
}

/// Two sets of records, A and B, fact by fact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// What both have, in the order of A.
    pub rows: Vec<Row>,
    /// What only A has.
    pub only_a: Vec<Key>,
    /// What only B has.
    pub only_b: Vec<Key>,
}

/// Lists of what one side lacks end after so many lines.
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
        let ratio = independent(b, a);
        let exact = |i: Interval| i.low == i.high;
        let verdict = ratio.filter(|_| !(exact(a) && exact(b))).and_then(|ratio| ratio.verdict());
        comparison.rows.push(Row { key, a, b, ratio, verdict });
    }
    comparison.only_b = b.iter().map(|r| r.key()).filter(|key| a.find(key).is_none()).collect();
    comparison
}

impl Comparison {
    /// Tables of one `metric`, one for each study and workload, at most `width` columns wide as far as the ids of the schemes
    /// allow; then what one side lacks, and how far the ratios can be trusted.
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
                    row.ratio.map_or_else(dash, |r| format!("{} {}", ratio(r.value), interval(r, ratio))),
                    row.verdict.map_or_else(dash, |verdict| said(verdict).to_owned()),
                    row.verdict.and_then(could_have_seen).unwrap_or_default(),
                ]
            };
            out += &table(
                &["scheme", "A", "B", "B / A", "B is", "could see"],
                rows.iter().map(line).collect(),
                1,
                width,
            );
            out.push('\n');
        }
        if groups.is_empty() {
            out += &format!("The two have no {} in common.\n\n", plain(metric));
        }
        out += &summary(groups.values().flatten().copied());
        out += &wrapped(
            "B / A has its 95 % bounds beside it. Where no difference was seen, the last column says which one could have been.",
            "",
            width,
        );
        out += &lacking("only in A", &self.only_a, metric);
        out += &lacking("only in B", &self.only_b, metric);
        out += &wrapped(
            "The two runs were not alternated: whatever changed on the machine between them is inside B / A, and not in its \
             interval. The ratios within a run (metric ratio) do not have that fault.",
            "",
            width,
        );
        out
    }
}

/// How many rows say what.
fn summary<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let (mut faster, mut slower, mut same, mut silent) = (0, 0, 0, 0);
    for row in rows {
        match row.verdict {
            Some(Verdict::Faster) => faster += 1,
            Some(Verdict::Slower) => slower += 1,
            Some(Verdict::NoDifferenceSeen { .. }) => same += 1,
            None => silent += 1,
        }
    }
    format!(
        "B is faster in {faster}, slower in {slower}; no difference seen in {same}; no verdict on {silent}.\n"
    )
}

/// What one side lacks of a metric.
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

/// A verdict on the ratio of a run to an earlier one.
fn said(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::NoDifferenceSeen { .. } => "no difference seen",
    }
}

/// What difference could have been seen where none was.
fn could_have_seen(verdict: Verdict) -> Option<String> {
    match verdict {
        Verdict::NoDifferenceSeen { could_have_seen } => Some(percent(could_have_seen)),
        Verdict::Faster | Verdict::Slower => None,
    }
}

/// A share as a percentage: 0.042 is `4.2 %`.
fn percent(share: f64) -> String {
    let percentage = share * 100.0;
    if percentage < 9.95 { format!("{percentage:.1} %") } else { format!("{percentage:.0} %") }
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
            if record.scheme == "ccnx/one-by-one/crc32c" {
                for figure in [&mut record.value, &mut record.low, &mut record.high] {
                    *figure *= 0.8;
                }
            }
            if record.scheme == "ndn/walk" {
                record.scheme = "\x1bndn/run".into();
            }
            b.insert(record).unwrap();
        }
        (a, b)
    }

    #[test]
    fn prints_ratios_verdicts_and_what_is_missing() {
        let (a, b) = two();
        insta::assert_snapshot!(compare(&a, &b).text("cycles_mean", 100));
    }

    #[test]
    fn compares_ratios_by_both_schemes() {
        let (a, b) = two();
        let printed = compare(&a, &b).text("ratio", 160);
        assert!(printed.contains("ndn/one-by-one/crc32c / ccnx/one-by-one/crc32c"), "{printed}");
        assert!(!printed.contains('\x1b'));
    }

    #[test]
    fn finds_no_difference_between_a_set_and_itself() {
        let (a, _) = two();
        let comparison = compare(&a, &a);
        assert_eq!(comparison.rows.len(), a.len());
        assert!(comparison.only_a.is_empty() && comparison.only_b.is_empty());
        for row in comparison.rows {
            let exact = row.a.low == row.a.high;
            match row.verdict {
                None => assert!(exact),
                Some(verdict) => assert!(!exact && matches!(verdict, Verdict::NoDifferenceSeen { .. })),
            }
        }
    }

    #[test]
    fn shows_shares_as_percentages() {
        assert_eq!([0.042, 0.0996, 0.25].map(percent), ["4.2 %", "10 %", "25 %"]);
    }

    #[test]
    fn ends_long_lists() {
        let key = two().0.iter().next().unwrap().key();
        let listed = lacking("only in A", &vec![key; MAX_LISTED + 3], "cycles_mean");
        assert_eq!(listed.lines().count(), 1 + MAX_LISTED + 1);
        assert!(listed.ends_with("and 3 more\n"), "{listed}");
    }

    #[test]
    fn says_that_nothing_is_in_common() {
        let (a, _) = two();
        let printed = compare(&a, &RecordSet::new()).text("cycles_mean", 100);
        assert!(printed.starts_with("The two have no cycles_mean in common."), "{printed}");
        assert!(printed.contains("only in A: 16") && !printed.contains("more"), "{printed}");
    }
}
