//! Keys in order of their words.
//!
//! A loop over the words of a key ends where the CPU did not foresee it, as lengths follow no rule: some 20
//! cycles for each key. Among keys of as many words it ends where the last one did, and the CPU works on
//! several keys at once.

use super::{Keys, Ragged};
use crate::arch::lanes::{Lanes, WIDTH};
use crate::load::{le64, le64_rest};
use crate::scheme::BytesHash;
use crate::siphash::{SipHash, Vector, Words};

/// Keys that are put in order at a time: their places are bytes.
const SORTED: usize = 128;

/// Whole words from which on keys are not told apart: the end of a long one costs little.
const LONG: usize = 31;

/// Keys of as many whole words: their places among the sorted ones.
pub(super) struct Run<'a> {
    /// Number of the first of the sorted keys.
    pub(super) first: usize,
    pub(super) places: &'a [u8],
    /// Whole words of each key; `None` if there are more than [`LONG`] less one.
    pub(super) words: Option<usize>,
}

/// Calls `each` with the keys of as many whole words, up to the key `count`.
#[inline(always)]
pub(super) fn for_each_run<K: Keys + ?Sized>(keys: &K, count: usize, mut each: impl FnMut(&Run<'_>)) {
    for first in (0..count).step_by(SORTED) {
        let number = SORTED.min(count - first);
        let mut words = [0; SORTED];
        let mut ends = [0_u8; LONG + 1];
        for (i, words) in words.iter_mut().enumerate().take(number) {
            *words = (keys.key(first + i).len() / 8).min(LONG) as u8;
            ends[usize::from(*words) % (LONG + 1)] += 1;
        }
        let mut before = 0;
        for end in &mut ends {
            before += core::mem::replace(end, before);
        }
        let mut places = [0; SORTED];
        for (i, words) in words.iter().enumerate().take(number) {
            let end = &mut ends[usize::from(*words) % (LONG + 1)];
            places[usize::from(*end) % SORTED] = i as u8;
            *end += 1;
        }
        let mut from = 0;
        for (words, end) in ends.into_iter().enumerate() {
            let end = usize::from(end);
            if let Some(places) = places.get(from..end).filter(|places| !places.is_empty()) {
                each(&Run { first, places, words: (words < LONG).then_some(words) });
            }
            from = end;
        }
    }
}

/// Hashes the keys at `places` from `first` on, one by one.
#[inline(always)]
pub(super) fn one_by_one<K: Keys + ?Sized>(
    hash: impl Fn(&[u8]) -> u64,
    keys: &K,
    first: usize,
    places: &[u8],
    out: &mut [u64],
) {
    for place in places {
        let place = first + usize::from(*place);
        if let Some(out) = out.get_mut(place) {
            *out = hash(keys.key(place));
        }
    }
}

impl<K: Keys + ?Sized, const C: usize, const D: usize> Ragged<'_, K, C, D> {
    /// Hashes keys of as many words after one another, or in lanes if these are faster.
    #[inline(always)]
    pub(super) fn in_order<L: Lanes>(self, lanes: L) {
        let Self { hash, keys, out } = self;
        let count = out.len().min(keys.count());
        for_each_run(keys, count, |run| {
            let mut rest = run.places;
            if let Some(words) = run.words.filter(|_| L::EIGHTS) {
                let (eights, others) = run.places.as_chunks::<WIDTH>();
                rest = others;
                for places in eights {
                    let places = places.map(|place| run.first + usize::from(place));
                    let hashes = eight(lanes, hash, places.map(|place| keys.key(place)), words);
                    for (place, hash) in places.into_iter().zip(hashes) {
                        if let Some(out) = out.get_mut(place) {
                            *out = hash;
                        }
                    }
                }
            }
            one_by_one(|key| hash.hash(key), keys, run.first, rest, out);
        });
    }
}

/// The hashes of eight keys of so many whole words.
#[inline(always)]
fn eight<L: Lanes, const C: usize, const D: usize>(
    lanes: L,
    hash: &SipHash<C, D>,
    keys: [&[u8]; WIDTH],
    words: usize,
) -> [u64; WIDTH] {
    let mut state = Words::splat(lanes, hash.initial);
    for word in 0..words {
        state.compress::<C>(Vector(lanes, lanes.load(&keys.map(|key| le64(key, 8 * word)))));
    }
    let last = keys.map(|key| le64_rest(key) | (key.len() as u64) << 56);
    let hashes = state.finish::<C, D>(Vector(lanes, lanes.load(&last)), Vector(lanes, lanes.splat(0xff)));
    let mut out = [0; WIDTH];
    lanes.store(hashes.1, &mut out);
    out
}
