//! Study of calls: hashes of columns beside other packages, updates of sketches, and the cost of a call.

mod run;
mod subject;
#[cfg(test)]
mod tests;

use hashlane_lab::study::{RunError, Session, Study, StudyFile};
use hashlane_lab::study_files;

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
}

/// The study that comes with the command.
#[cfg(test)]
fn definition() -> hashlane_lab::definition::Definition {
    hashlane_lab::study::Studies(&[&Calls])
        .parse(include_str!("../../python-calls/study.toml"), "study.toml")
        .unwrap()
}
