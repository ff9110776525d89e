//! Study of columns: hashes, sketches and captures beside the engines that analysts use.

mod data;
mod run;
#[cfg(test)]
mod tests;

use hashlane_lab::study::ProgramStudy;
use hashlane_lab::study_files;

/// Studies of columns in Python.
pub const COLUMNS: ProgramStudy = ProgramStudy {
    model: run::MODEL,
    // Not in all, as it needs packages of Python.
    files: study_files![by_name "python-columns"],
    starts: &[],
    run: run::run,
};
