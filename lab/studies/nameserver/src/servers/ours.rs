//! `hashlane dns serve`, with one worker, without limits of rates and without a control socket.

use super::{Job, write};
use crate::error::ServeError;
use crate::zone::APEX;
use std::ffi::OsString;

pub(super) fn prepare(job: &Job<'_>) -> Result<Vec<OsString>, ServeError> {
    let Job { zone, address, .. } = job;
    let text = format!(
        "[server]\nlisten = [\"{address}\"]\nworkers = 1\nuser = \"\"\n\
         [rate_limit]\nresponses_per_second = 0\n\
         [control]\npath = \"\"\n\
         [[zone]]\nname = \"{APEX}\"\nfile = \"{}\"\n",
        zone.display()
    );
    let config = write(job, "ours.toml", &text)?;
    Ok(vec![job.command.into(), "dns".into(), "serve".into(), "--config".into(), config.into()])
}
