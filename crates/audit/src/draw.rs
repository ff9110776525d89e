//! Random keys that are the same again under the same seed.

use crate::keys::Keys;
use hashlane_hash::scheme::Key;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

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

    /// `count` random keys of `length` bytes each.
    pub fn keys(&mut self, count: usize, length: usize) -> Keys {
        (0..count).map(|_| self.bytes(length)).collect()
    }
}
