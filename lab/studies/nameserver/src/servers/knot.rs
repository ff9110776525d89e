//! Knot DNS: one thread for UDP, no journal.

use super::{Job, words, write};
use crate::error::ServeError;
use crate::zone::APEX;
use std::ffi::OsString;

pub(super) fn prepare(job: &Job<'_>) -> Result<Vec<OsString>, ServeError> {
    let Job { zone, folder, address, .. } = job;
    let (zone, folder, port, ip) = (zone.display(), folder.display(), address.port(), address.ip());
    let text = format!(
        "server:\n    rundir: \"{folder}\"\n    listen: {ip}@{port}\n    udp-workers: 1\n    \
         tcp-workers: 1\n    background-workers: 1\n\
         log:\n  - target: stderr\n    any: error\n\
         database:\n    storage: \"{folder}\"\n\
         zone:\n  - domain: {APEX}\n    file: \"{zone}\"\n    zonefile-load: whole\n    \
         journal-content: none\n    semantic-checks: off\n"
    );
    let config = write(job, "knot.conf", &text)?;
    let mut program = words("knotd", &["-c"]);
    program.push(config.into());
    Ok(program)
}
