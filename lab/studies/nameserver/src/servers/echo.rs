//! `hashlane lab echo`.

use super::Job;
use std::ffi::OsString;

pub(super) fn program(job: &Job<'_>) -> Vec<OsString> {
    vec![job.command.into(), "lab".into(), "echo".into(), job.address.to_string().into()]
}
