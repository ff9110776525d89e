//! Studies of DNS messages: compression of names by renderers.
//!
//! [`Renderers`] runs studies of the model `render`: each scheme renders the same messages, which are read
//! back and compared before anything is timed.
#![forbid(unsafe_code)]

mod answer;
#[cfg(feature = "peers")]
mod composer;
mod input;
mod metric;
mod model;
mod renderers;
mod run;
mod section;
mod tables;
pub mod workload;

use hashlane_lab::definition::{Definition, DefinitionError};
use hashlane_lab::report::{Answer, Section};
use hashlane_lab::study::{Input, Loaded, Paths, RunError, Session, Study, StudyFile};
use hashlane_lab::study_files;
use hashlane_records::RecordSet;
use std::error::Error;

/// Studies of renderers of DNS messages.
#[derive(Clone, Copy, Debug)]
pub struct Renderers;

impl Study for Renderers {
    fn model(&self) -> &'static str {
        section::MODEL
    }

    fn files(&self) -> &'static [StudyFile] {
        study_files!["dns-render"]
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

    fn answer(&self, definition: &Definition, records: &RecordSet) -> Answer {
        answer::answer(definition, records)
    }

    fn sections(&self, definition: &Definition, records: &RecordSet) -> Vec<Section> {
        section::section(definition, records).into_iter().collect()
    }
}
