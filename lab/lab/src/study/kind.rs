//! A kind of study.

use std::error::Error;

use super::error::RunError;
use super::input::{Input, Loaded, Paths};
use super::session::Session;
use crate::definition::{Definition, DefinitionError};
use crate::layout::Values;
use hashlane_records::RecordSet;

/// A kind of study: the tables of its study files, its inputs, its run, and its part of the report.
///
/// Study files name their kind by `model`.
pub trait Study: Sync {
    /// Model that study files name, such as `names`.
    fn model(&self) -> &'static str;

    /// Study files of this kind that come with the command.
    fn files(&self) -> &'static [StudyFile];

    /// Names of the tables that only study files of this kind may have.
    fn tables(&self) -> &'static [&'static str] {
        &[]
    }

    /// Checks the tables of [`tables`](Self::tables).
    ///
    /// # Errors
    /// The first rule that one of them breaks.
    fn check(&self, _: &Definition) -> Result<(), DefinitionError> {
        Ok(())
    }

    /// Options of `study run` that give a study of this kind the user's own workload. Kinds with the same
    /// options share the workload that [`load`](Self::load) of one of them reads.
    fn inputs(&self) -> &'static [Input] {
        &[]
    }

    /// Reads the user's own workload from the files that were given for [`inputs`](Self::inputs); `None` if
    /// none was given.
    ///
    /// # Errors
    /// A file cannot be read, or does not suit this kind of study.
    fn load(&self, _: &Paths) -> Result<Option<Loaded>, Box<dyn Error + Send + Sync>> {
        Ok(None)
    }

    /// `true` if code of this process is timed: a run then launches the command several times, as the layout
    /// of memory differs between launches. Kinds that start the timed programs themselves return `false`.
    fn in_process(&self) -> bool {
        false
    }

    /// Verbs of the command that its runs start and that are commands of their own, such as `ndn`.
    fn starts(&self) -> &'static [&'static str] {
        &[]
    }

    /// Measures a study and adds its records to the session. Looks up all workloads and schemes before it
    /// measures anything; returns early, without an error, once the session is stopped.
    ///
    /// # Errors
    /// A name is unknown, or the results are not those that the study expects. Records added before stay.
    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError>;

    /// Values that the templates of its study files have beside the records, by their names.
    fn values(&self, _: &Definition, _: &RecordSet) -> Values {
        Values::new()
    }
}

/// A kind of study that starts the programs that it measures, and has no tables or inputs.
#[derive(Clone, Copy, Debug)]
pub struct ProgramStudy {
    /// As [`Study::model`].
    pub model: &'static str,
    /// As [`Study::files`].
    pub files: &'static [StudyFile],
    /// As [`Study::starts`].
    pub starts: &'static [&'static str],
    /// As [`Study::run`].
    pub run: fn(&mut Session<'_>) -> Result<(), RunError>,
}

impl Study for ProgramStudy {
    fn model(&self) -> &'static str {
        self.model
    }

    fn files(&self) -> &'static [StudyFile] {
        self.files
    }

    fn starts(&self) -> &'static [&'static str] {
        self.starts
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        (self.run)(session)
    }
}

/// Study files of a kind, by their folders beside `src`: those that `study run all` runs, and after `by_name`
/// those that it leaves out.
///
/// ```ignore
/// study_files!["flow-hash"]
/// study_files![by_name "flow-kernel"]
/// study_files!["dns-render"; by_name "dns-compression-attacks"]
/// ```
#[macro_export]
macro_rules! study_files {
    ($($slug:literal),* $(; by_name $($named:literal),*)? $(,)?) => {
        &[$($crate::study_files!(@file true $slug),)* $($($crate::study_files!(@file false $named)),*)?]
    };
    (by_name $($named:literal),* $(,)?) => { &[$($crate::study_files!(@file false $named)),*] };
    (@file $in_all:literal $slug:literal) => {
        $crate::study::StudyFile {
            slug: $slug,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $slug, "/study.toml")),
            in_all: $in_all,
        }
    };
}

/// A study file that comes with the command.
#[derive(Clone, Copy, Debug)]
pub struct StudyFile {
    /// Slug of the study, the name of its folder.
    pub slug: &'static str,
    /// Text of its `study.toml`.
    pub text: &'static str,
    /// `true` if `study run all` runs it; studies that need packages, root or an hour are run by name.
    pub in_all: bool,
}
