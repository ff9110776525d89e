//! SipHash of every prefix, eight at a time in lanes.

use super::{EveryKernel, EveryPrefix, Group};
use crate::arch::lanes::{LaneKernel, Lanes, WIDTH};
use crate::arch::stage::STRIDE;
use crate::siphash::{SipHash, Vector, Words};

impl<const C: usize, const D: usize> EveryPrefix for SipHash<C, D> {
    #[inline]
    fn every_prefix(&self, group: &mut Group, out: &mut [u64]) {
        struct Every<'a, const C: usize, const D: usize>(Words<u64>, &'a mut Group, &'a mut [u64]);
        impl<const C: usize, const D: usize> LaneKernel for Every<'_, C, D> {
            type Output = ();
            #[inline(always)]
            fn run<L: Lanes>(self, lanes: L) {
                SipHash::<C, D, L> { initial: self.0, unit: lanes }.every_prefix(self.1, self.2);
            }
        }
        self.unit.run(Every::<C, D>(self.initial, group, out));
    }

    #[inline(always)]
    fn run_every<K: EveryKernel>(&self, kernel: K) -> K::Output {
        struct Run<K, const C: usize, const D: usize>(Words<u64>, K);
        impl<K: EveryKernel, const C: usize, const D: usize> LaneKernel for Run<K, C, D> {
            type Output = K::Output;
            #[inline(always)]
            fn run<L: Lanes>(self, lanes: L) -> K::Output {
                self.1.run(&SipHash::<C, D, L> { initial: self.0, unit: lanes })
            }
        }
        self.unit.run(Run::<K, C, D>(self.initial, kernel))
    }
}

impl<const C: usize, const D: usize, L: Lanes> EveryPrefix for SipHash<C, D, L> {
    #[inline(always)]
    fn every_prefix(&self, group: &mut Group, out: &mut [u64]) {
        if group.names == 1 {
            chain_of_one::<C>(self.initial, group);
        } else {
            chain::<L, C>(self.unit, self.initial, group);
        }
        finish::<L, C, D>(self.unit, group, out);
    }

    #[inline(always)]
    fn stage(&self, place: &mut [u8; STRIDE], bytes: &[u8]) {
        self.unit.stage(place, bytes);
    }
}

/// The places of the names' first words.
const FIRST_WORDS: [u64; WIDTH] = {
    let mut at = [0; WIDTH];
    let mut n = 0;
    while n < WIDTH {
        at[n] = (STRIDE * n) as u64;
        n += 1;
    }
    at
};

/// Stores the state before each of the `height` first words, and after the last of them, for all names
/// together.
///
/// The state before word w of name n goes to `WIDTH * w + n`.
#[inline(always)]
fn chain<L: Lanes, const C: usize>(lanes: L, initial: Words<u64>, group: &mut Group) {
    let Group { bytes, states, height, .. } = group;
    let mut state = Words::splat(lanes, initial);
    if L::BLOCKS {
        let (blocks, _) = states.as_chunks_mut::<{ 8 * WIDTH }>();
        for (block, rows) in blocks.iter_mut().enumerate() {
            let words = lanes.load_block::<STRIDE, _>(bytes, 8 * block);
            for (w, (row, word)) in rows.as_chunks_mut().0.iter_mut().zip(words).enumerate() {
                let Words([v0, v1, v2, v3]) = state;
                lanes.store_rows([v0.1, v1.1, v2.1, v3.1], row);
                if 8 * block + w >= *height {
                    return;
                }
                state.compress::<C>(Vector(lanes, word));
            }
        }
        return;
    }
    let mut at = lanes.load(&FIRST_WORDS);
    for (w, row) in states.as_chunks_mut().0.iter_mut().enumerate() {
        let Words([v0, v1, v2, v3]) = state;
        lanes.store_rows([v0.1, v1.1, v2.1, v3.1], row);
        // Words are expensive: take only those that a prefix needs.
        if w >= *height {
            break;
        }
        state.compress::<C>(Vector(lanes, lanes.gather_words(bytes, at)));
        at = lanes.add(at, lanes.splat(8));
    }
}

/// [`chain`] for a group of one name: one chain is shorter in plain registers.
#[inline(always)]
fn chain_of_one<const C: usize>(initial: Words<u64>, group: &mut Group) {
    let Group { bytes, states, height, .. } = group;
    let mut state = initial;
    let rows = states.as_chunks_mut::<WIDTH>().0.iter_mut().take(*height + 1);
    for (word, [first, ..]) in bytes.as_chunks().0.iter().zip(rows) {
        *first = state.0;
        state.compress::<C>(u64::from_le_bytes(*word));
    }
}

/// Finishes the prefixes, eight at a time, each from the state before its last word.
#[inline(always)]
fn finish<L: Lanes, const C: usize, const D: usize>(lanes: L, group: &Group, out: &mut [u64]) {
    let Group { bytes, states, ends, prefixes, .. } = group;
    let eights = ends.as_chunks::<WIDTH>().0.iter().zip(out.as_chunks_mut::<WIDTH>().0);
    for (ends, hashes) in eights.take(prefixes.div_ceil(WIDTH)) {
        let end = lanes.widen(ends);
        // The stored state: word (end % STRIDE) / 8, name end / STRIDE.
        let word = lanes.and(end, lanes.splat(STRIDE as u64 - 8));
        let slot = lanes.xor(word, lanes.shr::<{ STRIDE.ilog2() }>(end));
        // Written out: an array's `map` may stay a call, and vectors would then go through memory.
        let [v0, v1, v2, v3] = lanes.gather_rows(states, slot);
        let state = Words([Vector(lanes, v0), Vector(lanes, v1), Vector(lanes, v2), Vector(lanes, v3)]);
        // The bytes of the last word that are in the prefix: its low 8 · (end % 8) bits.
        let bits = lanes.and(lanes.shl(end, lanes.splat(3)), lanes.splat(56));
        let mask = lanes.add(lanes.shl(lanes.splat(1), bits), lanes.splat(u64::MAX));
        let rest = lanes.and(lanes.gather_words(bytes, lanes.and(end, lanes.splat(!7))), mask);
        let last = lanes.xor(rest, lanes.shl(end, lanes.splat(56)));
        let hash = state.finish::<C, D>(Vector(lanes, last), Vector(lanes, lanes.splat(0xff)));
        lanes.store(hash.1, hashes);
    }
}
