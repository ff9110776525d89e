//! Lines of the log that anyone can cause: a thread writes one of a kind in a second.

use crate::clock::unix_seconds;

/// Second of the last line of a kind.
#[derive(Debug, Default)]
pub(super) struct Seldom(u64);

impl Seldom {
    /// Returns true if there was no line in this second.
    pub(super) fn is_due(&mut self) -> bool {
        let now = unix_seconds();
        std::mem::replace(&mut self.0, now) != now
    }
}
