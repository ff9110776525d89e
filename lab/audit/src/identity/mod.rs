//! Identity: the work to make two keys of one hash, for stores that trust a hash and compare no key.
//!
//! Fingerprints, deduplication and caches that take equal hashes for equal keys give one client the entry of
//! another if somebody can make two such keys. Every claim below the work of chance has a pair of keys that
//! was hashed.

mod families;
mod search;
mod transfer;

use crate::attack::{Knowledge, USUAL_LENGTH, Unhashed};
use crate::draw::Draw;
use crate::epsilon::Share;
use crate::flood::Flood;
use crate::subject::{AuditedHash, Fault, Lengths};
use core::fmt;
use hashlane_hash::scheme::{Key, Keying};
use transfer::Pair;

/// Aim of an attacker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Two keys with one hash, both chosen by the attacker.
    TwoKeys,
    /// A second key with the hash of a given one.
    SecondKey,
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TwoKeys => "two keys with one hash",
            Self::SecondKey => "second key for a given one",
        })
    }
}

/// Keys that reach a goal with less work than chance takes.
#[derive(Clone, Debug)]
pub struct Found {
    /// Attack or family, in one clause.
    pub method: String,
    /// Two keys of one hash; of [`Goal::SecondKey`], the given one is the first.
    pub keys: [Vec<u8>; 2],
    /// Seed under which the hashes are equal.
    pub seed: Key,
}

/// Work to reach a goal for an attacker who knows this much of the seed.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The goal.
    pub goal: Goal,
    /// Facts that the attacker has besides the function. [`Knowledge::Results`] is a black box: the function
    /// under a seed that he does not know, as an oracle.
    pub needs: Knowledge,
    /// Binary logarithm of the keys that are hashed or tried.
    pub log2_work: f64,
    /// The keys; `None` if chance is the best that this audit knows.
    pub found: Option<Found>,
    /// True if there may be no such keys: of one length, they are no more than the hashes, and the function
    /// may be one to one.
    pub may_not_exist: bool,
}

/// Work to make two keys of one hash.
#[derive(Clone, Debug)]
pub struct Identity {
    /// A claim for each goal and each knowledge, in this order.
    pub claims: Vec<Claim>,
}

impl Identity {
    /// The claims of one goal that cost less than those before, which need less.
    pub fn steps(&self, goal: Goal) -> impl Iterator<Item = &Claim> {
        let mut least = f64::INFINITY;
        self.claims.iter().filter(move |claim| {
            let is_less = claim.goal == goal && claim.log2_work < least;
            if is_less {
                least = claim.log2_work;
            }
            is_less
        })
    }
}

/// Two keys that collide for a share of the seeds.
#[derive(Clone, Copy, Debug)]
pub struct WorstPair<'a> {
    /// The keys.
    pub keys: &'a [Vec<u8>; 2],
    /// Thread, paper or search.
    pub source: &'a str,
    /// Share as measured.
    pub measured: Share,
    /// Binary logarithm of the share.
    pub log2: f64,
}

/// Keys and differences that the rest of the audit has found.
pub struct Evidence<'a> {
    /// Floods, with the knowledge that they need and the ids of their attacks.
    pub floods: Vec<(Knowledge, &'a str, &'a Flood)>,
    /// The worst pair, if it collides too often.
    pub worst: Option<WorstPair<'a>>,
    /// Bits that do not move the hash.
    pub unhashed: &'a Unhashed,
}

/// Lengths of given keys, if the function takes any and the user states none: some inversions need one.
const LENGTHS: [usize; 5] = [USUAL_LENGTH, 16, 32, 64, 96];

/// The work for each goal and each knowledge.
///
/// # Errors
/// The function fails.
pub fn identity(
    subject: &mut dyn AuditedHash,
    evidence: &Evidence<'_>,
    length: Option<usize>,
    draw: &mut Draw,
) -> Result<Identity, Fault> {
    let info = subject.info().clone();
    let lengths = match (info.lengths, length) {
        (Lengths::Exactly(length), _) | (Lengths::Any, Some(length)) => vec![length],
        (Lengths::Any, None) => LENGTHS.to_vec(),
    };
    let mut second = search::second_keys(subject, evidence, &lengths, draw)?;
    let mut two = search::two_keys(subject, evidence, lengths[0], draw)?;
    // A seed that everyone has leaks nothing.
    if info.keying == Keying::None {
        for found in [&mut second, &mut two] {
            let learnt = least(found.results.clone(), found.seed.clone());
            found.nothing = least(found.nothing.take(), learnt);
        }
    }
    // All keys, if they have one length, and the work to try them all.
    let key_bits = match info.lengths {
        Lengths::Exactly(length) => 8.0 * length as f64,
        Lengths::Any => f64::INFINITY,
    };
    let may_not_exist = key_bits <= f64::from(info.width);
    let claims =
        [(Goal::TwoKeys, two, f64::from(info.width) / 2.0), (Goal::SecondKey, second, f64::from(info.width))];
    let claims = claims.into_iter().flat_map(|(goal, best, chance)| {
        let chance = chance.min(key_bits);
        [
            (Knowledge::Nothing, best.nothing.clone()),
            (Knowledge::Results, least(best.nothing.clone(), best.results.clone())),
            (Knowledge::Seed, least(least(best.nothing, best.results), best.seed)),
        ]
        .map(|(needs, found)| match found {
            Some((log2_work, found)) if log2_work <= chance => {
                Claim { goal, needs, log2_work, found: Some(found), may_not_exist: false }
            }
            _ => Claim { goal, needs, log2_work: chance, found: None, may_not_exist },
        })
    });
    Ok(Identity { claims: claims.collect() })
}

/// Keys found, with the binary logarithm of their work.
type Costed = (f64, Found);

fn least(one: Option<Costed>, other: Option<Costed>) -> Option<Costed> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if one.0 <= other.0 { one } else { other }),
        (one, other) => one.or(other),
    }
}

/// The best keys for one goal.
#[derive(Clone, Debug, Default)]
struct Best {
    /// Without the seed.
    nothing: Option<Costed>,
    /// With results under the seed.
    results: Option<Costed>,
    /// With the seed.
    seed: Option<Costed>,
}

impl Best {
    fn take(&mut self, needs: Knowledge, log2_work: f64, method: &str, pair: Pair) {
        let place = match needs {
            Knowledge::Nothing => &mut self.nothing,
            Knowledge::Results => &mut self.results,
            Knowledge::Seed => &mut self.seed,
        };
        let found = Found { method: method.to_owned(), keys: pair.keys, seed: pair.seed };
        *place = least(place.take(), Some((log2_work, found)));
    }
}

#[cfg(test)]
mod tests;
