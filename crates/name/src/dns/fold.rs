//! Letters without their case: the 26 of ASCII and no other octet (RFC 4343 §3).
//!
//! `octet | 0x20` is not it: that makes one of `[` and `{`, or of 0x0d and `-`, which an attacker can use.

/// Whether the case of letters counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// `A` is `a`: how names are compared in the DNS.
    #[default]
    Ignored,
    /// `A` is not `a`: to keep the spelling of every name, as transfers of zones may want it.
    Sensitive,
}

impl Case {
    /// The octet as it is compared.
    #[inline]
    pub const fn fold(self, octet: u8) -> u8 {
        match self {
            Self::Ignored => octet.to_ascii_lowercase(),
            Self::Sensitive => octet,
        }
    }

    /// Eight octets as they are compared, in any order.
    #[inline(always)]
    pub const fn fold8(self, octets: u64) -> u64 {
        octets | (upper(octets) & self.mask()) >> 2
    }

    /// Whether two runs of octets are equal.
    #[inline(always)]
    pub fn eq(self, a: &[u8], b: &[u8]) -> bool {
        let same = |a: u64, b: u64| a == b || self.fold8(a) == self.fold8(b);
        let same8 = |a: &[u8; 8], b: &[u8; 8]| same(u64::from_ne_bytes(*a), u64::from_ne_bytes(*b));
        if a.len() != b.len() {
            return false;
        }
        // The ends first; they overlap each other or what lies between them.
        match (a.first_chunk(), a.last_chunk(), b.first_chunk(), b.last_chunk()) {
            (Some(first_a), Some(last_a), Some(first_b), Some(last_b)) => {
                let between = |octets| <[u8]>::as_chunks(octets).0.iter().skip(1);
                same8(last_a, last_b)
                    && same8(first_a, first_b)
                    && (a.len() <= 16 || between(a).zip(between(b)).all(|(a, b)| same8(a, b)))
            }
            _ => same(few(a), few(b)),
        }
    }

    #[inline(always)]
    const fn mask(self) -> u64 {
        match self {
            Self::Ignored => u64::MAX,
            Self::Sensitive => 0,
        }
    }
}

/// Fewer than eight octets in a word, in such order as comes out of few reads.
#[inline(always)]
fn few(octets: &[u8]) -> u64 {
    let four = |octets: Option<&[u8; 4]>| octets.map_or(0, |octets| u64::from(u32::from_ne_bytes(*octets)));
    match *octets {
        [] => 0,
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_ne_bytes([a, b])),
        [a, b, c] => u64::from(u32::from_ne_bytes([a, b, c, 0])),
        _ => four(octets.first_chunk()) | four(octets.last_chunk()) << 32,
    }
}

/// The top bit of each octet that is one of `A` to `Z`.
#[inline(always)]
const fn upper(octets: u64) -> u64 {
    const fn each(octet: u8) -> u64 {
        u64::from_ne_bytes([octet; 8])
    }
    // Without its top bit no octet carries into the next.
    let low = octets & each(0x7f);
    let from_a = low + each(0x80 - b'A');
    let beyond_z = low + each(0x7f - b'Z');
    !octets & (from_a ^ beyond_z) & each(0x80)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn folds_letters_and_no_other_octet() {
        for octet in 0..=u8::MAX {
            for at in 0..8 {
                let mut octets = [0x5b; 8];
                octets[at] = octet;
                let mut expected = octets;
                expected[at] = octet.to_ascii_lowercase();
                assert_eq!(Case::Ignored.fold8(u64::from_le_bytes(octets)).to_le_bytes(), expected);
                assert_eq!(Case::Sensitive.fold8(u64::from_le_bytes(octets)).to_le_bytes(), octets);
            }
            assert_eq!(Case::Ignored.fold(octet), octet.to_ascii_lowercase());
            assert_eq!(Case::Sensitive.fold(octet), octet);
        }
    }

    proptest! {
        #[test]
        fn folds_eight_octets_as_one_by_one(octets: [u8; 8]) {
            let folded = octets.map(|octet| Case::Ignored.fold(octet));
            prop_assert_eq!(Case::Ignored.fold8(u64::from_le_bytes(octets)).to_le_bytes(), folded);
            prop_assert!(Case::Ignored.eq(&octets, &folded));
            prop_assert_eq!(Case::Sensitive.eq(&octets, &folded), octets == folded);
        }
    }
}
