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
mod series;
mod spread;
mod table;
mod tables;
mod tuple_subject;
pub mod tuples;
mod words;
mod workload;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod selection_tests;
#[cfg(test)]
mod tests;

pub use flood::{add_growth, attacks};

use hashlane_lab::definition::{Definition, DefinitionError};
use hashlane_lab::report::{Answer, Section};
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

    fn answer(&self, definition: &Definition, records: &RecordSet) -> Answer {
        cost::answer(definition, records)
    }

    fn sections(&self, definition: &Definition, records: &RecordSet) -> Vec<Section> {
        let sections = [cost::section, cost::mca_section, spread::section];
        sections.iter().filter_map(|section| section(definition, records)).collect()
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

    fn answer(&self, definition: &Definition, records: &RecordSet) -> Answer {
        table::answer(definition, records)
    }

    fn sections(&self, definition: &Definition, records: &RecordSet) -> Vec<Section> {
        table::section(definition, records).into_iter().collect()
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

    fn answer(&self, definition: &Definition, records: &RecordSet) -> Answer {
        flood::answer(definition, records)
    }

    fn sections(&self, definition: &Definition, records: &RecordSet) -> Vec<Section> {
        flood::section(definition, records).into_iter().collect()
    }
}
