//! Spread of flows over the receive queues of a network card (receive-side scaling).

use super::flows::Flow;
use super::imbalance::{Imbalance, Trial};
use crate::draw::Draw;
use hashlane_baseline::rss::PUBLISHED_KEY;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::toeplitz::Rss;

pub use hashlane_flow::rss::{CardKey, ENTRIES, SYMMETRIC_KEY, hash, queue};

/// Spread of flows under one key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The busiest queue over the mean.
    pub imbalance: Imbalance,
    /// Flows whose other direction has the same queue.
    pub symmetric: usize,
}

/// Spread of flows under `key`.
pub fn spread(flows: &[Flow], queues: usize, key: &CardKey) -> Spread {
    let rss = Rss::new(key);
    let of = |tuple: &Tuple| queue(&rss, tuple, queues);
    let symmetric = flows.iter().filter(|flow| of(&flow.tuple) == of(&flow.tuple.reversed())).count();
    Spread { imbalance: Imbalance::of(flows, queues, |flow| of(&flow.tuple)), symmetric }
}

/// Spreads of flows over the queues of a card.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Queues.
    pub queues: usize,
    /// Under the key that Microsoft published, which many drivers set.
    pub published: Spread,
    /// Under [`SYMMETRIC_KEY`].
    pub symmetric: Spread,
    /// The best of random keys.
    pub trial: Option<Trial<CardKey>>,
}

impl Report {
    /// Spreads `flows` over `queues` queues under the known keys and `tries` random ones. `progress` gets the
    /// number of each random key.
    pub fn of(
        flows: &[Flow],
        queues: usize,
        tries: u32,
        draw: &mut Draw,
        progress: &mut dyn FnMut(u32),
    ) -> Self {
        let trial = Trial::of(tries, |number| {
            progress(number);
            let mut key: CardKey = [0; Rss::MAX_LEN + 4];
            key.copy_from_slice(&draw.bytes(Rss::MAX_LEN + 4));
            let rss = Rss::new(&key);
            (key, Imbalance::of(flows, queues, |flow| queue(&rss, &flow.tuple, queues)))
        });
        Self {
            queues,
            published: spread(flows, queues, &PUBLISHED_KEY),
            symmetric: spread(flows, queues, &SYMMETRIC_KEY),
            trial,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    /// The first row of Microsoft's table: 66.9.149.187:2794 to 161.142.100.80:1766 has the hash 51ccc178.
    #[test]
    fn chooses_the_queue_of_the_published_hash() {
        let (source, destination) = (Ipv4Addr::new(66, 9, 149, 187), Ipv4Addr::new(161, 142, 100, 80));
        let received = Tuple::v4(destination, 1766, source, 2794);
        let rss = Rss::new(&PUBLISHED_KEY);
        assert_eq!(hash(&rss, &received), 0x51cc_c178);
        assert_eq!(queue(&rss, &received, 8), 0x78 % 8);
    }

    fn flows(count: usize) -> Vec<Flow> {
        let mut draw = Draw::new(3);
        let flow = |number: usize| {
            let [a, b] = [draw.word() as u32, draw.word() as u32].map(Ipv4Addr::from_bits);
            let ports = draw.word();
            let v4 = Tuple::v4(a, ports as u16, b, (ports >> 16) as u16);
            let tuple = if number.is_multiple_of(2) {
                v4
            } else {
                Tuple::new(v4.local().to_bits().rotate_left(13).into(), 1, v4.foreign(), 2)
            };
            Flow { tuple, protocol: 6, packets: 1 + draw.word() % 9 }
        };
        (0..count).map(flow).collect()
    }

    #[test]
    fn the_symmetric_key_has_both_directions_of_all_flows_on_one_queue() {
        let report = Report::of(&flows(4000), 8, 4, &mut Draw::new(7), &mut |_| ());
        assert_eq!(report.symmetric.symmetric, 4000);
        // By chance, one of eight.
        assert!((300..700).contains(&report.published.symmetric), "{report:?}");
    }

    #[test]
    fn the_best_of_keys_is_a_key_that_spreads_so() {
        let flows = flows(64);
        let report = Report::of(&flows, 8, 100, &mut Draw::new(7), &mut |_| ());
        let trial = report.trial.unwrap();
        assert_eq!(spread(&flows, 8, &trial.key).imbalance, trial.best);
        assert!(trial.best.packets < trial.median, "{trial:?}");
    }
}
