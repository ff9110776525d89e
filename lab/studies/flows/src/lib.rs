//! Studies of flows: hashes of tuples, tables of flows, and floods.
//!
//! [`Flows`] has a study for each of the models `tuples`, `table` and `flood`.
#![forbid(unsafe_code)]

pub mod capture;
mod cost;
mod cpp_flows;
mod epsilon;
mod flood;
mod flows;
mod hashes;
pub mod hostile;
mod ids;
mod input;
mod metric;
mod own;
mod spread;
mod table;
mod tables;
mod timed_hash;
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

/// Studies of flows, one of each model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flows {
    /// Hashes of tuples: cycles of each, the simulated machine code, and the spread over buckets.
    Cost,
    /// Tables of flows: lookups that hit and miss at several sizes, and churn.
    Tables,
    /// Floods: lookups of an innocent flow while hostile flows fill the table.
    Floods,
}

pub use Flows::{Cost, Floods, Tables};

impl Study for Flows {
    fn model(&self) -> &'static str {
        match self {
            Cost => cost::MODEL,
            Tables => table::MODEL,
            Floods => flood::MODEL,
        }
    }

    fn files(&self) -> &'static [StudyFile] {
        match self {
            Cost => study_files!["flow-hash"],
            Tables => study_files!["flow-table"],
            Floods => study_files!["flow-flood"],
        }
    }

    fn tables(&self) -> &'static [&'static str] {
        if *self == Cost { tables::TABLES } else { &[] }
    }

    fn check(&self, definition: &Definition) -> Result<(), DefinitionError> {
        // Other studies have none of these tables.
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
        match self {
            Cost => cost::run::run(session),
            Tables => table::run(session),
            Floods => flood::run(session),
        }
    }

    fn values(&self, definition: &Definition, records: &RecordSet) -> Values {
        let mut values = own::values(definition, records);
        values.insert("epsilon", Value::from_function(epsilon::epsilon));
        values.insert("has_secret", Value::from_function(hashes::has_secret));
        values
    }
}
