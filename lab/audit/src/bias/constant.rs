//! Highest bits of a hash that no key changes, as of a result that is narrower than its type.

use crate::draw::Draw;
use crate::subject::{AuditedHash, Fault};
use core::fmt;
use hashlane_stats::format::count;

/// Random keys of each length, and seeds.
const KEYS: usize = 1024;
const SEEDS: usize = 4;

/// Highest bits of a hash that were the same for all keys that were tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Number of the bits, at least 1.
    pub bits: u32,
    /// True if they were 0 under every seed.
    pub is_zero: bool,
    /// Keys hashed.
    pub hashes: usize,
}

/// The bits in one sentence, without its point.
impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = match self.bits {
            1 => "highest bit of the hash is".to_owned(),
            bits => format!("highest {bits} bits of the hash are"),
        };
        let constant = if self.is_zero { "always 0" } else { "the same for all keys" };
        let hashes = count(self.hashes as f64);
        write!(f, "the {bits} {constant} ({hashes} hashes): tables by the highest bits have fewer buckets")?;
        if self.bits >= TAG {
            write!(f, ", and tags of the highest {TAG} bits, as hashbrown's, tell no keys apart")?;
        }
        Ok(())
    }
}

/// Bits of a tag of hashbrown.
const TAG: u32 = 7;

/// The highest bits that no random key of these lengths changes; `None` if there are none, or no others.
///
/// # Errors
/// The function fails.
pub(super) fn constant(
    subject: &mut dyn AuditedHash,
    lengths: &[usize],
    draw: &mut Draw,
) -> Result<Option<Constant>, Fault> {
    let (mut changed, mut set, mut all) = (0, 0, 0);
    let mut hashes = Vec::new();
    for _ in 0..SEEDS {
        let seed = draw.key();
        let mut first = None;
        for length in lengths {
            let keys = draw.keys(KEYS, *length);
            subject.hash_all(&seed, &keys, &mut hashes)?;
            for hash in &hashes {
                changed |= hash ^ *first.get_or_insert(*hash);
                set |= hash;
            }
            all += hashes.len();
        }
    }
    let width = subject.info().width;
    let bits = (changed.leading_zeros() + width).saturating_sub(u64::BITS);
    let is_zero = bits > 0 && set >> (width - bits) == 0;
    Ok((1..width).contains(&bits).then_some(Constant { bits, is_zero, hashes: all }))
}
