//! Stream sockets in the file system.

mod places;
mod reach;

pub use places::{find, places};
pub use reach::may_connect;

use crate::context::context;

use mio::event::Source;
use mio::net::{UnixListener, UnixStream};
use mio::{Interest, Registry, Token};
use nix::sys::socket::{getsockopt, sockopt};
use nix::unistd::{AccessFlags, Uid, eaccess};
use socket2::{Domain, SockAddr, Socket, Type};
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Most connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// A non-blocking listener on a path. To `mio` it is an event source.
///
/// When it is dropped, it removes the socket file that it made, unless another file has replaced it.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    // The field after the listener, so that the file is removed after it is closed.
    _file: Option<SocketFile>,
}

impl Listener {
    /// Listens on a path. A socket file of an earlier run is replaced. `mode` are the permissions of the new
    /// file, for example 0o666, independent of the umask; write permission is permission to connect.
    ///
    /// If two programs start on one path in the same instant, both may see the same stale file; the later one
    /// gets the path.
    ///
    /// # Errors
    ///
    /// Another program listens on the path; the path is not a socket; its directory does not exist, is not
    /// writable, or lets another user replace the socket; the path is too long for a socket address (108
    /// bytes).
    pub fn bind(path: impl Into<PathBuf>, mode: u32) -> io::Result<Self> {
        let path = path.into();
        let failed = |error: io::Error| context(format_args!("cannot listen on {}", path.display()), &error);
        let address = SockAddr::unix(&path).map_err(failed)?;
        check_directory(&path).and_then(|()| remove_stale(&path, &address)).map_err(failed)?;

        let open = || -> io::Result<(Socket, SocketFile)> {
            let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking().cloexec(), None)?;
            // Linux creates the file with the mode of the socket less the umask: it is never open wider than
            // asked.
            File::from(OwnedFd::from(socket.try_clone()?)).set_permissions(Permissions::from_mode(mode))?;
            socket.bind(&address)?;
            let file = SocketFile::at(&path)?;
            fs::set_permissions(&path, Permissions::from_mode(mode))?;
            socket.listen(BACKLOG)?;
            Ok((socket, file))
        };
        let (socket, file) = open()
            .map_err(|error| if error.kind() == ErrorKind::AddrInUse { in_use() } else { error })
            .map_err(failed)?;
        Ok(Self { listener: UnixListener::from_std(OwnedFd::from(socket).into()), _file: Some(file) })
    }

    /// Listens on a socket that a supervisor has opened. Its file stays when the listener is dropped.
    ///
    /// # Errors
    ///
    /// The socket cannot be made non-blocking.
    pub fn from_supervisor(listener: std::os::unix::net::UnixListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self { listener: UnixListener::from_std(listener), _file: None })
    }

    /// Accepts the next connection; `None` if none waits.
    ///
    /// # Errors
    ///
    /// Errors of `accept`, usually that no file descriptors are left. The connection keeps waiting, and no
    /// event reports it again.
    pub fn accept(&self) -> io::Result<Option<UnixStream>> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => return Ok(Some(stream)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                // The peer has closed the connection already.
                Err(error)
                    if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
                Err(error) => return Err(context("cannot accept a connection", &error)),
            }
        }
    }
}

impl Source for Listener {
    fn register(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
        self.listener.register(registry, token, interests)
    }

    fn reregister(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
        self.listener.reregister(registry, token, interests)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.listener.deregister(registry)
    }
}

/// Checks that [`Listener::bind`] would accept a path, without listening there.
///
/// # Errors
///
/// The errors of `bind`, except that another program listens on the path.
pub fn check(path: &Path) -> io::Result<()> {
    let checked = || -> io::Result<()> {
        SockAddr::unix(path)?;
        check_directory(path)?;
        if let Some(found) = found(path)? {
            check_is_socket(&found)?;
        }
        check_folder(directory(path)?)
    };
    checked().map_err(|error| context(format_args!("cannot listen on {}", path.display()), &error))
}

/// Removes the file of a socket on which no program listens, if there is one.
///
/// # Errors
///
/// A program listens there, or the file is not a socket, or may not be removed.
pub fn clear(path: &Path) -> io::Result<()> {
    remove_stale(path, &SockAddr::unix(path)?)
}

/// Checks that this process may create files in a directory.
///
/// # Errors
///
/// The process may not, or the directory does not exist.
pub fn check_folder(directory: &Path) -> io::Result<()> {
    Ok(eaccess(directory, AccessFlags::W_OK | AccessFlags::X_OK)?)
}

/// The process at the other end of a Unix socket, at the time of the connection (`SO_PEERCRED`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// Process id; 0 if the process is in another PID namespace.
    pub pid: i32,
    /// Effective user id.
    pub uid: u32,
    /// Effective group id.
    pub gid: u32,
}

/// The credentials of the process at the other end of a Unix stream.
///
/// # Errors
///
/// The socket is not a Unix socket, or not connected.
pub fn peer_credentials(stream: &impl AsFd) -> io::Result<Credentials> {
    let peer = getsockopt(stream, sockopt::PeerCredentials)?;
    // Without a peer, the kernel reports user -1.
    if peer.uid() == u32::MAX {
        return Err(ErrorKind::NotConnected.into());
    }
    Ok(Credentials { pid: peer.pid(), uid: peer.uid(), gid: peer.gid() })
}

/// A socket file that is removed on drop.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    fn at(path: &Path) -> io::Result<Self> {
        // The working directory may change before the file is removed.
        let path = std::path::absolute(path)?;
        let identity = identity(&fs::symlink_metadata(&path)?);
        Ok(Self { path, identity })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == self.identity) {
            // A drop has no way to report an error.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

fn in_use() -> io::Error {
    io::Error::new(ErrorKind::AddrInUse, "another program listens there; end it, or choose another path")
}

/// The directory of a path.
fn directory(path: &Path) -> io::Result<&Path> {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Ok(Path::new(".")),
        Some(parent) => Ok(parent),
        None => Err(io::Error::new(ErrorKind::InvalidInput, "the path names no file")),
    }
}

fn check_directory(path: &Path) -> io::Result<()> {
    let directory = directory(path)?;
    match fs::metadata(directory) {
        Ok(found) if found.is_dir() => check_owner(directory, &found),
        Ok(_) => Err(io::Error::new(
            ErrorKind::NotADirectory,
            format!("{} is not a directory", directory.display()),
        )),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(io::Error::new(
            ErrorKind::NotFound,
            format!("the directory {} does not exist", directory.display()),
        )),
        Err(error) => Err(error),
    }
}

/// Refuses a directory in which users other than root and this one can replace a socket file.
fn check_owner(directory: &Path, found: &Metadata) -> io::Result<()> {
    let (shown, owner) = (directory.display(), found.uid());
    let refused = |why: String| Err(io::Error::new(ErrorKind::PermissionDenied, why));
    if ![0, Uid::effective().as_raw()].contains(&owner) {
        return refused(format!(
            "the folder {shown} belongs to user {owner}, who can replace the socket; choose a folder of your own"
        ));
    }
    if is_open(found) {
        let mode = found.mode() & 0o7777;
        return refused(format!(
            "the folder {shown} has mode {mode:04o}, so other users can replace the socket; run chmod go-w {shown}, \
             or choose another folder"
        ));
    }
    Ok(())
}

/// True if users other than the owner can remove files of others in a directory.
fn is_open(directory: &Metadata) -> bool {
    const STICKY: u32 = 0o1000;
    directory.mode() & 0o022 != 0 && directory.mode() & STICKY == 0
}

/// The file on a path, if there is one.
fn found(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

fn check_is_socket(found: &Metadata) -> io::Result<()> {
    if found.file_type().is_socket() {
        return Ok(());
    }
    let reason = "the file there is not a socket; remove it, or choose another path";
    Err(io::Error::new(ErrorKind::AlreadyExists, reason))
}

/// Removes a socket file on which no program listens.
fn remove_stale(path: &Path, address: &SockAddr) -> io::Result<()> {
    let Some(found) = found(path)? else { return Ok(()) };
    check_is_socket(&found)?;
    // Non-blocking: a live listener whose backlog is full would keep the caller waiting.
    let probe = Socket::new(Domain::UNIX, Type::STREAM.nonblocking().cloexec(), None)?;
    match probe.connect(address) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(error),
        // Connected, busy, or a socket of another type.
        _ => return Err(in_use()),
    }
    // Another program may have replaced the file meanwhile.
    match fs::symlink_metadata(path) {
        Ok(now) if identity(&now) == identity(&found) => fs::remove_file(path),
        Ok(_) => Err(in_use()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
