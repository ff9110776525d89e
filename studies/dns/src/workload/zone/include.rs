//! Files that a zone file includes: those inside its folder alone.

use super::error::IncludeError;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Most files that include one another.
const MOST_DEEP: usize = 8;

/// Most bytes of all included files.
const MOST_BYTES: u64 = 256 << 20;

/// The folder of a zone, and the files that are being read.
#[derive(Debug)]
pub(super) struct Folder {
    /// The folder, without symbolic links; `None` of a zone that is not read from a file.
    folder: Option<PathBuf>,
    /// The files that include one another, the zone file first.
    open: Vec<PathBuf>,
    /// Bytes that may still be read.
    left: u64,
}

impl Folder {
    /// The folder of a zone file; without a file, none.
    pub(super) fn of(file: Option<&Path>) -> Self {
        // A file without a path of its own, such as a pipe, has no folder either.
        let file = file.and_then(|file| fs::canonicalize(file).ok()).filter(|file| file.is_file());
        let folder = file.as_deref().and_then(Path::parent).map(Path::to_owned);
        Self { folder, open: file.into_iter().collect(), left: MOST_BYTES }
    }

    /// Reads a file that the one read last includes. [`close`](Self::close) ends it.
    pub(super) fn open(&mut self, path: &str) -> Result<Vec<u8>, IncludeError> {
        let folder = self.folder.as_ref().ok_or(IncludeError::NoFolder)?;
        let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if path.is_empty() || !Path::new(path).components().all(inside) {
            return Err(IncludeError::Path);
        }
        let io = |error: std::io::Error| IncludeError::Io(error.to_string());
        let file = fs::canonicalize(folder.join(path)).map_err(io)?;
        if !file.starts_with(folder) {
            return Err(IncludeError::Outside);
        }
        if self.open.contains(&file) {
            return Err(IncludeError::Loop);
        }
        if self.open.len() > MOST_DEEP {
            return Err(IncludeError::Depth(MOST_DEEP));
        }
        if !fs::metadata(&file).map_err(io)?.is_file() {
            return Err(IncludeError::NotAFile);
        }
        let mut bytes = Vec::new();
        File::open(&file).and_then(|file| file.take(self.left + 1).read_to_end(&mut bytes)).map_err(io)?;
        self.left =
            self.left.checked_sub(bytes.len() as u64).ok_or(IncludeError::TooLong(MOST_BYTES >> 20))?;
        self.open.push(file);
        Ok(bytes)
    }

    /// Ends the file that was opened last.
    pub(super) fn close(&mut self) {
        self.open.pop();
    }
}
