//! Keys whose parts are related: equal halves, one repeated word, palindromes.
//!
//! A function that treats two parts of a key alike and combines the results by exclusive or, as a flow hash
//! that must not depend on the direction does, gives all keys of equal parts one hash under every seed.

use super::{About, Attack, FEWEST, Knowledge, LONGER, Miss, Target, USUAL_LENGTH};
use crate::draw::Draw;
use crate::keys::Keys;
use crate::subject::Fault;
use std::collections::HashSet;

/// Keys with a relation of their parts.
pub(super) struct Relations;

/// Bytes of the keys that are tried, if none are demanded.
const LENGTHS: [usize; 4] = [16, USUAL_LENGTH, 64, LONGER];

/// Fresh keys and seeds for which a relation must hold.
const TRIALS: usize = 4;

/// Relation of the parts of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// The word of so many bytes at the start of the key is repeated to its end.
    Repeated(usize),
    /// The second half is the complement of the first.
    Complement,
    /// The words of so many bytes in the second half are the first half's in the opposite order.
    Mirrored(usize),
}

impl Relation {
    /// All relations of keys of `length` bytes, first the ones with the most keys.
    fn all(length: usize) -> Vec<Self> {
        let half = length / 2;
        let mut widths = vec![1, 2, 4, 8, 16, length / 3, half];
        widths.sort_unstable_by_key(|width| core::cmp::Reverse(*width));
        widths.dedup();
        let repeated = widths.into_iter().filter(|width| *width > 0 && length >= 2 * width);
        let mirrored = [1, 4, 8].into_iter().filter(|width| half >= 2 * width && half.is_multiple_of(*width));
        let complement = (half > 0).then_some(Self::Complement);
        complement
            .into_iter()
            .chain(mirrored.map(Self::Mirrored))
            .chain(repeated.map(Self::Repeated))
            .collect()
    }

    /// A random key of `length` bytes with the relation. The byte in the middle of an odd length is random.
    fn key(self, draw: &mut Draw, length: usize) -> Vec<u8> {
        let mut key = draw.bytes(length);
        let (half, second) = (length / 2, length.div_ceil(2));
        match self {
            Self::Repeated(width) if width == half => key.copy_within(..half, second),
            Self::Repeated(width) => (width..length).for_each(|at| key[at] = key[at - width]),
            Self::Complement => (0..half).for_each(|at| key[second + at] = !key[at]),
            Self::Mirrored(width) => {
                let words = half / width;
                for word in 0..words {
                    key.copy_within(
                        (words - 1 - word) * width..(words - word) * width,
                        second + word * width,
                    );
                }
            }
        }
        key
    }

    /// True if two fresh keys have one hash under fresh seeds, and no longer if one bit of one of them
    /// breaks the relation: bits that are not hashed do not count.
    fn holds(self, target: &mut Target<'_>, length: usize) -> Result<bool, Fault> {
        for _ in 0..TRIALS {
            let seed = target.draw.key();
            let [one, other] = [0, 1].map(|_| self.key(target.draw, length));
            let mut broken = other.clone();
            broken[0] ^= 1;
            if !target.collide(&seed, [&one, &other])? || target.collide(&seed, [&other, &broken])? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Attack for Relations {
    fn about(&self) -> About {
        About {
            id: "related-parts",
            title: "keys of equal halves, of one repeated word, or that are palindromes have one hash",
            source: "symmetric hashing of flows: Woo and Park, Scalable TCP session monitoring, 2012; own \
                     analysis",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    /// `given` with its halves exchanged.
    fn second_key(&self, given: &[u8]) -> Option<Vec<u8>> {
        let (half, second) = (given.len() / 2, given.len().div_ceil(2));
        let middle = &given[half..second];
        (half > 0).then(|| [&given[second..], middle, &given[..half]].concat())
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let mut lengths = LENGTHS.map(|length| target.length_or(length)).to_vec();
        lengths.dedup();
        for length in lengths {
            let relations = Relation::all(length);
            let keys: Keys = relations
                .iter()
                .flat_map(|relation| [relation.key(target.draw, length), relation.key(target.draw, length)])
                .collect();
            let hashes = target.hash(&keys)?;
            let equal = hashes.as_chunks::<2>().0.iter().map(|[one, other]| one == other);
            for relation in
                relations.iter().zip(equal).filter_map(|(relation, equal)| equal.then_some(*relation))
            {
                if relation.holds(target, length)?
                    && let Ok(keys) = family(target, relation, length)
                {
                    return Ok(keys);
                }
            }
        }
        Err(Miss::NotApplicable("no relation of the parts of its keys gives one hash".to_owned()))
    }
}

/// Different keys with the relation, as many as wanted, if they collide.
fn family(target: &mut Target<'_>, relation: Relation, length: usize) -> Result<Keys, Miss> {
    let mut seen = HashSet::new();
    // Of one repeated byte, there are 256 keys.
    let keys = (0..4 * target.count.max(FEWEST)).map(|_| relation.key(target.draw, length));
    let keys: Keys = keys.filter(|key| seen.insert(key.clone())).take(target.count).collect();
    target.colliding(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_keys_are_related() {
        let mut draw = Draw::new(1);
        for length in [0, 1, 2, 5, 16, 17, 36, 64] {
            for relation in Relation::all(length) {
                let key = relation.key(&mut draw, length);
                let (first, second) = (&key[..length / 2], &key[length.div_ceil(2)..]);
                let is_related = match relation {
                    Relation::Repeated(width) if width == length / 2 => first == second,
                    Relation::Repeated(width) => key.iter().skip(width).zip(&key).all(|(a, b)| a == b),
                    Relation::Complement => first.iter().zip(second).all(|(a, b)| *a == !b),
                    Relation::Mirrored(width) => {
                        first.chunks(width).rev().flatten().eq(second.chunks(width).flatten())
                    }
                };
                assert!(key.len() == length && is_related, "{relation:?}, {length} bytes: {key:?}");
            }
        }
        assert_eq!(Relation::all(1), []);
        assert_eq!(Relations.second_key(b"abXcd").as_deref(), Some(&b"cdXab"[..]));
        assert_eq!(Relations.second_key(b"a"), None);
    }
}
