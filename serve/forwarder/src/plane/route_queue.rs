//! A bounded queue of events of learned routes, which the holders of faces share.

use hashlane_ndn_fw::learning::Reported;
use std::collections::{BTreeMap, VecDeque};

/// Most events that wait.
const MAX: usize = 1024;
/// Most events of one holder that wait.
const MAX_OF_HOLDER: usize = 64;

/// Number of a holder, and whether it is one of another host.
type Key = (u32, bool);

/// The queue. Holders take turns. A holder with too many events loses new ones, which come again with later
/// packets.
#[derive(Debug, Default)]
pub(super) struct RouteQueue {
    holders: BTreeMap<Key, VecDeque<Reported>>,
    len: usize,
    /// Holder of the event that was taken last.
    last: Key,
}

impl RouteQueue {
    /// Adds an event. If the queue is full, the holder with most events loses its newest one.
    pub(super) fn push(&mut self, event: Reported) {
        let key = (event.holder.index(), event.holder.is_remote());
        let held = self.holders.get(&key).map_or(0, VecDeque::len);
        if held >= MAX_OF_HOLDER {
            return;
        }
        if self.len >= MAX {
            let largest = self.holders.iter().max_by_key(|(_, events)| events.len());
            let Some((largest, most)) = largest.map(|(key, events)| (*key, events.len())) else { return };
            if held >= most {
                return;
            }
            self.take(largest, VecDeque::pop_back);
        }
        self.holders.entry(key).or_default().push_back(event);
        self.len += 1;
    }

    /// Takes the next event.
    pub(super) fn pop(&mut self) -> Option<Reported> {
        let (low, high) = self.last;
        let after = self.holders.range((low, high)..).map(|(key, _)| *key).find(|key| *key != self.last);
        let key = after.or_else(|| self.holders.keys().next().copied())?;
        self.last = key;
        self.take(key, VecDeque::pop_front)
    }

    fn take(
        &mut self,
        key: Key,
        which: impl FnOnce(&mut VecDeque<Reported>) -> Option<Reported>,
    ) -> Option<Reported> {
        let events = self.holders.get_mut(&key)?;
        let taken = which(events);
        if events.is_empty() {
            self.holders.remove(&key);
        }
        self.len -= usize::from(taken.is_some());
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_ndn_fw::face::FaceId;
    use hashlane_ndn_fw::learning::RouteEvent;
    use hashlane_table::share::Holder;

    fn event(holder: u32, face: u32) -> Reported {
        let event = RouteEvent::Announced(Box::default());
        Reported { face: FaceId(face), holder: Holder::new(holder, true), event }
    }

    #[test]
    fn holders_take_turns_and_one_of_them_fills_no_more_than_its_share() {
        let mut queue = RouteQueue::default();
        (0..1000).for_each(|face| queue.push(event(1, face)));
        queue.push(event(2, 7));
        assert_eq!(queue.len, MAX_OF_HOLDER + 1);
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|event| event.holder.index()).collect();
        assert_eq!((order[..3].to_vec(), order.len()), (vec![1, 2, 1], MAX_OF_HOLDER + 1));
        assert_eq!((queue.len, queue.holders.len()), (0, 0));
    }

    #[test]
    fn many_holders_leave_room_for_a_new_one() {
        let mut queue = RouteQueue::default();
        (0..100).for_each(|holder| (0..64).for_each(|face| queue.push(event(holder, face))));
        assert_eq!(queue.len, MAX);
        queue.push(event(1000, 7));
        assert_eq!(queue.len, MAX);
        assert!(std::iter::from_fn(|| queue.pop()).any(|event| event.holder.index() == 1000));
    }
}
