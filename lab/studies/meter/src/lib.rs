//! Studies of flow meters, as whole processes: ours and other projects'.
//!
//! [`Meters`] runs studies of the model `meter`: captures, memory, a flood, and packets of an interface.
//! [`usage`] starts a program and measures what it used, for `hashlane lab usage`.
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

#[cfg(test)]
mod tests;

use hashlane_lab::study::{RunError, Session, Study, StudyFile};
use hashlane_lab::study_files;

/// Studies of flow meters.
#[derive(Clone, Copy, Debug)]
pub struct Meters;

impl Study for Meters {
    fn model(&self) -> &'static str {
        workloads::MODEL
    }

    fn files(&self) -> &'static [StudyFile] {
        // Not in all, as it needs root for a part, and other programs to compare with.
        study_files![by_name "flow-meter"]
    }

    fn starts(&self) -> &'static [&'static str] {
        &["flow"]
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run::run(session)
    }
}
