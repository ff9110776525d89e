//! Attacks: what each needs to know, its source, and the keys that it yields.

mod additive;
mod arithmetic;
mod bits;
mod city;
mod erase;
mod erase_constants;
mod fnv;
mod folded;
mod gxhash;
mod jhash;
mod lanes;
pub(crate) mod lattice;
mod length;
mod linear;
mod mixed_words;
mod mixing;
mod mixings;
mod murmur;
mod museair;
mod offset_swaps;
mod order;
pub(crate) mod pairs;
mod polynomial;
mod progression;
mod reduce;
mod relation;
mod repeated;
mod residues;
mod rotated;
mod round_columns;
mod seed_space;
mod seeds;
mod small_words;
mod starts;
mod structure;
mod swaps;
mod t1ha;
mod terms;
mod thue_morse;
mod truncation;
mod unhashed;

pub(crate) use arithmetic::inverse;
pub use jhash::key as jhash_key;
pub(crate) use jhash::key_of_hash as jhash_keys;
pub use linear::kernel;
pub use mixed_words::MixedPair;
pub use starts::{StartPair, start_pairs};
pub use unhashed::{Unhashed, unhashed};

use crate::constants::Constants;
use crate::draw::Draw;
use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault, Lengths};
use crate::table::Geometry;
use core::fmt;
use hashlane_hash::scheme::Key;
use std::collections::{HashMap, HashSet};

/// Facts that an attacker needs besides the function itself, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Knowledge {
    /// Nothing: the keys flood the table under every seed, or under so many that seeds do not protect.
    Nothing,
    /// Results: collisions learnt from the table's answers, for example by timing.
    Results,
    /// The seed of the table.
    Seed,
}

impl fmt::Display for Knowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::Results => "results",
            Self::Seed => "the seed",
        })
    }
}

/// Facts about an attack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Name in tables and files.
    pub id: &'static str,
    /// Property of the function that it uses, in one clause.
    pub title: &'static str,
    /// Paper, thread or CVE.
    pub source: &'static str,
    /// Facts that the attacker needs.
    pub knowledge: Knowledge,
    /// Ids of the schemes that it was published for; empty for one that asks any function like a black box.
    /// Every attack is tried on every function all the same.
    pub aims_at: &'static [&'static str],
}

/// A function and a table under attack.
pub struct Target<'a> {
    /// The function.
    pub subject: &'a mut dyn AuditedHash,
    /// A seed that the attacker has: the table's, or one that he draws if the attack needs to know
    /// [`Knowledge::Nothing`].
    pub key: Key,
    /// The table.
    pub geometry: &'a Geometry,
    /// Bytes of a key, if the user has stated them.
    pub length: Option<usize>,
    /// Keys wanted.
    pub count: usize,
    /// Source of random choices.
    pub draw: &'a mut Draw,
    /// Finding of the attack beside its keys, in one clause.
    pub note: Option<String>,
    /// Change of other keys that keeps their hashes, if the attack knows one.
    pub pair: Option<MixedPair>,
}

/// Longest keys that an attack makes.
pub const MAX_LENGTH: usize = 4096;

/// Bytes of a key if neither the user nor the attack states them: the length of an IPv6 4-tuple.
pub const USUAL_LENGTH: usize = 36;

/// Bytes of longer keys, for searches that hash few of them: functions may take another way from 64, 128 or
/// 240 bytes on.
pub const LONGER: usize = 256;

impl Target<'_> {
    /// Constants of the function.
    fn constants(&self) -> Result<Constants, Miss> {
        let none = || Miss::NotApplicable("no machine code shows the constants of the function".to_owned());
        self.subject.constants().ok_or_else(none)
    }

    /// Bytes of a key: those that the function or the user demands, else `usual`.
    fn length_or(&self, usual: usize) -> usize {
        match self.subject.info().lengths {
            Lengths::Exactly(length) => length,
            Lengths::Any => self.length.unwrap_or(usual),
        }
    }

    /// Hashes under the attacker's seed.
    fn hash(&mut self, keys: &Keys) -> Result<Vec<u64>, Fault> {
        let mut hashes = Vec::with_capacity(keys.len());
        self.subject.hash_all(&self.key, keys, &mut hashes)?;
        Ok(hashes)
    }

    /// Hashes under another seed.
    fn hash_under(&mut self, seed: &Key, keys: &Keys) -> Result<Vec<u64>, Fault> {
        let mut hashes = Vec::with_capacity(keys.len());
        self.subject.hash_all(seed, keys, &mut hashes)?;
        Ok(hashes)
    }

    /// True if two keys have one hash under `seed`.
    fn collide(&mut self, seed: &Key, keys: [&[u8]; 2]) -> Result<bool, Fault> {
        let hashes = self.hash_under(seed, &keys.into_iter().collect())?;
        Ok(matches!(hashes[..], [one, other] if one == other))
    }

    /// `base` with every choice of `changes` changes, as many keys as wanted: `change` makes the change of a
    /// number.
    fn combinations(&self, base: &[u8], changes: usize, change: &mut dyn FnMut(&mut [u8], usize)) -> Keys {
        let all = 1_usize.checked_shl(changes as u32).unwrap_or(usize::MAX);
        let keys = (0..all.min(self.count)).map(|chosen| {
            let mut key = base.to_vec();
            let bits = (0..usize::BITS as usize).filter(|bit| chosen >> bit & 1 == 1);
            bits.for_each(|bit| change(&mut key, bit));
            key
        });
        keys.collect()
    }

    /// `keys`, if most of the first 64 have one hash under the attacker's seed, and there are at least
    /// [`FEWEST`].
    fn colliding(&mut self, keys: Keys) -> Result<Keys, Miss> {
        if keys.len() < FEWEST {
            return Err(Miss::NotApplicable(format!(
                "{} keys of this length, and {FEWEST} are needed",
                keys.len()
            )));
        }
        debug_assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
        let first: Keys = keys.iter().take(64).collect();
        let hashes = self.hash(&first)?;
        let mut equal: HashMap<u64, usize> = HashMap::new();
        hashes.iter().for_each(|hash| *equal.entry(*hash).or_default() += 1);
        let most = equal.into_values().max().unwrap_or(0);
        match 2 * most > hashes.len() {
            true => Ok(keys),
            false => Err(Miss::NotApplicable("its keys do not collide".to_owned())),
        }
    }
}

/// Fewest keys of a flood.
pub const FEWEST: usize = 16;

/// An attack that yields no keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// It does not apply to the function, the table or keys of this length: the reason.
    NotApplicable(String),
    /// The function has failed.
    Fault(Fault),
}

impl From<Fault> for Miss {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// An attack.
pub trait Attack: Sync {
    /// Facts about it.
    fn about(&self) -> About;

    /// True for a search that finds keys for any function, given time. It is left out if another attack
    /// floods the table already.
    fn is_last_resort(&self) -> bool {
        false
    }

    /// Bytes of longer keys that are tried if keys of the usual length give no flood, and the user states no
    /// length.
    fn longer(&self) -> Option<usize> {
        None
    }

    /// A second key with the hash of `given` under every seed, or nearly every; `None` if this attack makes
    /// none of a given key.
    fn second_key(&self, _given: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Keys that flood the table, at most as many as wanted, all different.
    ///
    /// # Errors
    /// The attack does not apply, or the function fails.
    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss>;
}

/// All attacks: first those that need nothing, then those that need results, then those that need the seed.
pub fn attacks() -> Vec<&'static dyn Attack> {
    let lists: [Vec<&'static dyn Attack>; 18] = [
        vec![&unhashed::UnhashedBits, &length::TrailingZeros, &length::LeadingZeros],
        vec![&bits::Truncated, &linear::Linear, &structure::Structure, &small_words::SmallWords],
        vec![&starts::TopBits],
        polynomial::ALL.iter().map(|attack| attack as _).collect(),
        erase::ALL.iter().map(|attack| attack as _).collect(),
        murmur::ALL.iter().map(|attack| attack as _).collect(),
        vec![&city::Inner, &gxhash::Blocks, &museair::Cancelled, &t1ha::Sums],
        lanes::ALL.iter().map(|attack| attack as _).collect(),
        vec![&rotated::Rotated, &swaps::Swaps, &repeated::Repeated, &additive::Additive, &residues::Residues],
        vec![
            &relation::Relations,
            &thue_morse::ThueMorse,
            &offset_swaps::OffsetSwaps,
            &round_columns::Columns,
        ],
        vec![&truncation::Unkeyed, &seeds::FewSeeds],
        vec![&erase_constants::EraseConstants, &folded::FoldedProducts],
        vec![&mixed_words::MixedWords, &pairs::CollidingWords],
        vec![&order::TableOrder],
        vec![
            &linear::Learnt,
            &round_columns::LearntColumns,
            &terms::Terms,
            &progression::Progression,
            &seeds::Guessed,
            &seed_space::SeedSpace,
        ],
        vec![&jhash::Inverted],
        fnv::ALL.iter().map(|attack| attack as _).collect(),
        vec![&truncation::KnownSeed],
    ];
    lists.concat()
}

#[cfg(test)]
mod tests;
