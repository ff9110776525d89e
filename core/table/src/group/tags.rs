//! Small numbers in 16 bytes, compared all at once: SSE2 on x86-64, words of 64 bits elsewhere.

/// Positions in a group, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positions(u32);

impl Positions {
    /// Those below a position, at most 31.
    #[inline(always)]
    pub(crate) fn below(self, position: usize) -> Self {
        Self(self.0 & ((1 << position) - 1))
    }

    /// Returns true if no position is set.
    #[inline(always)]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl Iterator for Positions {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let position = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(position as usize)
    }
}

macro_rules! tags {
    ($(#[$doc:meta])* $name:ident, $tag:ty, $width:literal, $sse2:ident, $words:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name([u64; 2]);

        impl $name {
            /// Tags in a group.
            pub(crate) const WIDTH: usize = $width;

            /// The same tag at every position.
            pub(crate) const fn all(tag: $tag) -> Self {
                let word = tag as u64 * (u64::MAX / <$tag>::MAX as u64);
                Self([word; 2])
            }

            /// Puts a tag at a position below [`WIDTH`](Self::WIDTH).
            #[inline(always)]
            pub(crate) fn set(&mut self, position: usize, tag: $tag) {
                let in_word = Self::WIDTH / 2;
                let shift = position % in_word * <$tag>::BITS as usize;
                if let Some(word) = self.0.get_mut(position / in_word) {
                    *word = *word & !(u64::from(<$tag>::MAX) << shift) | u64::from(tag) << shift;
                }
            }

            /// The positions with `tag`.
            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            pub(crate) fn matching(&self, tag: $tag) -> Positions {
                Positions($sse2(self.0, tag))
            }

            /// The positions with `tag`.
            #[cfg(not(target_arch = "x86_64"))]
            #[inline(always)]
            pub(crate) fn matching(&self, tag: $tag) -> Positions {
                Positions($words(self.0, tag))
            }
        }
    };
}

tags!(
    /// Sixteen tags of 8 bits.
    Tags8, u8, 16, sse2_8, words_8
);
tags!(
    /// Eight tags of 16 bits.
    Tags16, u16, 8, sse2_16, words_16
);

impl Tags16 {
    /// The tag at the last position.
    #[inline(always)]
    pub(crate) fn last(&self) -> u16 {
        (self.0[1] >> 48) as u16
    }
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use core::arch::x86_64::*;

    #[inline(always)]
    #[allow(unused_unsafe, unsafe_code, reason = "register operations, which older compilers call unsafe")]
    pub(super) fn sse2_8(words: [u64; 2], tag: u8) -> u32 {
        // SAFETY: SSE2 is part of x86-64; these touch registers alone.
        unsafe {
            let group = _mm_set_epi64x(words[1] as i64, words[0] as i64);
            _mm_movemask_epi8(_mm_cmpeq_epi8(group, _mm_set1_epi8(tag as i8))) as u32
        }
    }

    #[inline(always)]
    #[allow(unused_unsafe, unsafe_code, reason = "register operations, which older compilers call unsafe")]
    pub(super) fn sse2_16(words: [u64; 2], tag: u16) -> u32 {
        // SAFETY: as above.
        unsafe {
            let group = _mm_set_epi64x(words[1] as i64, words[0] as i64);
            let equal = _mm_cmpeq_epi16(group, _mm_set1_epi16(tag as i16));
            _mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128())) as u32
        }
    }
}
#[cfg(target_arch = "x86_64")]
use sse2::{sse2_8, sse2_16};

/// The bits of the positions in two words with the 8-bit `tag`.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn words_8(words: [u64; 2], tag: u8) -> u32 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let bits = |word: u64| {
        let other = word ^ (u64::from(tag) * 0x0101_0101_0101_0101);
        // The top bit of each byte is set exactly if the byte is 0: no carry leaves a byte.
        let zero = !(((other & LOW) + LOW) | other) & !LOW;
        // Moves the bits together: byte i's to bit 56 + i, without carries.
        ((zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
    };
    bits(words[0]) | bits(words[1]) << 8
}

/// The bits of the positions in two words with the 16-bit `tag`.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn words_16(words: [u64; 2], tag: u16) -> u32 {
    const LOW: u64 = 0x7fff_7fff_7fff_7fff;
    let bits = |word: u64| {
        let other = word ^ (u64::from(tag) * 0x0001_0001_0001_0001);
        let zero = !(((other & LOW) + LOW) | other) & !LOW;
        // Bit 16 i goes to bit 48 + i.
        ((zero >> 15).wrapping_mul(1 << 48 | 1 << 33 | 1 << 18 | 1 << 3) >> 48) as u32 & 0xf
    };
    bits(words[0]) | bits(words[1]) << 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn finds_the_positions_of_a_tag(tags: [u8; 16], at in 0..16usize, other: u8) {
            let mut group = Tags8::all(0xff);
            tags.iter().enumerate().for_each(|(position, tag)| group.set(position, *tag));
            for tag in [tags[at], other] {
                let expected: Vec<usize> = (0..16).filter(|&position| tags[position] == tag).collect();
                prop_assert_eq!(group.matching(tag).collect::<Vec<_>>(), &expected[..]);
                prop_assert_eq!(Positions(words_8(group.0, tag)).collect::<Vec<_>>(), expected);
            }
        }

        #[test]
        fn finds_the_positions_of_a_wide_tag(tags: [u16; 8], at in 0..8usize, near in 0..16u32) {
            let mut group = Tags16::all(0);
            tags.iter().enumerate().for_each(|(position, tag)| group.set(position, *tag));
            for tag in [tags[at], tags[at] ^ 1 << near, 0] {
                let expected: Vec<usize> = (0..8).filter(|&position| tags[position] == tag).collect();
                prop_assert_eq!(group.matching(tag).collect::<Vec<_>>(), &expected[..]);
                prop_assert_eq!(Positions(words_16(group.0, tag)).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn a_group_of_one_tag_has_it_everywhere() {
        assert_eq!(Tags8::all(0x80).matching(0x80).count(), 16);
        assert_eq!(Tags16::all(0x8001).matching(0x8001).count(), 8);
        assert!(Tags16::all(3).matching(2).is_empty());
    }
}
