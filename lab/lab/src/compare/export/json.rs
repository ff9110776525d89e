//! Everything as JSON, in a format of our own.

use super::interval;
use hashlane_records::Key;
use hashlane_records::compare::{Comparison, Row, Study, Verdict};
use serde_json::{Value, json};

/// Number of the format: it grows when a field changes its meaning or goes.
const VERSION: u32 = 1;

const FIELDS: [&str; 3] = ["value", "low", "high"];

pub(super) fn value(comparison: &Comparison, [a, b]: &[String; 2]) -> Value {
    let keys = |keys: &[Key]| keys.iter().map(subject).collect::<Vec<_>>();
    json!({
        "format": "hashlane-compare",
        "version": VERSION,
        "a": a,
        "b": b,
        "studies": comparison.studies.iter().map(study).collect::<Vec<_>>(),
        "only_a": keys(&comparison.only_a),
        "only_b": keys(&comparison.only_b),
    })
}

fn study(study: &Study) -> Value {
    json!({
        "study": study.slug,
        "rounds": study.launches.map(|launches| launches.rounds),
        "seconds": study.launches.map(|launches| launches.seconds),
        "geometric_mean": study.mean.map(|mean| interval(mean, FIELDS)),
        "control_geometric_mean":
            study.launches.and_then(|launches| launches.control).map(|mean| interval(mean, FIELDS)),
        "rows": study.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn row(row: &Row) -> Value {
    let mut fields = subject(&row.key);
    fields["unit"] = row.key.unit.as_str().into();
    fields["a"] = interval(row.a, FIELDS);
    fields["b"] = interval(row.b, FIELDS);
    fields["ratio"] = row.ratio.map(|ratio| interval(ratio, FIELDS)).into();
    if let Some(judged) = row.judged {
        fields["control"] = judged.control.map(|control| interval(control, FIELDS)).into();
        let (verdict, smallest, reason) = match judged.verdict {
            Verdict::Slower => ("slower", None, None),
            Verdict::Faster => ("faster", None, None),
            Verdict::NoDifference { smallest } => ("no-difference", Some(smallest), None),
            Verdict::Undecided(doubt) => ("undecided", None, Some(doubt.to_string())),
        };
        fields["verdict"] = verdict.into();
        fields["smallest_visible"] = smallest.into();
        fields["reason"] = reason.into();
    }
    fields
}

fn subject(key: &Key) -> Value {
    json!({ "study": key.study, "workload": key.workload, "scheme": key.scheme, "metric": key.metric })
}
