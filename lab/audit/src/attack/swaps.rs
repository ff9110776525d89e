//! Functions that treat two places of a key alike, as a rotation that is back at 0 does.

use super::{About, Attack, FEWEST, Knowledge, Miss, Target};
use crate::keys::Keys;
use crate::subject::Fault;
use std::collections::BTreeSet;

/// Bytes or words of a key that change places.
pub(super) struct Swaps;

/// Bytes of a key if none are demanded.
const LENGTH: usize = 288;

/// Bytes of the words that change places.
const WIDTHS: [usize; 5] = [1, 2, 4, 8, 16];

/// Largest distance of two words in bytes up to which all are tried.
const DISTANCE: usize = 256;

/// Larger distances that are tried: of blocks that are hashed alike and added up.
const FAR: [usize; 4] = [512, 1024, 2048, 4096];

/// Bytes of a key beyond a larger distance: twelve words of any width.
const BEYOND: usize = 12 * 16 + 16;

/// Places at which a distance is tried first, in words.
const PLACES: [usize; 6] = [0, 1, 2, 5, 8, 16];

/// Fresh keys and seeds for which a swap must hold.
const TRIALS: usize = 4;

/// Words that change places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Swap {
    at: usize,
    width: usize,
    distance: usize,
}

impl Swap {
    /// All swaps at a few places of keys of `length` bytes.
    fn all(length: usize) -> Vec<Self> {
        let of = |width: usize| {
            let distances = (width..=DISTANCE).step_by(width);
            distances
                .flat_map(move |distance| PLACES.map(|place| Self { at: place * width, width, distance }))
        };
        WIDTHS.into_iter().flat_map(of).filter(|swap| swap.end() <= length).collect()
    }

    /// Swaps at a few places over a large distance.
    fn far(distance: usize, length: usize) -> Vec<Self> {
        let of = |width: usize| PLACES.map(|place| Self { at: place * width, width, distance });
        WIDTHS.into_iter().flat_map(of).filter(|swap| swap.end() <= length).collect()
    }

    fn end(&self) -> usize {
        self.at + self.distance + self.width
    }

    fn apply(&self, key: &mut [u8]) {
        (self.at..self.at + self.width).for_each(|at| key.swap(at, at + self.distance));
    }

    /// True if random keys keep their hashes under fresh seeds, and change them if one of both words changes:
    /// a swap of words that are not hashed does not count.
    fn holds(&self, target: &mut Target<'_>, length: usize) -> Result<bool, Fault> {
        for _ in 0..TRIALS {
            let (seed, mut key) = (target.draw.key(), target.draw.bytes(length));
            key[self.at] = !key[self.at + self.distance];
            let mut other = key.clone();
            self.apply(&mut other);
            let mut one = key.clone();
            one[self.at] = !one[self.at];
            if !target.collide(&seed, [&key, &other])? || target.collide(&seed, [&key, &one])? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Attack for Swaps {
    fn about(&self) -> About {
        About {
            id: "swapped-words",
            title: "bytes or words at some distance can change places",
            source: "cyclic polynomials: Cohen, Recursive hashing functions for n-grams, ACM TOIS 15(3), 1997",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let length = target.length_or(LENGTH);
        if let Some(keys) = of_length(target, &Swap::all(length), length)? {
            return Ok(keys);
        }
        for distance in FAR {
            let length = target.length_or(distance + BEYOND);
            if let Some(keys) = of_length(target, &Swap::far(distance, length), length)? {
                return Ok(keys);
            }
        }
        Err(Miss::NotApplicable("no two of its words can change places".to_owned()))
    }
}

/// Keys of `length` bytes in which one of the swaps holds, at several places.
fn of_length(target: &mut Target<'_>, swaps: &[Swap], length: usize) -> Result<Option<Keys>, Fault> {
    let base = target.draw.bytes(length);
    let keys = core::iter::once(base.clone()).chain(swaps.iter().map(|swap| {
        let mut key = base.clone();
        swap.apply(&mut key);
        key
    }));
    let keys: Keys = keys.collect();
    let hashes = target.hash(&keys)?;
    let suspicious = swaps.iter().zip(keys.iter().zip(&hashes).skip(1));
    let suspicious = suspicious.filter(|(_, (key, hash))| *key != base && hashes.first() == Some(hash));
    for swap in suspicious.map(|(swap, _)| *swap).collect::<Vec<_>>() {
        if swap.holds(target, length)? {
            let disjoint = disjoint(target, swap, length)?;
            let short = target.length_or(disjoint.iter().map(Swap::end).max().unwrap_or(0));
            for length in [short, length] {
                let mut base = target.draw.bytes(length);
                for swap in &disjoint {
                    base[swap.at] = !base[swap.at + swap.distance];
                }
                let keys = target.combinations(&base, disjoint.len(), &mut |key, number| {
                    disjoint[number].apply(key);
                });
                match target.colliding(keys) {
                    Ok(keys) => return Ok(Some(keys)),
                    Err(Miss::NotApplicable(_)) => {}
                    Err(Miss::Fault(fault)) => return Err(fault),
                }
            }
        }
    }
    Ok(None)
}

/// Swaps of the same width and distance at other places that share no byte.
fn disjoint(target: &mut Target<'_>, swap: Swap, length: usize) -> Result<Vec<Swap>, Fault> {
    let (mut used, mut found) = (BTreeSet::new(), Vec::new());
    for at in (0..length).step_by(swap.width) {
        let swap = Swap { at, ..swap };
        let places = || (at..at + swap.width).flat_map(|at| [at, at + swap.distance]);
        if found.len() < target.count.max(FEWEST).ilog2() as usize
            && swap.end() <= length
            && places().all(|place| !used.contains(&place))
            && swap.holds(target, length)?
        {
            used.extend(places());
            found.push(swap);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swaps_stay_inside_the_key() {
        for length in [0, 1, 2, 36, LENGTH] {
            let all = Swap::all(length);
            assert!(FAR.iter().all(|distance| Swap::far(*distance, length).is_empty()));
            assert!(all.iter().all(|swap| swap.end() <= length && swap.width <= swap.distance));
            assert_eq!(all.is_empty(), length < 2);
        }
        assert!((1..=128).all(|distance| Swap::all(LENGTH).iter().any(|swap| swap.distance == distance)));
        assert!(
            FAR.iter().all(|distance| Swap::far(*distance, distance + BEYOND).len() == 5 * PLACES.len() - 1)
        );
        let mut key = *b"abcdefgh";
        Swap { at: 1, width: 2, distance: 4 }.apply(&mut key);
        assert_eq!(&key, b"afgdebch");
    }
}
