//! Order in which connections are served: those with an event before those that have had a turn.
//!
//! A client that sends queries without a pause always has work left. Were it in one queue with all others, a
//! query that arrives would wait for a long turn of each such client.

use std::collections::VecDeque;

/// Connections that have work left, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Connections with an event since their last turn.
    events: VecDeque<usize>,
    /// Connections that used up their last turn.
    rest: VecDeque<usize>,
}

impl Turns {
    /// Adds a connection that has an event.
    pub(super) fn add(&mut self, connection: usize) {
        self.events.push_back(connection);
    }

    /// Adds a connection that used up its turn.
    pub(super) fn add_again(&mut self, connection: usize) {
        self.rest.push_back(connection);
    }

    /// The next connection with an event.
    pub(super) fn next_event(&mut self) -> Option<usize> {
        self.events.pop_front()
    }

    /// The next connection that used up its turn.
    pub(super) fn next_again(&mut self) -> Option<usize> {
        self.rest.pop_front()
    }

    /// True if no connection has work left.
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_with_an_event_does_not_wait_for_those_that_used_up_their_turns() {
        let mut turns = Turns::default();
        (0..1000).for_each(|greedy| turns.add_again(greedy));
        turns.add(1000);
        assert_eq!(turns.next_event(), Some(1000));
        assert_eq!(turns.next_event(), None);
        assert_eq!((turns.next_again(), turns.next_again()), (Some(0), Some(1)), "in order");
        assert!(!turns.is_empty());
    }
}
