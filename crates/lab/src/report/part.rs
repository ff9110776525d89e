//! A part of the page: one study with its records.

use super::section::Section;
use crate::definition::Definition;
use crate::record::{Machine, RecordSet};

/// A study with the records of a run and the machine that they come from.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The study.
    pub definition: &'a Definition,
    /// The records; those of other studies are ignored.
    pub records: &'a RecordSet,
    /// The machine and the run.
    pub machine: &'a Machine,
    /// Sections of the study's kind.
    pub sections: Vec<Section>,
}
