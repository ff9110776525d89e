//! Study of a cluster: a sketch of files on one core and on workers of Ray; some workers are killed.

mod driver;
mod keys;
mod killed;
mod role;
mod run;
#[cfg(test)]
mod tests;
mod workloads;

use hashlane_lab::study::{RunError, Session, Study, StudyFile};
use hashlane_lab::study_files;

/// Studies of sketches on a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Cluster;

impl Study for Cluster {
    fn model(&self) -> &'static str {
        workloads::MODEL
    }

    fn files(&self) -> &'static [StudyFile] {
        // Not in all, as it needs packages of Python.
        study_files![by_name "python-cluster"]
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run::run(session)
    }
}
