//! Expansion of a 128-bit key into other keys, and into the key words of a hash.

use crate::fixed::siphash_2u64;
use crate::scheme::Key;

impl Key {
    /// Key `number` for one purpose: two words of SipHash-2-4 under this key. To anyone who cannot tell
    /// SipHash-2-4 from a random function, it tells nothing of this key or of others derived from it.
    pub fn derive(&self, purpose: &[u8; 8], number: u64) -> Self {
        let purpose = u64::from_le_bytes(*purpose);
        let words = [0, 1].map(|half| siphash_2u64(purpose, number.wrapping_mul(2) + half, self));
        let mut bytes = [0; 16];
        let (low, high) = bytes.split_at_mut(8);
        low.copy_from_slice(&words[0].to_le_bytes());
        high.copy_from_slice(&words[1].to_le_bytes());
        Self::new(bytes)
    }
}

/// Word `index` of the sequence `purpose`: SipHash-2-4, used as a pseudorandom function, of both.
///
/// Words of different index or purpose look independent to anyone who cannot tell SipHash-2-4 from a random
/// function.
#[inline]
pub(crate) fn key_word(key: &Key, purpose: &[u8; 8], index: usize) -> u64 {
    siphash_2u64(u64::from_le_bytes(*purpose), index as u64, key)
}
