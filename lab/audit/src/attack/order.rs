//! Keys in the order in which a table of the same seed holds them.

use super::{About, Attack, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;
use crate::table::Resolution;

/// Keys read out of one table with linear probing and inserted into another of the same seed.
pub(super) struct TableOrder;

impl Attack for TableOrder {
    fn about(&self) -> About {
        About {
            id: "table-order",
            title: "keys come in the order of another table of the same seed, and fill one end of the slots",
            source: "github.com/rust-lang/rust #36481 (quadratic time of copying a map)",
            knowledge: Knowledge::Results,
            aims_at: &[],
        }
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        if target.geometry.kind != Resolution::Linear {
            return Err(Miss::NotApplicable("it needs a table with linear probing".to_owned()));
        }
        let keys = target.draw.keys(target.count, target.length_or(USUAL_LENGTH));
        let hashes = target.hash(&keys)?;
        let mut order: Vec<(usize, &[u8])> = hashes
            .iter()
            .zip(keys.iter())
            .map(|(hash, key)| (target.geometry.bucket(*hash, keys.len()), key))
            .collect();
        order.sort_unstable();
        Ok(order.into_iter().map(|(_, key)| key).collect())
    }
}
