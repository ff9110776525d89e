//! Validity of marks: which of them a message can still return to.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicUsize, Ordering};

/// The number of the next renderer.
static RENDERERS: AtomicUsize = AtomicUsize::new(0);

/// Time of a mark: the renderer's number, unique in the process, and the count of its messages and rollbacks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    renderer: usize,
    count: u64,
}

/// The history of a renderer's messages and rollbacks, as far as marks of the current message need it.
#[derive(Debug)]
pub(super) struct Marks {
    now: Moment,
    /// The count when the message started.
    start: u64,
    /// Count and length of each rollback in the message that no later one went below; both rise.
    lowest: Vec<(u64, usize)>,
}

impl Marks {
    /// The history of a new renderer.
    pub(super) fn new() -> Self {
        let now = Moment { renderer: RENDERERS.fetch_add(1, Ordering::Relaxed), count: 0 };
        Self { now, start: 0, lowest: Vec::new() }
    }

    /// Begins a message.
    #[inline(always)]
    pub(super) fn start(&mut self) {
        self.now.count += 1;
        self.start = self.now.count;
        self.lowest.clear();
    }

    /// The time of a mark that is taken now.
    pub(super) const fn now(&self) -> Moment {
        self.now
    }

    /// True if a mark of that time at `len` bytes is of this message and was not rolled back.
    pub(super) fn is_valid(&self, taken: Moment, len: usize) -> bool {
        let next = self.lowest.partition_point(|(count, _)| *count <= taken.count);
        taken.renderer == self.now.renderer
            && taken.count >= self.start
            && self.lowest.get(next).is_none_or(|(_, lowest)| *lowest >= len)
    }

    /// Records a rollback to `len` bytes.
    pub(super) fn record_rollback(&mut self, len: usize) {
        while self.lowest.pop_if(|(_, lowest)| *lowest >= len).is_some() {}
        self.now.count += 1;
        self.lowest.push((self.now.count, len));
    }
}
