//! The compressors that can be chosen, and a record of a compressor's answers.

use clap::ValueEnum;
use hashlane_dns::render::{CompressedName, Compressor, SuffixTable};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Case, Name};

/// A compressor by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Id {
    /// A keyed table of suffixes: the longest suffix written before
    Ours,
    /// No compression
    Dumb,
}

/// The compressor of this name.
fn compressor(id: Id, key: &Key) -> Box<dyn Compressor> {
    match id {
        Id::Ours => Box::new(SuffixTable::new(key)),
        Id::Dumb => Box::new(Dumb),
    }
}

/// Writes every name uncompressed.
struct Dumb;

impl Compressor for Dumb {
    fn start(&mut self, _: Case) {}

    fn place(&mut self, _: &[u8], name: Name<'_>) -> CompressedName {
        CompressedName::whole(name)
    }

    fn truncate(&mut self, _: usize) {}
}

/// A compressor that keeps its answers.
pub(super) struct Recorder {
    inner: Box<dyn Compressor>,
    answers: Vec<Answer>,
}

/// Position and form of a name in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The offset of the name in the message.
    pub(super) at: usize,
    pub(super) place: CompressedName,
}

impl Recorder {
    pub(super) fn new(id: Id, key: &Key) -> Self {
        Self { inner: compressor(id, key), answers: Vec::new() }
    }

    /// The answer for each name in the message, in order of position.
    pub(super) fn answers(&self) -> &[Answer] {
        &self.answers
    }
}

impl Compressor for Recorder {
    fn start(&mut self, case: Case) {
        self.answers.clear();
        self.inner.start(case);
    }

    fn place(&mut self, written: &[u8], name: Name<'_>) -> CompressedName {
        let place = self.inner.place(written, name);
        self.answers.push(Answer { at: written.len(), place });
        place
    }

    fn truncate(&mut self, len: usize) {
        while self.answers.pop_if(|answer| answer.at >= len).is_some() {}
        self.inner.truncate(len);
    }
}
