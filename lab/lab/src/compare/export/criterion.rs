//! Messages of cargo-criterion 1.1, as `cargo criterion --message-format=json` prints them.
//!
//! Source: <https://bheisler.github.io/criterion.rs/book/cargo_criterion/external_tools.html>.

use super::{name, rounded};
use hashlane_records::compare::{Comparison, Row, Verdict};
use hashlane_stats::Interval;
use serde_json::{Value, json};

/// A `benchmark-complete` message for each row, one a line. The typical time is the median of B; the change
/// is B / A − 1. Figures without bounds have the estimate for both.
pub fn criterion(comparison: &Comparison) -> String {
    comparison.rows().map(|row| format!("{}\n", message(row))).collect()
}

fn message(row: &Row) -> Value {
    let estimate = |of: Interval, unit: &str| {
        let (low, high) = if of.coverage > 0.0 { (of.low, of.high) } else { (of.value, of.value) };
        json!({
            "estimate": rounded(of.value),
            "lower_bound": rounded(low),
            "upper_bound": rounded(high),
            "unit": unit,
        })
    };
    let time = estimate(row.b, &row.key.unit);
    let mut message = json!({
        "reason": "benchmark-complete",
        "id": format!("{}/{}", name(row), row.key.metric),
        "report_directory": "",
        "iteration_count": [],
        "measured_values": [],
        "unit": row.key.unit,
        "throughput": [],
        "typical": time,
        "mean": time,
        "median": time,
        "median_abs_dev": null,
        "slope": null,
        "change": null,
    });
    if let (Some(ratio), Some(verdict)) = (row.ratio, row.verdict()) {
        let less_1 =
            Interval { value: ratio.value - 1.0, low: ratio.low - 1.0, high: ratio.high - 1.0, ..ratio };
        // A fraction, though cargo-criterion calls its unit per cent.
        let change = estimate(less_1, "%");
        let word = match verdict {
            Verdict::Slower => "Regressed",
            Verdict::Faster => "Improved",
            Verdict::NoDifference { .. } | Verdict::Undecided(_) => "NoChange",
        };
        message["change"] = json!({ "mean": change, "median": change, "change": word });
    }
    message
}
