//! Studies of flow meters, as whole processes: ours and other projects'.
//!
//! [`METERS`] runs studies of the model `meter`: captures, memory, a flood, and packets of an interface.
//! [`XDP`] runs the studies of `meter-xdp`: short frames by XDP and by packet sockets. [`usage`] starts a
//! program and measures what it used, for `hashlane lab usage`.
#![forbid(unsafe_code)]

mod captures;
mod counted;
mod interface;
mod live;
mod meters;
mod metric;
mod run;
mod sizes;
mod streams;
mod traffic;
pub mod usage;
mod workloads;
mod xdp;

#[cfg(test)]
mod tests;

use hashlane_lab::study::ProgramStudy;
use hashlane_lab::study_files;

/// Studies of flow meters.
pub const METERS: ProgramStudy = ProgramStudy {
    model: workloads::MODEL,
    // Not in all, as it needs root for a part, and other programs to compare with.
    files: study_files![by_name "flow-meter"],
    starts: &["flow"],
    run: run::run,
};

/// Studies of our meter by XDP.
pub const XDP: ProgramStudy = ProgramStudy {
    model: xdp::MODEL,
    // It needs root.
    files: study_files![by_name "flow-meter-xdp"],
    starts: &["flow"],
    run: xdp::run,
};
