//! The folder of received zones, which one server at a time writes.

use crate::config::Config;
use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Name of the locked file. It stays in the folder: to remove it would let two servers lock two files.
const FILE: &str = ".lock";

/// The lock on a folder, as long as this value lives. The kernel ends the lock of a server that was killed.
#[derive(Debug, Default)]
pub(crate) struct Folder(Option<(PathBuf, File)>);

impl Folder {
    /// Makes a folder if it is missing, and locks it, unless this value has locked it already. A folder that
    /// is not needed now is locked if it is there.
    ///
    /// # Errors
    /// Another server has locked it; it is needed, and cannot be made or written.
    pub(crate) fn hold(&mut self, folder: &Path, is_needed: bool) -> io::Result<()> {
        if folder.as_os_str().is_empty() || self.0.as_ref().is_some_and(|(held, _)| held == folder) {
            return Ok(());
        }
        let opened = match is_needed {
            true => std::fs::create_dir_all(folder),
            false => Ok(()),
        };
        let path = folder.join(FILE);
        let open = || File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = match opened.and_then(|()| open()) {
            Ok(file) => file,
            Err(error) if is_needed => return Err(cannot_write(folder, &error)),
            Err(_) => return Ok(()),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(folder, &path)),
            Err(TryLockError::Error(error)) => return Err(cannot_write(folder, &error)),
        }
        // For the message of another server: without it, the lock is the same.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        self.0 = Some((folder.to_owned(), file));
        Ok(())
    }

    /// Lets others lock the folder.
    pub(crate) fn release(&mut self) {
        self.0 = None;
    }
}

/// True if the configuration has zones that are received.
pub(crate) fn is_needed(config: &Config) -> bool {
    config.zone.iter().any(|zone| !zone.primaries.is_empty())
}

/// Checks that a folder is there and can be written, without locking it: a running server may have it.
///
/// # Errors
/// It is not, or cannot.
pub(crate) fn check(folder: &Path) -> io::Result<()> {
    let probe = folder.join(".probe");
    let tried = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&probe, []))
        .and_then(|()| std::fs::remove_file(&probe));
    tried.map_err(|error| cannot_write(folder, &error))
}

fn cannot_write(folder: &Path, error: &io::Error) -> io::Error {
    let why = format!(
        "`transfer.folder` {} cannot be written: {error}; make the folder, and give it to the user of the server",
        folder.display()
    );
    io::Error::new(error.kind(), why)
}

fn in_use(folder: &Path, path: &Path) -> io::Error {
    let process = std::fs::read_to_string(path).unwrap_or_default();
    let process = match process.trim().parse::<u32>() {
        Ok(process) => format!("process {process}"),
        Err(_) => "another server".to_owned(),
    };
    let why = format!(
        "`transfer.folder` {} is in use by {process}; stop that server, or name another folder for this one",
        folder.display()
    );
    io::Error::new(io::ErrorKind::ResourceBusy, why)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]
mod tests {
    use super::*;

    #[test]
    fn one_server_at_a_time_holds_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("received");
        let (mut first, mut second) = (Folder::default(), Folder::default());
        second.hold(&path, false).unwrap();
        assert!(!path.exists(), "a folder that is not needed is not made");
        first.hold(&path, true).unwrap();
        first.hold(&path, true).unwrap();
        for is_needed in [true, false] {
            let error = second.hold(&path, is_needed).unwrap_err().to_string();
            let process = format!("is in use by process {}; stop that server", std::process::id());
            assert!(error.contains(&process), "{error}");
        }
        check(&path).unwrap();
        first.release();
        second.hold(&path, false).unwrap();
        assert!(first.hold(&path, true).is_err());
        first.hold(Path::new(""), true).unwrap();
    }
}
