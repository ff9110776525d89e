//! Digests of Interests: a forwarder whose PIT is indexed by them computes one for each Interest.

use crate::load::Names;
use crate::load::template::Template;
use hashlane_hash::scheme::Key;
use hashlane_lab::probe::counter;
use hashlane_ndn::wire::{DigestFunction, Interest};
use std::hint::black_box;

/// Interests of a sample.
const INTERESTS: u64 = 256;

/// A function, without the key that some need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function(fn([u8; 16]) -> DigestFunction);

/// Functions by the ids of schemes.
pub(crate) const FUNCTIONS: [(&str, Function); 4] = [
    ("sha1", Function(|_| DigestFunction::Sha1)),
    ("sha256", Function(|_| DigestFunction::Sha256)),
    ("siphash-128", Function(DigestFunction::Sip128)),
    ("siphash-64", Function(DigestFunction::Sip64)),
];

/// Interests to digest.
pub(crate) struct Interests {
    packets: Vec<Vec<u8>>,
    key: [u8; 16],
}

impl Interests {
    /// With names of this shape; `None` for one that no workload has.
    pub(crate) fn new(names: Names, key: &Key) -> Option<Self> {
        let mut template = Template::new(names, 0, 4000)?;
        let packets = (0..INTERESTS).map(|number| template.interest(number).to_vec()).collect();
        Some(Self { packets, key: key.to_bytes() })
    }

    /// Digests all of them, which are parsed before; counts of the counter for each.
    pub(crate) fn digest(&mut self, Function(function): Function) -> f64 {
        let function = function(self.key);
        let parsed: Vec<_> = self.packets.iter().filter_map(|packet| Interest::parse(packet).ok()).collect();
        let start = counter::start();
        for interest in &parsed {
            black_box(function.digest(interest));
        }
        counter::stop().saturating_sub(start) as f64 / parsed.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_digests_of_its_length() {
        let mut interests =
            Interests::new(Names { components: 4, third_distinct: false }, &Key::VECTOR).unwrap();
        for ((id, function), len) in FUNCTIONS.into_iter().zip([20, 32, 16, 8]) {
            let Function(made) = function;
            assert_eq!(made(interests.key).len(), len, "{id}");
            assert!(interests.digest(function) > 0.0, "{id}");
        }
    }
}
