//! Lookups by name: suffix rules of domain names, and prefixes of hierarchical names.
//!
//! The id of a scheme of suffix rules is a table and the manner of asking, `hashlane/burst`; a design for
//! prefixes has its name, `two-stage`. A workload has schemes of one of the two kinds.

mod corpus;
mod fx_collisions;
mod host_names;
mod hosts;
mod own;
mod path_names;
mod paths;
mod prefix;
mod run;
mod strings;
mod suffix;
mod table;
#[cfg(test)]
mod tests;
mod timing;
mod workload;

use crate::input;
use hashlane_lab::study::{Input, Loaded, Paths, RunError, Session, Study, StudyFile};
use hashlane_lab::study_files;
use std::error::Error;

const MODEL: &str = "lookup";

/// Studies of lookups by name.
#[derive(Clone, Copy, Debug)]
pub struct Lookups;

impl Study for Lookups {
    fn model(&self) -> &'static str {
        MODEL
    }

    fn files(&self) -> &'static [StudyFile] {
        study_files![by_name "name-lookup"]
    }

    fn inputs(&self) -> &'static [Input] {
        &[input::NAMES, own::RULES]
    }

    fn load(&self, paths: &Paths) -> Result<Option<Loaded>, Box<dyn Error + Send + Sync>> {
        own::load(paths)
    }

    fn in_process(&self) -> bool {
        true
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run::run(session)
    }
}
