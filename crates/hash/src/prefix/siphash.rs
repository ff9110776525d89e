//! SipHash of every prefix, eight at a time in lanes.

use super::group::STRIDE;
use super::{EveryPrefix, Group};
use crate::arch::lanes::{LaneKernel, Lanes, WIDTH};
use crate::siphash::{SipHash, Word, Words};

impl<const C: usize, const D: usize> EveryPrefix for SipHash<C, D> {
    #[inline]
    fn every_prefix(&self, group: &mut Group) {
        self.unit.run(Kernel::<C, D> { initial: self.initial, group });
    }
}

/// A vector as a word of SipHash: eight inputs, or eight prefixes, side by side.
#[derive(Clone, Copy)]
struct Vector<L: Lanes>(L, L::V);

impl<L: Lanes> Word for Vector<L> {
    #[inline(always)]
    fn add(self, by: Self) -> Self {
        Self(self.0, self.0.add(self.1, by.1))
    }
    #[inline(always)]
    fn xor(self, by: Self) -> Self {
        Self(self.0, self.0.xor(self.1, by.1))
    }
    #[inline(always)]
    fn rotl<const N: i32>(self) -> Self {
        Self(self.0, self.0.rotl::<N>(self.1))
    }
}

struct Kernel<'a, const C: usize, const D: usize> {
    initial: Words<u64>,
    group: &'a mut Group,
}

impl<const C: usize, const D: usize> LaneKernel for Kernel<'_, C, D> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { initial, group } = self;
        if group.names == 1 {
            chain_of_one::<C>(initial, group);
        } else {
            chain::<L, C>(lanes, initial, group);
        }
        finish::<L, C, D>(lanes, group);
    }
}

/// Keeps the state before each of the `height` first words, and after the last of them, for all names in step.
///
/// The state before word w of name n is kept at `WIDTH * w + n`.
#[inline(always)]
fn chain<L: Lanes, const C: usize>(lanes: L, initial: Words<u64>, group: &mut Group) {
    let mut state = Words(initial.0.map(|v| Vector(lanes, lanes.splat(v))));
    let [s0, s1, s2, s3] = group.states.each_mut().map(|kept| kept.as_chunks_mut::<WIDTH>().0.iter_mut());
    let rows = s0.zip(s1).zip(s2.zip(s3)).take(group.height + 1);
    let mut at = lanes.load(&core::array::from_fn(|n| (STRIDE * n) as u64));
    for ((s0, s1), (s2, s3)) in rows {
        for (v, kept) in state.0.iter().zip([s0, s1, s2, s3]) {
            lanes.store(v.1, kept);
        }
        state.compress::<C>(Vector(lanes, lanes.gather_words(&group.octets, at)));
        at = lanes.add(at, lanes.splat(8));
    }
}

/// [`chain`] for a group of one name: one chain is shorter in plain registers.
#[inline(always)]
fn chain_of_one<const C: usize>(initial: Words<u64>, group: &mut Group) {
    let mut state = initial;
    let [s0, s1, s2, s3] = group.states.each_mut().map(|kept| kept.as_chunks_mut::<WIDTH>().0.iter_mut());
    let rows = s0.zip(s1).zip(s2.zip(s3)).take(group.height + 1);
    for (word, ((s0, s1), (s2, s3))) in group.octets.as_chunks().0.iter().zip(rows) {
        [s0[0], s1[0], s2[0], s3[0]] = state.0;
        state.compress::<C>(u64::from_le_bytes(*word));
    }
}

/// Finishes the prefixes, eight at a time, each from the state before its last word.
#[inline(always)]
fn finish<L: Lanes, const C: usize, const D: usize>(lanes: L, group: &mut Group) {
    let Group { octets, states, ends, hashes, prefixes, .. } = group;
    let eights = ends.as_chunks::<WIDTH>().0.iter().zip(hashes.as_chunks_mut::<WIDTH>().0);
    for (ends, hashes) in eights.take(prefixes.div_ceil(WIDTH)) {
        let end = lanes.widen(ends);
        // The kept state: word (end % STRIDE) / 8, name end / STRIDE.
        let word = lanes.and(end, lanes.splat(STRIDE as u64 - 8));
        let slot = lanes.xor(word, lanes.shr::<{ STRIDE.ilog2() as u32 }>(end));
        let state = Words(states.each_ref().map(|kept| Vector(lanes, lanes.gather(kept, slot))));
        // The octets of the last word that are in the prefix: its low 8 · (end % 8) bits.
        let bits = lanes.and(lanes.shl(end, lanes.splat(3)), lanes.splat(56));
        let mask = lanes.add(lanes.shl(lanes.splat(1), bits), lanes.splat(u64::MAX));
        let rest = lanes.and(lanes.gather_words(octets, lanes.and(end, lanes.splat(!7))), mask);
        let last = lanes.xor(rest, lanes.shl(end, lanes.splat(56)));
        let hash = state.finish::<C, D>(Vector(lanes, last), Vector(lanes, lanes.splat(0xff)));
        lanes.store(hash.1, hashes);
    }
}
