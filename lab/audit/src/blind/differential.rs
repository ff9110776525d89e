//! Differential search: differences of two keys whose hashes agree more than chance has it, improved step by
//! step from random ones.
//!
//! Every generation meets fresh keys and seeds, so that luck of one generation is gone in the next.

use super::oracle::Oracle;
use super::{Search, about};
use crate::attack::{About, Knowledge};
use crate::bias::{Difference, Suspect, effect};
use crate::draw::Draw;
use crate::keys::Keys;
use crate::subject::Fault;

/// Bytes of keys to search.
const LENGTHS: [usize; 7] = [36, 16, 8, 64, 24, 32, 12];

/// Differences of a generation.
const POPULATION: usize = 64;

/// Differences that the next generation is made of.
const PARENTS: usize = 12;

/// Pairs of each difference in a generation, each under another seed.
const PAIRS: usize = 16;

/// Generations of a step, after which keys of another length are searched.
const GENERATIONS: usize = 12;

/// Mean agreement from which a difference is tried in a table: chance has 0.13.
const SUSPICIOUS: f64 = 0.75;

/// Pairs that a difference must have met to be tried.
const MET: f64 = 3.0 * PAIRS as f64;

/// Random differences and their descendants.
#[derive(Debug, Default)]
pub(super) struct Differential {
    steps: usize,
}

/// A difference, and the agreement of the pairs that it has met.
#[derive(Clone, Debug)]
struct Scored {
    bits: Vec<u8>,
    agreement: f64,
    pairs: f64,
}

impl Scored {
    fn new(bits: Vec<u8>) -> Self {
        Self { bits, agreement: 0.0, pairs: 0.0 }
    }

    fn mean(&self) -> f64 {
        self.agreement / self.pairs.max(1.0)
    }
}

impl Search for Differential {
    fn about(&self) -> About {
        about(
            "blind/differential",
            "keys of one difference share buckets more often than chance has it",
            "search without priors: random differences, improved by mutation",
            Knowledge::Nothing,
        )
    }

    fn step(&mut self, oracle: &mut Oracle<'_>) -> Result<Vec<Keys>, Fault> {
        let lengths = oracle.lengths(&LENGTHS);
        let length = lengths[self.steps % lengths.len()];
        self.steps += 1;
        if length == 0 {
            return Ok(Vec::new());
        }
        let mut population: Vec<Scored> =
            (0..POPULATION).map(|_| Scored::new(random(&mut oracle.draw, length))).collect();
        for _ in 0..GENERATIONS {
            meet(oracle, &mut population)?;
            population.truncate(PARENTS);
            let parents = population.clone();
            while population.len() < POPULATION {
                let child = mutated(&mut oracle.draw, &parents);
                let is_new = population.iter().all(|other| other.bits != child);
                if is_new && child.iter().any(|byte| *byte != 0) {
                    population.push(Scored::new(child));
                } else {
                    population.push(Scored::new(random(&mut oracle.draw, length)));
                }
            }
        }
        meet(oracle, &mut population)?;
        population.retain(|one| one.mean() > SUSPICIOUS && one.pairs >= MET);
        let Some(worst) = population.first().cloned() else { return Ok(Vec::new()) };
        in_table(oracle, &worst, population).map(|keys| keys.into_iter().collect())
    }
}

/// Lets every difference meet pairs, and sorts by the mean agreement.
fn meet(oracle: &mut Oracle<'_>, population: &mut [Scored]) -> Result<(), Fault> {
    let width = oracle.width();
    for _ in 0..PAIRS {
        let mut keys = Keys::default();
        for one in population.iter() {
            let key = oracle.draw.bytes(one.bits.len());
            keys.push(&key);
            keys.push(&key.iter().zip(&one.bits).map(|(byte, by)| byte ^ by).collect::<Vec<u8>>());
        }
        let seed = oracle.seed();
        let hashes = oracle.under(&seed, &keys)?;
        for (one, [a, b]) in population.iter_mut().zip(hashes.as_chunks::<2>().0) {
            one.agreement += agreement(a ^ b, width);
            one.pairs += 1.0;
        }
    }
    population.sort_by(|a, b| b.mean().total_cmp(&a.mean()));
    Ok(())
}

/// Agreement of two hashes that differ by `change`: equal bits at one end beyond the fourth, up to 20, and a
/// part of the equal bits beyond chance.
fn agreement(change: u64, width: u32) -> f64 {
    let unused = u64::BITS - width;
    let low = change.trailing_zeros().min(width);
    let high = change.leading_zeros().saturating_sub(unused);
    let equal = f64::from(width - change.count_ones().min(width));
    let spread = f64::from(width).sqrt();
    f64::from(low.max(high).clamp(4, 20) - 4) + ((equal - f64::from(width) / 2.0) / spread - 1.5).max(0.0)
}

/// One to four random bits, often the highest ones of bytes, or a byte.
fn random(draw: &mut Draw, length: usize) -> Vec<u8> {
    let mut bits = vec![0; length];
    for _ in 0..=draw.word() % 4 {
        flip(draw, &mut bits);
    }
    match bits.iter().all(|byte| *byte == 0) {
        true => random(draw, length),
        false => bits,
    }
}

fn flip(draw: &mut Draw, bits: &mut [u8]) {
    let at = draw.word() as usize % bits.len();
    bits[at] ^= match draw.word() % 8 {
        0..3 => 0x80,
        3 => 1,
        4 => 0xff,
        _ => 1 << (draw.word() % 8),
    };
}

/// A descendant of one or two of `parents`.
fn mutated(draw: &mut Draw, parents: &[Scored]) -> Vec<u8> {
    let pick = |draw: &mut Draw| parents[draw.word() as usize % parents.len()].bits.clone();
    let mut bits = pick(draw);
    let length = bits.len();
    match draw.word() % 6 {
        0 | 1 => flip(draw, &mut bits),
        // The sum of two.
        2 => bits.iter_mut().zip(pick(draw)).for_each(|(byte, by)| *byte ^= by),
        // The same in another place.
        3 => bits.rotate_right([1, 2, 4, 8][draw.word() as usize % 4] % length),
        // One bit fewer.
        4 => {
            let set: Vec<usize> = (0..8 * length).filter(|bit| bits[bit / 8] >> (bit % 8) & 1 == 1).collect();
            let bit = set.get(draw.word() as usize % set.len().max(1)).copied().unwrap_or(0);
            bits[bit / 8] ^= 1 << (bit % 8);
        }
        // One byte again, in a later word.
        _ => {
            let at = draw.word() as usize % length;
            let to = (at + [4, 8, 12, 16][draw.word() as usize % 4]) % length;
            bits[to] ^= bits[at];
        }
    }
    bits
}

/// Keys of the worst difference, of others and of both moved by whole bytes, chosen under the searcher's own
/// seeds; `None` if they do no harm there.
fn in_table(oracle: &mut Oracle<'_>, worst: &Scored, others: Vec<Scored>) -> Result<Option<Keys>, Fault> {
    let length = worst.bits.len();
    let moved = (1..length).map(|by| {
        let mut bits = worst.bits.clone();
        bits.rotate_right(by);
        Scored::new(bits)
    });
    let mut alike: Vec<Scored> = others.into_iter().chain(moved).collect();
    meet(oracle, &mut alike)?;
    alike.retain(|one| one.mean() > SUSPICIOUS);
    let suspect =
        |one: &Scored| Suspect { length, difference: Difference::Xor(one.bits.clone()), score: one.mean() };
    let (worst, alike): (Suspect, Vec<Suspect>) = (suspect(worst), alike.iter().map(suspect).collect());
    let (scope, mut draw) = (oracle.scope, Draw::new(oracle.draw.word()));
    let alike: Vec<&Suspect> = alike.iter().collect();
    let flood = effect(oracle, scope.geometry, &worst, &alike, scope.count, &mut draw)?;
    Ok(flood.filter(|flood| flood.seeds > 0).map(|flood| flood.keys))
}
