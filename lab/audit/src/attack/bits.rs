//! Bits of the key that move the hash, but not the bits of it that choose the bucket.

use super::{About, Attack, FEWEST, Knowledge, LONGER, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;

/// Random keys whose bits are changed one by one, each key under a new seed.
const TRIALS: usize = 24;

/// Longest keys whose bits are probed.
const MAX_PROBED: usize = 1024;

/// Keys that differ in such bits alone.
pub(super) struct Truncated;

impl Attack for Truncated {
    fn about(&self) -> About {
        About {
            id: "truncated-bits",
            title: "bits of the key move only those bits of the hash that do not choose the bucket",
            source: "github.com/rust-lang/hashbrown #48 (FxHash); found here by changing each bit",
            knowledge: Knowledge::Nothing,
            aims_at: &["fxhash"],
        }
    }

    fn longer(&self) -> Option<usize> {
        Some(LONGER)
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(USUAL_LENGTH);
        // The table of all keys has the most buckets; these bits move none of them.
        let bucket = |hash: &u64, geometry: &crate::table::Geometry| geometry.bucket(*hash, target.count);
        let geometry = target.geometry;
        let mut still: Vec<usize> = (0..8 * length.min(MAX_PROBED)).collect();
        let mut moved = vec![false; still.len()];
        let mut hashes = Vec::new();
        for _ in 0..TRIALS {
            let base = target.draw.bytes(length);
            let keys: Keys = core::iter::once(base.clone())
                .chain(still.iter().map(|bit| changed(&base, &[*bit], 1)))
                .collect();
            target.subject.hash_all(&target.draw.key(), &keys, &mut hashes)?;
            let Some((of_base, of_changed)) = hashes.split_first() else { break };
            let mut of_changed = of_changed.iter();
            still.retain(|bit| {
                let hash = of_changed.next().unwrap_or(of_base);
                moved[*bit] |= hash != of_base;
                bucket(hash, geometry) == bucket(of_base, geometry)
            });
        }
        // A bit that moves nothing is `unhashed`.
        still.retain(|bit| moved[*bit]);
        let count = 1usize.checked_shl(still.len() as u32).unwrap_or(usize::MAX).min(target.count);
        if count < FEWEST {
            return Err(Miss::NotApplicable("every bit moves the bucket, or none of the hash".to_owned()));
        }
        let base = target.draw.bytes(length);
        Ok((0..count).map(|number| changed(&base, &still, number)).collect())
    }
}

/// `base` with the `bits` changed whose place is set in `number`.
fn changed(base: &[u8], bits: &[usize], number: usize) -> Vec<u8> {
    let mut bytes = base.to_vec();
    for (_, bit) in
        bits.iter().enumerate().filter(|(place, _)| number.checked_shr(*place as u32).unwrap_or(0) & 1 == 1)
    {
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    bytes
}
