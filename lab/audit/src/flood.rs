//! The effect of an attack's keys on a table, against as many random keys.

use crate::attack::{Knowledge, MixedPair};
use crate::draw::Draw;
use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault};
use crate::table::time::slowdown;
use crate::table::{Counts, Geometry, MAX_BUCKETS};
use hashlane_hash::scheme::Key;
use hashlane_stats::Interval;
use hashlane_stats::format::count;
use std::collections::HashMap;

/// Criterion of a flood: an insertion or a lookup of the hostile keys takes at least this many times the work
/// of one of as many random keys.
pub const CRITERION: f64 = 4.0;

/// Keys that flood a table.
#[derive(Clone, Debug)]
pub struct Flood {
    /// The keys, in the order of their insertion.
    pub keys: Keys,
    /// A seed under which they flood the table.
    pub seed: Key,
    /// Seeds under which they flood it.
    pub seeds: u32,
    /// Seeds tried.
    pub tried: u32,
    /// Work with these keys.
    pub hostile: Counts,
    /// Work with as many random keys of the same lengths.
    pub random: Counts,
    /// Keys in the fullest bucket.
    pub deepest: usize,
    /// Time of a lookup over that among random keys, if a real table stands for the geometry.
    pub time: Option<Interval>,
    /// Knowledge by which the keys were made, if they turned out to flood tables of other seeds as well, so
    /// that whoever has them needs nothing.
    pub made_with: Option<Knowledge>,
    /// Finding of the attack beside its keys, in one clause.
    pub note: Option<String>,
    /// Change of other keys that keeps their hashes, if the attack knows one.
    pub pair: Option<MixedPair>,
    /// Buckets of the largest table in which three quarters of the deepest bucket's keys still meet, as the
    /// table doubles: [`MAX_BUCKETS`] if that is the largest tried.
    pub buckets: usize,
    /// Two of the keys that have one hash under `seed`, bits that choose no bucket included. `None` unless at
    /// least half of the keys have that hash, and chance does not explain it.
    pub equal: Option<[Vec<u8>; 2]>,
}

impl Flood {
    /// Work of a lookup or of an insertion over the work for random keys, the larger of both.
    pub fn growth(&self) -> f64 {
        growth(self.keys.len(), &self.hostile, &self.random)
    }

    /// Two of the keys: of one hash, if most have it, else the first two.
    pub(crate) fn worst_pair(&self) -> Option<[Vec<u8>; 2]> {
        let first = || Some([self.keys.get(0)?.to_vec(), self.keys.get(1)?.to_vec()]);
        self.equal.clone().or_else(first)
    }

    /// Buckets up to which the keys meet: any number if they have one hash.
    pub(crate) fn reach(&self) -> usize {
        if self.equal.is_some() { usize::MAX } else { self.buckets }
    }

    /// Tables in which the keys meet, in one clause.
    pub fn tables(&self) -> String {
        match self.equal {
            Some(_) => "in a table of any size".to_owned(),
            None => format!("in tables of up to {} buckets", count(self.buckets as f64)),
        }
    }

    /// True if the keys slow down insertions alone: keys in a bad order are found again as fast as others.
    pub fn slows_insertions_alone(&self) -> bool {
        let [hostile, random] = self.compared();
        hostile < 2.0 * random
    }

    /// Entries visited by an insertion, on average: of these keys, and of random ones.
    pub fn inserted(&self) -> [f64; 2] {
        [self.hostile, self.random].map(|counts| counts.insert.work() as f64 / self.keys.len().max(1) as f64)
    }

    /// Entries compared by a lookup, on average: of these keys, and of random ones.
    pub fn compared(&self) -> [f64; 2] {
        [self.hostile, self.random].map(|counts| counts.lookup.work() as f64 / self.keys.len().max(1) as f64)
    }
}

/// The worst of several floods: those whose keys meet in the largest table, as a table in use holds other
/// keys, too. Of these the first whose growth equals the worst one's within a tenth, which chance decides.
pub(crate) fn worst<'a>(
    floods: impl Iterator<Item = (&'static str, &'a Flood)> + Clone,
) -> Option<(&'static str, &'a Flood)> {
    let largest = floods.clone().map(|(_, flood)| flood.reach()).max()?;
    let mut floods = floods.filter(|(_, flood)| flood.reach() == largest);
    let most = floods.clone().map(|(_, flood)| flood.growth()).fold(0.0, f64::max);
    floods.find(|(_, flood)| 1.1 * flood.growth() >= most)
}

/// Hashes `keys` under each of `seeds`, and returns the flood if the table is flooded under at least one of
/// them.
///
/// # Errors
/// The function fails.
pub fn flood(
    subject: &mut dyn AuditedHash,
    geometry: &Geometry,
    keys: Keys,
    seeds: &[Key],
    draw: &mut Draw,
) -> Result<Option<Flood>, Fault> {
    let effect = effect(subject, geometry, keys, seeds, draw)?;
    Ok((effect.seeds > 0).then_some(effect))
}

/// Work of the table with `keys`, also where it is no flood: under the first of `seeds` under which it is
/// one, else under the seed under which it is most. [`Flood::seeds`] is 0 if the table is flooded under none.
///
/// # Errors
/// The function fails.
pub fn effect(
    subject: &mut dyn AuditedHash,
    geometry: &Geometry,
    keys: Keys,
    seeds: &[Key],
    draw: &mut Draw,
) -> Result<Flood, Fault> {
    let random_keys: Keys = draw.like(&keys);
    let mut worst = Flood {
        seed: Key::VECTOR,
        seeds: 0,
        tried: seeds.len() as u32,
        hostile: Counts::default(),
        random: Counts::default(),
        deepest: 0,
        time: None,
        made_with: None,
        note: None,
        pair: None,
        buckets: 0,
        equal: None,
        keys,
    };
    let (mut found, mut most) = (0, 0.0);
    for seed in seeds {
        let mut hashes = [Vec::new(), Vec::new()];
        subject.hash_all(seed, &worst.keys, &mut hashes[0])?;
        subject.hash_all(seed, &random_keys, &mut hashes[1])?;
        let [hostile, random] = hashes.each_ref().map(|hashes| geometry.count(hashes));
        let growth = growth(worst.keys.len(), &hostile, &random);
        let floods = growth >= CRITERION;
        if found == 0 && (floods || growth > most) {
            most = growth;
            let time = floods
                .then(|| slowdown(geometry, (&worst.keys, &hashes[0]), (&random_keys, &hashes[1])))
                .flatten();
            let deepest = deepest(geometry, &hashes[0]);
            let equal = equal(geometry, subject.info().width, &worst.keys, &hashes[0]);
            let buckets = buckets(geometry, &hashes[0], deepest);
            worst = Flood { seed: *seed, hostile, random, deepest, time, buckets, equal, ..worst };
        }
        found += u32::from(floods);
    }
    Ok(Flood { seeds: found, ..worst })
}

/// True if `keys` flood the table under all of `seeds` but `misses` at most.
///
/// # Errors
/// The function fails.
pub fn holds(
    subject: &mut dyn AuditedHash,
    geometry: &Geometry,
    keys: &Keys,
    (seeds, misses): (&[Key], usize),
    draw: &mut Draw,
) -> Result<bool, Fault> {
    let random = draw.like(keys);
    let (mut missed, mut hashes) = (0, [Vec::new(), Vec::new()]);
    for seed in seeds {
        subject.hash_all(seed, keys, &mut hashes[0])?;
        subject.hash_all(seed, &random, &mut hashes[1])?;
        let [hostile, random] = hashes.each_ref().map(|hashes| geometry.count(hashes));
        missed += usize::from(growth(keys.len(), &hostile, &random) < CRITERION);
        if missed > misses {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Tells if `keys`, which are random, collide by themselves: under each of `seeds` they take the work of a
/// flood, relative to random hashes, or most of them share one of several buckets.
///
/// # Errors
/// The function fails.
pub fn crowding(
    subject: &mut dyn AuditedHash,
    geometry: &Geometry,
    keys: Keys,
    seeds: &[Key],
    draw: &mut Draw,
) -> Result<Option<Flood>, Fault> {
    let mask = u64::MAX.checked_shr(64_u32.saturating_sub(subject.info().width)).unwrap_or(0);
    let ideal: Vec<u64> = keys.iter().map(|_| draw.word() & mask).collect();
    let random = geometry.count(&ideal);
    let mut worst: Option<Flood> = None;
    for seed in seeds {
        let mut hashes = Vec::new();
        subject.hash_all(seed, &keys, &mut hashes)?;
        let (hostile, deepest) = (geometry.count(&hashes), deepest(geometry, &hashes));
        let shared = geometry.buckets_for(keys.len()) > 1 && 2 * deepest > keys.len();
        if growth(keys.len(), &hostile, &random) < CRITERION && !shared {
            return Ok(None);
        }
        if worst.is_none() {
            let time = slowdown(geometry, (&keys, &hashes), (&keys, &ideal));
            let tried = seeds.len() as u32;
            worst = Some(Flood {
                keys: keys.clone(),
                seed: *seed,
                seeds: tried,
                tried,
                hostile,
                random,
                deepest,
                time,
                made_with: None,
                note: None,
                pair: None,
                buckets: buckets(geometry, &hashes, deepest),
                equal: None,
            });
        }
    }
    Ok(worst)
}

/// The larger growth of lookups and insertions. An insertion writes an entry, whatever it visits before.
fn growth(keys: usize, hostile: &Counts, random: &Counts) -> f64 {
    let lookup = hostile.lookup.work() as f64 / random.lookup.work().max(1) as f64;
    let written = keys.max(1) as f64;
    lookup.max((hostile.insert.work() as f64 + written) / (random.insert.work() as f64 + written))
}

/// Bits that a hash must have beyond the bucket's before keys of one bucket and of one hash differ.
const BEYOND_BUCKET: u32 = 8;

/// Two keys of the hash that at least half of the keys have, if a bucket shows much less of it.
fn equal(geometry: &Geometry, width: u32, keys: &Keys, hashes: &[u64]) -> Option<[Vec<u8>; 2]> {
    if width < geometry.buckets_for(keys.len()).ilog2() + BEYOND_BUCKET {
        return None;
    }
    let mut places: HashMap<u64, (usize, [usize; 2])> = HashMap::new();
    for (place, hash) in hashes.iter().enumerate() {
        let (count, pair) = places.entry(*hash).or_insert((0, [place; 2]));
        *count += 1;
        pair[1] = if *count == 2 { place } else { pair[1] };
    }
    let most = places.into_values().max_by_key(|(count, pair)| (*count, core::cmp::Reverse(*pair)));
    let (_, pair) = most.filter(|(count, _)| 2 * count >= hashes.len().max(4))?;
    let [one, other] = pair.map(|place| keys.get(place));
    Some([one?.to_vec(), other?.to_vec()])
}

fn deepest(geometry: &Geometry, hashes: &[u64]) -> usize {
    deepest_of(geometry, hashes, geometry.buckets_for(hashes.len()))
}

/// Keys in the fullest of `buckets`.
fn deepest_of(geometry: &Geometry, hashes: &[u64], buckets: usize) -> usize {
    let mut held: HashMap<usize, usize> = HashMap::new();
    hashes.iter().for_each(|hash| *held.entry(geometry.bucket_of(*hash, buckets)).or_default() += 1);
    held.into_values().max().unwrap_or(0)
}

/// Buckets of the largest table in which three quarters of the keys of the deepest bucket meet.
fn buckets(geometry: &Geometry, hashes: &[u64], deepest: usize) -> usize {
    let mut buckets = geometry.buckets_for(hashes.len());
    while 2 * buckets <= MAX_BUCKETS && 4 * deepest_of(geometry, hashes, 2 * buckets) >= 3 * deepest {
        buckets *= 2;
    }
    buckets
}
