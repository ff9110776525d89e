//! BIND 9: one thread and one listener, minimal responses, no recursion.

use super::{Job, words, write};
use crate::error::ServeError;
use crate::zone::APEX;
use std::ffi::OsString;

pub(super) fn prepare(job: &Job<'_>) -> Result<Vec<OsString>, ServeError> {
    let Job { zone, folder, address, .. } = job;
    let (zone, folder, port, ip) = (zone.display(), folder.display(), address.port(), address.ip());
    let text = format!(
        "options {{\n  directory \"{folder}\";\n  listen-on port {port} {{ {ip}; }};\n  \
         listen-on-v6 {{ none; }};\n  recursion no;\n  minimal-responses yes;\n  querylog no;\n  \
         notify no;\n  allow-transfer {{ none; }};\n  dnssec-validation no;\n  empty-zones-enable no;\n  \
         pid-file none;\n  session-keyfile none;\n  managed-keys-directory \"{folder}\";\n  \
         lock-file none;\n}};\n\
         controls {{ }};\n\
         logging {{ category default {{ default_stderr; }}; }};\n\
         zone \"{APEX}\" {{ type primary; file \"{zone}\"; check-names ignore; }};\n"
    );
    let config = write(job, "named.conf", &text)?;
    let mut program = words("named", &["-f", "-n", "1", "-U", "1", "-c"]);
    program.push(config.into());
    Ok(program)
}
