//! Keys of biased differences in a table: those that meet one key most often, under seeds of the attacker's.

use super::differences::Difference;
use super::search::Suspect;
use crate::attack::FEWEST;
use crate::draw::Draw;
use crate::flood::{self, Flood};
use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault};
use crate::table::Geometry;
use hashlane_hash::scheme::Key;
use hashlane_stats::format::count;
use std::collections::HashSet;

/// Binary logarithm of the keys among which the flood's are chosen.
const POOL: u32 = 13;

/// Seeds of the attacker's, under which they are chosen.
const OWN: usize = 32;

/// Seeds of tables in which they are tried.
const TABLES: usize = 5;

/// Buckets of larger tables, in which a flood must be one, too: a table may hold more keys than the flood's.
const LARGER: [usize; 3] = [1 << 8, 1 << 12, 1 << 16];

/// The work of the table with keys that differ from one key by sums of the differences of `alike`, or by
/// multiples of the worst one. `None` if there are too few such keys. It is a flood only if it is one in
/// larger tables, too.
///
/// # Errors
/// The function fails.
pub(crate) fn effect(
    subject: &mut dyn AuditedHash,
    geometry: &Geometry,
    worst: &Suspect,
    alike: &[&Suspect],
    wanted: usize,
    draw: &mut Draw,
) -> Result<Option<Flood>, Fault> {
    let pool = pool(worst, alike, draw);
    if pool.len() < FEWEST {
        return Ok(None);
    }
    let own: Vec<Key> = (0..OWN).map(|_| geometry.seed(draw)).collect();
    let hashes: Vec<Vec<u64>> = own
        .iter()
        .map(|seed| {
            let mut hashes = Vec::new();
            subject.hash_all(seed, &pool, &mut hashes)?;
            Ok(hashes)
        })
        .collect::<Result<_, Fault>>()?;
    let mut best: Option<(u64, Vec<usize>)> = None;
    for size in core::iter::successors(Some(wanted.min(pool.len())), |size| Some(size / 4)) {
        if size < FEWEST {
            break;
        }
        let chosen = nearest(geometry, &hashes, size);
        // Work of a lookup, summed over the attacker's seeds, of as many keys in each case.
        let of = |hashes: &Vec<u64>| {
            let hashes: Vec<u64> = chosen.iter().map(|number| hashes[*number]).collect();
            geometry.count(&hashes).lookup.work()
        };
        let work = hashes.iter().map(of).sum::<u64>() * 1000 / size as u64;
        if best.as_ref().is_none_or(|(before, _)| *before < work) {
            best = Some((work, chosen));
        }
    }
    let Some((_, chosen)) = best else { return Ok(None) };
    let keys: Keys = chosen.iter().filter_map(|number| pool.get(*number)).collect();
    let tables: Vec<Key> = (0..TABLES).map(|_| geometry.seed(draw)).collect();
    let mut effect = flood::effect(subject, geometry, keys, &tables, draw)?;
    // A table that never grows has no larger form.
    for buckets in LARGER.into_iter().filter(|buckets| *buckets > geometry.buckets) {
        if effect.seeds == 0 || geometry.grows_at.is_none() {
            break;
        }
        let larger = Geometry { buckets, ..geometry.clone() };
        let seeds = flood::effect(subject, &larger, effect.keys.clone(), &tables, draw)?.seeds;
        if seeds == 0 {
            let own = count(geometry.buckets_for(effect.keys.len()) as f64);
            effect.note = Some(format!(
                "in a table of {own} buckets; in one of {} buckets, which other keys may fill, they are no \
                 flood",
                count(buckets as f64)
            ));
        }
        effect.seeds = effect.seeds.min(seeds);
    }
    Ok(Some(effect))
}

/// The `size` keys that share the bucket of the first one under most seeds, of a table that holds as many.
fn nearest(geometry: &Geometry, hashes: &[Vec<u64>], size: usize) -> Vec<usize> {
    let mut shared = vec![0_usize; hashes.first().map_or(0, Vec::len)];
    for hashes in hashes {
        let mut buckets = hashes.iter().map(|hash| geometry.bucket(*hash, size));
        let Some(first) = buckets.next() else { continue };
        shared
            .iter_mut()
            .skip(1)
            .zip(buckets)
            .for_each(|(shared, bucket)| *shared += usize::from(bucket == first));
    }
    let mut order: Vec<usize> = (0..shared.len()).collect();
    order.sort_by_key(|number| {
        (core::cmp::Reverse(if *number == 0 { usize::MAX } else { shared[*number] }), *number)
    });
    order.truncate(size);
    order
}

/// Keys of the differences, all different.
fn pool(worst: &Suspect, alike: &[&Suspect], draw: &mut Draw) -> Keys {
    let base = draw.bytes(worst.length);
    if let Difference::Add { .. } = worst.difference {
        let keys = (0..1_u64 << POOL).map(|times| {
            let mut key = base.clone();
            worst.difference.apply(&mut key, times);
            key
        });
        let mut seen = HashSet::new();
        return keys.filter(|key| seen.insert(key.clone())).collect();
    }
    let basis = independent(worst, alike);
    (0..1_u64 << basis.len())
        .map(|number| {
            let mut key = base.clone();
            for (place, difference) in basis.iter().enumerate() {
                difference.apply(&mut key, number >> place & 1);
            }
            key
        })
        .collect()
}

/// The worst difference and others such that none is a sum of others, at most [`POOL`].
fn independent<'a>(worst: &'a Suspect, alike: &[&'a Suspect]) -> Vec<&'a Difference> {
    let mut basis: Vec<&Difference> = Vec::new();
    // Rows in echelon form: each has a leading bit that no later one has.
    let mut rows: Vec<Vec<u8>> = Vec::new();
    for suspect in core::iter::once(worst).chain(alike.iter().copied()) {
        let Difference::Xor(bits) = &suspect.difference else { continue };
        let mut row = bits.clone();
        for other in &rows {
            let Some(at) = other.iter().position(|byte| *byte != 0) else { continue };
            let leading = 0x80 >> other[at].leading_zeros();
            if row[at] & leading != 0 {
                row.iter_mut().zip(other).for_each(|(bit, by)| *bit ^= by);
            }
        }
        if row.iter().any(|byte| *byte != 0) && basis.len() < POOL as usize {
            rows.push(row);
            basis.push(&suspect.difference);
        }
    }
    basis
}
