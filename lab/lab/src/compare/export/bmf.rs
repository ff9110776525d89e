//! Bencher Metric Format.
//!
//! Source: <https://bencher.dev/docs/reference/bencher-metric-format>.

use super::{interval, name};
use hashlane_records::compare::Comparison;
use serde_json::{Map, Value};

/// Names of the fields of a metric.
const FIELDS: [&str; 3] = ["value", "lower_value", "upper_value"];

/// For each row, the figure of B under the slug of its metric, and B / A under `ratio-` and that slug.
pub(super) fn value(comparison: &Comparison) -> Value {
    let mut benchmarks = Map::new();
    for row in comparison.rows() {
        // The slug of a measure has hyphens.
        let measure = row.key.metric.replace('_', "-");
        let benchmark = benchmarks.entry(name(row)).or_insert_with(|| Value::Object(Map::new()));
        benchmark[measure.as_str()] = interval(row.b, FIELDS);
        if let Some(ratio) = row.ratio {
            benchmark[format!("ratio-{measure}")] = interval(ratio, FIELDS);
        }
    }
    benchmarks.into()
}
