//! Studies of NDN: forwarders in processes of their own, and indexes of the pending Interest table.
//!
//! - [`Forwarders`], model `forwarder`: CPU time per exchange under load, ours and other projects'.
//! - [`Pit`], model `pit`: the indexes by name, digest and token.
#![forbid(unsafe_code)]

mod forwarder;
pub mod load;
mod metric;
pub mod model;
mod pit;
mod under_load;

use hashlane_lab::study::{RunError, Session, Study, StudyFile};
use hashlane_lab::study_files;

/// Studies of forwarders under load.
#[derive(Clone, Copy, Debug)]
pub struct Forwarders;

/// Studies of indexes of the pending Interest table.
#[derive(Clone, Copy, Debug)]
pub struct Pit;

impl Study for Forwarders {
    fn model(&self) -> &'static str {
        forwarder::MODEL
    }

    fn files(&self) -> &'static [StudyFile] {
        study_files!["ndn-forwarder"]
    }

    fn starts(&self) -> &'static [&'static str] {
        &["ndn"]
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        forwarder::run(session)
    }
}

impl Study for Pit {
    fn model(&self) -> &'static str {
        pit::MODEL
    }

    fn files(&self) -> &'static [StudyFile] {
        study_files!["pit-index"]
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        pit::run(session)
    }
}
