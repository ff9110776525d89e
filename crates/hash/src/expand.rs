//! As many key words as a hash needs, out of a key of 128 bits.

use crate::fixed::siphash_2u64;
use crate::scheme::Key;

/// Word `index` of the sequence that `purpose` names: SipHash-2-4, taken as a pseudorandom function, of both.
///
/// Words of different index or purpose are independent for whoever cannot tell SipHash-2-4 from a random function.
#[inline]
pub(crate) fn key_word(key: &Key, purpose: &[u8; 8], index: usize) -> u64 {
    siphash_2u64(u64::from_le_bytes(*purpose), index as u64, key)
}
