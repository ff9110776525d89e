//! The user's capture in records: the number of its flows and packets.

use crate::capture::Capture;
use crate::metric;
use hashlane_lab::definition::Definition;
use hashlane_lab::layout::{Value, Values};
use hashlane_lab::study::{Fact, Session};
use hashlane_records::RecordSet;
use hashlane_stats::format::{count, significant};
use std::fmt;

/// Model of the counts.
const MODEL: &str = "capture";

/// Adds the counts of the capture.
pub(crate) fn add_counts(session: &mut Session<'_>, label: &str, capture: &Capture) {
    let counts = [
        (metric::FLOWS, capture.tuples.len()),
        (metric::PACKETS, capture.packets.len()),
        (metric::COMPLETE, usize::from(!capture.full && capture.broken.is_none())),
    ];
    for (metric, count) in counts {
        session.add(MODEL, label, MODEL, "count", metric, metric, Fact::exact(count as f64, 1));
    }
}

/// Traffic of a capture, as the records state it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Traffic<'a> {
    /// Label of the capture, with which the names of its workloads begin or end.
    label: &'a str,
    /// Distinct tuples: a connection captured in both directions counts twice.
    flows: f64,
    /// Packets that have a tuple.
    packets: f64,
    /// `true` if the capture was read to its end.
    complete: bool,
}

impl<'a> Traffic<'a> {
    /// The capture of a run with the user's data; `None` of a run without.
    fn of(definition: &Definition, records: &'a RecordSet) -> Option<Self> {
        let counted = records.iter().find(|r| r.study == definition.slug && r.model == MODEL)?;
        let label = counted.workload.as_str();
        let count = |metric| records.metric(&definition.slug, label, MODEL, metric).map(|r| r.value);
        let complete = count(metric::COMPLETE)? == 1.0;
        Some(Self { label, flows: count(metric::FLOWS)?, packets: count(metric::PACKETS)?, complete })
    }
}

/// `3,214 flows in 1.2 M packets`; `in the first 1.05 M packets` of a capture that was not read to its end.
impl fmt::Display for Traffic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: f64| if count == 1.0 { "" } else { "s" };
        let Self { flows, packets, complete, .. } = *self;
        let first = if complete { "" } else { "the first " };
        write!(f, "{} flow{} in {first}", many(flows), plural(flows))?;
        write!(f, "{} packet{}", many(packets), plural(packets))
    }
}

/// Values of a run with the user's data, for the templates of study files: the label of the `capture`, and
/// its `traffic` in words.
pub(crate) fn values(definition: &Definition, records: &RecordSet) -> Values {
    let traffic = Traffic::of(definition, records);
    Values::from([
        ("capture", Value::from(traffic.map(|traffic| traffic.label))),
        ("traffic", Value::from(traffic.map(|traffic| traffic.to_string()))),
    ])
}

/// A count for people: `3,214`, `1.2 M`.
fn many(value: f64) -> String {
    if value < 1e6 {
        return count(value);
    }
    let millions = significant(value / 1e6);
    let short = if millions.contains('.') { millions.trim_end_matches('0') } else { &millions };
    format!("{} M", short.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn millions_have_three_significant_digits() {
        let words = ["1", "3,214", "1 M", "1.2 M", "200 M"];
        assert_eq!([1.0, 3214.0, 1_000_000.0, 1_203_567.0, 2e8].map(many), words);
    }

    #[test]
    fn counts_are_of_the_users_capture() {
        let (definitions, records) = (sample::definitions(), sample::own_records());
        for definition in &definitions {
            let traffic = Traffic::of(definition, &records).unwrap();
            assert_eq!(traffic.to_string(), "3,214 flows in 1.2 M packets");
            let one = Traffic { flows: 1.0, packets: 1.0, complete: false, ..traffic };
            assert_eq!(one.to_string(), "1 flow in the first 1 packet");
        }
        assert_eq!(Traffic::of(&definitions[0], &sample::records()), None);
    }
}
