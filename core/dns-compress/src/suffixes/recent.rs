//! Recently written names in their spelling, which are found without their hash.

/// Maximum length in bytes of a name that is compared by its bytes.
pub(super) const SHORT: usize = 32;

/// Number of short names that are remembered whole.
pub(super) const WHOLE: usize = 32;

/// Number of repeated names after which more repetitions are expected in the message.
pub(super) const MIN_REPEATS: u8 = 2;

/// Number of new short names in a row after which the next is expected to be new.
pub(super) const MAX_MISSES: u8 = 32;

/// A short name in its spelling, and its offset.
#[derive(Clone, Copy)]
pub(super) struct Whole {
    /// Its first sixteen bytes and its last, which may overlap; of a shorter name the first and the last
    /// eight. Words, which stay in registers: a comparison of arrays would go through memory.
    words: [u64; 4],
    /// Offset (16 bits), message (8), length (8), from the top.
    rest: u32,
}

impl Whole {
    pub(super) const NONE: Self = Self { words: [0; 4], rest: 0 };

    /// A name of at most [`SHORT`] bytes, its place not known.
    #[inline(always)]
    pub(super) fn of(bytes: &[u8], message: u8) -> Self {
        let halves = |ends: &[u8; 16]| {
            let ends = u128::from_le_bytes(*ends);
            [ends as u64, (ends >> 64) as u64]
        };
        let words = match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(first), Some(last)) => {
                let ([a, b], [c, d]) = (halves(first), halves(last));
                [a, b, c, d]
            }
            _ => match (bytes.first_chunk(), bytes.last_chunk()) {
                (Some(first), Some(last)) => [u64::from_le_bytes(*last), u64::from_le_bytes(*first), 0, 0],
                _ => [few(bytes), 0, 0, 0],
            },
        };
        Self { words, rest: u32::from(message) << 8 | bytes.len() as u32 }
    }

    /// The place of a short name. An attacker who makes others share it only makes them slower.
    #[inline(always)]
    pub(super) fn place(&self) -> usize {
        let [first, second, _, last] = self.words;
        let mixed = first ^ second.rotate_left(17) ^ last.rotate_left(29);
        (mixed.wrapping_mul(SPREAD) >> 59) as usize
    }

    /// The offset of `kept` if it is this name in this message.
    #[inline(always)]
    pub(super) fn same(&self, kept: &Self) -> Option<u16> {
        let ([a, b, c, d], [e, f, g, h]) = (self.words, kept.words);
        let differ = u64::from((self.rest ^ kept.rest) & 0xffff);
        let same = (a ^ e) | (b ^ f) | (c ^ g) | (d ^ h) | differ == 0;
        same.then_some((kept.rest >> 16) as u16)
    }

    /// The same with its place.
    #[inline(always)]
    pub(super) fn at(self, at: u16) -> Self {
        Self { rest: u32::from(at) << 16 | self.rest, ..self }
    }
}

/// Fewer than eight bytes as a word, which depends on each of them.
#[inline(always)]
pub(super) fn few(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        }
        _ => bytes.iter().take(3).fold(0, |few, byte| few << 8 | u64::from(*byte)),
    }
}

/// Number of long names that are remembered whole.
pub(super) const RECENT: usize = 32;

/// Spreads words over the high bits: 2⁶⁴ divided by the golden ratio.
pub(super) const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The place of a remembered long name, and the fields that distinguish it: its ends and its length, without
/// a key. An attacker who makes names that share them costs each one comparison more.
#[derive(Clone, Copy)]
pub(super) struct Recent {
    pub(super) place: usize,
    pub(super) check: u32,
}

impl Recent {
    /// `None` for a name of fewer than eight bytes.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let (first, last) =
            (u64::from_le_bytes(*bytes.first_chunk()?), u64::from_le_bytes(*bytes.last_chunk()?));
        let mixed = (first ^ last.rotate_left(29) ^ bytes.len() as u64).wrapping_mul(SPREAD);
        Some(Self { place: (mixed >> 59) as usize, check: (mixed >> 27) as u32 })
    }
}
