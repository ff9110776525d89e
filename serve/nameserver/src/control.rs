//! The control socket: one command in a line, one JSON document in return.
//!
//! | command | document |
//! | --- | --- |
//! | `status` | [`Status`](crate::status::Status) |
//! | `stats` | [`Stats`](crate::status::Stats) |
//! | `reload`, `reload ZONE` | [`Reloaded`](crate::status::Reloaded) |
//!
//! A command that fails returns `{"error": "…"}`. The socket has mode 0600: only root and the user of the
//! server can connect.

use crate::config::Control;
use crate::handle::Handle;
use hashlane_daemon::privileges::Account;
use hashlane_link::unix;
use mio::{Events, Interest, Poll, Token};
use nix::unistd::Uid;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Permissions of the socket.
const MODE: u32 = 0o600;

/// Clients at one time.
const MAX_CLIENTS: usize = 16;

/// Longest command in bytes: a name of 255 bytes in escapes.
const MAX_COMMAND: u64 = 2048;

/// Time in which a command must arrive, and its document be taken.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time in which a server answers a client, but for reloads.
const WAIT: Duration = Duration::from_secs(10);

/// Creates the folder of a default path, and gives it to the user that the server runs as.
///
/// # Errors
/// The folder cannot be created, or not given to the user.
pub(crate) fn prepare(control: &Control, account: Option<&Account>) -> io::Result<()> {
    let Some(folder) = control.path.parent().filter(|_| is_default(control)) else { return Ok(()) };
    let create = || -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
        match account {
            // A server may have run before as another user.
            Some(account) => account.own(folder),
            None => Ok(()),
        }
    };
    create().map_err(|error| {
        let why =
            format!("cannot create {}: {error}; name another socket in `control.path`", folder.display());
        io::Error::new(error.kind(), why)
    })
}

/// True for the default path of this user, before the server becomes another one.
pub(crate) fn is_default(control: &Control) -> bool {
    *control == Control::default()
}

/// Listens on the socket of a configuration, if it has one. If another server has the default path, this one
/// has no socket, and the log says so.
///
/// # Errors
/// The path cannot be bound.
pub(crate) fn listen(control: &Control, is_default: bool) -> io::Result<Option<(unix::Listener, PathBuf)>> {
    if control.path.as_os_str().is_empty() {
        return Ok(None);
    }
    match unix::Listener::bind(&control.path, MODE) {
        Ok(listener) => Ok(Some((listener, control.path.clone()))),
        Err(error) if is_default => {
            tracing::warn!(%error, "no control socket; name another path by --socket");
            Ok(None)
        }
        Err(error) => {
            let why = format!("{error}; name another path in `control.path` or by --socket");
            Err(io::Error::new(error.kind(), why))
        }
    }
}

/// Checks the path of a configuration without listening there. `account` is the user of the server, if that
/// is not the user of this process: only that user knows if it may listen there.
///
/// # Errors
/// Those of [`listen`], except that another program listens there.
pub(crate) fn check(control: &Control, account: Option<&Account>) -> io::Result<()> {
    let is_other = account.is_some_and(|account| account.uid() != Uid::effective());
    if control.path.as_os_str().is_empty() || is_default(control) || is_other {
        return Ok(());
    }
    unix::check(&control.path)
}

/// The thread that accepts clients.
pub(crate) struct Service {
    listener: unix::Listener,
    path: PathBuf,
    poll: Poll,
    handle: Handle,
}

impl Service {
    /// A thread for a listener.
    ///
    /// # Errors
    /// No file descriptors are left.
    pub(crate) fn new((mut listener, path): (unix::Listener, PathBuf), handle: Handle) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, Token(0), Interest::READABLE)?;
        Ok(Self { listener, path, poll, handle })
    }

    /// Path of the socket.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Serves clients until the process ends.
    ///
    /// # Errors
    /// The event loop fails.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(16);
        let clients = Arc::new(AtomicUsize::new(0));
        while !self.handle.is_stopped() {
            match self.poll.poll(&mut events, Some(PATIENCE / 20)) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            // Also without an event: an accept for which there was no descriptor is tried again.
            loop {
                match self.listener.accept() {
                    Ok(Some(stream)) => self.serve(stream, &clients),
                    Ok(None) => break,
                    Err(error) => {
                        tracing::debug!(%error, "control");
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    fn serve(&self, stream: mio::net::UnixStream, clients: &Arc<AtomicUsize>) {
        struct Client(Arc<AtomicUsize>);
        impl Drop for Client {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        // Beyond the limit, the connection is closed.
        if clients.fetch_add(1, Ordering::Relaxed) >= MAX_CLIENTS {
            clients.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let client = Client(Arc::clone(clients));
        let handle = self.handle.clone();
        let stream = UnixStream::from(OwnedFd::from(stream));
        let run = move || {
            let _client = client;
            if let Err(error) = answer(&stream, &handle) {
                tracing::debug!(%error, "control");
            }
        };
        if let Err(error) = thread::Builder::new().name("control".into()).spawn(run) {
            tracing::warn!(%error, "cannot serve a client of the control socket");
        }
    }
}

/// Reads a command, and writes its document.
fn answer(mut stream: &UnixStream, handle: &Handle) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut command = String::new();
    BufReader::new(stream.take(MAX_COMMAND)).read_line(&mut command)?;
    let mut document =
        run(&command, handle).unwrap_or_else(|error| to_json(&Failure { error: error.to_string() }));
    document.push('\n');
    stream.write_all(document.as_bytes())
}

/// The document of a command that failed.
#[derive(Serialize, Deserialize)]
struct Failure {
    error: String,
}

fn run(command: &str, handle: &Handle) -> io::Result<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["status"] => Ok(to_json(&handle.status())),
        ["stats"] => Ok(to_json(&handle.stats())),
        ["reload"] => handle.reload(None).map(|reloaded| to_json(&reloaded)),
        ["reload", zone] => handle.reload(Some(zone)).map(|reloaded| to_json(&reloaded)),
        _ => Err(io::Error::other("unknown command; send status, stats, reload or reload ZONE")),
    }
}

fn to_json(document: &impl Serialize) -> String {
    serde_json::to_string(document).unwrap_or_else(|error| {
        debug_assert!(false, "reports have strings as keys: {error}");
        "{\"error\":\"the report cannot be written as JSON\"}".to_owned()
    })
}

/// False for a file that is no Unix socket.
fn is_socket(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |found| found.file_type().is_socket())
}

/// Sends a command to the server at a socket. Returns its document. A reload takes as long as its zones, any
/// other answer at most ten seconds; so a server that does not answer is noticed before a reload, too.
///
/// # Errors
/// No server listens there, or this user may not connect; it does not answer; the command fails.
pub fn request(path: &Path, command: &str) -> io::Result<String> {
    if command.starts_with("reload") {
        ask(path, "status", Some(WAIT))?;
        return ask(path, command, None);
    }
    ask(path, command, Some(WAIT))
}

fn ask(path: &Path, command: &str, wait: Option<Duration>) -> io::Result<String> {
    let shown = path.display();
    let cannot = |error: io::Error| {
        let advice = match error.kind() {
            io::ErrorKind::ConnectionRefused if !is_socket(path) => {
                "not a Unix socket; name that of the server by --socket"
            }
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                "no server listens there; start one by `hashlane dns serve`, or name its socket by --socket"
            }
            io::ErrorKind::PermissionDenied => {
                "only root and the user of the server may; run it as one of them"
            }
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                "the server does not answer; see if its process is stopped, or restart it"
            }
            io::ErrorKind::InvalidInput => {
                "a path of a Unix socket has at most 107 bytes, none of them 0; name that of the server by --socket"
            }
            _ => {
                let why = format!("cannot use {shown}: {error}; name the socket of the server by --socket");
                return io::Error::new(error.kind(), why);
            }
        };
        io::Error::new(error.kind(), format!("cannot connect to {shown}: {advice}"))
    };
    let mut stream = UnixStream::connect(path).map_err(cannot)?;
    stream.set_read_timeout(wait).and_then(|()| stream.set_write_timeout(wait)).map_err(cannot)?;
    let mut document = String::new();
    stream.write_all(format!("{command}\n").as_bytes()).map_err(cannot)?;
    stream.read_to_string(&mut document).map_err(cannot)?;
    match serde_json::from_str::<Failure>(&document) {
        Ok(Failure { error }) => Err(io::Error::other(error)),
        Err(_) if document.trim_end().is_empty() => {
            Err(io::Error::other(format!("the server at {shown} has closed the connection; try again")))
        }
        Err(_) => Ok(document.trim_end().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_server_that_does_not_answer_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control.sock");
        let _stopped = UnixListener::bind(&path).unwrap();
        let error = ask(&path, "status", Some(Duration::from_millis(20))).unwrap_err().to_string();
        assert!(error.contains("control.sock: the server does not answer; "), "{error}");
    }
}
