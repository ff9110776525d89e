//! Two forms of a part of a key that give one hash: n such parts give 2ⁿ keys.

use super::oracle::Oracle;
use crate::attack::MAX_LENGTH;
use crate::keys::Keys;
use crate::subject::Fault;
use hashlane_hash::scheme::Key;

/// Fresh keys and seeds by which a unit is judged.
const TRIALS: u32 = 8;

/// Collisions among them that it needs.
const NEEDED: u32 = 2;

/// Units of a key, at most: 2¹² keys and more.
const MOST: u32 = 14;

/// Bytes of a long key beyond its units.
const MARGIN: usize = 32;

/// Two forms of the bytes from `at` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) at: usize,
    pub(super) forms: [Vec<u8>; 2],
}

impl Unit {
    pub(super) fn len(&self) -> usize {
        self.forms[0].len()
    }

    /// End in the key.
    fn end(&self) -> usize {
        self.at + self.len()
    }

    /// Writes one of the forms into a key.
    pub(super) fn write(&self, form: usize, key: &mut [u8]) {
        write(key, self.at, &self.forms[form & 1]);
    }

    /// Fresh random keys of `length` bytes and fresh seeds, or `seed` each time, of [`TRIALS`], for which
    /// both forms give one hash.
    pub(super) fn collisions(
        &self,
        oracle: &mut Oracle<'_>,
        length: usize,
        seed: Option<&Key>,
    ) -> Result<u32, Fault> {
        let mut collisions = 0;
        for _ in 0..TRIALS {
            let mut keys = [(); 2].map(|()| oracle.draw.bytes(length));
            keys[1] = keys[0].clone();
            (0..2).zip(&mut keys).for_each(|(form, key)| self.write(form, key));
            let seed = seed.copied().unwrap_or_else(|| oracle.seed());
            let hashes = oracle.under(&seed, &keys.iter().collect())?;
            collisions += u32::from(hashes.first() == hashes.get(1));
        }
        Ok(collisions)
    }

    /// True if the forms collide for a share of keys and seeds.
    pub(super) fn holds(&self, oracle: &mut Oracle<'_>, length: usize) -> Result<bool, Fault> {
        Ok(self.collisions(oracle, length, None)? >= NEEDED)
    }
}

/// Writes `bytes` at `at`, as far as the key has room.
pub(super) fn write(key: &mut [u8], at: usize, bytes: &[u8]) {
    key.iter_mut().skip(at).zip(bytes).for_each(|(byte, by)| *byte = *by);
}

/// Units that were found for keys of one length, and the sets of keys that they give.
#[derive(Clone, Debug, Default)]
pub(super) struct Units {
    length: usize,
    found: Vec<Unit>,
}

impl Units {
    /// Adds a unit of keys of `length` bytes, also at all other places where it holds, and returns sets of
    /// keys: of this length, and of a length with room for many units.
    pub(super) fn add(
        &mut self,
        oracle: &mut Oracle<'_>,
        unit: &Unit,
        length: usize,
    ) -> Result<Vec<Keys>, Fault> {
        if self.length != length {
            *self = Self { length, found: Vec::new() };
        }
        let same = places(oracle, unit, length, &self.found)?;
        self.found.extend(same);
        let count = oracle.scope.count;
        let mut sets = vec![product(&self.found, &oracle.draw.bytes(length), count)];
        if oracle.takes_any_length() {
            let longer = (MOST as usize * unit.len().next_multiple_of(16) + unit.at + MARGIN).min(MAX_LENGTH);
            let units = places(oracle, unit, longer, &[])?;
            sets.push(product(&units, &oracle.draw.bytes(longer), count));
        }
        Ok(sets)
    }
}

/// The unit at all places of keys of `length` bytes where it holds and no other is.
fn places(oracle: &mut Oracle<'_>, unit: &Unit, length: usize, taken: &[Unit]) -> Result<Vec<Unit>, Fault> {
    let mut found: Vec<Unit> = Vec::new();
    let mut at = unit.at % 4;
    while at + unit.len() <= length && found.len() < MOST as usize {
        let moved = Unit { at, ..unit.clone() };
        let is_free = taken.iter().all(|other| other.end() <= moved.at || moved.end() <= other.at);
        if is_free && moved.holds(oracle, length)? {
            at += unit.len().next_multiple_of(4);
            found.push(moved);
        } else {
            at += 4;
        }
    }
    Ok(found)
}

/// At most `count` keys that are `base` with a form of each unit; none of fewer than four units.
pub(super) fn product(units: &[Unit], base: &[u8], count: usize) -> Keys {
    let units = &units[..units.len().min(MOST as usize)];
    if units.len() < 4 {
        return Keys::default();
    }
    let keys = (0..count.min(1 << units.len())).map(|number| {
        let mut key = base.to_vec();
        units.iter().enumerate().for_each(|(place, unit)| unit.write(number >> place & 1, &mut key));
        key
    });
    keys.collect()
}

/// Pairs of equal hashes, one of each list, by their numbers; at most `most`.
pub(super) fn matches(one: &[u64], other: &[u64], most: usize) -> Vec<(usize, usize)> {
    let sorted = |hashes: &[u64]| {
        let mut sorted: Vec<(u64, u32)> = hashes.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        sorted
    };
    let (one, other) = (sorted(one), sorted(other));
    let (mut at, mut found) = (0, Vec::new());
    for (hash, number) in one {
        while other.get(at).is_some_and(|(other, _)| *other < hash) {
            at += 1;
        }
        if let Some((_, with)) = other.get(at).filter(|(other, _)| *other == hash) {
            found.push((number as usize, *with as usize));
            if found.len() >= most {
                break;
            }
        }
    }
    found
}
