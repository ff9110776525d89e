//! Study of a cluster: a sketch of files on one core and on workers of Ray, some of which are killed.

mod answer;
mod driver;
mod keys;
mod killed;
mod role;
mod run;
mod section;
mod workloads;

use hashlane_lab::definition::Definition;
use hashlane_lab::report::{Answer, Section};
use hashlane_lab::study::{RunError, Session, Study, StudyFile};
use hashlane_lab::study_files;
use hashlane_records::RecordSet;

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

    fn answer(&self, definition: &Definition, records: &RecordSet) -> Answer {
        answer::answer(definition, records)
    }

    fn sections(&self, definition: &Definition, records: &RecordSet) -> Vec<Section> {
        section::section(definition, records).into_iter().collect()
    }
}

/// The study that comes with the command.
#[cfg(test)]
fn definition() -> Definition {
    Definition::parse(include_str!("../../python-cluster/study.toml"), "study.toml").unwrap()
}
