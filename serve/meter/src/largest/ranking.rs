//! Rankings of flows, and the first of many.

use crate::export::SECOND;
use crate::record::FlowRecord;

/// Order of flows, the largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ranking {
    /// By the bytes of both directions.
    #[default]
    Bytes,
    /// By the packets of both directions.
    Packets,
    /// By the bytes per second since the first packet; a flow counts as one second old at least.
    Rate,
}

impl Ranking {
    /// All rankings.
    pub const ALL: [Self; 3] = [Self::Bytes, Self::Packets, Self::Rate];

    /// Rank of a flow at `time`, in nanoseconds since 1970; higher is larger.
    #[must_use]
    pub fn of(self, flow: &FlowRecord, time: u64) -> u64 {
        let FlowRecord { forward, reverse, .. } = flow;
        let first = if reverse.packets == 0 { forward.first } else { forward.first.min(reverse.first) };
        let packets = forward.packets.saturating_add(reverse.packets);
        self.rank(packets, forward.bytes.saturating_add(reverse.bytes), first, time)
    }

    #[inline]
    pub(super) fn rank(self, packets: u64, bytes: u64, first: u64, time: u64) -> u64 {
        match self {
            Self::Bytes => bytes,
            Self::Packets => packets,
            Self::Rate => {
                let age = time.saturating_sub(first).max(SECOND);
                (bytes as f64 * SECOND as f64 / age as f64) as u64
            }
        }
    }
}

/// The first keys of many by their ranks.
#[derive(Debug)]
pub(super) struct Candidates<K> {
    /// Number of keys to keep.
    keep: usize,
    /// At most twice as many.
    ranked: Vec<(u64, K)>,
    /// Lower ranks are not among the first.
    floor: u64,
}

impl<K: Copy> Candidates<K> {
    pub(super) fn new(keep: usize) -> Self {
        let keep = keep.max(1);
        Self { keep, ranked: Vec::with_capacity(2 * keep), floor: 0 }
    }

    #[inline]
    pub(super) fn offer(&mut self, rank: u64, key: K) {
        if rank < self.floor {
            return;
        }
        self.ranked.push((rank, key));
        if self.ranked.len() == 2 * self.keep {
            self.cut();
        }
    }

    /// Drops all but the first.
    fn cut(&mut self) {
        if self.ranked.len() > self.keep {
            let last = self.keep - 1;
            let (_, &mut (floor, _), _) =
                self.ranked.select_nth_unstable_by_key(last, |(rank, _)| std::cmp::Reverse(*rank));
            // Another of that rank does not displace it.
            self.floor = floor.saturating_add(1);
            self.ranked.truncate(self.keep);
        }
    }

    /// The first keys, in no order. None are left.
    pub(super) fn take(&mut self) -> impl Iterator<Item = K> {
        self.cut();
        self.floor = 0;
        self.ranked.drain(..).map(|(_, key)| key)
    }

    pub(super) fn clear(&mut self) {
        self.ranked.clear();
        self.floor = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_keys_stay(ranks in proptest::collection::vec(0_u64..50, 0..200), keep in 1_usize..20) {
            let mut candidates = Candidates::new(keep);
            for _ in 0..2 {
                for (key, rank) in ranks.iter().enumerate() {
                    candidates.offer(*rank, key);
                }
                let mut kept: Vec<u64> = candidates.take().map(|key| ranks[key]).collect();
                let mut expected = ranks.clone();
                expected.sort_unstable();
                kept.sort_unstable();
                prop_assert_eq!(&kept[..], &expected[expected.len().saturating_sub(keep)..]);
            }
        }
    }

    #[test]
    fn a_flow_is_a_second_old_at_least() {
        assert_eq!(Ranking::Rate.rank(1, 500, 10 * SECOND, 10 * SECOND), 500);
        assert_eq!(Ranking::Rate.rank(1, 500, 10 * SECOND, 15 * SECOND), 100);
        // A packet out of order.
        assert_eq!(Ranking::Rate.rank(1, 500, 10 * SECOND, 9 * SECOND), 500);
        assert_eq!(Ranking::Rate.rank(1, u64::MAX, 0, 0), u64::MAX);
    }
}
