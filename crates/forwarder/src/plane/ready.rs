//! Sockets that may have more than was read.

use mio::Token;
use std::collections::{HashSet, VecDeque};

/// Sockets in turn. Each stands here once, however many events tell of it: one that is never read empty would otherwise take the more turns
/// the more comes to it.
#[derive(Debug, Default)]
pub(super) struct Ready {
    queue: VecDeque<Token>,
    queued: HashSet<Token>,
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

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether none waits.
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
}
