//! Spread of flows over paths of equal cost (ECMP): a keyed hash of the 5-tuple, modulo the paths.
//!
//! The hash is SipHash-2-4 under a random key, as in Linux (`flow_hash_from_keys`,
//! net/core/flow_dissector.c), though not bit for bit: there the input is a structure of the kernel.

use super::flows::Flow;
use super::imbalance::{Imbalance, Loads, Trial};
use crate::draw::Draw;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::siphash::SipHash24;
use hashlane_hash::words::WordsHash;

/// Bytes of a key: source and destination address, the two ports and the protocol.
const LEN: usize = Tuple::LEN + 1;

/// Words of a key, the last filled up with zeros.
const WORDS: usize = LEN.div_ceil(8);

/// Flows whose hashes are computed at once.
const BURST: usize = 1024;

/// Hash of the source and destination address, the two ports and the protocol of a flow.
pub fn hash(hash: &SipHash24, flow: &Flow) -> u64 {
    WordsHash::<WORDS, LEN>::hash_words(hash, &words(flow))
}

/// The key of a flow.
fn words(flow: &Flow) -> [u64; WORDS] {
    let mut bytes = [0; 8 * WORDS];
    bytes[..Tuple::LEN].copy_from_slice(flow.tuple.reversed().as_bytes());
    bytes[Tuple::LEN] = flow.protocol;
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut all = [0; 8];
        all.copy_from_slice(bytes);
        *word = u64::from_ne_bytes(all);
    }
    words
}

/// Flows as keys in bursts.
struct Bursts<'a>(Vec<(&'a [Flow], Vec<[u64; WORDS]>)>);

impl<'a> Bursts<'a> {
    fn of(flows: &'a [Flow]) -> Self {
        Self(flows.chunks(BURST).map(|flows| (flows, flows.iter().map(words).collect())).collect())
    }

    /// Divides the flows between `paths` paths under `key`.
    fn spread(&self, paths: usize, key: &Key) -> Imbalance {
        let siphash = SipHash24::new(key);
        let mut loads = Loads::new(paths);
        let mut hashes = [0; BURST];
        for (flows, keys) in &self.0 {
            WordsHash::<WORDS, LEN>::hash_burst(&siphash, keys, &mut hashes);
            for (flow, hash) in flows.iter().zip(&hashes) {
                loads.add((hash % paths as u64) as usize, flow);
            }
        }
        loads.imbalance()
    }
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
        let bursts = Bursts::of(flows);
        let first = bursts.spread(paths, &draw.key());
        let trial = Trial::of(tries, |number| {
            progress(number);
            let key = draw.key();
            let found = bursts.spread(paths, &key);
            (key, found)
        });
        Self { paths, first, trial }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_hash::scheme::BytesHash;

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
    fn bursts_are_spread_as_flows_one_by_one_by_the_hash_of_their_bytes() {
        let flows: Vec<Flow> = (0..2_500).map(|port| flow(port, 6 + 11 * (port % 2) as u8)).collect();
        let siphash = SipHash24::new(&Key::VECTOR);
        let one_by_one = Imbalance::of(&flows, 7, |flow| (hash(&siphash, flow) % 7) as usize);
        assert_eq!(Bursts::of(&flows).spread(7, &Key::VECTOR), one_by_one);
        let bytes = [&flows[9].tuple.reversed().as_bytes()[..], &[17]].concat();
        assert_eq!(hash(&siphash, &flows[9]), siphash.hash(&bytes));
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
