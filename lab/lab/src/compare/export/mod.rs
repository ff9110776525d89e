//! Comparisons in formats of other programs: one file each.

mod bmf;
mod criterion;
mod json;
pub(crate) mod markdown;

pub use criterion::criterion;
use hashlane_records::compare::{Comparison, Row};
use hashlane_stats::Interval;
pub use markdown::markdown;
use serde_json::{Value, json};

/// Bencher Metric Format: figures of B and B / A with their bounds.
pub fn bmf(comparison: &Comparison) -> String {
    format!("{:#}\n", bmf::value(comparison))
}

/// Everything as JSON, in a format of our own; `sides` are the paths of A and B.
pub fn json(comparison: &Comparison, sides: &[String; 2]) -> String {
    format!("{:#}\n", json::value(comparison, sides))
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
    use super::super::sample::comparison;
    use super::*;

    const SIDES: fn() -> [String; 2] = || ["./before".into(), "./after".into()];

    #[test]
    fn bmf_has_the_figures_of_b_and_the_ratio() {
        insta::assert_snapshot!(bmf(&comparison(20)));
    }

    #[test]
    fn criterion_has_a_message_for_each_row() {
        let text = criterion(&comparison(20));
        assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn json_has_everything() {
        insta::assert_snapshot!(json(&comparison(20), &SIDES()));
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
        let text = bmf(&comparison(3));
        let found: Value = serde_json::from_str(&text).unwrap();
        let ratio = &found["flow-hash/random|x/jhash/single"]["ratio-cycles-throughput"];
        assert!(ratio["value"].is_number() && ratio["lower_value"].is_null(), "{ratio}");
        assert!(markdown(&comparison(3), &SIDES(), Some(0.03)).contains("4 undecided"));
    }
}
