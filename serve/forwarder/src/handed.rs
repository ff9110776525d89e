//! Unix sockets that a supervisor has opened for the forwarder.

use std::io;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// Listening Unix sockets that are handed over to the forwarder, each with its path.
#[derive(Debug, Default)]
pub(crate) struct Handed(Vec<(PathBuf, UnixListener)>);

impl Handed {
    /// Sockets for a forwarder that listens on `paths`.
    ///
    /// # Errors
    /// `paths` lacks the path of a socket.
    pub(crate) fn new(listeners: Vec<(PathBuf, UnixListener)>, paths: &[PathBuf]) -> io::Result<Self> {
        if let Some((handed, _)) = listeners.iter().find(|(handed, _)| !paths.contains(handed)) {
            let handed = handed.display();
            let why = format!(
                "the supervisor hands over the socket {handed}, which the configuration does not list; add it \
                 to faces.unix.path, or run with --unix {handed}"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Ok(Self(listeners))
    }

    /// Paths of all sockets.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.0.iter().map(|(path, _)| path.clone()).collect()
    }

    /// True if a socket on this path is handed over.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.0.iter().any(|(handed, _)| handed == path)
    }

    /// The socket on this path.
    pub(crate) fn take(&mut self, path: &Path) -> Option<UnixListener> {
        let at = self.0.iter().position(|(handed, _)| handed == path)?;
        Some(self.0.swap_remove(at).1)
    }
}
