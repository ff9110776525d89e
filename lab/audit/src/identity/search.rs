//! Search for second keys and for pairs, each checked by hashing.

use super::families::{FAMILIES, Given};
use super::transfer::{Known, Pair, Transfer};
use super::{Best, Evidence, WorstPair};
use crate::attack::{Knowledge, attacks};
use crate::draw::Draw;
use crate::flood::Flood;
use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault, Lengths};
use hashlane_hash::scheme::Key;

/// Given keys by which a method is judged, each under another seed.
const TRIALS: u32 = 32;

/// Successes that a method needs: a single one of 32 bits might be chance.
const FEWEST: u32 = 2;

/// Bits of a hash up to which two keys are sought among random ones.
const SEARCHED_WIDTH: u32 = 32;

/// Second keys for random given ones.
///
/// # Errors
/// The function fails.
pub(super) fn second_keys(
    subject: &mut dyn AuditedHash,
    evidence: &Evidence<'_>,
    lengths: &[usize],
    draw: &mut Draw,
) -> Result<Best, Fault> {
    let mut best = Best::default();
    for Known { source, transfer, length } in known(evidence) {
        let method = format!("{source}, keys of {length} bytes");
        let of = &mut |given: &Given<'_>, _: &mut Draw| transfer.apply(given.key).into_iter().collect();
        if let Some((log2, pair)) = judged(subject, (length, None), draw, of)? {
            best.take(Knowledge::Nothing, log2, &method, pair);
        }
    }
    // Differences of keys that hold for one seed, carried over to other keys under it.
    for (needs, source, flood) in evidence.floods.iter().filter(|(needs, ..)| *needs != Knowledge::Nothing) {
        let Some([one, other]) = &flood.equal else { continue };
        for transfer in Transfer::between(one, other) {
            let length = one.len().min(other.len());
            let method = format!("{source}, keys of {length} bytes");
            let of = &mut |given: &Given<'_>, _: &mut Draw| transfer.apply(given.key).into_iter().collect();
            if let Some((log2, pair)) = judged(subject, (length, Some(flood.seed)), draw, of)? {
                best.take(*needs, log2, &method, pair);
            }
        }
    }
    for length in lengths {
        if best.nothing.as_ref().is_some_and(|(log2, _)| *log2 < 1.0) {
            break;
        }
        for attack in attacks() {
            let about = attack.about();
            let of =
                &mut |given: &Given<'_>, _: &mut Draw| attack.second_key(given.key).into_iter().collect();
            if let Some((log2, pair)) = judged(subject, (*length, None), draw, of)? {
                let method = format!("{}, keys of {length} bytes", about.id);
                // The attack is not told the seed.
                best.take(Knowledge::Nothing, log2, &method, pair);
            }
        }
        for family in FAMILIES {
            if best.seed.as_ref().is_some_and(|(log2, _)| *log2 < 1.0) {
                break;
            }
            let of = &mut |given: &Given<'_>, draw: &mut Draw| (family.keys)(given, draw);
            if let Some((log2, pair)) = judged(subject, (*length, None), draw, of)? {
                let method = format!("{}, for keys of {length} bytes", family.method);
                best.take(Knowledge::Seed, log2, &method, pair);
            }
        }
    }
    Ok(best)
}

/// Changes that keep the hash of some keys, for keys of their length.
fn known(evidence: &Evidence<'_>) -> Vec<Known> {
    let mut known = Vec::new();
    let length = evidence.unhashed.length;
    if let Some(bit) = evidence.unhashed.bits.first() {
        let mut bits = vec![0; length];
        bits[bit / 8] = 1 << (bit % 8);
        let source = "a bit that is not hashed".to_owned();
        known.push(Known { source, transfer: Transfer::Xor(bits), length });
    }
    let mut add = |source: &str, one: &[u8], other: &[u8]| {
        known.extend(Transfer::between(one, other).into_iter().map(|transfer| Known {
            source: source.to_owned(),
            transfer,
            length: one.len().min(other.len()),
        }));
    };
    let floods = evidence.floods.iter().filter(|(needs, ..)| *needs == Knowledge::Nothing);
    for (_, source, flood) in floods.clone() {
        if let Some([one, other]) = flood.worst_pair() {
            add(source, &one, &other);
        }
    }
    let add_pair = |(_, source, flood): &(Knowledge, &str, &Flood)| {
        let (source, transfer) = ((*source).to_owned(), Transfer::Mixed(flood.pair.clone()?));
        Some(Known { source, transfer, length: flood.keys.get(0)?.len() })
    };
    let pairs: Vec<Known> = floods.filter_map(add_pair).collect();
    if let Some(WorstPair { keys: [one, other], source, .. }) = evidence.worst {
        add(source, one, other);
    }
    known.extend(pairs);
    known
}

/// Second keys that may have the hash of a given one.
type Second<'a> = dyn FnMut(&Given<'_>, &mut Draw) -> Vec<Vec<u8>> + 'a;

/// Share of random given keys for which `second` makes another key of the same hash, as the work for one,
/// with a pair: under one seed, or under a fresh one for each key. `None` if there are too few.
fn judged(
    subject: &mut dyn AuditedHash,
    (length, fixed): (usize, Option<Key>),
    draw: &mut Draw,
    second: &mut Second<'_>,
) -> Result<Option<(f64, Pair)>, Fault> {
    let (info, mut successes, mut pair) = (subject.info().clone(), 0, None);
    let mut hashes = Vec::new();
    for trial in 0..TRIALS {
        let (key, seed) = (draw.bytes(length), fixed.unwrap_or_else(|| draw.key()));
        subject.hash_all(&seed, &[&key].into_iter().collect(), &mut hashes)?;
        let Some(hash) = hashes.first().copied() else { return Ok(None) };
        let given = Given { key: &key, hash, width: info.width, seed };
        let mut keys = second(&given, draw);
        keys.retain(|other| *other != key && (info.lengths == Lengths::Any || other.len() == length));
        // A method that has no key for one of this length has none for the others.
        if keys.is_empty() && trial == 0 {
            return Ok(None);
        }
        subject.hash_all(&seed, &keys.iter().collect(), &mut hashes)?;
        if let Some(place) = hashes.iter().position(|other| *other == hash) {
            successes += 1;
            pair.get_or_insert_with(|| Pair { keys: [key, keys.swap_remove(place)], seed });
        }
        if successes == 0 && trial == TRIALS / 4 {
            return Ok(None);
        }
    }
    Ok(pair.filter(|_| successes >= FEWEST).map(|pair| (f64::from(TRIALS / successes.max(1)).log2(), pair)))
}

/// Two keys of one hash: of a flood, of the worst pair, or of as many keys as chance needs.
///
/// # Errors
/// The function fails.
pub(super) fn two_keys(
    subject: &mut dyn AuditedHash,
    evidence: &Evidence<'_>,
    length: usize,
    draw: &mut Draw,
) -> Result<Best, Fault> {
    let mut best = Best::default();
    let mut hashes = Vec::new();
    for (needs, source, flood) in &evidence.floods {
        if *needs != Knowledge::Nothing {
            if let Some(keys) = flood.equal.clone() {
                best.take(*needs, 0.0, source, Pair { keys, seed: flood.seed });
            }
            continue;
        }
        let Some(keys) = flood.worst_pair() else { continue };
        let (mut equal, mut under) = (0, None);
        let as_keys: Keys = keys.iter().collect();
        for _ in 0..TRIALS {
            let seed = draw.key();
            subject.hash_all(&seed, &as_keys, &mut hashes)?;
            if hashes.first() == hashes.get(1) {
                equal += 1;
                under = Some(seed);
            }
        }
        if let Some(seed) = under.filter(|_| equal >= FEWEST) {
            best.take(Knowledge::Nothing, f64::from(TRIALS / equal).log2(), source, Pair { keys, seed });
        }
    }
    if let Some(WorstPair { keys, source, log2, measured }) = evidence.worst {
        let as_keys: Keys = keys.iter().collect();
        // A share too small to meet by chance is its source's, with its own seed.
        let tries = (8 * measured.seeds).checked_div(measured.collisions).unwrap_or(0);
        for _ in 0..tries {
            let seed = draw.key();
            subject.hash_all(&seed, &as_keys, &mut hashes)?;
            if hashes.first() == hashes.get(1) {
                best.take(Knowledge::Nothing, -log2, source, Pair { keys: keys.clone(), seed });
                break;
            }
        }
    }
    if let Some(pair) = by_chance(subject, length, draw)? {
        best.take(Knowledge::Seed, f64::from(subject.info().width) / 2.0, "random keys", pair);
    }
    Ok(best)
}

/// Two of four times as many random keys as chance needs, if the hash is narrow.
fn by_chance(subject: &mut dyn AuditedHash, length: usize, draw: &mut Draw) -> Result<Option<Pair>, Fault> {
    let width = subject.info().width;
    if width > SEARCHED_WIDTH {
        return Ok(None);
    }
    let seed: Key = draw.key();
    let (keys, mut hashes) = (draw.keys(4 << width.div_ceil(2), length), Vec::new());
    subject.hash_all(&seed, &keys, &mut hashes)?;
    let mut order: Vec<(u64, usize)> = hashes.into_iter().zip(0..).collect();
    order.sort_unstable();
    let pairs = order.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    let mut pairs = pairs.filter_map(|pair| Some([keys.get(pair[0].1)?, keys.get(pair[1].1)?]));
    Ok(pairs.find(|[one, other]| one != other).map(|keys| Pair { keys: keys.map(<[u8]>::to_vec), seed }))
}
