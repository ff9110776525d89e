//! Commands of the control socket.
//!
//! | command | document |
//! | --- | --- |
//! | `status` | [`Status`](crate::status::Status) |
//! | `status ZONE` | [`ZoneStatus`](crate::status::ZoneStatus) |
//! | `stats` | [`Stats`](crate::status::Stats) |
//! | `reload`, `reload ZONE` | [`Reloaded`](crate::status::Reloaded) |
//! | `refresh ZONE`, `retransfer ZONE`, `notify ZONE` | `{}` |
//! | `refresh ZONE wait`, `retransfer ZONE wait` | [`Refreshed`](crate::status::Refreshed), once the primaries have answered |
//! | `notify ZONE wait` | [`Told`](crate::status::Told), once the secondaries have answered |
//! | `add` and a [`ZoneFile`] as JSON, `delete ZONE` | `{}` |

use crate::config::ZoneFile;
use crate::handle::Handle;
use hashlane_daemon::control::{self, to_json};
use std::io;
use std::path::Path;

/// The document of a command that has nothing to say.
const EMPTY: &str = "{}";

/// Last word of a command whose document comes once it has had its effect.
const WAIT: &str = "wait";

/// The document of a command.
pub(crate) fn answer(command: &str, handle: &Handle) -> io::Result<String> {
    if let Some(zone) = command.strip_prefix("add ") {
        let zone: ZoneFile = serde_json::from_str(zone).map_err(io::Error::other)?;
        return handle.add(zone).map(|()| EMPTY.to_owned());
    }
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["status"] => Ok(to_json(&handle.status())),
        ["status", zone] => handle.zone_status(zone).map(|status| to_json(&status)),
        ["stats"] => Ok(to_json(&handle.stats())),
        ["reload"] => handle.reload(None).map(|reloaded| to_json(&reloaded)),
        ["reload", zone] => handle.reload(Some(zone)).map(|reloaded| to_json(&reloaded)),
        ["refresh", zone] => handle.refresh(zone, false).map(|()| EMPTY.to_owned()),
        ["retransfer", zone] => handle.refresh(zone, true).map(|()| EMPTY.to_owned()),
        ["refresh", zone, WAIT] => handle.refresh_and_wait(zone, false).map(|done| to_json(&done)),
        ["retransfer", zone, WAIT] => handle.refresh_and_wait(zone, true).map(|done| to_json(&done)),
        ["notify", zone, WAIT] => handle.notify_and_wait(zone).map(|told| to_json(&told)),
        ["delete", zone] => handle.delete(zone).map(|()| EMPTY.to_owned()),
        ["notify", zone] => handle.notify(zone).map(|()| EMPTY.to_owned()),
        _ => {
            let why = "unknown command; send status [ZONE], stats, reload [ZONE], refresh ZONE [wait], \
                       retransfer ZONE [wait], notify ZONE [wait], add JSON or delete ZONE";
            Err(io::Error::other(why))
        }
    }
}

/// Sends a command to the name server at a socket. Returns its document: see [`control::request`].
///
/// # Errors
/// No server listens there, or this user may not connect; it does not answer; the command fails.
pub fn request(path: &Path, command: &str) -> io::Result<String> {
    let start = "hashlane dns serve";
    match command.split_whitespace().last() {
        Some(WAIT) => control::request_and_wait(path, command, start),
        _ => control::request(path, command, start),
    }
}
