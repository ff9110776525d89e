//! `hashlane flow meter`, with a file of IPFIX.

use super::{Job, Stated, words};
use crate::counted::Counted;
use crate::error::MeterError;
use std::ffi::OsString;

/// Name of the output.
const OUTPUT: &str = "flows.ipfix";

pub(super) fn program(job: &Job<'_>, workers: u8) -> Vec<OsString> {
    let mut program: Vec<OsString> = vec![job.command.into()];
    program.extend(words(["flow", "meter"]));
    program.extend([job.capture.into(), "--ipfix".into(), job.folder.join(OUTPUT).into()]);
    program.extend(words(["--threads", &workers.to_string()]));
    program
}

/// Counts of the records, and not of the summary.
pub(super) fn stated(job: &Job<'_>) -> Result<Stated, MeterError> {
    let counted = Counted::read(&job.folder.join(OUTPUT), None)?;
    Ok(Stated { packets: Some(counted.packets), records: Some(counted.records) })
}
