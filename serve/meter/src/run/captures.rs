//! Captures in, one after the other.

use super::RunError;
use hashlane_link::capture::{self, Chunk, Input, Reader};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Captures that are read one after the other.
pub(super) struct Captures<'a> {
    reader: Reader<Input<'a>>,
    path: &'a Path,
    stop: &'a AtomicBool,
    rest: std::slice::Iter<'a, PathBuf>,
    pub(super) problems: Vec<(PathBuf, String)>,
}

impl<'a> Captures<'a> {
    /// Opens the first capture; `None` if the run was stopped before its first bytes.
    pub(super) fn open(paths: &'a [PathBuf], stop: &'a AtomicBool) -> Result<Option<Self>, RunError> {
        let mut rest = paths.iter();
        let path = rest.next().map_or(Path::new("-"), PathBuf::as_path);
        match capture::open_until(path, stop) {
            Ok(reader) => Ok(Some(Self { reader, path, stop, rest, problems: Vec::new() })),
            Err(_) if stop.load(Ordering::Relaxed) => Ok(None),
            Err(error) => Err(RunError::Capture(path.into(), error)),
        }
    }

    /// Passes the frames that one read brings to `take`. Returns false at the end.
    pub(super) fn next_batch(&mut self, take: impl FnOnce(capture::Batch<'_>)) -> bool {
        loop {
            match self.reader.next_batch() {
                Ok(Some(batch)) => {
                    take(batch);
                    return true;
                }
                Ok(None) => {}
                Err(error) => self.problem(&error),
            }
            if !self.next() {
                return false;
            }
        }
    }

    /// Fills a chunk. Returns false at the end.
    pub(super) fn next_chunk(&mut self, chunk: &mut Chunk) -> bool {
        loop {
            match self.reader.next_chunk(chunk) {
                Ok(true) => return true,
                Ok(false) => {}
                Err(error) => self.problem(&error),
            }
            if !self.next() {
                return false;
            }
        }
    }

    /// Notes why the capture ended. After a stop it may have ended within a packet.
    fn problem(&mut self, error: &dyn std::fmt::Display) {
        if !self.stop.load(Ordering::Relaxed) {
            self.problems.push((self.path.into(), error.to_string()));
        }
    }

    /// Opens the next capture that is one. Returns false if none is left.
    fn next(&mut self) -> bool {
        while let Some(path) = self.rest.next() {
            self.path = path;
            match capture::open_until(path, self.stop) {
                Ok(reader) => {
                    self.reader = reader;
                    return true;
                }
                Err(error) => self.problem(&error),
            }
        }
        false
    }
}
