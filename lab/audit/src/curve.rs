//! The work of a table as it fills with hostile keys, for pictures.

use crate::draw::Draw;
use crate::flood::Flood;
use crate::key_sets::{Choices, KeySet, Schemes, key_sets};
use crate::keys::Keys;
use crate::library::{Measurement, Sample};
use crate::own_table::Trial;
use crate::registered::Registered;
use crate::subject::{AuditedHash, Fault, Lengths};
use crate::table::Geometry;
use core::convert::Infallible;
use hashlane_hash::scheme::Key;
use hashlane_stats::median;

/// A point of a curve: keys in the table, and the work of one operation among hostile and among random keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Keys in the table.
    pub keys: usize,
    /// Among hostile keys, on average.
    pub hostile: f64,
    /// Among random keys, on average.
    pub random: f64,
}

/// Work of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Entries compared by a lookup.
    Lookup,
    /// Entries visited by an insertion, with the new one.
    Insertion,
    /// Nanoseconds of a lookup.
    Time,
}

/// A curve, and the origin of its keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Attack that made the keys.
    pub attack: String,
    /// Scheme that they are made for, if it is not the function itself.
    pub made_for: Option<String>,
    /// The work.
    pub work: Work,
    /// Points: at 1, 2, 4, … keys, and at all.
    pub points: Vec<Point>,
}

/// The curve of a flood.
///
/// # Errors
/// The function fails.
pub fn from_flood(
    subject: &mut dyn AuditedHash,
    geometry: &Geometry,
    (attack, flood): (&str, &Flood),
    draw: &mut Draw,
) -> Result<Curve, Fault> {
    let work = if flood.slows_insertions_alone() { Work::Insertion } else { Work::Lookup };
    let random = draw.like(&flood.keys);
    let hashes = hashes(subject, &flood.seed, [&flood.keys, &random])?;
    let points = points(geometry, &hashes, work);
    Ok(Curve { attack: attack.to_owned(), made_for: None, work, points })
}

/// For each of `subjects` the curve of the keys that cost it most, of all sets that attacks on `known`
/// functions make without a seed. `None` for a function that fails, or takes keys of another length.
pub fn from_foreign_keys(
    subjects: &mut [&mut dyn AuditedHash],
    known: &mut [Registered],
    geometry: &Geometry,
    choices: Choices,
    tell: &mut dyn FnMut(&str, &str),
) -> Vec<Option<Curve>> {
    let mut worst: Vec<Option<(u64, Curve)>> = subjects.iter().map(|_| None).collect();
    let take = &mut |set: KeySet, draw: &mut Draw| {
        let (random, key) = (draw.like(&set.keys), draw.key());
        for (subject, worst) in subjects.iter_mut().zip(&mut worst) {
            if !takes(subject.info().lengths, &set.keys) {
                continue;
            }
            let Ok(hashes) = hashes(*subject, &key, [&set.keys, &random]) else { continue };
            let work = geometry.count(&hashes[0]).lookup.work();
            if worst.as_ref().is_none_or(|(before, _)| *before < work) {
                let points = points(geometry, &hashes, Work::Lookup);
                let (attack, made_for) = (set.about.id.to_owned(), Some(set.scheme.clone()));
                *worst = Some((work, Curve { attack, made_for, work: Work::Lookup, points }));
            }
        }
        Ok(())
    };
    let Ok(()): Result<(), Infallible> = key_sets(known, choices, Schemes::First, tell, take);
    worst.into_iter().map(|worst| worst.map(|(_, curve)| curve)).collect()
}

/// The curve of a trial of a table: entries compared by a lookup if it counts them, else time.
pub fn from_trial(trial: &Trial) -> Curve {
    let pairs = &trial.comparison.pairs;
    let counted = trial.comparison.lookup_compared().is_some();
    let of = |measurement: &Measurement, number: usize| {
        let sample: &Sample = measurement.samples.get(number)?;
        let total = if counted { sample.compared.map_or(0, |(_, find)| find) } else { sample.find_ns };
        Some(total as f64 / sample.looked_up.max(1) as f64)
    };
    let at = |number: usize| {
        let keys = pairs.first()?.0.samples.get(number)?.inserted as usize;
        let side = |side: fn(&(Measurement, Measurement)) -> &Measurement| {
            median(&pairs.iter().filter_map(|pair| of(side(pair), number)).collect::<Vec<_>>())
        };
        Some(Point { keys, hostile: side(|pair| &pair.0)?, random: side(|pair| &pair.1)? })
    };
    let all = pairs.first().map_or(0, |pair| pair.0.samples.len());
    let points = sizes(all).filter_map(|size| at(size.checked_sub(1)?)).collect();
    let work = if counted { Work::Lookup } else { Work::Time };
    Curve { attack: trial.about.id.to_owned(), made_for: Some(trial.scheme.clone()), work, points }
}

fn takes(lengths: Lengths, keys: &Keys) -> bool {
    match lengths {
        Lengths::Any => true,
        Lengths::Exactly(length) => keys.iter().all(|key| key.len() == length),
    }
}

fn hashes(subject: &mut dyn AuditedHash, seed: &Key, keys: [&Keys; 2]) -> Result<[Vec<u64>; 2], Fault> {
    let mut hashes = [Vec::new(), Vec::new()];
    for (hashes, keys) in hashes.iter_mut().zip(keys) {
        subject.hash_all(seed, keys, hashes)?;
    }
    Ok(hashes)
}

/// 1, 2, 4, …, all.
fn sizes(all: usize) -> impl Iterator<Item = usize> {
    core::iter::successors(Some(1), |size| Some(2 * size)).take_while(move |size| *size < all).chain([all])
}

fn points(geometry: &Geometry, hashes: &[Vec<u64>; 2], work: Work) -> Vec<Point> {
    let of = |hashes: &[u64], keys: usize| {
        let counts = geometry.count(&hashes[..keys]);
        match work {
            Work::Insertion => counts.insert.work() as f64 / keys.max(1) as f64 + 1.0,
            Work::Lookup | Work::Time => counts.lookup.work() as f64 / keys.max(1) as f64,
        }
    };
    sizes(hashes[0].len())
        .map(|keys| Point { keys, hostile: of(&hashes[0], keys), random: of(&hashes[1], keys) })
        .collect()
}
