//! The folder of the user's in which source and kernels stay from run to run.

use anyhow::{Context, Result, bail};
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
    pub(crate) fn open() -> Result<Self> {
        let set = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let base = set.or_else(|| Some(env::home_dir()?.join(".cache"))).context(
            "neither XDG_CACHE_HOME nor HOME is set, so there is no folder for the source and the kernels: set one",
        )?;
        Self::at(&base.join("hashlane").join("flow-kernel"))
    }

    fn at(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join("lock");
        let lock = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { folder: folder.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                bail!("another run is building or using the kernels in {}: wait for it", folder.display())
            }
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", path.display()))
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
        let busy = Cache::at(folder.path()).unwrap_err().to_string();
        assert!(busy.starts_with("another run is"), "{busy}");
        drop(first);
        assert!(Cache::at(folder.path()).is_ok());
    }
}
