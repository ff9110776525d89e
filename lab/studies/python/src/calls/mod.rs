//! Study of calls: hashes of columns beside other packages, updates of sketches, and the cost of a call.

pub(crate) mod run;
#[cfg(test)]
mod tests;
pub(crate) mod timed;

use hashlane_lab::study::ProgramStudy;
use hashlane_lab::study_files;

/// Studies of calls from Python.
pub const CALLS: ProgramStudy = ProgramStudy {
    model: run::MODEL,
    // Not in all, as it needs packages of Python.
    files: study_files![by_name "python-calls"],
    starts: &[],
    run: run::run,
};
