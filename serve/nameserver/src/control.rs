//! Commands of the control socket.
//!
//! | command | document |
//! | --- | --- |
//! | `status` | [`Status`](crate::status::Status) |
//! | `stats` | [`Stats`](crate::status::Stats) |
//! | `reload`, `reload ZONE` | [`Reloaded`](crate::status::Reloaded) |

use crate::handle::Handle;
use hashlane_daemon::control::{self, to_json};
use std::io;
use std::path::Path;

/// The document of a command.
pub(crate) fn answer(command: &str, handle: &Handle) -> io::Result<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["status"] => Ok(to_json(&handle.status())),
        ["stats"] => Ok(to_json(&handle.stats())),
        ["reload"] => handle.reload(None).map(|reloaded| to_json(&reloaded)),
        ["reload", zone] => handle.reload(Some(zone)).map(|reloaded| to_json(&reloaded)),
        _ => Err(io::Error::other("unknown command; send status, stats, reload or reload ZONE")),
    }
}

/// Sends a command to the name server at a socket. Returns its document: see [`control::request`].
///
/// # Errors
/// No server listens there, or this user may not connect; it does not answer; the command fails.
pub fn request(path: &Path, command: &str) -> io::Result<String> {
    control::request(path, command, "hashlane dns serve")
}
