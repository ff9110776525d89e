//! The files of a zone: the zone file, and those inside its folder that it includes.

use crate::error::{FaultKind, IncludeError};
use crate::limits::{MAX_DEPTH, MAX_FILES};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc::Sender;

/// A file that cannot be read.
pub(super) enum Refused {
    Include(IncludeError),
    TooManyBytes,
}

/// The folder of a zone, and the files that are being read.
#[derive(Debug)]
pub(super) struct Folder {
    /// The folder, without symbolic links; `None` of a zone that is not read from a file.
    folder: Option<PathBuf>,
    /// The files that include one another, the zone file first.
    open: Vec<PathBuf>,
    /// Included files so far.
    included: usize,
    /// Bytes that may still be read.
    left: u64,
    /// Receives the path of each included file.
    paths: Option<Sender<PathBuf>>,
}

impl Folder {
    /// The folder of a zone without a file.
    pub(super) fn none(max_bytes: u64) -> Self {
        Self { folder: None, open: Vec::new(), included: 0, left: max_bytes, paths: None }
    }

    /// Reads a zone file. Its folder is the path's, after symbolic links.
    pub(super) fn zone(path: &Path, max_bytes: u64) -> Result<(Self, Vec<u8>), FaultKind> {
        let mut this = Self::none(max_bytes);
        let io = |error: std::io::Error| FaultKind::Io(error.to_string());
        let path = fs::canonicalize(path).map_err(io)?;
        // Before it is opened: opening a pipe would wait for its writer.
        if !fs::metadata(&path).map_err(io)?.is_file() {
            return Err(FaultKind::Io(IncludeError::NotAFile.to_string()));
        }
        let bytes = File::open(&path).and_then(|file| this.read(file)).map_err(io)?;
        let bytes = bytes.ok_or(FaultKind::TooManyBytes(max_bytes))?;
        this.folder = path.parent().map(Path::to_owned);
        this.open = vec![path];
        Ok((this, bytes))
    }

    /// Sends the path of each file that is included from now on.
    pub(super) fn included_to(&mut self, paths: Option<Sender<PathBuf>>) {
        self.paths = paths;
    }

    /// Reads a file that the one read last includes. [`close`](Self::close) ends it.
    pub(super) fn open(&mut self, path: &[u8]) -> Result<Vec<u8>, Refused> {
        let (canonical, file) = self.find(path).map_err(Refused::Include)?;
        let bytes = self.read(file).map_err(|error| Refused::Include(IncludeError::Io(error.to_string())))?;
        let bytes = bytes.ok_or(Refused::TooManyBytes)?;
        if let Some(paths) = &self.paths {
            // The caller may not need them any more.
            let _ = paths.send(canonical.clone());
        }
        self.open.push(canonical);
        self.included += 1;
        Ok(bytes)
    }

    fn find(&self, path: &[u8]) -> Result<(PathBuf, File), IncludeError> {
        let folder = self.folder.as_ref().ok_or(IncludeError::NoFolder)?;
        let path = std::str::from_utf8(path).map_err(|_| IncludeError::Path)?;
        let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if path.is_empty() || !Path::new(path).components().all(inside) {
            return Err(IncludeError::Path);
        }
        if self.open.len() > MAX_DEPTH {
            return Err(IncludeError::Depth(MAX_DEPTH));
        }
        if self.included == MAX_FILES {
            return Err(IncludeError::Count(MAX_FILES));
        }
        let io = |error: std::io::Error| IncludeError::Io(error.to_string());
        let file = fs::canonicalize(folder.join(path)).map_err(io)?;
        if !file.starts_with(folder) {
            return Err(IncludeError::Outside);
        }
        if self.open.contains(&file) {
            return Err(IncludeError::Loop);
        }
        // Before it is opened: opening a pipe would wait for its writer.
        if !fs::metadata(&file).map_err(io)?.is_file() {
            return Err(IncludeError::NotAFile);
        }
        let open = File::open(&file).map_err(io)?;
        Ok((file, open))
    }

    /// The bytes of a file; `None` if they are too many, which the length of a regular file says before it is
    /// read.
    fn read(&mut self, file: File) -> std::io::Result<Option<Vec<u8>>> {
        let len = file.metadata()?.len();
        if len > self.left {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(len).unwrap_or(usize::MAX))?;
        file.take(self.left.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok(self.left.checked_sub(bytes.len() as u64).map(|left| {
            self.left = left;
            bytes
        }))
    }

    /// Ends the file that was opened last.
    pub(super) fn close(&mut self) {
        self.open.pop();
    }
}
