//! Study of calls: hashes of columns beside other packages, updates of sketches, and the cost of a call.

mod answer;
mod run;
mod section;
mod subject;

use hashlane_lab::definition::Definition;
use hashlane_lab::report::{Answer, Section};
use hashlane_lab::study::{RunError, Session, Study, StudyFile};
use hashlane_lab::study_files;
use hashlane_records::RecordSet;

/// Studies of calls from Python.
#[derive(Clone, Copy, Debug)]
pub struct Calls;

impl Study for Calls {
    fn model(&self) -> &'static str {
        run::MODEL
    }

    fn files(&self) -> &'static [StudyFile] {
        // Not in all, as it needs packages of Python.
        study_files![by_name "python-calls"]
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
    Definition::parse(include_str!("../../python-calls/study.toml"), "study.toml").unwrap()
}
