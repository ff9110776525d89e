//! Walks over the entries below a prefix whose contribution has changed.
//!
//! A prefix may have a million entries below it, so a change does not visit them at once: each step visits a
//! bounded number. A walk that is asked for again while it is under way continues for one more round, so that
//! no sequence of changes keeps it from the entries at its end.

use super::Key;
use std::collections::VecDeque;

/// Most walks under way. One more replaces all by a walk over every entry.
const MAX_WALKS: usize = 64;

/// The walks under way, each over other entries.
#[derive(Default)]
pub(super) struct Walks(VecDeque<Walk>);

/// A walk over the entries below a prefix, in their order.
pub(super) struct Walk {
    pub(super) prefix: Key,
    /// Last entry visited; `None` at the start of a round.
    last: Option<Key>,
    /// Last entry to visit in the last round; `None` for the last one below the prefix.
    end: Option<Key>,
    /// True if another round follows.
    again: bool,
}

impl Walk {
    fn new(prefix: Key) -> Self {
        Self { prefix, last: None, end: None, again: false }
    }

    /// Visits the entries that were visited already once more.
    fn renew(&mut self) {
        self.end = self.last.clone();
        self.again = self.end.is_some();
    }

    /// The key after which the walk continues.
    pub(super) fn start(&self) -> &[u8] {
        self.last.as_deref().unwrap_or(&self.prefix)
    }

    /// True if the walk visits this key before it ends or starts another round.
    pub(super) fn visits(&self, key: &[u8]) -> bool {
        key.starts_with(&self.prefix) && (self.again || self.end.as_deref().is_none_or(|end| key <= end))
    }

    /// Notes the last entry visited, or `None` if none was left. Returns true if the walk is over.
    fn advance(&mut self, last: Option<Key>) -> bool {
        let is_over = last.is_none() && !self.again;
        self.again &= last.is_some();
        self.last = last;
        is_over
    }
}

impl Walks {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Starts a walk below `prefix`, or one more round of a walk that covers it.
    pub(super) fn add(&mut self, prefix: Key) {
        if let Some(walk) = self.0.iter_mut().find(|walk| prefix.starts_with(&walk.prefix)) {
            return walk.renew();
        }
        self.0.retain(|walk| !walk.prefix.starts_with(&prefix));
        if self.0.len() >= MAX_WALKS {
            self.0.clear();
            self.0.push_back(Walk::new(Key::from(&[][..])));
        } else {
            self.0.push_back(Walk::new(prefix));
        }
    }

    /// The walk whose turn it is.
    pub(super) fn next(&self) -> Option<&Walk> {
        self.0.front()
    }

    /// Ends the turn of a walk that has visited entries up to `last`; `None` if it found none.
    pub(super) fn advance(&mut self, last: Option<Key>) {
        if let Some(mut walk) = self.0.pop_front()
            && !walk.advance(last)
        {
            self.0.push_back(walk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn key(byte: u8) -> Key {
        Key::from(&[byte][..])
    }

    /// Visits one of 256 entries.
    fn step(walks: &mut Walks) -> Option<u8> {
        let walk = walks.next()?;
        let next = (0..=255).find(|byte| [*byte][..] > *walk.start() && walk.visits(&[*byte]));
        walks.advance(next.map(key));
        next
    }

    #[test]
    fn a_walk_that_is_renewed_over_and_over_still_visits_every_entry() {
        let mut walks = Walks::default();
        let mut seen = BTreeSet::new();
        for _ in 0..300 {
            walks.add(key(b'x')[..0].into());
            seen.extend(step(&mut walks));
        }
        assert_eq!(seen.len(), 256);
        let rest = std::iter::from_fn(|| (!walks.is_empty()).then(|| step(&mut walks))).flatten();
        assert_eq!(rest.collect::<BTreeSet<_>>().len(), 255, "those before the last step, once more");
    }

    #[test]
    fn walks_are_bounded_and_cover_all_that_was_asked() {
        let mut walks = Walks::default();
        (0..MAX_WALKS as u8).for_each(|byte| walks.add(key(byte)));
        walks.add(key(7));
        assert_eq!(walks.0.len(), MAX_WALKS);
        walks.add(key(200));
        assert_eq!((walks.0.len(), walks.0[0].prefix.len()), (1, 0));
    }
}
