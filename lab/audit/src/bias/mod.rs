//! Bias of buckets: differences of keys that lead to one bucket more often than chance has it, though the
//! whole hashes differ.
//!
//! Differences are searched on one set of random keys and seeds; the most suspicious ones meet a second set,
//! which leaves one of them with one number of buckets; its chance is estimated on a third set, so that its
//! interval and its test hold for a hypothesis that was chosen beforehand, however many were searched.

mod constant;
mod differences;
mod effect;
mod search;

pub use constant::Constant;
pub use differences::Difference;
pub(crate) use effect::effect;

use crate::attack::{About, Knowledge};
use crate::draw::Draw;
use crate::epsilon::{Share, at_least};
use crate::flood::Flood;
use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault, Lengths};
use crate::table::Geometry;
use crate::verdict::rounded;
use core::fmt;
use hashlane_stats::format::count;
pub(crate) use search::Suspect;
use search::{score, select};

/// Probability that a function without bias is reported as biased.
pub const LEVEL: f64 = 1e-6;

/// Bits of the hash that choose a bucket: from 2⁴ to 2¹⁶ buckets.
pub const BITS: core::ops::RangeInclusive<u32> = 4..=16;

/// Bytes of the keys that are searched, if the function takes any and the user states none.
const LENGTHS: [usize; 5] = [4, 8, 16, 36, 64];

/// Differences that are looked at again.
const SUSPECTS: usize = 24;

/// Fresh pairs for each of them, each under another seed.
const LOOKS: u64 = 512;

/// Fresh pairs by which the last one is estimated.
const TRIALS: u64 = 1 << 13;

/// End of a hash that chooses the bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The lowest bits.
    Low,
    /// The highest bits.
    High,
}

impl Side {
    const BOTH: [Self; 2] = [Self::Low, Self::High];

    /// Adjective in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "lowest",
            Self::High => "highest",
        }
    }

    /// The hash with its bits of this side first: equal buckets are equal highest bits.
    fn aligned(self, hash: u64, width: u32) -> u64 {
        match self {
            Self::Low => hash.reverse_bits(),
            Self::High => hash.checked_shl(u64::BITS.saturating_sub(width)).unwrap_or(0),
        }
    }
}

/// The most biased difference that was found.
#[derive(Clone, Debug)]
pub struct Bias {
    /// Highest bits that no key changes: the highest bits of all other figures are those below them.
    pub constant: Option<Constant>,
    /// Differences searched.
    pub searched: u64,
    /// The difference.
    pub difference: Difference,
    /// Two keys that differ by it.
    pub keys: [Vec<u8>; 2],
    /// End of the hash that chooses the bucket.
    pub side: Side,
    /// Bits of the hash that choose the bucket, for which the test was made.
    pub bits: u32,
    /// Share of fresh keys and seeds whose pairs have one bucket, for each number of bits in [`BITS`].
    pub shares: Vec<(u32, Share)>,
    /// Share whose whole hashes are equal.
    pub whole: Share,
    /// Two of these keys whose whole hashes were equal, if there were any.
    pub colliding: Option<[Vec<u8>; 2]>,
    /// Probability that chance gives the share of [`bits`](Self::bits), or a larger one.
    pub p_value: f64,
    /// Keys of this and similar differences in the table, if the difference is biased.
    pub effect: Option<Box<Flood>>,
}

/// The worst pair in one clause.
impl fmt::Display for Bias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(share) = self.share(self.bits) else { return f.write_str("not measured") };
        let percent = |share: f64| format!("{} %", precise(100.0 * share));
        write!(
            f,
            "pairs of keys of {} bytes that differ by {} share one of {} buckets by the {} bits{} with a \
             chance of {} (95 % interval {} to {}) instead of {}",
            self.keys[0].len(),
            self.difference,
            count(f64::from(1 << self.bits)),
            self.side.word(),
            if self.constant.is_some() && self.side == Side::High { " below those" } else { "" },
            percent(share.value()),
            percent(share.low),
            percent(share.high),
            percent(1.0 / f64::from(1 << self.bits)),
        )
    }
}

/// A number of three significant digits, however small.
fn precise(value: f64) -> String {
    match value {
        small if small > 0.0 && small < 1.0 => {
            let digits = (2 - small.log10().floor() as i32).clamp(0, 12) as usize;
            format!("{small:.digits$}")
        }
        value => rounded(value),
    }
}

impl Bias {
    /// True if chance does not explain the share, at the [`LEVEL`].
    pub fn is_biased(&self) -> bool {
        self.p_value < LEVEL
    }

    /// Share of pairs in one bucket of 2 to the power of `bits`.
    pub fn share(&self, bits: u32) -> Option<Share> {
        self.shares.iter().find(|(of, _)| *of == bits).map(|(_, share)| *share)
    }
}

/// The attack by keys of biased differences.
pub fn about() -> About {
    About {
        id: "bucket-bias",
        title: "keys whose differences lead to one bucket more often than chance has it",
        source: "truncated differentials: Knudsen, FSE 1994; github.com/puzpuzpuz/xsync #192",
        knowledge: Knowledge::Nothing,
        aims_at: &[],
    }
}

/// Searches for the worst difference, of keys of `length` bytes if one is stated, and measures the effect of
/// `keys` such keys on the table. `None` if the function has no bits or takes empty keys alone.
///
/// # Errors
/// The function fails.
pub fn bias(
    subject: &mut dyn AuditedHash,
    geometry: &Geometry,
    length: Option<usize>,
    keys: usize,
    draw: &mut Draw,
) -> Result<Option<Bias>, Fault> {
    let lengths = match (subject.info().lengths, length) {
        (Lengths::Exactly(length), _) | (Lengths::Any, Some(length)) => vec![length],
        (Lengths::Any, None) => LENGTHS.to_vec(),
    };
    let constant = constant::constant(subject, &lengths, &mut draw.clone())?;
    let width = subject.info().width - constant.map_or(0, |constant| constant.bits);
    let (searched, suspects) = select(subject, width, &lengths, SUSPECTS, draw)?;
    let looks = look(subject, width, &suspects, LOOKS, draw)?;
    let mut worst: Option<(f64, &Suspect, Side, u32)> = None;
    for (suspect, look) in suspects.iter().zip(&looks) {
        for (side, equal) in Side::BOTH.into_iter().zip(&look.equal) {
            for bits in BITS.filter(|bits| *bits <= width) {
                let excess = score(at_least_equal(equal, bits), LOOKS as f64 / f64::from(1 << bits));
                if worst.is_none_or(|(before, ..)| before < excess) {
                    worst = Some((excess, suspect, side, bits));
                }
            }
        }
    }
    let Some((_, suspect, side, bits)) = worst else { return Ok(None) };
    let fresh = look(subject, width, core::slice::from_ref(suspect), TRIALS, draw)?;
    let Some(fresh) = fresh.first() else { return Ok(None) };
    let equal = &fresh.equal[side as usize];
    let share = |bits| Share::new(at_least_equal(equal, bits), TRIALS);
    let p_value = at_least(share(bits).collisions, TRIALS, 1.0 / f64::from(1 << bits));
    let base = draw.bytes(suspect.length);
    let mut other = base.clone();
    suspect.difference.apply(&mut other, 1);
    let mut bias = Bias {
        constant,
        searched,
        difference: suspect.difference.clone(),
        keys: [base, other],
        side,
        bits,
        shares: BITS.filter(|bits| *bits <= width).map(|bits| (bits, share(bits))).collect(),
        whole: Share::new(fresh.whole, TRIALS),
        colliding: fresh.colliding.clone(),
        p_value,
        effect: None,
    };
    if bias.is_biased() {
        let alike: Vec<&Suspect> = suspects.iter().filter(|other| other.length == suspect.length).collect();
        bias.effect = effect(subject, geometry, suspect, &alike, keys, draw)?.map(Box::new);
    }
    Ok(Some(bias))
}

/// Pairs of one difference.
#[derive(Clone, Debug, Default)]
struct Look {
    /// Pairs by the number of equal bits, of each side, up to the most bits of a bucket.
    equal: [Vec<u64>; 2],
    /// Pairs whose whole hashes are equal.
    whole: u64,
    /// The first of these.
    colliding: Option<[Vec<u8>; 2]>,
}

/// Hashes `trials` random pairs of each suspect, each of a suspect's pairs under another seed, and compares
/// the lowest `width` bits.
fn look(
    subject: &mut dyn AuditedHash,
    width: u32,
    suspects: &[Suspect],
    trials: u64,
    draw: &mut Draw,
) -> Result<Vec<Look>, Fault> {
    let most = *BITS.end() as usize;
    let empty = vec![0; most + 1];
    let mut looks = vec![Look { equal: [empty.clone(), empty], ..Look::default() }; suspects.len()];
    let mut hashes = Vec::new();
    for _ in 0..trials {
        let mut keys = Keys::default();
        for suspect in suspects {
            let mut key = draw.bytes(suspect.length);
            keys.push(&key);
            suspect.difference.apply(&mut key, 1);
            keys.push(&key);
        }
        subject.hash_all(&draw.key(), &keys, &mut hashes)?;
        for (number, (look, [a, b])) in looks.iter_mut().zip(hashes.as_chunks::<2>().0).enumerate() {
            if a == b {
                look.whole += 1;
                let pair = || Some([keys.get(2 * number)?.to_vec(), keys.get(2 * number + 1)?.to_vec()]);
                look.colliding = look.colliding.take().or_else(pair);
            }
            for (side, equal) in Side::BOTH.into_iter().zip(&mut look.equal) {
                let bits = (side.aligned(*a, width) ^ side.aligned(*b, width)).leading_zeros();
                equal[most.min(bits as usize)] += 1;
            }
        }
    }
    Ok(looks)
}

/// Pairs with `bits` equal bits or more.
fn at_least_equal(equal: &[u64], bits: u32) -> u64 {
    equal.iter().skip(bits as usize).sum()
}

#[cfg(test)]
mod tests;
