//! Studies of names: encodings, and methods of hashing all prefixes of a name.
//!
//! [`Names`] runs studies of the model `names`. The id of a scheme is an encoding, a method of hashing
//! prefixes and a hash: `ndn/one-by-one/longest-first/crc32c`. All schemes of a workload are timed block by
//! block in alternation.
#![forbid(unsafe_code)]

mod answer;
mod blocks;
mod chart;
mod counts;
mod figures;
pub mod file;
mod in_c;
mod input;
mod methods;
mod metric;
mod model;
pub mod packed;
mod penalty;
mod repeatability;
mod run;
pub mod schemes;
mod section;
pub mod shape;
mod subject;
mod tables;
mod tally;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

use hashlane_lab::definition::{Definition, DefinitionError};
use hashlane_lab::report::{Answer, Section};
use hashlane_lab::study::{Input, Loaded, Paths, RunError, Session, Study, StudyFile};
use hashlane_lab::study_files;
use hashlane_records::RecordSet;
use std::error::Error;

/// Studies of names.
#[derive(Clone, Copy, Debug)]
pub struct Names;

impl Study for Names {
    fn model(&self) -> &'static str {
        "names"
    }

    fn files(&self) -> &'static [StudyFile] {
        study_files!["name-encodings"]
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
        section::sections(definition, records)
    }
}
