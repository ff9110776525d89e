//! The user's capture in records: the number of its flows and packets.

use crate::capture::Capture;
use crate::metric;
use crate::words::many;
use hashlane_lab::definition::Definition;
use hashlane_lab::study::{Fact, Session};
use hashlane_records::RecordSet;
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
pub(crate) struct Traffic<'a> {
    /// Label of the capture, with which the names of its workloads begin or end.
    pub(crate) label: &'a str,
    /// Distinct tuples: a connection captured in both directions counts twice.
    pub(crate) flows: f64,
    /// Packets that have a tuple.
    pub(crate) packets: f64,
    /// `true` if the capture was read to its end.
    pub(crate) complete: bool,
}

impl<'a> Traffic<'a> {
    /// The capture of a run with the user's data; `None` of a run without.
    pub(crate) fn of(definition: &Definition, records: &'a RecordSet) -> Option<Self> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

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
