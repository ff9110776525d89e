//! Linear search: single bits of the key that change the lowest or highest bits of the hash in the same way
//! for every key and seed, and sums of them that change nothing.

use super::oracle::Oracle;
use super::{Search, about};
use crate::attack::{About, Knowledge, kernel};
use crate::keys::Keys;
use crate::subject::Fault;

/// Bytes of keys to search.
const LENGTHS: [usize; 8] = [36, 16, 64, 8, 24, 32, 48, 128];

/// Bits of the hash that must stay the same, besides all of them: the more, the fewer buckets.
const BITS: [u32; 12] = [32, 24, 20, 16, 14, 12, 10, 9, 8, 7, 6, 5];

/// Random keys, each under another seed, in which each bit is changed.
const SAMPLES: usize = 6;

/// Elements of a kernel, at least: 64 keys.
const FEWEST_ELEMENTS: usize = 6;

/// Sets of keys of one step, at most.
const SETS: usize = 4;

/// Single bits and their sums.
#[derive(Debug, Default)]
pub(super) struct Linear {
    steps: usize,
}

impl Search for Linear {
    fn about(&self) -> About {
        about(
            "blind/linear",
            "bits of the key change bits of the hash in the same way under every seed",
            "search without priors: sampled derivatives and Gaussian elimination over GF(2)",
            Knowledge::Nothing,
        )
    }

    fn step(&mut self, oracle: &mut Oracle<'_>) -> Result<Vec<Keys>, Fault> {
        let lengths = oracle.lengths(&LENGTHS);
        let length = lengths[self.steps % lengths.len()];
        self.steps += 1;
        let changes = changes(oracle, length)?;
        oracle.add_work((changes.len() * 256) as u64);
        let width = oracle.width();
        let mut sets: Vec<Vec<u128>> = Vec::new();
        let mut keys = Vec::new();
        for bits in core::iter::once(width).chain(BITS.into_iter().filter(|bits| *bits < width)) {
            for shift in [0, width - bits] {
                let mask = u64::MAX >> (64 - bits) << shift;
                let (columns, values) = constant(&changes, mask);
                let kernel = kernel(&values);
                if kernel.len() >= FEWEST_ELEMENTS && !sets.contains(&kernel) && sets.len() < SETS {
                    keys.push(sums(oracle, length, &columns, &kernel));
                    sets.push(kernel);
                }
            }
        }
        Ok(keys)
    }
}

/// Change of the hash by each bit of the key, in each sample.
fn changes(oracle: &mut Oracle<'_>, length: usize) -> Result<Vec<[u64; SAMPLES]>, Fault> {
    let mut changes = vec![[0; SAMPLES]; 8 * length];
    for sample in 0..SAMPLES {
        let base = oracle.draw.bytes(length);
        let flipped = (0..8 * length).map(|bit| {
            let mut key = base.clone();
            key[bit / 8] ^= 1 << (bit % 8);
            key
        });
        let keys: Keys = core::iter::once(base.clone()).chain(flipped).collect();
        let seed = oracle.seed();
        let hashes = oracle.under(&seed, &keys)?;
        let Some((of_base, of_flipped)) = hashes.split_first() else { break };
        changes.iter_mut().zip(of_flipped).for_each(|(change, hash)| change[sample] = hash ^ of_base);
    }
    Ok(changes)
}

/// Bits of the key whose change of the hash below `mask` is the same in all samples, as many as a kernel has
/// room for, and the values of the map at 0 and at each of them.
fn constant(changes: &[[u64; SAMPLES]], mask: u64) -> (Vec<usize>, Vec<u64>) {
    let is_constant = |change: &[u64; SAMPLES]| change.iter().all(|by| (by ^ change[0]) & mask == 0);
    let mut columns: Vec<usize> = (0..changes.len()).filter(|bit| is_constant(&changes[*bit])).collect();
    // Bits that change the hash elsewhere are worth more than those that may be unhashed.
    columns.sort_by_key(|bit| changes[*bit].iter().all(|by| *by == 0));
    columns.truncate(u128::BITS as usize);
    let values = core::iter::once(0).chain(columns.iter().map(|bit| changes[*bit][0] & mask)).collect();
    (columns, values)
}

/// Keys that differ from a random one by sums of elements of the kernel.
fn sums(oracle: &mut Oracle<'_>, length: usize, columns: &[usize], kernel: &[u128]) -> Keys {
    let base = oracle.draw.bytes(length);
    let count = 1_usize.checked_shl(kernel.len() as u32).unwrap_or(usize::MAX).min(oracle.scope.count);
    let keys = (0..count).map(|number| {
        let chosen = kernel.iter().enumerate().filter(|(place, _)| *place < 64 && number >> place & 1 == 1);
        let sum = chosen.fold(0, |sum, (_, element)| sum ^ element);
        let mut key = base.clone();
        for (place, bit) in columns.iter().enumerate() {
            key[bit / 8] ^= ((sum >> place & 1) as u8) << (bit % 8);
        }
        key
    });
    keys.collect()
}
