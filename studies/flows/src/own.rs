//! The user's capture in records: the number of its flows and packets.

use crate::capture::Capture;
use crate::metric;
use crate::words::many;
use hashlane_lab::definition::Definition;
use hashlane_lab::record::RecordSet;
use hashlane_lab::study::{Fact, Session};
use std::fmt;

/// Model of the counts.
const MODEL: &str = "capture";

/// Adds the counts of the capture.
pub(crate) fn add_counts(session: &mut Session<'_>, label: &str, capture: &Capture) {
    let counts = [(metric::FLOWS, capture.tuples.len()), (metric::PACKETS, capture.packets.len())];
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
}

impl<'a> Traffic<'a> {
    /// The capture of a run on the user's data alone; `None` if the study's own workloads were measured.
    pub(crate) fn of(definition: &Definition, records: &'a RecordSet) -> Option<Self> {
        if !definition.is_on_own_data(records) {
            return None;
        }
        let counted = records.iter().find(|r| r.study == definition.slug && r.model == MODEL)?;
        let label = counted.workload.as_str();
        let count = |metric| records.metric(&definition.slug, label, MODEL, metric).map(|r| r.value);
        Some(Self { label, flows: count(metric::FLOWS)?, packets: count(metric::PACKETS)? })
    }
}

/// `3,214 flows in 1.2 M packets`
impl fmt::Display for Traffic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: f64| if count == 1.0 { "" } else { "s" };
        let Self { flows, packets, .. } = *self;
        write!(f, "{} flow{} in ", many(flows), plural(flows))?;
        write!(f, "{} packet{}", many(packets), plural(packets))
    }
}
