//! System calls that tests count.

use std::io;

/// A system call that tests count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// Receives bytes or datagrams.
    Receive,
    /// Asks how much a UDP socket has not sent yet.
    Unsent,
}

/// Counts a call in tests, and passes its outcome on.
#[inline(always)]
#[cfg_attr(not(test), allow(unused_variables, reason = "only tests count"))]
pub(super) fn counted<T>(call: Call, outcome: io::Result<T>) -> io::Result<T> {
    #[cfg(test)]
    counter::add(call);
    outcome
}

#[cfg(test)]
pub(super) mod counter {
    use super::Call;
    use std::cell::Cell;

    thread_local! {
        /// Calls of this thread: those that receive, and those that ask for the length of a queue.
        static CALLS: Cell<[usize; 2]> = const { Cell::new([0; 2]) };
    }

    pub(super) fn add(call: Call) {
        let mut calls = CALLS.get();
        calls[usize::from(call == Call::Unsent)] += 1;
        CALLS.set(calls);
    }

    /// Sets the counters of this thread to zero.
    pub(in crate::plane) fn reset() {
        CALLS.set([0; 2]);
    }

    /// Calls of this thread since the last reset: receiving calls, and calls for the length of a queue.
    pub(in crate::plane) fn calls() -> [usize; 2] {
        CALLS.get()
    }
}
