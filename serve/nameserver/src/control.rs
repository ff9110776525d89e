//! Commands of the control socket.
//!
//! | command | document |
//! | --- | --- |
//! | `status` | [`Status`](crate::status::Status) |
//! | `stats` | [`Stats`](crate::status::Stats) |
//! | `reload`, `reload ZONE` | [`Reloaded`](crate::status::Reloaded) |
//! | `refresh ZONE`, `retransfer ZONE`, `notify ZONE` | `{}` |
//! | `add` and a [`ZoneFile`] as JSON, `delete ZONE` | `{}` |

use crate::config::ZoneFile;
use crate::handle::Handle;
use hashlane_daemon::control::{self, to_json};
use std::io;
use std::path::Path;

/// The document of a command that has nothing to say.
const EMPTY: &str = "{}";

/// The document of a command.
pub(crate) fn answer(command: &str, handle: &Handle) -> io::Result<String> {
    if let Some(zone) = command.strip_prefix("add ") {
        let zone: ZoneFile = serde_json::from_str(zone).map_err(io::Error::other)?;
        return handle.add(zone).map(|()| EMPTY.to_owned());
    }
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["status"] => Ok(to_json(&handle.status())),
        ["stats"] => Ok(to_json(&handle.stats())),
        ["reload"] => handle.reload(None).map(|reloaded| to_json(&reloaded)),
        ["reload", zone] => handle.reload(Some(zone)).map(|reloaded| to_json(&reloaded)),
        ["refresh", zone] => handle.refresh(zone, false).map(|()| EMPTY.to_owned()),
        ["retransfer", zone] => handle.refresh(zone, true).map(|()| EMPTY.to_owned()),
        ["delete", zone] => handle.delete(zone).map(|()| EMPTY.to_owned()),
        ["notify", zone] => handle.notify(zone).map(|()| EMPTY.to_owned()),
        _ => {
            let why = "unknown command; send status, stats, reload [ZONE], refresh ZONE, retransfer ZONE, \
                       notify ZONE, add JSON or delete ZONE";
            Err(io::Error::other(why))
        }
    }
}

/// Sends a command to the name server at a socket. Returns its document: see [`control::request`].
///
/// # Errors
/// No server listens there, or this user may not connect; it does not answer; the command fails.
pub fn request(path: &Path, command: &str) -> io::Result<String> {
    control::request(path, command, "hashlane dns serve")
}
