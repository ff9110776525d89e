//! The control socket of a server: one command in a line, one JSON document in return.
//!
//! A command that fails returns `{"error": "…"}`. The socket has mode 0600: only root and the user of the
//! server can connect.

use crate::privileges::Account;
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

/// Longest command in bytes: a zone of a name server with hundreds of peers.
const MAX_COMMAND: u64 = 64 << 10;

/// Time in which a command must arrive, and its document be taken.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time in which a server answers a client, but for reloads.
const WAIT: Duration = Duration::from_secs(10);

/// Path at which a server of this user listens by default. `service` names the folder and the file.
pub(crate) fn default_path(service: &str) -> PathBuf {
    let place = unix::places(service).into_iter().next();
    debug_assert!(place.is_some(), "root's paths are always in the list");
    place.unwrap_or_default()
}

/// Path at which a client finds the socket of a server that listens at a [`default_path`].
pub(crate) fn find(service: &str) -> PathBuf {
    unix::find(service)
}

/// The control socket of a configuration, before the server listens on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Socket {
    path: PathBuf,
    is_default: bool,
}

impl Socket {
    /// A socket at `path`; none if that is empty. Make it before the server becomes another user, as each
    /// user has another [`default_path`].
    pub(crate) fn new(path: &Path, service: &str) -> Self {
        Self { path: path.to_owned(), is_default: path == default_path(service) }
    }

    /// Creates the folder of a default path, and gives it to the user that the server runs as, unless another
    /// server listens there. A socket that a killed server left goes.
    ///
    /// # Errors
    /// The folder cannot be created, or not given to the user.
    pub fn prepare(&self, account: Option<&Account>) -> io::Result<()> {
        let Some(folder) = self.path.parent().filter(|_| self.is_default) else { return Ok(()) };
        let create = || -> io::Result<()> {
            std::fs::DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
            // Also a folder left by a server that ran as another user; a running server keeps its folder.
            match (unix::clear(&self.path), account) {
                (Err(_), _) => Ok(()),
                (Ok(()), Some(account)) => account.own(folder),
                (Ok(()), None) if Uid::effective().is_root() => {
                    std::os::unix::fs::lchown(folder, Some(0), Some(0))
                }
                (Ok(()), None) => Ok(()),
            }
        };
        create().map_err(|error| {
            let folder = folder.display();
            let why = format!("cannot create {folder}: {error}; name another socket in `control.path`");
            io::Error::new(error.kind(), why)
        })
    }

    /// Listens on the socket, if there is one. If another server has the default path, this one has no
    /// socket, and the log says so.
    ///
    /// # Errors
    /// The path cannot be bound; no file descriptors are left.
    pub fn listen(&self) -> io::Result<Option<Service>> {
        if self.path.as_os_str().is_empty() {
            return Ok(None);
        }
        match unix::Listener::bind(&self.path, MODE) {
            Ok(listener) => Service::new(listener, self.path.clone()).map(Some),
            Err(error) if self.is_default => {
                tracing::warn!(%error, "no control socket; name another path by --socket");
                Ok(None)
            }
            Err(error) => {
                let why = format!("{error}; name another path in `control.path` or by --socket");
                Err(io::Error::new(error.kind(), why))
            }
        }
    }

    /// Checks the path without listening there. `account` is the user of the server, if that is not the user
    /// of this process: only that user knows if it may listen there.
    ///
    /// # Errors
    /// The errors of [`listen`](Self::listen), except that another program listens there.
    pub fn check(&self, account: Option<&Account>) -> io::Result<()> {
        let is_other = account.is_some_and(|account| account.uid() != Uid::effective());
        if self.path.as_os_str().is_empty() || self.is_default || is_other {
            return Ok(());
        }
        unix::check(&self.path)
    }
}

/// A control socket that listens.
pub struct Service {
    listener: unix::Listener,
    path: PathBuf,
    poll: Poll,
}

impl Service {
    fn new(mut listener: unix::Listener, path: PathBuf) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, Token(0), Interest::READABLE)?;
        Ok(Self { listener, path, poll })
    }

    /// Path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Serves clients until `is_stopped`, which is called every 250 ms. `handle` returns the document of a
    /// command; it runs on a thread for each client.
    ///
    /// # Errors
    /// The event loop fails.
    pub fn run<H>(mut self, handle: H, is_stopped: impl Fn() -> bool) -> io::Result<()>
    where
        H: Fn(&str) -> io::Result<String> + Send + Sync + 'static,
    {
        let mut events = Events::with_capacity(16);
        let clients = Arc::new(AtomicUsize::new(0));
        let handle = Arc::new(handle);
        while !is_stopped() {
            match self.poll.poll(&mut events, Some(PATIENCE / 20)) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            // Also without an event: an accept for which there was no descriptor is tried again.
            loop {
                match self.listener.accept() {
                    Ok(Some(stream)) => serve(stream, &clients, &handle),
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
}

/// Answers a client on a new thread.
fn serve<H>(stream: mio::net::UnixStream, clients: &Arc<AtomicUsize>, handle: &Arc<H>)
where
    H: Fn(&str) -> io::Result<String> + Send + Sync + 'static,
{
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
    let handle = Arc::clone(handle);
    let stream = UnixStream::from(OwnedFd::from(stream));
    let run = move || {
        let _client = client;
        if let Err(error) = answer(&stream, &*handle) {
            tracing::debug!(%error, "control");
        }
    };
    if let Err(error) = thread::Builder::new().name("control".into()).spawn(run) {
        tracing::warn!(%error, "cannot serve a client of the control socket");
    }
}

/// Reads a command, and writes its document.
fn answer(mut stream: &UnixStream, handle: &impl Fn(&str) -> io::Result<String>) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut command = String::new();
    BufReader::new(stream.take(MAX_COMMAND)).read_line(&mut command)?;
    let document = match command.strip_suffix('\n') {
        Some(command) => handle(command.trim_end()),
        // A part of a command may be another one.
        None => Err(io::Error::other("a command of more than 64 KiB, or without its line feed")),
    };
    let mut document = document.unwrap_or_else(|error| to_json(&Failure { error: error.to_string() }));
    document.push('\n');
    stream.write_all(document.as_bytes())
}

/// The document of a command that failed. A report with an error among other fields is another document.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    error: String,
}

/// A report as the document of a command.
pub fn to_json(report: &impl Serialize) -> String {
    serde_json::to_string(report).unwrap_or_else(|error| {
        debug_assert!(false, "reports have strings as keys: {error}");
        "{\"error\":\"the report cannot be written as JSON\"}".to_owned()
    })
}

/// Sends a command to the server at a socket. Returns its document. A command that starts with `reload` takes
/// as long as the server needs, any other at most ten seconds; so a server that does not answer is noticed
/// before a reload, too, by the command `status`. `start` is the command that starts such a server, for the
/// error.
///
/// # Errors
/// No server listens there, or this user may not connect; it does not answer; the command fails.
pub fn request(path: &Path, command: &str, start: &str) -> io::Result<String> {
    if command.starts_with("reload") {
        return request_and_wait(path, command, start);
    }
    ask(path, command, start, Some(WAIT))
}

/// Acts as [`request`], for a command that takes as long as the server needs.
///
/// # Errors
/// The errors of [`request`].
pub fn request_and_wait(path: &Path, command: &str, start: &str) -> io::Result<String> {
    ask(path, "status", start, Some(WAIT))?;
    ask(path, command, start, None)
}

fn ask(path: &Path, command: &str, start: &str, wait: Option<Duration>) -> io::Result<String> {
    let shown = path.display();
    let cannot = |error: io::Error| {
        let advice = match error.kind() {
            io::ErrorKind::ConnectionRefused if !is_socket(path) => {
                "not a Unix socket; name the server's by --socket".to_owned()
            }
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                format!("no server listens there; start one by `{start}`, or name its socket by --socket")
            }
            io::ErrorKind::PermissionDenied => {
                "only root and the user of the server may; run it as one of them".to_owned()
            }
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                "the server does not answer; its log says if it is still loading, else see if its process is \
                 stopped"
                    .to_owned()
            }
            io::ErrorKind::InvalidInput => "a path of a Unix socket has at most 107 bytes, none of them 0; \
                                            name the server's by --socket"
                .to_owned(),
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

/// False for a file that is no Unix socket.
fn is_socket(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |found| found.file_type().is_socket())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::os::unix::fs::MetadataExt as _;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_server_that_does_not_answer_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control.sock");
        let _stopped = UnixListener::bind(&path).unwrap();
        let error = ask(&path, "status", "serve", Some(Duration::from_millis(20))).unwrap_err().to_string();
        assert!(error.contains("control.sock: the server does not answer; "), "{error}");
    }

    #[test]
    fn commands_get_the_document_or_the_error_of_the_handler() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control.sock");
        let service = Socket::new(&path, "hashlane-test").listen().unwrap().unwrap();
        assert_eq!(service.path(), path);
        let stop = Arc::new(AtomicUsize::new(0));
        let (stopped, handle) = (Arc::clone(&stop), |command: &str| match command {
            "status" => Ok(to_json(&BTreeMap::from([("uptime_s", 7)]))),
            "zone" => Ok(to_json(&BTreeMap::from([("error", "no file"), ("name", "a.example")]))),
            other => Err(io::Error::other(format!("no command {other}"))),
        });
        let thread = thread::spawn(move || service.run(handle, || stopped.load(Ordering::Relaxed) > 0));
        assert_eq!(request(&path, "status", "serve").unwrap(), "{\"uptime_s\":7}");
        let zone = request_and_wait(&path, "zone", "serve").unwrap();
        assert_eq!(zone, "{\"error\":\"no file\",\"name\":\"a.example\"}");
        assert_eq!(request(&path, "reload x", "serve").unwrap_err().to_string(), "no command reload x");
        // A client that has gone before the end of its command.
        let (mut gone, mut document) = (UnixStream::connect(&path).unwrap(), String::new());
        gone.write_all(b"status").unwrap();
        gone.shutdown(std::net::Shutdown::Write).unwrap();
        gone.read_to_string(&mut document).unwrap();
        assert!(document.contains("without its line feed"), "{document}");
        stop.store(1, Ordering::Relaxed);
        thread.join().unwrap().unwrap();
        let error = request(&path, "status", "hashlane x serve").unwrap_err().to_string();
        assert!(error.contains("no server listens there; start one by `hashlane x serve`"), "{error}");
    }

    #[test]
    fn the_folder_of_a_running_server_keeps_its_owner() {
        let Ok(Some(nobody)) = Account::of("65534", "65534") else { panic!("numbers are accounts") };
        if !Uid::effective().is_root() {
            eprintln!("skipped: only root gives files away");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("service/control.sock");
        let socket = Socket { path: path.clone(), is_default: true };
        let owner = || std::fs::metadata(path.parent().unwrap()).unwrap().uid();
        socket.prepare(Some(&nobody)).unwrap();
        assert_eq!(owner(), 65534);
        // A start that failed after it: root has its folder back, and what a killed server left is gone.
        drop(UnixListener::bind(&path).unwrap());
        socket.prepare(None).unwrap();
        assert!(owner() == 0 && !path.exists());
        let _running = socket.listen().unwrap().unwrap();
        socket.prepare(Some(&nobody)).unwrap();
        assert!(owner() == 0 && path.exists());
    }

    #[test]
    fn no_socket_listens_at_an_empty_path() {
        let none = Socket::new(Path::new(""), "hashlane-test");
        assert!(none.listen().unwrap().is_none() && none.check(None).is_ok() && none.prepare(None).is_ok());
        let other = Socket::new(Path::new("/nowhere/control.sock"), "hashlane-test");
        assert!(other.check(None).is_err() && other.prepare(None).is_ok());
        assert!(other.listen().err().unwrap().to_string().contains("`control.path`"));
    }
}
