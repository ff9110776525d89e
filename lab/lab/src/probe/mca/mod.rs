//! Simulation of a timed function by llvm-mca. The machine code is taken out of the running program.
//!
//! [`Function`] finds the code, [`Tool`] the llvm-mca on PATH that reads it, and [`records`] makes facts of a
//! [`Reading`]. The method comes from q2ven/inet6_ehashfn, which hands its compiler's assembly to
//! `llvm-mca --march x86-64 --mcpu=skylake --iterations=1`; here it is the code that the other probes time.
//!
//! llvm-mca walks the instructions from the first to the last, once: it takes no jump and makes no call. So a
//! loop counts one round of its body, and both arms of a branch count. [`Function::loops`] and
//! [`Function::calls`] show if a function is more than straight code.
//!
//! # The cold call
//! The source's functions draw their secrets at first use. Its compiler lays that arm, with a call of `rand`
//! for each of two secrets, after the return, and it runs once in the life of the program; llvm-mca walks
//! straight on into it, and counts a call as 100 cycles, its default. About 100 cycles of each published
//! figure come from it. [`Calls::Cold`] puts the two calls after the function and so reproduces the published
//! figures; [`Calls::None`] simulates the function alone.

mod calls;

mod function;
mod reading;
mod tool;
mod tool_error;

pub use calls::Calls;
pub use function::{Function, FunctionError};
pub use reading::{Reading, ReadingError};
pub use tool::Tool;
pub use tool_error::ToolError;

use hashlane_records::Record;

/// Model and probe of the records.
pub const PROBE: &str = "mca";

/// The records of one reading, of the model and the probe `mca`.
pub fn records(study: &str, workload: &str, scheme: &str, reading: &Reading) -> Vec<Record> {
    let facts = [
        ("instructions", "instructions", reading.instructions as f64),
        ("total_cycles", "cycles", reading.total_cycles as f64),
        ("total_uops", "uops", reading.total_uops as f64),
        ("dispatch_width", "uops", reading.dispatch_width as f64),
        ("uops_per_cycle", "uops", reading.uops_per_cycle),
        ("ipc", "instructions", reading.ipc),
    ];
    let record = |(metric, unit, value)| {
        Record::new([study, PROBE, workload, scheme, PROBE, metric, unit], [value; 3], 1, 1)
    };
    facts.into_iter().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_records::RecordSet;

    #[test]
    fn records_every_figure_once_and_exactly() {
        let reading = Reading {
            instructions: 104,
            total_cycles: 155,
            total_uops: 132,
            dispatch_width: 6,
            uops_per_cycle: 0.85,
            ipc: 0.67,
        };
        let mut set = RecordSet::new();
        for calls in [Calls::None, Calls::Cold] {
            for record in records("flow-hash", &calls.workload("skylake"), "base", &reading) {
                assert_eq!((record.low, record.high, record.samples), (record.value, record.value, 1));
                set.insert(record).unwrap();
            }
        }
        assert_eq!(set.len(), 12);
        assert_eq!(set.workloads("flow-hash"), ["mca/skylake", "mca/skylake/cold-call"]);
        let value = |metric| set.metric("flow-hash", "mca/skylake", "base", metric).unwrap().value;
        assert_eq!(value("total_cycles"), 155.0);
        assert_eq!(value("ipc"), 0.67);
    }
}
