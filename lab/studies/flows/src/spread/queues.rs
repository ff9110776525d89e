//! Spread of a capture's packets over the receive queues of a network card (RSS).

use crate::capture::Capture;
use hashlane_audit::traffic::imbalance::busiest;
use hashlane_audit::traffic::rss::queue;
use hashlane_baseline::rss::PUBLISHED_KEY;
use hashlane_hash::toeplitz::Rss;
use hashlane_stats::Interval;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Receive queues.
pub(super) const QUEUES: usize = 8;

/// Random assignments of the flows to queues, for the expectation.
const DRAWS: usize = 200;

/// Packets of the busiest queue over the mean of all queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Busiest {
    /// Under Toeplitz with the published key.
    pub(super) found: f64,
    /// If chance assigned each flow to a queue: the median and the central 95 %.
    pub(super) by_chance: Interval,
}

impl Busiest {
    /// Assigns the flows of a capture to queues: by Toeplitz under the key that Microsoft published, and a
    /// table of 128 entries that names the queues in turn.
    pub(super) fn of(capture: &Capture, seed: u64) -> Self {
        let mut packets = vec![0u64; capture.tuples.len()];
        for place in &capture.packets {
            if let Some(count) = packets.get_mut(*place as usize) {
                *count += 1;
            }
        }
        let rss = Rss::new(&PUBLISHED_KEY);
        let found =
            by_queue(&packets, |flow| capture.tuples.get(flow).map_or(0, |tuple| queue(&rss, tuple, QUEUES)));
        let mut random = SplitMix64::seed_from_u64(seed);
        let mut draws: Vec<f64> =
            (0..DRAWS).map(|_| by_queue(&packets, |_| (random.next_u64() >> 32) as usize)).collect();
        draws.sort_by(f64::total_cmp);
        let at = |share: usize| draws.get(share * (DRAWS - 1) / 1000).copied().unwrap_or(1.0);
        Self { found, by_chance: Interval::bounded(at(500), at(25), at(975)) }
    }
}

/// The busiest queue's packets over the mean.
fn by_queue(packets: &[u64], mut queue: impl FnMut(usize) -> usize) -> f64 {
    let mut queues = [0u64; QUEUES];
    for (flow, count) in packets.iter().enumerate() {
        queues[queue(flow) % QUEUES] += count;
    }
    busiest(&queues)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuples::TupleSet;

    #[test]
    fn one_flow_is_in_one_queue() {
        let tuples = TupleSet::Random.generate(1, 1, u64::MAX).unwrap();
        let capture = Capture { tuples, packets: vec![0; 100], ..Capture::default() };
        let busiest = Busiest::of(&capture, 7);
        assert_eq!((busiest.found, busiest.by_chance), (8.0, Interval::bounded(8.0, 8.0, 8.0)));
    }

    #[test]
    fn many_random_flows_are_spread_as_by_chance() {
        let tuples = TupleSet::V4Mapped.generate(10_000, 1, u64::MAX).unwrap();
        let capture = Capture { tuples, packets: (0..10_000).collect(), ..Capture::default() };
        let Busiest { found, by_chance } = Busiest::of(&capture, 7);
        assert!((1.0..1.1).contains(&found), "{found}");
        assert!(
            by_chance.low > 1.0 && by_chance.low < by_chance.value && by_chance.high < 1.1,
            "{by_chance:?}"
        );
    }
}
