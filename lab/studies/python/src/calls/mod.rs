//! Study of calls: hashes of columns beside other packages, updates of sketches, and the cost of a call.

mod run;
#[cfg(test)]
mod tests;
mod timed;

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
