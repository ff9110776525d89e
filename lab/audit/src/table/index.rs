//! Choice of the bucket from the bits of a hash.

use serde::Deserialize;

/// Bits of the hash that choose the bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Index {
    /// The lowest bits. The number of buckets is a power of two.
    Mask,
    /// The remainder of the division by the number of buckets.
    Modulo,
    /// The highest bits. The number of buckets is a power of two.
    Upper,
    /// The highest bits of the product with 2⁶⁴ divided by the golden ratio (Knuth, The Art of Computer
    /// Programming vol. 3, §6.4). The number of buckets is a power of two.
    MultiplyShift,
}

/// 2⁶⁴ divided by the golden ratio, as an odd number.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Index {
    /// Bucket of `hash`, whose lowest `width` bits carry information, among `buckets`.
    pub(super) fn bucket(self, hash: u64, width: u32, buckets: usize) -> usize {
        debug_assert!(buckets > 0 && (self == Self::Modulo || buckets.is_power_of_two()));
        let bits = buckets.trailing_zeros();
        let upper = |hash: u64, width: u32| match width.checked_sub(bits) {
            Some(shift) => hash.checked_shr(shift).unwrap_or(0),
            None => hash,
        };
        let index = match self {
            Self::Mask => hash & (buckets as u64 - 1),
            Self::Modulo => hash % buckets as u64,
            Self::Upper => upper(hash, width),
            Self::MultiplyShift => upper(hash.wrapping_mul(GOLDEN), 64),
        };
        index as usize
    }

    /// Name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mask => "mask",
            Self::Modulo => "modulo",
            Self::Upper => "upper",
            Self::MultiplyShift => "multiply-shift",
        }
    }

    /// True if it needs a number of buckets that is a power of two.
    pub(super) fn needs_power_of_two(self) -> bool {
        self != Self::Modulo
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_come_from_the_stated_bits() {
        let bucket = |index: Index, hash, width, buckets| index.bucket(hash, width, buckets);
        assert_eq!(bucket(Index::Mask, 0xabcd, 64, 256), 0xcd);
        assert_eq!(bucket(Index::Modulo, 1000, 64, 7), 6);
        assert_eq!(bucket(Index::Upper, 0xab << 56, 64, 256), 0xab);
        assert_eq!(bucket(Index::Upper, 0xab00_0000, 32, 256), 0xab);
        assert_eq!(bucket(Index::Upper, u64::MAX, 64, 1), 0);
        assert_eq!(bucket(Index::MultiplyShift, 1, 64, 256), 0x9e);
        assert_eq!(bucket(Index::MultiplyShift, u64::MAX, 64, 1), 0);
    }
}
