//! Expansion of a 128-bit key into the key words of a hash.

use crate::fixed::siphash_2u64;
use crate::scheme::Key;

/// Word `index` of the sequence `purpose`: SipHash-2-4, used as a pseudorandom function, of both.
///
/// Words of different index or purpose look independent to anyone who cannot tell SipHash-2-4 from a random
/// function.
#[inline]
pub(crate) fn key_word(key: &Key, purpose: &[u8; 8], index: usize) -> u64 {
    siphash_2u64(u64::from_le_bytes(*purpose), index as u64, key)
}
