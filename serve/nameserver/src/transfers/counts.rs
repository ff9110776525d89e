//! Outcomes of transfers from primaries.

use crate::status::Transfers;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the start.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    received: AtomicU64,
    failed: AtomicU64,
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

    /// The counts, without those of transfers to others.
    pub(crate) fn sums(&self) -> Transfers {
        let received = self.received.load(Ordering::Relaxed);
        Transfers { received, failed: self.failed.load(Ordering::Relaxed), ..Transfers::default() }
    }
}
