//! Keys that differ in length alone.

use super::{About, Attack, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;
use crate::subject::Lengths;

/// Most zeros appended or prepended.
const MOST: usize = 1024;

fn padded(target: &mut Target<'_>, pad: impl Fn(&[u8], usize) -> Vec<u8>) -> Result<Keys, Miss> {
    if target.subject.info().lengths != Lengths::Any || target.length.is_some() {
        return Err(Miss::NotApplicable("its keys have one length".to_owned()));
    }
    let base = target.draw.bytes(target.length_or(USUAL_LENGTH));
    let count = target.count.min(MOST);
    target.colliding((0..count).map(|zeros| pad(&base, zeros)).collect())
}

/// A key, and the same with zeros after it.
pub(super) struct TrailingZeros;

impl Attack for TrailingZeros {
    fn about(&self) -> About {
        About {
            id: "trailing-zeros",
            title: "zeros after the key do not move the hash",
            source: "padding without the length: Menezes et al., Handbook of Applied Cryptography, §9.4.1",
            knowledge: Knowledge::Nothing,
            aims_at: &["toeplitz"],
        }
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        padded(target, |base, zeros| [base, &vec![0; zeros]].concat())
    }
}

/// A key, and the same with zeros before it.
pub(super) struct LeadingZeros;

impl Attack for LeadingZeros {
    fn about(&self) -> About {
        About {
            id: "leading-zeros",
            title: "zeros before the key do not move the hash",
            source: "CRC with initial value 0; Koopman, 32-Bit Cyclic Redundancy Codes, DSN 2002",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        padded(target, |base, zeros| [&vec![0; zeros], base].concat())
    }
}
