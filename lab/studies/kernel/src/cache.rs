//! The folder of the user's in which source and kernels stay from run to run.

use crate::error::{KernelError, io};
use std::env;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// The folder, ours alone as long as this is there.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// Locked; the lock goes with the process, whatever ends it.
    _lock: File,
}

impl Cache {
    /// `hashlane/flow-kernel` under `XDG_CACHE_HOME`, or under `.cache` at home (XDG Base Directory
    /// Specification).
    pub(crate) fn open() -> Result<Self, KernelError> {
        let set = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let base = set.or_else(|| Some(env::home_dir()?.join(".cache"))).ok_or(KernelError::NoCache)?;
        Self::at(&base.join("hashlane").join("flow-kernel"))
    }

    fn at(folder: &Path) -> Result<Self, KernelError> {
        fs::create_dir_all(folder).map_err(io(format!("cannot make {}", folder.display())))?;
        let path = folder.join("lock");
        let lock = File::create(&path).map_err(io(format!("cannot write {}", path.display())))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { folder: folder.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(KernelError::Busy(folder.to_owned())),
            Err(TryLockError::Error(error)) => {
                Err(KernelError::Io(format!("cannot lock {}", path.display()), error))
            }
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = Cache::at(folder.path()).unwrap();
        assert!(matches!(Cache::at(folder.path()), Err(KernelError::Busy(_))));
        drop(first);
        assert!(Cache::at(folder.path()).is_ok());
    }
}
