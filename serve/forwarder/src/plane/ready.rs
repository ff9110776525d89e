//! Sockets that wait for their turn.

use mio::Token;
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// Sockets that wait for their turn in a round.
///
/// Each is queued once, however many events report it: otherwise a socket that is never read empty would get
/// more turns the more it receives.
#[derive(Debug, Default)]
pub(super) struct Ready {
    queues: [VecDeque<Token>; Class::ALL.len()],
    queued: HashSet<Token, BuildHasherDefault<TokenHasher>>,
}

/// Classes of sockets, in the order of their turns in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Sockets of this host, and UDP sockets, which all peers share.
    First,
    /// Sockets of this host that had more to read than one turn allows.
    BusyLocal,
    /// Connections of other hosts.
    Quiet,
    /// Connections of other hosts that had more to read than one turn allows.
    Busy,
}

impl Class {
    pub(super) const ALL: [Self; 4] = [Self::First, Self::BusyLocal, Self::Quiet, Self::Busy];
}

/// Hash of a token by one multiplication, as each event is hashed twice. Tokens are slots and counters of
/// this process: no remote party chooses them, so the hash needs no key.
#[derive(Debug, Default)]
struct TokenHasher(u64);

impl Hasher for TokenHasher {
    #[inline]
    fn write_usize(&mut self, token: usize) {
        let product = (self.0 ^ token as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Ready {
    /// Puts a socket behind the others of its class, unless it waits already.
    pub(super) fn push(&mut self, token: Token, class: Class) {
        if self.queued.insert(token)
            && let Some(queue) = self.queues.get_mut(class as usize)
        {
            queue.push_back(token);
        }
    }

    /// The socket of a class whose turn it is.
    pub(super) fn pop(&mut self, class: Class) -> Option<Token> {
        let token = self.queues.get_mut(class as usize)?.pop_front()?;
        self.queued.remove(&token);
        Some(token)
    }

    /// Number of sockets of a class that wait.
    pub(super) fn len(&self, class: Class) -> usize {
        self.queues.get(class as usize).map_or(0, VecDeque::len)
    }

    /// True if no socket waits.
    pub(super) fn is_empty(&self) -> bool {
        self.queued.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_has_one_turn_a_round_however_many_events_tell_of_it() {
        let (flooded, quiet) = (Token(1), Token(2));
        let mut ready = Ready::default();
        let mut turns = [0, 0];
        for _ in 0..1000 {
            // An edge for each datagram that comes while the socket is never read empty.
            [flooded, flooded, quiet, flooded].into_iter().for_each(|token| ready.push(token, Class::Quiet));
            for _ in 0..ready.len(Class::Quiet) {
                let token = ready.pop(Class::Quiet).expect("as many as there are");
                turns[token.0 - 1] += 1;
                if token == flooded {
                    ready.push(token, Class::Quiet);
                }
            }
            assert_eq!(ready.len(Class::Quiet), 1);
        }
        assert_eq!(turns, [1000, 1000]);
        assert_eq!((ready.pop(Class::Quiet), ready.is_empty()), (Some(flooded), true));
    }

    #[test]
    fn tokens_of_many_faces_have_hashes_of_their_own() {
        let hash = |token: usize| {
            let mut hasher = TokenHasher::default();
            hasher.write_usize(token);
            hasher.finish()
        };
        let faces = (0..16_384).map(|slot| hash(5 << 32 | slot));
        // A table keeps the low bits for the place and the top ones for the tag.
        let places: HashSet<u64> = faces.clone().map(|hash| hash & 0xffff).collect();
        let all: HashSet<u64> = faces.collect();
        assert_eq!(all.len(), 16_384);
        assert!(places.len() > 12_000, "{}", places.len());
    }
}
