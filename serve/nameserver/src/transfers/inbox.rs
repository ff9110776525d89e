//! NOTIFY of a zone with primaries, between the threads that receive it and the one that refreshes zones.

use std::sync::atomic::{AtomicBool, Ordering};

/// The state by which a NOTIFY is handed on or left: one waits at a time, so that many cost little.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// One was handed on, and not looked at yet.
    is_pending: AtomicBool,
    /// The last refresh has failed, or its version is not on the disk.
    is_failing: AtomicBool,
}

impl Inbox {
    /// Takes a NOTIFY, of a version that is in service (`is_known`) or not. Returns true if it is to be
    /// handed on: a known version changes nothing, unless an answer of a primary would end a failure.
    pub(super) fn put(&self, is_known: bool) -> bool {
        let is_wanted = !is_known || self.is_failing.load(Ordering::Acquire);
        is_wanted && !self.is_pending.swap(true, Ordering::AcqRel)
    }

    /// Notes that the NOTIFY was looked at.
    pub(super) fn clear(&self) {
        self.is_pending.store(false, Ordering::Release);
    }

    /// Notes the outcome of a refresh.
    pub(super) fn set_failing(&self, is_failing: bool) {
        self.is_failing.store(is_failing, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_version_is_handed_on_while_the_zone_fails() {
        let inbox = Inbox::default();
        assert!(!inbox.put(true));
        assert!(inbox.put(false) && !inbox.put(false), "one waits at a time");
        inbox.clear();
        inbox.set_failing(true);
        assert!(inbox.put(true) && !inbox.put(true));
        inbox.set_failing(false);
        inbox.clear();
        assert!(!inbox.put(true));
    }
}
