//! Search without priors: it asks the function for hashes, knows nothing of its construction, and ends with
//! its budget.
//!
//! Each search works in steps of bounded work, and the one with the least work so far goes next, so
//! that the same seed gives the same steps; the budget decides how many there are. Keys that a search returns
//! are a claim: they are hashed under fresh seeds twice before they count as a flood.

mod absorbing;
mod additive;
mod chain;
mod differential;
mod fixed_point;
mod linear;
mod meet;
mod near_pairs;
mod oracle;
mod unit;
mod word_pairs;

use crate::attack::{About, FEWEST, Knowledge};
use crate::draw::Draw;
use crate::epsilon::proved;
use crate::flood::{self, Flood};
use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault, SubjectInfo};
use hashlane_hash::scheme::{Key, Keying};
use oracle::Oracle;
pub(crate) use oracle::Scope;
use std::collections::HashSet;

/// A search without priors and its budget.
pub struct Blind<'a> {
    /// True to leave out the attacks, the known pairs, bias and identity: the verdict is the search's alone.
    pub alone: bool,
    /// Asked before each step with the number of keys hashed so far: false ends the search. A step hashes at
    /// most about a million keys.
    pub goes_on: &'a mut dyn FnMut(u64) -> bool,
}

/// Work of a search without priors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Searched {
    /// Keys hashed.
    pub hashes: u64,
    /// The search with the worst flood that needs no seed.
    pub found_by: Option<&'static str>,
}

/// Work of all searches, and the best keys of each.
pub(crate) type Found = (Searched, Vec<(About, Option<Flood>)>);

/// One kind of search.
trait Search {
    /// Facts about it. A search that needs the seed of the table uses [`Oracle::leaked`].
    fn about(&self) -> About;

    /// Works for one step, and returns sets of keys that may flood the table, of lengths that the function
    /// takes.
    ///
    /// # Errors
    /// The function fails.
    fn step(&mut self, oracle: &mut Oracle<'_>) -> Result<Vec<Keys>, Fault>;
}

/// The searches, those first whose steps are cheapest.
fn searches(info: &SubjectInfo) -> Vec<Box<dyn Search>> {
    let mut all: Vec<Box<dyn Search>> = vec![
        Box::new(linear::Linear::default()),
        Box::new(additive::Additive::default()),
        Box::new(fixed_point::FixedPoint::default()),
        Box::new(absorbing::Absorbing::default()),
        Box::new(differential::Differential::default()),
        Box::new(word_pairs::WordPairs::default()),
        Box::new(meet::Meet::default()),
        Box::new(near_pairs::NearPairs::default()),
    ];
    // A function with a secret key claims nothing once the key is known, and no theorem does.
    if !matches!(info.keying, Keying::Secret(_)) && proved(&info.id).is_none() {
        all.push(Box::new(fixed_point::KnownState::default()));
        all.push(Box::new(chain::Chain::default()));
    }
    all
}

/// Seeds of tables in which keys are tried at last.
const TABLES: usize = 5;

/// Steps without work after which a search has nothing to do, for example with keys of one byte.
const IDLE: u32 = 256;

/// Work over the work of random keys at which a search ends. It keeps weaker floods, and goes on for better
/// ones.
const STRONG: f64 = 32.0;

/// An [`About`] of a search.
fn about(id: &'static str, title: &'static str, source: &'static str, knowledge: Knowledge) -> About {
    About { id, title, source, knowledge, aims_at: &[] }
}

/// Searches until `goes_on` returns false, or keys that need no seed take [`STRONG`] times the work of random
/// ones. Returns the best keys of each kind of search.
///
/// # Errors
/// The function fails.
pub(crate) fn search(
    subject: &mut dyn AuditedHash,
    scope: Scope<'_>,
    mut draw: Draw,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Found, Fault> {
    let keying = subject.info().keying;
    let leaked = scope.seed(&mut draw);
    let mut oracle = Oracle::new(subject, scope, leaked, draw);
    let mut running: Vec<Running> = searches(oracle.info())
        .into_iter()
        .map(|search| Running { search, work: 0, idle: 0, flood: None })
        .collect();
    while running.iter().all(|one| !one.ends(keying)) && goes_on(oracle.hashes()) {
        // Of equals, the first: the order depends on nothing but the work.
        let waiting = running.iter_mut().filter(|one| one.growth() < STRONG && one.idle < IDLE);
        let Some(next) = waiting.min_by_key(|one| one.work) else { break };
        let before = oracle.work();
        for keys in next.search.step(&mut oracle)? {
            let flood = confirmed(&mut oracle, keys, next.search.about().knowledge)?;
            next.flood = [next.flood.take(), flood]
                .into_iter()
                .flatten()
                .max_by(|one, other| one.growth().total_cmp(&other.growth()));
        }
        next.idle = if oracle.work() == before { next.idle + 1 } else { 0 };
        next.work += oracle.work() - before;
    }
    let floods = running.iter().filter(|one| one.flood.is_some() && one.needs_nothing(keying));
    let found_by = floods.max_by(|one, other| one.growth().total_cmp(&other.growth()));
    let found_by = found_by.map(|one| one.search.about().id);
    let hashes = oracle.hashes();
    let attempts = running.into_iter().map(|one| (one.search.about(), one.flood)).collect();
    Ok((Searched { hashes, found_by }, attempts))
}

/// A search, its work, and its best keys.
struct Running {
    search: Box<dyn Search>,
    work: u64,
    /// Steps without work, one after the other.
    idle: u32,
    flood: Option<Flood>,
}

impl Running {
    /// True if its keys need no seed, as nobody knows less than the seed of a function without one.
    fn needs_nothing(&self, keying: Keying) -> bool {
        self.search.about().knowledge == Knowledge::Nothing || keying == Keying::None
    }

    /// Work of its best keys over the work of random ones; 0 without keys.
    fn growth(&self) -> f64 {
        self.flood.as_ref().map_or(0.0, Flood::growth)
    }

    /// True if there is no need for better keys.
    fn ends(&self, keying: Keying) -> bool {
        self.needs_nothing(keying) && self.growth() >= STRONG
    }
}

/// The flood of `keys`, if they flood the table under one of two fresh seeds, and then again under seeds that
/// no search has seen; with the leaked seed, under that one.
fn confirmed(oracle: &mut Oracle<'_>, keys: Keys, knowledge: Knowledge) -> Result<Option<Flood>, Fault> {
    let mut seen = HashSet::new();
    let count = oracle.scope.count;
    let keys: Keys = keys.iter().filter(|key| seen.insert(key.to_vec())).take(count).collect();
    if keys.len() < FEWEST {
        return Ok(None);
    }
    let geometry = oracle.scope.geometry;
    if knowledge == Knowledge::Seed {
        let (seeds, mut draw) = ([oracle.leaked()], oracle.draw.clone());
        return flood::flood(oracle, geometry, keys, &seeds, &mut draw);
    }
    for count in [2, TABLES] {
        let seeds: Vec<Key> = (0..count).map(|_| oracle.seed()).collect();
        let mut draw = Draw::new(oracle.draw.word());
        match flood::flood(oracle, geometry, keys.clone(), &seeds, &mut draw)? {
            None => return Ok(None),
            Some(flood) if count == TABLES => return Ok(Some(flood)),
            Some(_) => {}
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
