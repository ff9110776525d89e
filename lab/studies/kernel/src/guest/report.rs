//! Tasks of the first process, its results, and its reports to the host.

use crate::line::Line;
use hashlane_study_flows::hostile::Attack;
use std::fmt;
use std::io::{self, Write};

/// Measurements to make.
#[derive(Clone, Debug)]
pub struct Tasks {
    /// Bytes of a message, for each measurement of throughput.
    pub sizes: Vec<u32>,
    /// Streams side by side.
    pub streams: u32,
    /// Slices of time of a measurement, and milliseconds of each.
    pub slices: u32,
    /// Milliseconds of a slice.
    pub slice: u32,
    /// The sets of hostile SYNs.
    pub attacks: Vec<Attack>,
    /// Numbers of hostile SYNs sent before each measurement of one.
    pub before: Vec<u32>,
    /// The seed of the sets.
    pub seed: u64,
}

/// Result whose error says for which reason the process cannot go on.
pub(super) type Result<T> = std::result::Result<T, String>;

/// Reports a line to the host.
pub(super) fn report(line: &Line) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{}", line.print()).and_then(|()| out.flush());
}

/// "cannot WHAT: ERROR".
pub(super) fn cannot<E: fmt::Display>(what: &str) -> impl Fn(E) -> String {
    move |error| format!("cannot {what}: {error}")
}
