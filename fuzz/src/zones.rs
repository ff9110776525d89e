//! The lab's reader of zone files, by its file, as the reader of captures.

use ::hashlane_dns::wire::Record;

#[path = "../../crates/lab/src/workload/dns/zone.rs"]
pub mod zone;

/// What the lab counts for a record; the bound on the sum is not what is tested here.
fn record_memory(record: &Record) -> usize {
    size_of_val(record) + record.data.len()
}
