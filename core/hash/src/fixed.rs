//! SipHash of a fixed number of words, in the forms that the Linux kernel has.
//!
//! A word counts as its little-endian bytes, so that each form equals the hash of 8 or 16 bytes. On 64-bit
//! machines the kernel's `hsiphash` is SipHash-1-3 cut to 32 bits, as here; on 32-bit machines it is
//! HalfSipHash-1-3, see [`halfsiphash`](crate::halfsiphash).
//!
//! Source: Linux `lib/siphash.c`, `include/linux/siphash.h`; Aumasson and Bernstein 2012, §2.

use crate::scheme::Key;
use crate::siphash::Words;

/// SipHash-2-4 of one 64-bit word.
#[inline(always)]
pub fn siphash_1u64(first: u64, key: &Key) -> u64 {
    siphash::<1, 2, 4>([first], key)
}

/// SipHash-2-4 of two 64-bit words.
#[inline(always)]
pub fn siphash_2u64(first: u64, second: u64, key: &Key) -> u64 {
    siphash::<2, 2, 4>([first, second], key)
}

/// The low 32 bits of SipHash-1-3 of four 32-bit words: `hsiphash_4u32` of 64-bit machines.
#[inline(always)]
pub fn hsiphash_4u32(words: [u32; 4], key: &Key) -> u32 {
    let [a, b, c, d] = words.map(u64::from);
    siphash::<2, 1, 3>([a | b << 32, c | d << 32], key) as u32
}

/// SipHash-`C`-`D` of `N` words.
#[inline(always)]
fn siphash<const N: usize, const C: usize, const D: usize>(words: [u64; N], key: &Key) -> u64 {
    let mut state = Words::new(key);
    for word in words {
        state.compress::<C>(word);
    }
    state.finish::<C, D>((8 * N as u64) << 56, 0xff)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use siphasher::sip::{SipHasher13, SipHasher24};

    use super::*;

    /// `siphash_test()` in Linux `lib/siphash_kunit.c`: the rows for 8 and for 16 bytes of its tables.
    #[test]
    fn gives_the_results_of_the_kernels_test() {
        let (first, second) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
        assert_eq!(siphash_1u64(first, &Key::VECTOR), 0x93f5_f579_9a93_2462);
        assert_eq!(siphash_2u64(first, second, &Key::VECTOR), 0x3f2a_cc7f_57c2_9bdb);
        let words = [0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0f0e_0d0c];
        assert_eq!(hsiphash_4u32(words, &Key::VECTOR), 0x7d90_8b66);
    }

    proptest! {
        #[test]
        fn takes_words_as_their_bytes(key: [u8; 16], words: [u32; 4]) {
            let bytes = words.map(u32::to_le_bytes);
            let bytes = bytes.as_flattened();
            let [first, second] = [0, 2].map(|i| u64::from(words[i]) | u64::from(words[i + 1]) << 32);
            let sip24 = SipHasher24::new_with_key(&key);
            prop_assert_eq!(siphash_1u64(first, &Key::new(key)), sip24.hash(&bytes[..8]));
            prop_assert_eq!(siphash_2u64(first, second, &Key::new(key)), sip24.hash(bytes));
            let sip13 = SipHasher13::new_with_key(&key).hash(bytes);
            prop_assert_eq!(hsiphash_4u32(words, &Key::new(key)), sip13 as u32);
        }
    }
}
