//! GxHash: blocks are compressed without the seed, by rounds of AES that run backwards as well.

use super::{About, Attack, Knowledge, Miss, Target, USUAL_LENGTH};
use crate::keys::Keys;
use aes::Block;
use aes::hazmat::cipher_round;

/// Keys of 33 to 48 bytes whose second block cancels the round of the first.
pub(super) struct Blocks;

/// Bytes of a block.
const BLOCK: usize = 16;

impl Attack for Blocks {
    fn about(&self) -> About {
        About {
            id: "gxhash",
            title: "blocks are compressed without the seed: one block is the AES round of the block before",
            source: "github.com/ogxd/gxhash #83",
            knowledge: Knowledge::Nothing,
            aims_at: &["gxhash"],
        }
    }

    /// The last but one block is free, the last is its round: their compression is 0.
    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(USUAL_LENGTH);
        if !(2 * BLOCK + 1..=3 * BLOCK).contains(&length) {
            return Err(Miss::NotApplicable("it needs keys of 33 to 48 bytes".to_owned()));
        }
        let base = target.draw.bytes(length);
        let keys = (0..target.count).map(|_| {
            let block: [u8; BLOCK] = core::array::from_fn(|_| target.draw.word() as u8);
            let mut round: Block = block.into();
            cipher_round(&mut round, &Block::default());
            [&base[..length - 2 * BLOCK], &block, &round].concat()
        });
        let keys: Keys = keys.collect();
        target.colliding(keys)
    }
}
