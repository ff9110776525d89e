//! Studies of DNS messages: compression of names by renderers.
//!
//! [`Renderers`] runs studies of the model `render`: each scheme renders the same messages, which are read
//! back and compared before anything is timed.
#![forbid(unsafe_code)]

mod driver;
mod input;
mod metric;
mod model;
mod programs;
mod reading;
mod renderers;
mod run;
mod servers;
mod serving;
mod tables;
#[cfg(test)]
mod tests;
mod turn;
mod workload;

use hashlane_hash::scheme::Key;
use hashlane_lab::definition::{Definition, DefinitionError};
use hashlane_lab::study::{Input, Loaded, Paths, RunError, Session, Study, StudyFile};
use hashlane_lab::study_files;
use std::error::Error;

/// The messages of published attacks on name compression, by the names of their files in
/// `vectors/dns/compression`: those to render as our renderer writes them, those to read as they are.
pub fn compression_vectors() -> Vec<(String, Vec<u8>)> {
    workload::vectors()
}

/// The names of the benign positive answer: the referral of 42 names that the workload `positive` has.
pub fn benign_names() -> Vec<hashlane_name::dns::NameBuf> {
    match workload::benign() {
        workload::Corpus::Names(names) => names,
        workload::Corpus::Messages(_) => Vec::new(),
    }
}

/// The ordinary message to read: an answer of 500 addresses.
pub fn benign_reading() -> Vec<u8> {
    workload::benign_reading(&Key::VECTOR)
}

/// Studies of renderers of DNS messages.
#[derive(Clone, Copy, Debug)]
pub struct Renderers;

impl Study for Renderers {
    fn model(&self) -> &'static str {
        metric::MODEL
    }

    fn files(&self) -> &'static [StudyFile] {
        study_files!["dns-render"; by_name "dns-compression-attacks"]
    }

    fn tables(&self) -> &'static [&'static str] {
        tables::TABLES
    }

    fn check(&self, definition: &Definition) -> Result<(), DefinitionError> {
        tables::check(definition)
    }

    fn inputs(&self) -> &'static [Input] {
        input::INPUTS
    }

    fn load(&self, paths: &Paths) -> Result<Option<Loaded>, Box<dyn Error + Send + Sync>> {
        input::load(paths)
    }

    fn in_process(&self) -> bool {
        true
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run::run(session)
    }
}
