//! Stream sockets in the file system.

mod places;
mod reach;

pub use places::{find, places};
pub use reach::may_connect;

use crate::context::context;
use crate::sys;
use mio::event::Source;
use mio::net::{UnixListener, UnixStream};
use mio::{Interest, Registry, Token};
use socket2::{Domain, SockAddr, Socket, Type};
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Connections that wait until they are accepted.
const BACKLOG: i32 = 1024;

/// A listener on a path, which never blocks. To `mio` it is an event source.
///
/// Dropped, it removes its socket file, unless another has taken the place of it.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    // Behind the listener, so that the file goes when nobody listens any more.
    _file: SocketFile,
}

impl Listener {
    /// Listens on a path. A socket file that an earlier run has left behind is replaced; `mode` are the permissions of
    /// the new one (whoever may write to it may connect), for example 0o666, whatever the process's umask.
    ///
    /// Two programs that start on one path in the same instant may both see the same stale file; the later one has the
    /// path then.
    ///
    /// # Errors
    ///
    /// Somebody answers at the path; there is something there that is not a socket; its directory does not exist or may
    /// not be written to; the path is too long for the address of a socket (108 octets).
    pub fn bind(path: impl Into<PathBuf>, mode: u32) -> io::Result<Self> {
        let path = path.into();
        let failed = |error: io::Error| context(format_args!("cannot listen on {}", path.display()), &error);
        let address = SockAddr::unix(&path).map_err(failed)?;
        check_directory(&path).and_then(|()| remove_stale(&path, &address)).map_err(failed)?;

        let open = || -> io::Result<(Socket, SocketFile)> {
            let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking().cloexec(), None)?;
            // Linux gives the file the mode of the socket less the umask: so it never stands open wider than asked.
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
        Ok(Self { listener: UnixListener::from_std(OwnedFd::from(socket).into()), _file: file })
    }

    /// The next connection; none if nobody waits.
    ///
    /// # Errors
    ///
    /// Those of `accept`: above all, no file descriptors are left. The connection waits on then, and no event tells of
    /// it again.
    pub fn accept(&self) -> io::Result<Option<UnixStream>> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => return Ok(Some(stream)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                // That one has gone again.
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

/// Who connected, or whom one connected to, as the kernel saw it at that time (`SO_PEERCRED`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// The process; 0 if it is not visible from here.
    pub pid: i32,
    /// The effective user.
    pub uid: u32,
    /// The effective group.
    pub gid: u32,
}

/// The credentials of the process at the other end of a Unix stream.
///
/// # Errors
///
/// Not a Unix socket, or not connected.
pub fn peer_credentials(stream: &impl AsFd) -> io::Result<Credentials> {
    let libc::ucred { pid, uid, gid } = sys::peer_credentials(stream.as_fd())?;
    // The kernel's answer when there is no peer is nobody: -1.
    if uid == u32::MAX { Err(ErrorKind::NotConnected.into()) } else { Ok(Credentials { pid, uid, gid }) }
}

/// A socket file that is ours to remove.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    fn at(path: &Path) -> io::Result<Self> {
        // The working directory may change before the file goes.
        let path = std::path::absolute(path)?;
        let identity = identity(&fs::symlink_metadata(&path)?);
        Ok(Self { path, identity })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == self.identity) {
            // Nobody is left to tell.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

fn in_use() -> io::Error {
    io::Error::new(ErrorKind::AddrInUse, "another program answers there; end it, or choose another path")
}

fn check_directory(path: &Path) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => return Err(io::Error::new(ErrorKind::InvalidInput, "it names no file")),
    };
    match fs::metadata(directory) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => {
            Err(io::Error::new(ErrorKind::NotADirectory, format!("{} is no directory", directory.display())))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err(io::Error::new(
            ErrorKind::NotFound,
            format!("the directory {} does not exist", directory.display()),
        )),
        Err(error) => Err(error),
    }
}

/// Removes a socket file at which nobody answers.
fn remove_stale(path: &Path, address: &SockAddr) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if !found.file_type().is_socket() {
        return Err(io::Error::new(
            ErrorKind::AlreadyExists,
            "there is something there that is not a socket",
        ));
    }
    // Not blocking: a live listener whose backlog is full would keep the caller waiting.
    let probe = Socket::new(Domain::UNIX, Type::STREAM.nonblocking().cloexec(), None)?;
    match probe.connect(address) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(error),
        // It answers, or is busy, or is a socket of another type.
        _ => return Err(in_use()),
    }
    // Another program may have taken the place meanwhile.
    match fs::symlink_metadata(path) {
        Ok(now) if identity(&now) == identity(&found) => fs::remove_file(path),
        Ok(_) => Err(in_use()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
