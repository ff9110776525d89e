//! Letters without their case: the 26 of ASCII and no other byte (RFC 4343 §3).
//!
//! `byte | 0x20` is not it: that makes one of `[` and `{`, or of 0x0d and `-`, which an attacker can use.

/// Case sensitivity of comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// `A` is `a`: how names are compared in the DNS.
    #[default]
    Ignored,
    /// `A` is not `a`: to keep the spelling of every name, as transfers of zones may want it.
    Sensitive,
}

impl Case {
    /// Folds one byte for a comparison.
    #[inline]
    pub const fn fold(self, byte: u8) -> u8 {
        match self {
            Self::Ignored => byte.to_ascii_lowercase(),
            Self::Sensitive => byte,
        }
    }

    /// Eight bytes as they are compared, in any order.
    #[inline(always)]
    pub const fn fold8(self, bytes: u64) -> u64 {
        bytes | (upper(bytes) & self.mask()) >> 2
    }

    /// Returns true if `a` and `b` are equal.
    #[inline(always)]
    pub fn eq(self, a: &[u8], b: &[u8]) -> bool {
        if a.len() != b.len() {
            return false;
        }
        let (Some(first_a), Some(first_b)) = (a.first_chunk(), b.first_chunk()) else {
            return self.same(load_short(a), load_short(b));
        };
        // The last eight bytes overlap those before them.
        let (Some(last_a), Some(last_b)) = (a.last_chunk(), b.last_chunk()) else { return false };
        if !self.same8(last_a, last_b) || !self.same8(first_a, first_b) {
            return false;
        }
        let mut at = 8;
        while at + 8 < a.len() {
            let (Some(next_a), Some(next_b)) = (a[at..].first_chunk(), b[at..].first_chunk()) else { break };
            if !self.same8(next_a, next_b) {
                return false;
            }
            at += 8;
        }
        true
    }

    #[inline(always)]
    fn same8(self, a: &[u8; 8], b: &[u8; 8]) -> bool {
        self.same(u64::from_ne_bytes(*a), u64::from_ne_bytes(*b))
    }

    /// Compares two words. Most names are spelled alike, so the unfolded words are compared first.
    #[inline(always)]
    fn same(self, a: u64, b: u64) -> bool {
        a == b || self.fold8(a) == self.fold8(b)
    }

    #[inline(always)]
    const fn mask(self) -> u64 {
        match self {
            Self::Ignored => u64::MAX,
            Self::Sensitive => 0,
        }
    }
}

/// Packs fewer than eight bytes into a word, by at most two reads that may overlap. The order of the bytes
/// depends on the length alone.
#[inline(always)]
fn load_short(bytes: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u32::from_ne_bytes(*first)) | u64::from(u32::from_ne_bytes(*last)) << 32
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u16::from_ne_bytes(*first)) | u64::from(u16::from_ne_bytes(*last)) << 16
    } else {
        bytes.first().copied().map_or(0, u64::from)
    }
}

/// The top bit of each byte that is one of `A` to `Z`.
#[inline(always)]
const fn upper(bytes: u64) -> u64 {
    const fn each(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    // Without its top bit no byte carries into the next.
    let low = bytes & each(0x7f);
    let from_a = low + each(0x80 - b'A');
    let beyond_z = low + each(0x7f - b'Z');
    !bytes & (from_a ^ beyond_z) & each(0x80)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn folds_letters_and_no_other_byte() {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let mut bytes = [0x5b; 8];
                bytes[at] = byte;
                let mut expected = bytes;
                expected[at] = byte.to_ascii_lowercase();
                assert_eq!(Case::Ignored.fold8(u64::from_le_bytes(bytes)).to_le_bytes(), expected);
                assert_eq!(Case::Sensitive.fold8(u64::from_le_bytes(bytes)).to_le_bytes(), bytes);
            }
            assert_eq!(Case::Ignored.fold(byte), byte.to_ascii_lowercase());
            assert_eq!(Case::Sensitive.fold(byte), byte);
        }
    }

    proptest! {
        #[test]
        fn folds_eight_bytes_as_one_by_one(bytes: [u8; 8]) {
            let folded = bytes.map(|byte| Case::Ignored.fold(byte));
            prop_assert_eq!(Case::Ignored.fold8(u64::from_le_bytes(bytes)).to_le_bytes(), folded);
            prop_assert!(Case::Ignored.eq(&bytes, &folded));
            prop_assert_eq!(Case::Sensitive.eq(&bytes, &folded), bytes == folded);
        }
    }
}
