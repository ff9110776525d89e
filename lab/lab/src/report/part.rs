//! A part of the report: one study with its records.

use super::answer::Answer;
use super::section::Section;
use crate::definition::Definition;
use crate::evidence::Evidence;
use crate::run::{Machine, RunStudy};
use hashlane_records::RecordSet;

/// A study with the records of a run and the machine that they come from.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The study.
    pub definition: &'a Definition,
    /// The records; records of other studies are ignored.
    pub records: &'a RecordSet,
    /// The machine and the run.
    pub machine: &'a Machine,
    /// Duration and samples of the study, if they are known.
    pub run: Option<&'a RunStudy>,
    /// Answer of the study's kind; `None` if the kind is unknown.
    pub answer: Option<Answer>,
    /// Sections of the study's kind.
    pub sections: Vec<Section>,
}

impl<'a> Part<'a> {
    /// The evidence of the study.
    pub fn evidence(&self) -> Evidence<'a> {
        Evidence::new(self.definition, self.records)
    }
}
