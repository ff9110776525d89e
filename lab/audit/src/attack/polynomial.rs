//! Polynomials in a small multiplier: two adjacent bytes trade places in value.

use super::{About, Attack, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;

/// A function that multiplies its state by `multiplier` before it adds a byte.
pub(super) struct Polynomial {
    id: &'static str,
    source: &'static str,
    multiplier: u8,
    aims_at: &'static [&'static str],
}

pub(super) const ALL: [Polynomial; 2] = [
    Polynomial {
        id: "polynomial-33",
        source: "Crosby and Wallach, USENIX Security 2003; Klink and Wälde, 28C3, 2011 (CVE-2011-4885)",
        multiplier: 33,
        aims_at: &["djb2", "djb2-seeded", "php-djbx33a"],
    },
    Polynomial {
        id: "polynomial-31",
        source: "Klink and Wälde, 28C3, 2011 (CVE-2011-4858)",
        multiplier: 31,
        aims_at: &["java-string"],
    },
];

impl Attack for Polynomial {
    fn about(&self) -> About {
        About {
            id: self.id,
            title: "a polynomial in a small multiplier: one more in a byte is undone by the next byte",
            source: self.source,
            knowledge: Knowledge::Nothing,
            aims_at: self.aims_at,
        }
    }

    /// Pairs of letters that contribute alike, in all combinations.
    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(USUAL_LENGTH);
        let count = 1usize.checked_shl((length / 2) as u32).unwrap_or(usize::MAX).min(target.count);
        let pairs = [[b'A', b'C' + self.multiplier], [b'B', b'C']];
        let keys = (0..count).map(|number| {
            let mut bytes = vec![b'A'; length];
            for (place, pair) in bytes.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                *pair = pairs[number.checked_shr(place as u32).unwrap_or(0) & 1];
            }
            bytes
        });
        let keys = keys.collect();
        target.colliding(keys)
    }
}
