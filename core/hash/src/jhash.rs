//! jhash: Bob Jenkins's lookup3 as the Linux kernel has it.
//!
//! The kernel's `jhash(key, length, initval)` adds the length and `initval` to `JHASH_INITVAL`, reads the key
//! in blocks of twelve bytes, and leaves the last block to a final mixing; that is `hashlittle()` of lookup3
//! on a little-endian machine. It is defined here as little-endian on every machine.
//!
//! [`jhash2`] and the forms of a fixed number of words take 32-bit words instead: they are [`jhash`] of the
//! words' little-endian bytes.
//!
//! Source: Linux `include/linux/jhash.h`; Jenkins, `lookup3.c` (May 2006).

use crate::load::{le32, le32_short};
use crate::scheme::{BytesHash, Key, Keying, Scheme, SchemeInfo};

/// jhash under a 32-bit `initval`.
#[derive(Clone)]
pub struct Jhash {
    pub(crate) initval: u32,
}

impl Scheme for Jhash {
    const INFO: SchemeInfo = SchemeInfo {
        id: "jhash",
        source: "Linux include/linux/jhash.h (Jenkins, lookup3.c, 2006)",
        width: 32,
        keying: Keying::Seed(32),
        check: 0xfe50_c222,
        safe: "Bytes that no adversary chooses: the mixing is invertible and the seed has 32 bits.",
    };

    /// Takes `initval` from the key's first four bytes, little-endian.
    #[inline]
    fn new(key: &Key) -> Self {
        Self { initval: key.halves().0 as u32 }
    }
}

impl BytesHash for Jhash {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        u64::from(jhash(bytes, self.initval))
    }
}

/// The 32-bit jhash of `bytes`; of their number, its low 32 bits count.
#[inline]
pub fn jhash(mut bytes: &[u8], initval: u32) -> u32 {
    if bytes.is_empty() {
        return JHASH_INITVAL.wrapping_add(initval);
    }
    let mut lanes = [JHASH_INITVAL.wrapping_add(bytes.len() as u32).wrapping_add(initval); 3];
    while let Some((block, rest)) = bytes.split_first_chunk::<12>()
        && !rest.is_empty()
    {
        mix(add(&mut lanes, [le32(block, 0), le32(block, 4), le32(block, 8)]));
        bytes = rest;
    }
    let (words, rest) = bytes.as_chunks::<4>();
    let rest = le32_short(rest);
    let last = match *words {
        [] => [rest, 0, 0],
        [a] => [u32::from_le_bytes(a), rest, 0],
        [a, b] => [u32::from_le_bytes(a), u32::from_le_bytes(b), rest],
        [a, b, c, ..] => [a, b, c].map(u32::from_le_bytes),
    };
    mix_last(add(&mut lanes, last))
}

/// [`jhash`] of the words' bytes, little-endian; of their number, the low 30 bits count.
#[inline]
pub fn jhash2(mut words: &[u32], initval: u32) -> u32 {
    let start = JHASH_INITVAL.wrapping_add((words.len() as u32) << 2).wrapping_add(initval);
    let mut lanes = [start; 3];
    while let [a, b, c, rest @ ..] = words
        && !rest.is_empty()
    {
        mix(add(&mut lanes, [*a, *b, *c]));
        words = rest;
    }
    let last = match *words {
        [] => return start,
        [a] => [a, 0, 0],
        [a, b] => [a, b, 0],
        [a, b, c, ..] => [a, b, c],
    };
    mix_last(add(&mut lanes, last))
}

/// [`jhash2`] of one word.
#[inline]
pub fn jhash_1word(a: u32, initval: u32) -> u32 {
    jhash_nwords([a, 0, 0], 1, initval)
}

/// [`jhash2`] of two words.
#[inline]
pub fn jhash_2words(a: u32, b: u32, initval: u32) -> u32 {
    jhash_nwords([a, b, 0], 2, initval)
}

/// [`jhash2`] of three words.
#[inline]
pub fn jhash_3words(a: u32, b: u32, c: u32, initval: u32) -> u32 {
    jhash_nwords([a, b, c], 3, initval)
}

/// Mixes up to three words, `n` of them, by the final mixing alone.
#[inline(always)]
fn jhash_nwords(words: [u32; 3], n: u32, initval: u32) -> u32 {
    mix_last(add(&mut [JHASH_INITVAL.wrapping_add(n << 2).wrapping_add(initval); 3], words))
}

/// The initial value of every lane.
pub const JHASH_INITVAL: u32 = 0xdead_beef;

/// Adds a block to the lanes.
#[inline(always)]
fn add(lanes: &mut [u32; 3], block: [u32; 3]) -> &mut [u32; 3] {
    for (lane, word) in lanes.iter_mut().zip(block) {
        *lane = lane.wrapping_add(word);
    }
    lanes
}

/// Mixes the lanes reversibly (`__jhash_mix`).
#[inline(always)]
fn mix(lanes: &mut [u32; 3]) {
    *lanes = mixed(*lanes);
}

/// Mixes the lanes into the result (`__jhash_final`).
#[inline(always)]
fn mix_last(lanes: &mut [u32; 3]) -> u32 {
    mixed_last(*lanes)
}

/// A lane of jhash: 32 bits of one input, or of several inputs in a vector.
pub(crate) trait Lane: Copy {
    /// Sum modulo 2³².
    fn add(self, by: Self) -> Self;
    /// Difference modulo 2³².
    fn sub(self, by: Self) -> Self;
    fn xor(self, by: Self) -> Self;
    fn rotl<const N: u32>(self) -> Self;
}

impl Lane for u32 {
    #[inline(always)]
    fn add(self, by: Self) -> Self {
        self.wrapping_add(by)
    }
    #[inline(always)]
    fn sub(self, by: Self) -> Self {
        self.wrapping_sub(by)
    }
    #[inline(always)]
    fn xor(self, by: Self) -> Self {
        self ^ by
    }
    #[inline(always)]
    fn rotl<const N: u32>(self) -> Self {
        self.rotate_left(N)
    }
}

/// `__jhash_mix`.
#[inline(always)]
pub(crate) fn mixed<L: Lane>([mut a, mut b, mut c]: [L; 3]) -> [L; 3] {
    a = a.sub(c).xor(c.rotl::<4>());
    c = c.add(b);
    b = b.sub(a).xor(a.rotl::<6>());
    a = a.add(c);
    c = c.sub(b).xor(b.rotl::<8>());
    b = b.add(a);
    a = a.sub(c).xor(c.rotl::<16>());
    c = c.add(b);
    b = b.sub(a).xor(a.rotl::<19>());
    a = a.add(c);
    c = c.sub(b).xor(b.rotl::<4>());
    b = b.add(a);
    [a, b, c]
}

/// `__jhash_final`.
#[inline(always)]
pub(crate) fn mixed_last<L: Lane>([mut a, mut b, mut c]: [L; 3]) -> L {
    c = c.xor(b).sub(b.rotl::<14>());
    a = a.xor(c).sub(c.rotl::<11>());
    b = b.xor(a).sub(a.rotl::<25>());
    c = c.xor(b).sub(b.rotl::<16>());
    a = a.xor(c).sub(c.rotl::<4>());
    b = b.xor(a).sub(a.rotl::<14>());
    c.xor(b).sub(b.rotl::<24>())
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::scheme::CHECK_INPUT;
    use crate::vectors::verification;

    /// lookup3 from its definition: byte i of the padded key goes into lane i / 4 mod 3 at place i mod 4, and
    /// each line of the mixing is a row of (lane changed, lane read, rotation).
    fn naive(bytes: &[u8], initval: u32) -> u32 {
        const MIX: [(usize, usize, u32); 6] =
            [(0, 2, 4), (1, 0, 6), (2, 1, 8), (0, 2, 16), (1, 0, 19), (2, 1, 4)];
        const FINAL: [(usize, usize, u32); 7] =
            [(2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24)];
        let mut lanes = [0xdead_beef_u32.wrapping_add(bytes.len() as u32).wrapping_add(initval); 3];
        for (i, byte) in bytes.iter().enumerate() {
            if i > 0 && i % 12 == 0 {
                for (to, from, bits) in MIX {
                    let other = 3 - to - from;
                    lanes[to] = lanes[to].wrapping_sub(lanes[from]);
                    lanes[to] ^= lanes[from].rotate_left(bits);
                    lanes[from] = lanes[from].wrapping_add(lanes[other]);
                }
            }
            let lane = &mut lanes[i / 4 % 3];
            *lane = lane.wrapping_add(u32::from(*byte) << (8 * (i % 4)));
        }
        if !bytes.is_empty() {
            for (to, from, bits) in FINAL {
                lanes[to] ^= lanes[from];
                lanes[to] = lanes[to].wrapping_sub(lanes[from].rotate_left(bits));
            }
        }
        lanes[2]
    }

    /// The results that lookup3.c states in `driver5()`, of `hashlittle()` and the first of `hashlittle2()`.
    #[test]
    fn gives_the_results_of_lookup3() {
        let text = b"Four score and seven years ago";
        assert_eq!(jhash(text, 0), 0x1777_0551);
        assert_eq!(jhash(text, 1), 0xcd62_8161);
        assert_eq!(jhash(b"", 0), 0xdead_beef);
        assert_eq!(jhash(b"", 0xdead_beef), 0xbd5b_7dde);
    }

    /// SMHasher `main.cpp`: 0x3D83917A for lookup3; covers every length to 255 bytes.
    #[test]
    fn gives_the_verification_value_of_smhasher() {
        assert_eq!(verification(jhash), 0x3d83_917a);
    }

    #[test]
    fn check_value_holds_and_agrees_with_the_naive_form() {
        assert_eq!(Jhash::new(&Key::VECTOR).hash(CHECK_INPUT), Jhash::INFO.check);
        assert_eq!(u64::from(naive(CHECK_INPUT, 0x0302_0100)), Jhash::INFO.check);
    }

    proptest! {
        #[test]
        fn agrees_with_the_naive_form(initval: u32, bytes: Vec<u8>) {
            prop_assert_eq!(jhash(&bytes, initval), naive(&bytes, initval));
        }

        #[test]
        fn takes_words_as_their_bytes(initval: u32, words: Vec<u32>) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            prop_assert_eq!(jhash2(&words, initval), naive(&bytes, initval));
        }

        #[test]
        fn fixed_numbers_of_words_hash_as_the_slice(initval: u32, words: [u32; 3]) {
            let [a, b, c] = words;
            prop_assert_eq!(jhash_1word(a, initval), jhash2(&[a], initval));
            prop_assert_eq!(jhash_2words(a, b, initval), jhash2(&[a, b], initval));
            prop_assert_eq!(jhash_3words(a, b, c, initval), jhash2(&words, initval));
        }
    }
}
