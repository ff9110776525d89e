//! Spare buffers of a thread.
//!
//! A connection holds memory only while bytes wait in it. Its empty buffers go to the spare ones of the
//! thread, and the next connection with something to read or to send takes one of them.

use std::cell::RefCell;

/// Spare buffers that a thread keeps of each kind. Others are freed.
const KEPT: usize = 4;

thread_local! {
    /// Buffers to read into, all of one length and initialised.
    pub(super) static READ: Spare = const { Spare::new() };
    /// Empty buffers that packets are appended to.
    pub(super) static WRITE: Spare = const { Spare::new() };
}

/// Spare buffers.
pub(super) struct Spare(RefCell<Vec<Vec<u8>>>);

impl Spare {
    const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    /// Takes a buffer out; `None` if no buffer is left.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        self.0.borrow_mut().pop()
    }

    /// Keeps a buffer, or frees it.
    pub(super) fn give(&self, buffer: Vec<u8>) {
        let mut kept = self.0.borrow_mut();
        if kept.len() < KEPT {
            kept.push(buffer);
        }
    }
}
