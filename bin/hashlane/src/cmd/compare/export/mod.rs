//! Formats of other programs: one file each.

mod bmf;
mod criterion;
mod json;
mod markdown;

use anyhow::Result;
use clap::ValueEnum;
use hashlane_records::compare::{Comparison, Row};
use hashlane_stats::Interval;
pub(super) use markdown::markdown;
use serde_json::{Value, json};

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Export {
    /// Bencher Metric Format: figures of B and B / A with their bounds
    Bmf,
    /// Messages of cargo-criterion 1.1, one JSON object a line
    Criterion,
    /// The comment of --ci
    Markdown,
    /// Everything, in a format of our own
    Json,
}

impl Export {
    /// The comparison of `sides`, the paths of A and B, in this format.
    pub(super) fn text(self, comparison: &Comparison, sides: &[String; 2]) -> Result<String> {
        let pretty = |value: &Value| Ok(serde_json::to_string_pretty(value)? + "\n");
        match self {
            Self::Bmf => pretty(&bmf::bmf(comparison)),
            Self::Criterion => criterion::lines(comparison),
            Self::Markdown => Ok(markdown(comparison, sides, None)),
            Self::Json => pretty(&json::json(comparison, sides)),
        }
    }
}

/// Name of a row where the format has one name for a benchmark.
fn name(row: &Row) -> String {
    format!("{}/{}/{}", row.key.study, row.key.workload, row.key.scheme)
}

/// An interval with the names of the fields for its value and bounds; bounds that cover nothing are left out.
fn interval(of: Interval, [value, low, high]: [&str; 3]) -> Value {
    let mut fields = json!({ value: rounded(of.value) });
    if of.coverage > 0.0 {
        fields[low] = rounded(of.low).into();
        fields[high] = rounded(of.high).into();
    }
    fields
}

/// A figure with seven significant digits, more than any measurement has.
fn rounded(figure: f64) -> f64 {
    format!("{figure:.6e}").parse().unwrap_or(figure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_records::compare::launches::{self, Round};
    use hashlane_records::{Record, RecordSet};

    fn record(scheme: &str, value: f64) -> Record {
        let (probe, metric) = ("throughput", "cycles_throughput");
        Record::new(["flow-hash", "tuples", "random|x", scheme, probe, metric, "cycles"], [value; 3], 6, 6)
    }

    fn set(figures: &[(&str, f64)]) -> RecordSet {
        let mut set = RecordSet::new();
        for (scheme, value) in figures {
            set.insert(record(scheme, *value)).unwrap();
        }
        set
    }

    /// A scheme that takes half as much again, one that takes less, one without a difference, one too noisy,
    /// and one that is new.
    fn comparison(rounds: usize) -> Comparison {
        let round = |at: usize| -> Round {
            let noise = 0.01 * [0.1, -0.2, 0.3, 0.0, -0.1, 0.2, -0.3][at % 7];
            let noisy = if at.is_multiple_of(2) { 1.5 } else { 1.0 };
            let base = |noise: f64, noisy: f64| {
                [("jhash/single", 20.0 + noise), ("crc32c/single", 10.0), ("ahash/single", 8.0 - noise)]
                    .into_iter()
                    .chain([("xxh3/single", 5.0 * noisy)])
                    .collect::<Vec<_>>()
            };
            let mut b = base(noise, noisy);
            b[0].1 *= 1.5;
            b[2].1 *= 0.96;
            b.push(("new/single", 1.0));
            [set(&base(-noise, 1.25)), set(&b), set(&base(noise / 2.0, 2.5 - noisy))]
        };
        launches::compare("flow-hash", &(0..rounds).map(round).collect::<Vec<_>>(), 12.0, 1, |_| true)
    }

    const SIDES: fn() -> [String; 2] = || ["./before".into(), "./after".into()];

    #[test]
    fn bmf_has_the_figures_of_b_and_the_ratio() {
        insta::assert_snapshot!(Export::Bmf.text(&comparison(20), &SIDES()).unwrap());
    }

    #[test]
    fn criterion_has_a_message_for_each_row() {
        let text = Export::Criterion.text(&comparison(20), &SIDES()).unwrap();
        assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn json_has_everything() {
        insta::assert_snapshot!(Export::Json.text(&comparison(20), &SIDES()).unwrap());
    }

    #[test]
    fn markdown_is_a_comment_that_can_be_replaced() {
        insta::assert_snapshot!(markdown(&comparison(20), &SIDES(), Some(0.03)));
        let same = markdown(&comparison(20), &SIDES(), Some(0.6));
        assert!(
            same.starts_with(
                "<!-- hashlane-compare -->\n### hashlane: no regression of 60 % or more seen; 1 of 4 rows \
                 undecided\n"
            ),
            "{same}"
        );
    }

    #[test]
    fn too_few_rounds_have_no_bounds() {
        let text = Export::Bmf.text(&comparison(3), &SIDES()).unwrap();
        let bmf: Value = serde_json::from_str(&text).unwrap();
        let ratio = &bmf["flow-hash/random|x/jhash/single"]["ratio-cycles-throughput"];
        assert!(ratio["value"].is_number() && ratio["lower_value"].is_null(), "{ratio}");
        assert!(markdown(&comparison(3), &SIDES(), Some(0.03)).contains("4 undecided"));
    }
}
