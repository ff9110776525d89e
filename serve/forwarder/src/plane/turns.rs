//! A bounded queue of Interests that its holders share: they are served in turns, and when it is full, the
//! largest holder loses its oldest Interest to the newcomer.
//!
//! A holder is a user or an address; its faces take turns, too. Of three classes of holders (Unix users,
//! users of the loopback, other hosts) each has every third turn, and the last two leave a part of the queue
//! to the classes before them.

use hashlane_table::share::Owner;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::Hash;

/// Most Interests that wait.
const MAX: usize = 1024;
/// Most Interests of all holders but Unix users.
const MAX_NOT_UNIX: usize = 896;
/// Most Interests of other hosts.
const MAX_REMOTE: usize = 768;

/// An Interest that waits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// Face that it came from.
    pub(super) face: u64,
    pub(super) packet: Vec<u8>,
}

/// The queue.
#[derive(Debug, Default)]
pub(super) struct FairQueue {
    /// Interests of Unix users, of users of the loopback, and of other hosts.
    classes: [Turns<Owner, Turns<u64, VecDeque<Waiting>>>; 3],
    /// Class whose turn it is.
    next: usize,
}

impl FairQueue {
    /// Adds an Interest. Returns the one that loses its place.
    pub(super) fn push(&mut self, owner: Owner, waiting: Waiting) -> Option<Waiting> {
        let class = match owner {
            Owner::User(_) => 0,
            Owner::Loopback(_) | Owner::Local => 1,
            Owner::Ipv4(_) | Owner::Ipv6(_) | Owner::LinkLocal(_) | Owner::Link(_) => 2,
        };
        let [unix, loopback, remote] = self.classes.each_ref().map(Lane::len);
        let crowded = match class {
            2 if remote >= MAX_REMOTE => 2..3,
            1 | 2 if loopback + remote >= MAX_NOT_UNIX => 1..3,
            _ if unix + loopback + remote >= MAX => 0..3,
            _ => 0..0,
        };
        let crowded = self.classes.get_mut(crowded).into_iter().flatten();
        let largest = crowded.max_by_key(|class| class.largest());
        let displaced = largest.and_then(|class| class.displace());
        if let Some(class) = self.classes.get_mut(class) {
            class.with(owner, |faces| faces.with(waiting.face, |queue| queue.push_back(waiting)));
        }
        displaced
    }

    /// Takes the next Interest.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        for _ in 0..self.classes.len() {
            let class = self.next;
            self.next = (class + 1) % self.classes.len();
            if let Some(waiting) = self.classes.get_mut(class).and_then(|class| class.pop()) {
                return Some(waiting);
            }
        }
        None
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.classes.iter().map(Lane::len).sum()
    }
}

/// A queue with a length.
trait Lane: Default {
    fn len(&self) -> usize;

    /// Takes the next Interest.
    fn pop(&mut self) -> Option<Waiting>;

    /// Takes the oldest Interest of the largest part.
    fn displace(&mut self) -> Option<Waiting>;
}

impl Lane for VecDeque<Waiting> {
    fn len(&self) -> usize {
        self.len()
    }

    fn pop(&mut self) -> Option<Waiting> {
        self.pop_front()
    }

    fn displace(&mut self) -> Option<Waiting> {
        self.pop_front()
    }
}

/// Queues that take turns.
#[derive(Debug)]
struct Turns<K, Q> {
    queues: HashMap<K, Q>,
    /// The keys of the queues, in the order of their turns. A queue that lost its last Interest stays until
    /// its turn.
    turn: VecDeque<K>,
    /// Lengths of the queues that are not empty.
    lengths: BTreeSet<(usize, K)>,
    len: usize,
}

impl<K, Q> Default for Turns<K, Q> {
    fn default() -> Self {
        Self { queues: HashMap::new(), turn: VecDeque::new(), lengths: BTreeSet::new(), len: 0 }
    }
}

impl<K: Copy + Eq + Hash + Ord, Q: Lane> Turns<K, Q> {
    /// Empty queues, in addition to the number of Interests, before they are swept out.
    const SLACK: usize = 64;

    /// Length of the longest queue.
    fn largest(&self) -> usize {
        self.lengths.last().map_or(0, |(len, _)| *len)
    }

    /// Changes the queue of a key, and makes it if it is missing.
    fn with(&mut self, key: K, change: impl FnOnce(&mut Q)) {
        if self.turn.len() >= 2 * self.len + Self::SLACK {
            self.queues.retain(|_, queue| queue.len() > 0);
            self.turn.retain(|key| self.queues.contains_key(key));
        }
        self.queues.entry(key).or_insert_with(|| {
            self.turn.push_back(key);
            Q::default()
        });
        self.change(key, change);
    }

    /// Changes the queue of a key. Returns `None` if the key has no queue.
    fn change<R>(&mut self, key: K, change: impl FnOnce(&mut Q) -> R) -> Option<R> {
        let queue = self.queues.get_mut(&key)?;
        let before = queue.len();
        let result = change(queue);
        let after = queue.len();
        self.lengths.remove(&(before, key));
        if after > 0 {
            self.lengths.insert((after, key));
        }
        self.len = self.len + after - before;
        Some(result)
    }
}

impl<K: Copy + Eq + Hash + Ord, Q: Lane> Lane for Turns<K, Q> {
    fn len(&self) -> usize {
        self.len
    }

    fn pop(&mut self) -> Option<Waiting> {
        while let Some(key) = self.turn.pop_front() {
            let waiting = self.change(key, Lane::pop).flatten();
            if self.queues.get(&key).is_some_and(|queue| queue.len() > 0) {
                self.turn.push_back(key);
            } else {
                self.queues.remove(&key);
            }
            if waiting.is_some() {
                return waiting;
            }
        }
        None
    }

    fn displace(&mut self) -> Option<Waiting> {
        let (_, key) = *self.lengths.last()?;
        self.change(key, Lane::displace).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn waiting(face: u64, number: u32) -> Waiting {
        Waiting { face, packet: number.to_be_bytes().into() }
    }

    /// Faces of the next Interests.
    fn served(queue: &mut FairQueue, count: usize) -> Vec<u64> {
        std::iter::from_fn(|| queue.pop()).take(count).map(|waiting| waiting.face).collect()
    }

    #[test]
    fn a_flood_displaces_itself_and_leaves_every_other_turn_to_others() {
        for (flooder, innocent) in [
            (Owner::Ipv4(1), Owner::Ipv4(2)),
            (Owner::Ipv4(1), Owner::Ipv6(1)),
            (Owner::Loopback(0), Owner::User(0)),
            (Owner::User(1000), Owner::User(1001)),
            // Faces of one holder take turns, too.
            (Owner::User(1000), Owner::User(1000)),
        ] {
            let mut queue = FairQueue::default();
            let mut displaced = 0;
            for number in 0..5000 {
                displaced += usize::from(queue.push(flooder, waiting(7, number)).is_some());
            }
            let most = queue.len();
            assert_eq!(displaced + most, 5000);
            assert!([MAX, MAX_NOT_UNIX, MAX_REMOTE].contains(&most));
            for number in 0..3 {
                let lost = queue.push(innocent, waiting(8, number));
                assert!(lost.is_none_or(|lost| lost == waiting(7, (5000 - most) as u32 + number)));
            }
            let order = served(&mut queue, 6);
            assert_eq!(order.iter().filter(|face| **face == 8).count(), 3, "{innocent:?}: {order:?}");
        }
    }

    #[test]
    fn unix_users_have_a_third_of_the_turns_against_any_number_of_addresses() {
        let mut queue = FairQueue::default();
        for address in 0..5000 {
            queue.push(Owner::Ipv4(address), waiting(u64::from(address), 0));
            queue.push(Owner::Loopback(address), waiting(10_000 + u64::from(address), 0));
        }
        assert_eq!(queue.len(), MAX_NOT_UNIX);
        for number in 0..10 {
            assert_eq!(queue.push(Owner::User(1), waiting(8, number)), None, "there is a reserve");
        }
        assert!(served(&mut queue, 30).iter().filter(|face| **face == 8).count() == 10);
    }

    #[test]
    fn nothing_is_left_of_those_who_lost_their_places() {
        let mut queue = FairQueue::default();
        for number in 0..100_000 {
            queue.push(Owner::Ipv6(number % 50_000), waiting(number, 0));
        }
        let [.., remote] = &queue.classes;
        assert!(remote.queues.len() <= 2 * MAX + 64 && remote.turn.len() == remote.queues.len());
    }

    #[test]
    fn a_queue_of_many_that_lost_their_places_is_served_to_its_end() {
        for more in 0..200 {
            let mut queue = FairQueue::default();
            for address in 0..(MAX_REMOTE as u64 + more) {
                queue.push(Owner::Ipv6(address), waiting(address, 0));
            }
            // Those who lost their places come again, behind the others.
            for address in (0..MAX_REMOTE as u64 + more).rev() {
                queue.push(Owner::Ipv6(address), waiting(address, 1));
            }
            assert_eq!(served(&mut queue, 2 * MAX).len(), MAX_REMOTE);
            assert_eq!(queue.len(), 0);
        }
    }

    proptest! {
        #[test]
        fn each_interest_comes_out_once_whatever_comes_and_goes(
            steps in prop::collection::vec((0..6_u32, 0..3_u64, 0..400_usize), 0..40),
        ) {
            let mut queue = FairQueue::default();
            let (mut pushed, mut out) = (0, BTreeSet::new());
            for (kind, face, count) in steps {
                for _ in 0..count {
                    let owner = match kind {
                        0 => Owner::User(0),
                        1 => Owner::Loopback(0),
                        2 => Owner::Ipv4(1),
                        3 => Owner::Ipv6(pushed.into()),
                        _ => {
                            out.extend(queue.pop().map(|waiting| waiting.packet));
                            continue;
                        }
                    };
                    out.extend(queue.push(owner, waiting(face, pushed)).map(|waiting| waiting.packet));
                    pushed += 1;
                }
                let lens = queue.classes.each_ref().map(Lane::len);
                prop_assert!(lens[2] <= MAX_REMOTE && lens[1] + lens[2] <= MAX_NOT_UNIX);
                prop_assert!(queue.len() <= MAX && queue.len() + out.len() == pushed as usize);
            }
            out.extend(std::iter::from_fn(|| queue.pop()).map(|waiting| waiting.packet));
            prop_assert_eq!((out.len(), queue.len()), (pushed as usize, 0));
        }
    }
}
