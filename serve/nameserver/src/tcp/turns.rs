//! Order in which connections are served: those with an event before those that have had a turn, and
//! handshakes apart.
//!
//! A client that sends queries without a pause always has work left. Were it in one queue with all others, a
//! query that arrives would wait for a long turn of each such client. A handshake takes as long as the
//! answers to many queries: each address has one after the other, so that a flood of a few addresses delays
//! few.

use hashlane_table::share::Holder;
use std::collections::{HashMap, VecDeque};

/// Connections that have work left, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Connections with an event since their last turn.
    events: VecDeque<usize>,
    /// Connections that used up their last turn.
    rest: VecDeque<usize>,
    /// Connections in a handshake, by the holders of their addresses.
    handshakes: HashMap<Holder, VecDeque<usize>>,
    /// Holders with such connections, each once.
    holders: VecDeque<Holder>,
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

    /// Adds a connection whose handshake goes on.
    pub(super) fn add_handshake(&mut self, holder: Holder, connection: usize) {
        let of_holder = self.handshakes.entry(holder).or_default();
        if of_holder.is_empty() {
            self.holders.push_back(holder);
        }
        of_holder.push_back(connection);
    }

    /// The next connection with a handshake, of the address that has waited for longest.
    pub(super) fn next_handshake(&mut self) -> Option<usize> {
        let holder = self.holders.pop_front()?;
        let of_holder = self.handshakes.get_mut(&holder)?;
        let next = of_holder.pop_front();
        match of_holder.is_empty() {
            true => drop(self.handshakes.remove(&holder)),
            false => self.holders.push_back(holder),
        }
        next
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
        self.events.is_empty() && self.rest.is_empty() && self.holders.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_hash::scheme::Key;
    use hashlane_table::share::{Holders, Owner};
    use std::net::Ipv4Addr;

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

    #[test]
    fn an_address_with_many_handshakes_delays_the_others_by_one_each() {
        let mut holders = Holders::new(&Key::VECTOR);
        let mut holder = |last| holders.acquire(Owner::of(Ipv4Addr::new(192, 0, 2, last).into()));
        let (flood, other, last) = (holder(1), holder(2), holder(3));
        let mut turns = Turns::default();
        (0..1000).for_each(|connection| turns.add_handshake(flood, connection));
        turns.add_handshake(other, 1000);
        turns.add_handshake(last, 1001);
        turns.add_handshake(other, 1002);
        let order: Vec<usize> = (0..7).map_while(|_| turns.next_handshake()).collect();
        assert_eq!(order, [0, 1000, 1001, 1, 1002, 2, 3]);
        let rest = std::iter::from_fn(|| turns.next_handshake()).count();
        assert!(rest == 996 && turns.is_empty() && turns.handshakes.is_empty());
    }
}
