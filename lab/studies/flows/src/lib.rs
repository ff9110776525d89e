//! Studies of flows: hashes of tuples, tables of flows, and floods.
//!
//! - [`Cost`], model `tuples`: cycles of each hash, the simulated machine code, and the spread over buckets.
//! - [`Tables`], model `table`: lookups that hit and miss at several sizes, and churn.
//! - [`Floods`], model `flood`: lookups of an innocent flow while hostile flows fill the table.
#![forbid(unsafe_code)]

pub mod capture;
mod clock;
mod cost;
mod cpp_subject;
mod epsilon;
mod flood;
mod flow_subject;
pub mod hashes;
pub mod hostile;
mod input;
mod metric;
mod own;
mod spread;
mod table;
mod tables;
mod tuple_subject;
pub mod tuples;
mod workload;

#[cfg(test)]
mod report_tests;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod selection_tests;
#[cfg(test)]
mod tests;

pub use flood::add_growth;

use hashlane_lab::definition::{Definition, DefinitionError};
use hashlane_lab::layout::{Value, Values};
use hashlane_lab::study::{Input, Loaded, PCAP, Paths, RunError, Session, Study, StudyFile};
use hashlane_lab::study_files;
use hashlane_records::RecordSet;
use std::error::Error;

/// Studies of hashes of tuples.
#[derive(Clone, Copy, Debug)]
pub struct Cost;

/// Studies of tables of flows.
#[derive(Clone, Copy, Debug)]
pub struct Tables;

/// Studies of floods.
#[derive(Clone, Copy, Debug)]
pub struct Floods;

impl Study for Cost {
    fn model(&self) -> &'static str {
        cost::MODEL
    }

    fn files(&self) -> &'static [StudyFile] {
        study_files!["flow-hash"]
    }

    fn tables(&self) -> &'static [&'static str] {
        tables::TABLES
    }

    fn check(&self, definition: &Definition) -> Result<(), DefinitionError> {
        tables::spread(definition)?;
        tables::mca(definition)?;
        Ok(())
    }

    fn inputs(&self) -> &'static [Input] {
        &[PCAP]
    }

    fn load(&self, paths: &Paths) -> Result<Option<Loaded>, Box<dyn Error + Send + Sync>> {
        input::load(paths)
    }

    fn in_process(&self) -> bool {
        true
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        cost::run::run(session)
    }

    fn values(&self, definition: &Definition, records: &RecordSet) -> Values {
        let mut values = own::values(definition, records);
        values.insert("epsilon", Value::from_function(epsilon::epsilon));
        values.insert("has_secret", Value::from_function(hashes::has_secret));
        values
    }
}

impl Study for Tables {
    fn model(&self) -> &'static str {
        table::MODEL
    }

    fn files(&self) -> &'static [StudyFile] {
        study_files!["flow-table"]
    }

    fn inputs(&self) -> &'static [Input] {
        &[PCAP]
    }

    fn load(&self, paths: &Paths) -> Result<Option<Loaded>, Box<dyn Error + Send + Sync>> {
        input::load(paths)
    }

    fn in_process(&self) -> bool {
        true
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        table::run(session)
    }

    fn values(&self, definition: &Definition, records: &RecordSet) -> Values {
        own::values(definition, records)
    }
}

impl Study for Floods {
    fn model(&self) -> &'static str {
        flood::MODEL
    }

    fn files(&self) -> &'static [StudyFile] {
        study_files!["flow-flood"]
    }

    fn inputs(&self) -> &'static [Input] {
        &[PCAP]
    }

    fn load(&self, paths: &Paths) -> Result<Option<Loaded>, Box<dyn Error + Send + Sync>> {
        input::load(paths)
    }

    fn in_process(&self) -> bool {
        true
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        flood::run(session)
    }

    fn values(&self, definition: &Definition, records: &RecordSet) -> Values {
        let mut values = own::values(definition, records);
        values.insert("epsilon", Value::from_function(epsilon::epsilon));
        values
    }
}
