//! Balance of the shards: buckets move from the busiest shard to the idlest one.

use super::buckets::{Bucket, LEVELS};
use super::dispatch::Dispatch;
use super::load::{Load, Loads};
use crate::dead_nonce;
use alloc::boxed::Box;
use hashlane_ndn::time::Time;

/// Moves and splits buckets. One thread has it, and gathers the [loads](Load) of all threads.
#[derive(Debug)]
pub struct Balance {
    loads: Box<Loads>,
    /// Packets since the last balance below which nothing moves.
    threshold: u64,
}

/// Threshold of a forwarder: fewer packets a second are no load.
const THRESHOLD: u64 = 10_000;

/// Percent of the mean load up to which a shard is not too busy.
const TOLERATED: u64 = 110;

/// Most buckets that change at one balance.
const MAX_CHANGES: usize = 16;

/// A bucket of at least this part of a shard's mean load is split: one in so many.
const HOT: u64 = 2;

impl Default for Balance {
    fn default() -> Self {
        Self::with_threshold(THRESHOLD)
    }
}

impl Balance {
    /// A balance that moves nothing below this number of packets since the last one.
    pub fn with_threshold(packets: u64) -> Self {
        Self { loads: Load::default().0, threshold: packets }
    }

    /// Adds the load of a thread, and begins another one.
    pub fn gather(&mut self, load: &mut Load) {
        for (sum, part) in self.loads.iter_mut().flatten().zip(load.0.iter_mut().flatten()) {
            *sum += core::mem::take(part);
        }
    }

    /// Moves buckets from busy shards to idle ones, splits those that are too hot to move, and forgets the
    /// loads. `other` is work of each shard beside its buckets, in packets. Call it about once a second.
    /// Returns the number of buckets that changed.
    pub fn balance(&mut self, dispatch: &Dispatch, other: &[u64], now: Time) -> usize {
        let now = now.millis();
        dispatch.levels.iter().flat_map(|level| level.iter()).for_each(|bucket| {
            bucket.settle(now, dead_nonce::LIFETIME);
        });
        let loads = core::mem::replace(&mut self.loads, Load::default().0);
        let mut shards = [0; super::MAX_SHARDS];
        let shards = shards.get_mut(..dispatch.shards()).unwrap_or_default();
        shards.iter_mut().zip(other).for_each(|(shard, other)| *shard = *other);
        for (level, loads) in dispatch.levels.iter().zip(loads.iter()) {
            for (bucket, load) in level.iter().zip(loads) {
                if let Some(shard) = shards.get_mut(usize::from(bucket.state().owner())) {
                    *shard += load;
                }
            }
        }
        let all: u64 = loads.iter().flatten().sum();
        let mean = shards.iter().sum::<u64>() / dispatch.shards() as u64;
        if all < self.threshold || dispatch.shards() == 1 {
            return 0;
        }
        let mut changes = 0;
        while changes < MAX_CHANGES && change(dispatch, &loads, shards, mean, now) {
            changes += 1;
        }
        changes
    }
}

/// Bucket of the busiest shard, and its packets.
#[derive(Clone, Copy)]
struct Candidate<'d> {
    bucket: &'d Bucket,
    load: u64,
}

/// Moves one bucket of the busiest shard to the idlest one, or splits one. Returns false if no change helps.
fn change(dispatch: &Dispatch, loads: &Loads, shards: &mut [u64], mean: u64, now: u64) -> bool {
    let numbered = || shards.iter().copied().enumerate().map(|(shard, load)| (load, shard));
    let (Some((most, busy)), Some((least, idle))) = (numbered().max(), numbered().min()) else {
        return false;
    };
    if most * 100 <= mean * TOLERATED {
        return false;
    }
    let half = (most - least) / 2;
    let (mut hottest, mut best): (Option<Candidate<'_>>, Option<Candidate<'_>>) = (None, None);
    for (level, (buckets, loads)) in dispatch.levels.iter().zip(loads).enumerate() {
        for (bucket, load) in buckets.iter().zip(loads.iter().copied()) {
            let state = bucket.state();
            let moves = bucket.former(state, now) != 0;
            if load == 0 || usize::from(state.owner()) != busy || moves || state.is_split() {
                continue;
            }
            let candidate = Candidate { bucket, load };
            if level + 1 < LEVELS.len() && load * HOT >= mean && hottest.is_none_or(|hot| load > hot.load) {
                hottest = Some(candidate);
            }
            // The larger of both loads becomes smaller; the best move makes both equal.
            let off = load.abs_diff(half);
            if load < most - least && best.is_none_or(|best| off < best.load.abs_diff(half)) {
                best = Some(candidate);
            }
        }
    }
    match (hottest, best) {
        (Some(Candidate { bucket, load }), _) => {
            bucket.split();
            // Its parts are measured before anything else moves on their account.
            if let Some(shard) = shards.get_mut(busy) {
                *shard = shard.saturating_sub(load).max(least);
            }
            true
        }
        (None, Some(Candidate { bucket, load })) => {
            bucket.move_to(idle as u8);
            if let Some(shard) = shards.get_mut(busy) {
                *shard -= load;
            }
            if let Some(shard) = shards.get_mut(idle) {
                *shard += load;
            }
            true
        }
        (None, None) => false,
    }
}
