//! Sockets that a supervisor has opened and hands over: the protocol of `sd_listen_fds`.
//!
//! The supervisor listens before the server starts, and while it restarts. Source: sd_listen_fds(3),
//! systemd.socket(5).

use listenfd::ListenFd;
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

/// Takes the listening Unix stream sockets that the variables `LISTEN_PID` and `LISTEN_FDS` hand over to this
/// process, each with its path; none without the variables. A second call takes none: the variables are
/// removed.
///
/// # Errors
/// A descriptor is no Unix stream socket that listens, or its socket has no path.
pub fn take_unix_listeners() -> io::Result<Vec<(PathBuf, UnixListener)>> {
    let mut handed = ListenFd::from_env();
    let numbers = 0..handed.len();
    let mut take = |number| {
        let listener = handed.take_unix_listener(number)?.ok_or(ErrorKind::NotFound)?;
        Ok((path(&listener)?, listener))
    };
    let failed = |number, error: io::Error| {
        io::Error::new(error.kind(), format!("cannot use socket {number} of LISTEN_FDS: {error}"))
    };
    numbers.map(|number| take(number).map_err(|error| failed(number, error))).collect()
}

/// The path of a listener.
fn path(listener: &UnixListener) -> io::Result<PathBuf> {
    let address = listener.local_addr()?;
    let no_path = "it has no path; name one in ListenStream= of the socket unit";
    address.as_pathname().map(Into::into).ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, no_path))
}
