//! Packets made once, in which a prefix and a number are written for each use.

use super::work::{PREFIXES, Work};
use crate::load::template::CONTENT;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::wire::{DataBuilder, Interest, InterestBuilder};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Bytes of the components that differ, numbers in network order.
const NUMBER: usize = 8;

/// Lifetime of the Interests, in milliseconds.
const LIFETIME: u64 = 4000;

/// Draws of a prefix before they repeat.
const DRAWS: usize = 1 << 15;

/// An Interest and a Data of a workload: names are `/load/<prefix>/…/<number>`, or
/// `/a/hot/<prefix>/…/<number>`. The signature of the Data is right for one name only; no forwarder verifies
/// it.
#[derive(Clone, Debug)]
pub(super) struct Names {
    work: Work,
    interest: Patched,
    data: Patched,
    nonce_at: usize,
}

/// A packet, and the places in it that differ.
#[derive(Clone, Debug)]
struct Patched {
    bytes: Vec<u8>,
    prefix_at: usize,
    number_at: usize,
}

impl Names {
    /// `None` for a shape that no workload has.
    pub(super) fn new(work: Work, lifetime: Option<u64>) -> Option<Self> {
        let name = name(work, work.components, 0)?;
        let lifetime = lifetime.unwrap_or(LIFETIME);
        let builder = InterestBuilder { nonce: Some(0), lifetime, ..InterestBuilder::new(name.view()) };
        let interest = builder.build();
        let nonce_at = Interest::parse(&interest).ok()?.nonce_at()?.start;
        let data = DataBuilder::new(name.view(), &[0x55; CONTENT]).build();
        let patched = |bytes: Vec<u8>| {
            let name_at = bytes.windows(name.as_bytes().len()).position(|part| part == name.as_bytes())?;
            // Behind the components before it, its own type and length.
            let at = |count| Some(name_at + self::name(work, count, 0)?.as_bytes().len() + 2);
            Some(Patched { bytes, prefix_at: at(work.prefix_at())?, number_at: at(work.components - 1)? })
        };
        Some(Self { work, interest: patched(interest)?, data: patched(data)?, nonce_at })
    }

    /// The name of a prefix, which has a route.
    pub(super) fn prefix(&self, prefix: usize) -> Option<OwnedName<Ndn>> {
        name(self.work, self.work.prefix_at() + 1, prefix as u64)
    }

    /// The Interest of a number.
    #[inline]
    pub(super) fn interest(&mut self, prefix: u16, number: u64) -> &[u8] {
        // Odd, so that no two numbers of 32 bits have one Nonce.
        let nonce = ((number ^ number >> 32) as u32).wrapping_mul(0x9e37_79b1);
        if let Some(bytes) = self.interest.bytes.get_mut(self.nonce_at..self.nonce_at + 4) {
            bytes.copy_from_slice(&nonce.to_be_bytes());
        }
        self.interest.with(prefix, number)
    }

    /// The Data of a number.
    #[inline]
    pub(super) fn data(&mut self, prefix: u16, number: u64) -> &[u8] {
        self.data.with(prefix, number)
    }

    /// Prefix and number of an Interest; `None` if it is not one of these.
    #[inline]
    pub(super) fn of_interest(&self, packet: &[u8]) -> Option<(u16, u64)> {
        self.interest.read(packet)
    }

    /// Prefix and number of a Data; `None` if it is not one of these.
    #[inline]
    pub(super) fn of_data(&self, packet: &[u8]) -> Option<(u16, u64)> {
        self.data.read(packet)
    }
}

impl Patched {
    #[inline]
    fn with(&mut self, prefix: u16, number: u64) -> &[u8] {
        for (at, value) in [(self.prefix_at, u64::from(prefix)), (self.number_at, number)] {
            if let Some(bytes) = self.bytes.get_mut(at..at + NUMBER) {
                bytes.copy_from_slice(&value.to_be_bytes());
            }
        }
        &self.bytes
    }

    #[inline]
    fn read(&self, packet: &[u8]) -> Option<(u16, u64)> {
        let value = |at: usize| Some(u64::from_be_bytes(packet.get(at..at + NUMBER)?.try_into().ok()?));
        let is_alike = packet.len() == self.bytes.len() && packet.first() == self.bytes.first();
        is_alike.then_some((value(self.prefix_at)? as u16, value(self.number_at)?))
    }
}

impl Work {
    /// Position of the prefix's component in a name, from 0.
    fn prefix_at(self) -> usize {
        if self.is_hot { 2 } else { 1 }
    }
}

/// The first `count` components of a name with number 0.
fn name(work: Work, count: usize, prefix: u64) -> Option<OwnedName<Ndn>> {
    let prefix = prefix.to_be_bytes();
    let fixed: Vec<String> = (0..work.components).map(|at| format!("part-{at:03}")).collect();
    let value = |at: usize| match at {
        at if at + 1 == work.components => &[0; NUMBER],
        at if at == work.prefix_at() => &prefix[..],
        0 => {
            if work.is_hot {
                b"a"
            } else {
                b"load".as_slice()
            }
        }
        1 => b"hot",
        _ => fixed.get(at).map(String::as_bytes).unwrap_or_default(),
    };
    OwnedName::from_components((0..count).map(|at| Component::generic(value(at)))).ok()
}

/// Weights of the prefixes: Zipf's law with the exponent 1.
pub(super) fn weights() -> Vec<f64> {
    (1..=PREFIXES).map(|rank| 1.0 / rank as f64).collect()
}

/// Prefixes of names one after the other, drawn by their weights.
pub(super) fn draws(seed: u64) -> Vec<u16> {
    let mut random = SplitMix64::seed_from_u64(seed);
    let sums: Vec<f64> = weights()
        .iter()
        .scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
        .collect();
    let all = sums.last().copied().unwrap_or_default();
    let draw = |_| {
        let at = all * (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        sums.partition_point(|sum| *sum <= at).min(PREFIXES - 1) as u16
    };
    (0..DRAWS).map(draw).collect()
}
