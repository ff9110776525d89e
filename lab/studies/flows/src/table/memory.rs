//! Memory that tables of flows take.

use hashlane_flow::tuple::Tuple;
use hashlane_lab::run::machine;

/// Most bytes that a flow takes in a table: its entry and the wheel's, in a table that has just doubled.
const PER_FLOW: u64 = 120;

/// Most bytes that the tables of one size may take in a quick run, by that estimate. Schemes that are
/// compared are timed in alternation, so all their tables are in memory at once: 7.5 GB for 16 Mi flows in
/// five tables, the control among them.
pub(super) const QUICK: u64 = 4 << 30;

/// Memory of so many tables and of the tuples that are looked up in them.
pub(super) fn needed(flows: usize, tables: usize) -> u64 {
    flows as u64 * (tables as u64 * PER_FLOW + 2 * size_of::<Tuple>() as u64)
}

/// Note for tables of so many flows that they would not fit into the free memory, or exceed the limit of a
/// quick run; `None` if they fit.
pub(super) fn too_large(flows: usize, tables: usize, full: bool) -> Option<String> {
    let needed = needed(flows, tables);
    let gib = |bytes: u64| bytes as f64 / (1u64 << 30) as f64;
    let reason = match machine::available_memory() {
        Some(free) if needed > free => format!(
            "and {:.1} GiB are free; a study file of your own may name fewer schemes or flows",
            gib(free)
        ),
        _ if !full && needed > QUICK => {
            format!("a quick run takes at most {:.1} GiB; measure them with --full", gib(QUICK))
        }
        _ => return None,
    };
    let needed = gib(needed);
    Some(format!(
        "{flows} flows in {tables} tables were not measured: they take up to {needed:.1} GiB, {reason}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_the_memory_of_a_size() {
        for full in [false, true] {
            let note = too_large(64 << 20, 100_000, full).unwrap_or_default();
            assert!(
                note.contains("67108864 flows in 100000 tables") && note.contains("GiB are free"),
                "{note}"
            );
            assert_eq!(too_large(64, 1, full), None);
        }
    }

    /// The tables of the study's own file: 15 of up to 1 Mi flows are measured by every run, 5 of 16 Mi by a
    /// full one.
    #[test]
    fn a_quick_run_leaves_out_tables_of_gigabytes() {
        let note = too_large(16 << 20, 5, false).unwrap_or_default();
        assert!(note.contains("16777216 flows in 5 tables were not measured"), "{note}");
        let quick = 15 * PER_FLOW * (1 << 20);
        assert!(quick < QUICK, "{quick}");
    }
}
