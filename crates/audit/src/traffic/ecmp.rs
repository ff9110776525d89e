//! Spread of flows over paths of equal cost (ECMP): a keyed hash of the 5-tuple, modulo the paths.
//!
//! The hash is SipHash-2-4 under a random key, as in Linux (`flow_hash_from_keys`,
//! net/core/flow_dissector.c), though not bit for bit: there the input is a structure of the kernel.

use super::flows::Flow;
use super::imbalance::{Imbalance, Trial};
use crate::draw::Draw;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::{BytesHash, Key, Scheme};
use hashlane_hash::siphash::SipHash24;

/// Hash of the source and destination address, the two ports and the protocol of a flow.
pub fn hash(hash: &SipHash24, flow: &Flow) -> u64 {
    let mut bytes = [0; Tuple::LEN + 1];
    let (tuple, protocol) = bytes.split_at_mut(Tuple::LEN);
    tuple.copy_from_slice(flow.tuple.reversed().as_bytes());
    protocol.fill(flow.protocol);
    hash.hash(&bytes)
}

/// Spreads of flows over paths.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Paths.
    pub paths: usize,
    /// Under the first random key.
    pub first: Imbalance,
    /// The best of random keys.
    pub trial: Option<Trial<Key>>,
}

impl Report {
    /// Spreads `flows` over `paths` paths, under one random key and then under `tries` more. `progress` gets
    /// the number of each key.
    pub fn of(
        flows: &[Flow],
        paths: usize,
        tries: u32,
        draw: &mut Draw,
        progress: &mut dyn FnMut(u32),
    ) -> Self {
        let under = |key: &Key| {
            let siphash = SipHash24::new(key);
            Imbalance::of(flows, paths, |flow| (hash(&siphash, flow) % paths as u64) as usize)
        };
        let first = under(&draw.key());
        let trial = Trial::of(tries, |number| {
            progress(number);
            let key = draw.key();
            let found = under(&key);
            (key, found)
        });
        Self { paths, first, trial }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(port: u16, protocol: u8) -> Flow {
        let tuple = Tuple::new(Tuple::CHECK.local(), 443, Tuple::CHECK.foreign(), port);
        Flow { tuple, protocol, packets: 1 }
    }

    #[test]
    fn every_field_reaches_the_hash() {
        let siphash = SipHash24::new(&Key::VECTOR);
        let hashes = [flow(1, 6), flow(2, 6), flow(1, 17)].map(|flow| hash(&siphash, &flow));
        assert!(hashes[0] != hashes[1] && hashes[0] != hashes[2], "{hashes:x?}");
    }

    #[test]
    fn many_flows_are_even_and_a_trial_makes_few_more_even() {
        let flows: Vec<Flow> = (0..10_000).map(|port| flow(port, 6)).collect();
        let report = Report::of(&flows, 8, 0, &mut Draw::new(7), &mut |_| ());
        assert!((1.0..1.15).contains(&report.first.flows) && report.trial.is_none(), "{report:?}");
        let report = Report::of(&flows[..40], 8, 100, &mut Draw::new(7), &mut |_| ());
        let trial = report.trial.unwrap();
        assert!(trial.best.packets < trial.median && trial.tried == 100, "{trial:?}");
    }
}
