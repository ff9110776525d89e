//! NSD: one server process, minimal responses, no limit of rates, no database.

use super::{Job, words, write};
use crate::error::ServeError;
use crate::zone::APEX;
use std::ffi::OsString;

pub(super) fn prepare(job: &Job<'_>) -> Result<Vec<OsString>, ServeError> {
    let Job { zone, folder, address, .. } = job;
    let (zone, folder, port, ip) = (zone.display(), folder.display(), address.port(), address.ip());
    let text = format!(
        "server:\n  server-count: 1\n  ip-address: {ip}@{port}\n  username: \"\"\n  chroot: \"\"\n  \
         database: \"\"\n  zonesdir: \"{folder}\"\n  pidfile: \"\"\n  logfile: \"{folder}/nsd.log\"\n  \
         xfrdfile: \"{folder}/xfrd.state\"\n  xfrdir: \"{folder}\"\n  \
         zonelistfile: \"{folder}/zone.list\"\n  cookie-secret-file: \"{folder}/cookies\"\n  \
         minimal-responses: yes\n  rrl-ratelimit: 0\n  \
         rrl-whitelist-ratelimit: 0\n  verbosity: 0\nremote-control:\n  control-enable: no\n\
         zone:\n  name: {APEX}\n  zonefile: \"{zone}\"\n"
    );
    let config = write(job, "nsd.conf", &text)?;
    let mut program = words("nsd", &["-d", "-c"]);
    program.push(config.into());
    Ok(program)
}
