//! Sockets that wait for their turn.

use mio::Token;
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// A queue of sockets. Each is queued once, however many events report it: otherwise a socket that is never
/// read empty would get more turns the more it receives.
#[derive(Debug, Default)]
pub(super) struct Ready {
    queue: VecDeque<Token>,
    queued: HashSet<Token, BuildHasherDefault<TokenHasher>>,
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
    /// Puts a socket behind the others, unless it waits already.
    pub(super) fn push(&mut self, token: Token) {
        if self.queued.insert(token) {
            self.queue.push_back(token);
        }
    }

    /// The socket whose turn it is.
    pub(super) fn pop(&mut self) -> Option<Token> {
        let token = self.queue.pop_front()?;
        self.queued.remove(&token);
        Some(token)
    }

    /// Number of sockets that wait.
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// True if no socket waits.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
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
            [flooded, flooded, quiet, flooded].into_iter().for_each(|token| ready.push(token));
            for _ in 0..ready.len() {
                let token = ready.pop().expect("as many as there are");
                turns[token.0 - 1] += 1;
                if token == flooded {
                    ready.push(token);
                }
            }
            assert_eq!(ready.len(), 1);
        }
        assert_eq!(turns, [1000, 1000]);
        assert_eq!((ready.pop(), ready.is_empty()), (Some(flooded), true));
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
