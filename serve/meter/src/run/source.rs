//! The captures of several workers: each takes the next chunk when it has time.

use super::captures::Captures;
use hashlane_link::capture::Chunk;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Captures that workers read in turn, one chunk at a time.
pub(super) struct Source<'a> {
    captures: Mutex<Shared<'a>>,
    /// Set if no chunk is wanted any more.
    stop: &'a AtomicBool,
    failed: AtomicBool,
}

struct Shared<'a> {
    captures: Captures<'a>,
    /// Chunks given out.
    chunks: u64,
    ended: bool,
}

/// Reply to a worker that asks for a chunk.
pub(super) enum Next {
    /// The chunk has this number, counted from 0.
    Chunk(u64),
    /// There were so many chunks.
    End(u64),
}

impl<'a> Source<'a> {
    pub(super) fn new(captures: Captures<'a>, stop: &'a AtomicBool) -> Self {
        let captures = Mutex::new(Shared { captures, chunks: 0, ended: false });
        Self { captures, stop, failed: AtomicBool::new(false) }
    }

    /// Gives out no chunk any more: the output failed.
    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Fills a chunk with what comes next.
    pub(super) fn next(&self, chunk: &mut Chunk) -> Next {
        let mut shared = self.captures.lock().unwrap_or_else(PoisonError::into_inner);
        let Shared { captures, chunks, ended } = &mut *shared;
        let stopped = self.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed);
        *ended = *ended || stopped || !captures.next_chunk(chunk);
        if *ended {
            return Next::End(*chunks);
        }
        *chunks += 1;
        Next::Chunk(*chunks - 1)
    }

    /// The captures that ended early or did not open, and why.
    pub(super) fn problems(self) -> Vec<(PathBuf, String)> {
        self.captures.into_inner().unwrap_or_else(PoisonError::into_inner).captures.problems
    }
}
