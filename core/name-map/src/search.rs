//! Search for the longest suffix of a name that has a group.
//!
//! If a suffix has a group, all shorter ones down to the pivot have one: rules that share the longer one
//! share the shorter ones, too. The search visits the suffix with one label more than the pivot, which is as
//! many as common names have, and then halves the bytes that are left: at most eleven visits, whatever the
//! rules.

use crate::groups::{Group, Suffix};
use crate::reversed::Reversed;
use hashlane_hash::scheme::PrefixHash;

/// Suffixes to visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    /// Each suffix that has a group.
    Every,
    /// Few of them: the longest says what the others have.
    Search,
}

/// A search, after a suffix was visited that has longer ones below. `S` is the state of a hash.
#[derive(Clone, Debug)]
pub(crate) struct Search<S> {
    walk: Walk,
    /// Bytes of the longest suffix with a group that was visited.
    known: usize,
    /// State of a hash after so many of its bytes.
    state: S,
    hashed: usize,
    /// Bytes of the suffix to visit, and the state after them.
    end: usize,
    after: S,
    /// Bytes of the shortest suffix that is known to have no group.
    without: usize,
    inherits: bool,
}

impl<S: Clone> Search<S> {
    /// A search that visits the suffix of `end` bytes first, after the one with a label less. `state` has
    /// taken `hashed` bytes of the name.
    #[inline(always)]
    pub(crate) fn new(end: usize, (state, hashed): (S, usize), walk: Walk) -> Self {
        let after = state.clone();
        Self { walk, known: 0, state, hashed, end, after, without: usize::MAX, inherits: false }
    }

    /// Hashes the suffix to visit.
    #[inline(always)]
    pub(crate) fn hash<H: PrefixHash<State = S>>(&mut self, hash: &H, name: &Reversed) -> u64 {
        self.after = self.state.clone();
        hash.extend_within(&mut self.after, name.bytes(), self.hashed, self.end);
        hash.finish(&self.after)
    }

    /// The suffix to visit. It inherits the rules of shorter ones if the one before it is not visited.
    #[inline(always)]
    pub(crate) fn suffix(&self) -> Suffix {
        Suffix { end: self.end, inherits: self.inherits }
    }

    /// Goes on after the visit of a suffix with this group. Returns false at the end of the search.
    #[inline(always)]
    pub(crate) fn advance(&mut self, name: &Reversed, group: Option<Group>) -> bool {
        match group {
            Some(Group { deeper: false }) => return false,
            Some(Group { deeper: true }) => {
                (self.known, self.hashed) = (self.end, self.end);
                self.state = self.after.clone();
            }
            None if self.inherits => self.without = self.end,
            None => return false,
        }
        let Some(next) = name.end_after(self.known).filter(|next| *next < self.without) else { return false };
        self.end = match self.walk {
            Walk::Every => next,
            Walk::Search => self.middle(name, next),
        };
        self.inherits = self.end != next;
        true
    }

    /// The first suffix that ends in the upper half of the bytes that are left, else of their lower half, and
    /// so on; `next` is the shortest. The whole name is visited only after the suffix with a label less, so
    /// that rules one label below that one are never inherited.
    #[inline(always)]
    fn middle(&self, name: &Reversed, next: usize) -> usize {
        let most = self.without.min(name.bytes().len());
        let mut from = most;
        while from > next {
            from = usize::midpoint(next, from);
            match name.end_after(from.saturating_sub(1)) {
                Some(end) if end < most => return end,
                _ => {}
            }
        }
        next
    }
}
