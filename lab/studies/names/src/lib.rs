//! Studies of names: encodings, hashes of all prefixes of a name, and lookups by them.
//!
//! - [`Names`], model `names`: encodings, and methods of hashing all prefixes of a name. The id of a scheme
//!   is an encoding, a method of hashing prefixes and a hash: `ndn/one-by-one/longest-first/crc32c`. All
//!   schemes of a workload are timed block by block in alternation.
//! - [`Lookups`], model `lookup`: tables of suffix rules and of prefixes, looked up by name.
#![forbid(unsafe_code)]

mod blocks;
mod counts;
mod file;
mod in_c;
mod input;
mod lookup;
mod metric;
mod model;
mod packed;
mod run;
pub mod schemes;
mod shape;
mod tables;
mod tally;
mod timed;

#[cfg(test)]
mod answer_tests;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

pub use lookup::Lookups;

use hashlane_lab::definition::{Definition, DefinitionError};
use hashlane_lab::layout::{Value, Values};
use hashlane_lab::study::{Input, Loaded, Paths, RunError, Session, Study, StudyFile};
use hashlane_lab::study_files;
use hashlane_records::RecordSet;
use std::collections::BTreeMap;
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
        &[input::NAMES]
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

    fn values(&self, definition: &Definition, _: &RecordSet) -> Values {
        // The study was checked when it was read.
        let table = tables::repeatability(definition).ok().flatten();
        let metric = table.as_ref().map_or(metric::CYCLES_MEAN_SD, |table| &table.metric);
        let values = [
            ("metric", Value::from(metric)),
            ("below", Value::from(table.as_ref().map(|table| table.below))),
            ("words", Value::from(table.as_ref().map(|table| table.words.as_str()))),
        ];
        Values::from([("repeatability", Value::from(BTreeMap::from(values)))])
    }
}
