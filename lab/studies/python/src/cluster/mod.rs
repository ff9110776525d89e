//! Study of a cluster: a sketch of files on one core and on workers of Ray; some workers are killed.

mod driver;
mod keys;
mod killed;
mod role;
mod run;
#[cfg(test)]
mod tests;
mod workloads;

use hashlane_lab::study::ProgramStudy;
use hashlane_lab::study_files;

/// Studies of sketches on a cluster.
pub const CLUSTER: ProgramStudy = ProgramStudy {
    model: workloads::MODEL,
    // Not in all, as it needs packages of Python.
    files: study_files![by_name "python-cluster"],
    starts: &[],
    run: run::run,
};
