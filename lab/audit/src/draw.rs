//! Random keys that are the same again under the same seed.

use crate::keys::Keys;
use hashlane_hash::scheme::Key;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::HashSet;

/// Draws for one key that differs from the others.
const DRAWS: usize = 64;

/// Generator of an audit's random keys.
///
/// The numbers decide which keys are tried, never which key a table in use hashes under.
#[derive(Clone, Debug)]
pub struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// Generator of the numbers that belong to `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Random word.
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Random seed of a hash.
    pub fn key(&mut self) -> Key {
        let mut bytes = [0; 16];
        self.0.fill_bytes(&mut bytes);
        Key::new(bytes)
    }

    /// `length` random bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.0.fill_bytes(&mut bytes);
        bytes
    }

    /// As many random keys as `keys`, of the same lengths. They differ from each other, unless they are so
    /// short that hardly any others are left.
    pub fn like(&mut self, keys: &Keys) -> Keys {
        let mut drawn = HashSet::new();
        keys.iter()
            .map(|key| {
                let mut bytes = self.bytes(key.len());
                for _ in 0..DRAWS {
                    if drawn.insert(bytes.clone()) {
                        break;
                    }
                    bytes = self.bytes(key.len());
                }
                bytes
            })
            .collect()
    }

    /// `count` random keys of `length` bytes each.
    pub fn keys(&mut self, count: usize, length: usize) -> Keys {
        (0..count).map(|_| self.bytes(length)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_like_others_have_their_lengths_and_differ() {
        let keys: Keys = (0..100).map(|_| [0]).chain((0..28).map(|_| [1])).collect();
        let like = Draw::new(1).like(&keys);
        assert!(like.iter().map(<[u8]>::len).eq(keys.iter().map(<[u8]>::len)));
        assert_eq!(like.iter().collect::<HashSet<_>>().len(), 128);
        // There are 256 keys of one byte.
        let many: Keys = (0..1000_u32).map(|_| [0]).collect();
        assert_eq!(Draw::new(1).like(&many).len(), 1000);
    }
}
