//! A table of names behind a pointer: what a run times.

use super::strings::Strings;
use hashlane_hash::scheme::Key;

/// Builds a table of entries under a key; `None` if its crate refuses them.
pub(crate) type Build = fn(&Strings, &Key) -> Option<Box<dyn Table>>;

/// Result of looking up names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Names that the table has a rule or a prefix for.
    pub(crate) names: u64,
    /// Sum of what was found for each: labels of the longest rule, or the value of the longest prefix.
    pub(crate) sum: u64,
}

impl Answer {
    /// Adds the result for a name.
    #[inline(always)]
    pub(crate) fn add(&mut self, found: Option<u32>) {
        self.names += u64::from(found.is_some());
        self.sum += found.map_or(0, u64::from);
    }

    /// Adds the result for a name: labels of its longest rule, 0 without any.
    #[inline(always)]
    pub(crate) fn add_labels(&mut self, labels: usize) {
        self.names += u64::from(labels > 0);
        self.sum += labels as u64;
    }
}

/// A table of suffix rules or of prefixes.
pub(crate) trait Table {
    /// Looks up all names.
    fn find(&mut self, names: &Strings) -> Answer;

    /// Removes names, then inserts them with their numbers from `first` on; returns how many were there, or
    /// `None` of a table that does not change.
    fn replace(&mut self, names: &Strings, first: u32) -> Option<u64> {
        let _ = (names, first);
        None
    }

    /// Bytes of memory, the names included; `None` if they are not known.
    fn memory(&self) -> Option<usize>;
}
