//! argus, with a file in its native format.

use super::{Job, words};
use std::ffi::OsString;

pub(super) fn program(job: &Job<'_>) -> Vec<OsString> {
    // Without the configuration of the system.
    let mut program = words(["argus", "-X", "-r"]);
    program.extend([job.capture.into(), "-w".into(), job.folder.join("flows.argus").into()]);
    program
}
