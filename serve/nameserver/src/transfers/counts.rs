//! Outcomes of transfers from primaries, and of NOTIFY to secondaries.

use crate::status::Transfers;
use hashlane_dns::wire::Rcode;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the start.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    received: AtomicU64,
    failed: AtomicU64,
    taken: AtomicU64,
    refused: AtomicU64,
    unanswered: AtomicU64,
    patched: AtomicU64,
    rebuilt: AtomicU64,
}

impl Counts {
    /// Counts a version that was put in service.
    pub(super) fn received(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a refresh to which no primary has given an answer of use.
    pub(super) fn failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a NOTIFY by its outcome.
    pub(super) fn notified(&self, rcode: Option<Rcode>) {
        let count = match rcode {
            Some(Rcode::NO_ERROR) => &self.taken,
            Some(_) => &self.refused,
            None => &self.unanswered,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts differences that were applied: to a copy of a zone, or to a zone that was built anew.
    pub(super) fn applied(&self, is_patched: bool) {
        let count = if is_patched { &self.patched } else { &self.rebuilt };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// The counts, without transfers to others.
    pub(crate) fn sums(&self) -> Transfers {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Transfers {
            received: of(&self.received),
            failed: of(&self.failed),
            notify_taken: of(&self.taken),
            notify_refused: of(&self.refused),
            notify_unanswered: of(&self.unanswered),
            patched: of(&self.patched),
            rebuilt: of(&self.rebuilt),
            ..Transfers::default()
        }
    }
}
