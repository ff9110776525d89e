//! Counts of a run in words.

use crate::run::Summary;
use hashlane_stats::format::count;

/// Lines about packets and flows that the records lack; empty if there are none.
pub fn missing(summary: &Summary) -> Vec<String> {
    let total = summary.total();
    let number = |number: u64| count(number as f64);
    let mut lines = Vec::new();
    if total.flows_evicted > 0 {
        let evicted = number(total.flows_evicted);
        lines.push(format!("{evicted} flows ended early as the table was full (--flows)"));
    }
    if total.flows_lost > 0 {
        lines.push(format!("{} flows lost: the outputs were too slow", number(total.flows_lost)));
    }
    let dropped = total.dropped;
    let others = [
        (" lost before the meter", dropped.ring),
        (" left out by sampling", dropped.sampled),
        (" at a full table", dropped.table),
    ];
    let causes = summary.undissected.iter().map(|(cause, count)| (format!(" {cause}"), *count));
    let causes = causes.chain(others.map(|(cause, count)| (cause.to_owned(), count)));
    let parts: Vec<String> =
        causes.filter(|(_, count)| *count > 0).map(|(cause, count)| number(count) + &cause).collect();
    if !parts.is_empty() {
        lines.push(format!("not metered: {}", parts.join(", ")));
    }
    if dropped.fragments > 0 {
        lines.push(format!("{} later fragments without the ports of a first one", number(dropped.fragments)));
    }
    lines
}
