//! Packets made once, in which a number is written for each use.

use super::spread::Spread;
use super::workload::Names;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::wire::{DataBuilder, Interest, InterestBuilder};

/// Bytes of content.
pub const CONTENT: usize = 100;

/// Bytes of the component that differs: a number in network order.
const NUMBER: usize = 8;

/// Position, from 0, of the component that numbers the prefix, in names spread over many prefixes.
const PREFIX_AT: usize = 2;

/// The Interests and the Data of one pair: alike but for the number in their names, and the Nonce.
///
/// Names are `/load/<pair>/…`, each further component of eight bytes. The Data is signed once, so its
/// signature is right for the number 0 only; no forwarder verifies it.
///
/// Names that are [spread](Self::spread) over many prefixes are `/load/<pair>/<prefix>/…`; the number of the
/// name selects the prefix.
#[derive(Clone, Debug)]
pub struct Template {
    prefix: OwnedName<Ndn>,
    /// The encoded name, and the offset of the number in it.
    name: Vec<u8>,
    number_at: usize,
    /// Position of the prefix in the name, and the order in which names visit the prefixes.
    spread: Option<(usize, Spread)>,
    interest: Patched,
    nonce_at: usize,
    nonce_seed: u32,
    data: Patched,
}

/// A packet, and the offset of its name.
#[derive(Clone, Debug)]
struct Patched {
    bytes: Vec<u8>,
    name_at: usize,
}

impl Template {
    /// The packets of pair `pair`, whose Interests have this lifetime in milliseconds. `None` for a shape
    /// that no workload has.
    pub fn new(names: Names, pair: usize, lifetime: u64) -> Option<Self> {
        let pair = format!("{pair:04}");
        let fixed: Vec<String> = (0..names.components).map(|at| format!("part-{at:03}")).collect();
        let number = [0_u8; NUMBER];
        let components = |count: usize| {
            let value = |at: usize| match at {
                0 => b"load".as_slice(),
                1 => pair.as_bytes(),
                _ if at == names.varied() => &number,
                _ => fixed.get(at).map(String::as_bytes).unwrap_or_default(),
            };
            OwnedName::<Ndn>::from_components((0..count).map(|at| Component::generic(value(at)))).ok()
        };
        let prefix = components(PREFIX_AT)?;
        let name = components(names.components)?;
        // Behind the components before it, its own type and length.
        let number_at = components(names.varied())?.as_bytes().len() + 2;
        let builder = InterestBuilder { nonce: Some(0), lifetime, ..InterestBuilder::new(name.view()) };
        let interest = builder.build();
        let nonce_at = Interest::parse(&interest).ok()?.nonce_at()?.start;
        let data = DataBuilder::new(name.view(), &[0x55; CONTENT]).build();
        let nonce_seed = pair
            .bytes()
            .fold(0x6c6f_6164, |seed: u32, digit| (seed ^ u32::from(digit)).wrapping_mul(0x0100_0193));
        Some(Self {
            interest: Patched::new(interest, name.as_bytes())?,
            data: Patched::new(data, name.as_bytes())?,
            name: name.into_bytes(),
            prefix,
            number_at,
            spread: None,
            nonce_at,
            nonce_seed,
        })
    }

    /// As [`new`](Self::new), with names that are spread over `prefixes` prefixes of three components. `None`
    /// also for names in which the third component differs anyway, or that have no other one.
    pub fn spread(names: Names, pair: usize, lifetime: u64, prefixes: usize) -> Option<Self> {
        let plain = Self::new(names, pair, lifetime)?;
        let prefix_at = plain.prefix.as_bytes().len() + 2;
        let spread = Spread::over(prefixes).filter(|_| names.varied() > PREFIX_AT)?;
        Some(Self { spread: Some((prefix_at, spread)), ..plain })
    }

    /// Prefix of all its names, two components; a producer registers it.
    pub fn prefix(&self) -> &OwnedName<Ndn> {
        &self.prefix
    }

    /// Prefixes over which its names are spread, if they are; a producer registers them in place of
    /// [`prefix`](Self::prefix).
    pub fn prefixes(&self) -> impl Iterator<Item = OwnedName<Ndn>> {
        let prefixes = self.spread.map_or(0, |(_, spread)| spread.prefixes());
        (0..prefixes).filter_map(|prefix| {
            let bytes = prefix.to_be_bytes();
            let last = Component::generic(&bytes);
            OwnedName::from_components(self.prefix.view().components().chain([last])).ok()
        })
    }

    /// `true` if its names are spread over many prefixes.
    pub fn is_spread(&self) -> bool {
        self.spread.is_some()
    }

    /// The Interest of a number.
    #[inline]
    pub fn interest(&mut self, number: u64) -> &[u8] {
        // Odd, so that no two numbers of 32 bits have one Nonce.
        let nonce = (number as u32).wrapping_mul(0x9e37_79b1) ^ self.nonce_seed;
        if let Some(bytes) = self.interest.bytes.get_mut(self.nonce_at..self.nonce_at + 4) {
            bytes.copy_from_slice(&nonce.to_be_bytes());
        }
        if let Some((at, prefix)) = self.prefix_of(number) {
            self.interest.with(at, prefix);
        }
        self.interest.with(self.number_at, number)
    }

    /// The Data of a number.
    #[inline]
    pub fn data(&mut self, number: u64) -> &[u8] {
        if let Some((at, prefix)) = self.prefix_of(number) {
            self.data.with(at, prefix);
        }
        self.data.with(self.number_at, number)
    }

    /// Number of the prefix in the name of a number, and its offset in the name.
    #[inline]
    fn prefix_of(&self, number: u64) -> Option<(usize, u64)> {
        self.spread.map(|(at, spread)| (at, spread.prefix_of(number)))
    }

    /// The number in an encoded name; `None` if the name is not one of these packets.
    #[inline]
    pub fn number(&self, name: &[u8]) -> Option<u64> {
        let (at, end) = (self.number_at, self.number_at + NUMBER);
        let number = u64::from_be_bytes(name.get(at..end)?.try_into().ok()?);
        let fixed_from = match self.prefix_of(number) {
            None => 0,
            Some((at, prefix)) => {
                let end = at + NUMBER;
                let right =
                    name.get(at..end)? == prefix.to_be_bytes() && name.get(..at) == self.name.get(..at);
                right.then_some(end)?
            }
        };
        let same = name.len() == self.name.len()
            && name.get(fixed_from..at) == self.name.get(fixed_from..at)
            && name.get(end..) == self.name.get(end..);
        same.then_some(number)
    }
}

impl Patched {
    fn new(bytes: Vec<u8>, name: &[u8]) -> Option<Self> {
        let name_at = bytes.windows(name.len()).position(|window| window == name)?;
        Some(Self { bytes, name_at })
    }

    /// The packet with this number at a place of its name.
    #[inline]
    fn with(&mut self, at: usize, number: u64) -> &[u8] {
        let at = self.name_at + at;
        if let Some(bytes) = self.bytes.get_mut(at..at + NUMBER) {
            bytes.copy_from_slice(&number.to_be_bytes());
        }
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_ndn::wire::Data;
    use std::collections::HashSet;

    const SHAPES: [Names; 4] = [
        Names { components: 3, third_distinct: false },
        Names { components: 4, third_distinct: false },
        Names { components: 11, third_distinct: true },
        Names { components: 20, third_distinct: false },
    ];

    #[test]
    fn packets_parse_and_have_the_shape_asked_for() {
        for names in SHAPES {
            let mut template = Template::new(names, 7, 4000).unwrap();
            for number in [0, 1, 0xff00_ff00, u64::MAX] {
                let bytes = template.interest(number).to_vec();
                let interest = Interest::parse(&bytes).unwrap();
                assert_eq!(interest.name_len(), names.components);
                assert_eq!((interest.lifetime(), interest.can_be_prefix()), (4000, false));
                assert!(interest.nonce().is_some());
                assert_eq!(template.number(interest.name_bytes()), Some(number));
                assert!(interest.name_bytes().starts_with(&[7]));
                let bytes = template.data(number).to_vec();
                let data = Data::parse(&bytes).unwrap();
                assert_eq!(data.name_bytes(), interest.name_bytes());
                assert_eq!((data.content().len(), data.freshness()), (CONTENT, None));
            }
        }
    }

    #[test]
    fn the_component_that_differs_is_the_one_asked_for() {
        for names in SHAPES {
            let mut template = Template::new(names, 0, 4000).unwrap();
            let [first, second] = [1, 2].map(|number| template.interest(number).to_vec());
            let [first, second] = [&first, &second].map(|bytes| Interest::parse(bytes).unwrap().name());
            let pairs = first.components().zip(second.components());
            let differing: Vec<usize> =
                pairs.enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at).collect();
            assert_eq!(differing, [names.varied()]);
        }
    }

    #[test]
    fn names_that_are_spread_visit_each_prefix_before_one_again() {
        let mut template = Template::spread(SHAPES[1], 3, 4000, 7).unwrap();
        let prefixes: Vec<_> = template.prefixes().map(|prefix| prefix.to_string()).collect();
        assert_eq!(prefixes.iter().collect::<HashSet<_>>().len(), 7);
        let (mut visited, mut names) = (Vec::new(), HashSet::new());
        for number in 0..14 {
            let bytes = template.interest(number).to_vec();
            let name = Interest::parse(&bytes).unwrap().name();
            assert_eq!(name.components().count(), SHAPES[1].components);
            assert_eq!(template.number(name.as_bytes()), Some(number));
            let bytes = template.data(number).to_vec();
            assert_eq!(Data::parse(&bytes).unwrap().name_bytes(), name.as_bytes());
            let prefix = OwnedName::<Ndn>::from_components(name.components().take(3)).unwrap();
            visited.push(prefix.to_string());
            names.insert(name.as_bytes().to_vec());
        }
        assert_eq!(names.len(), 14);
        assert_eq!(visited[..7], visited[7..]);
        assert_eq!(visited[..7].iter().collect::<HashSet<_>>(), prefixes.iter().collect());
    }

    #[test]
    fn a_name_with_the_prefix_of_another_number_is_none_of_these() {
        let mut template = Template::spread(SHAPES[1], 3, 4000, 7).unwrap();
        let [first, second] = [1, 2].map(|number| {
            let bytes = template.interest(number).to_vec();
            Interest::parse(&bytes).unwrap().name_bytes().to_vec()
        });
        let last = first.len() - NUMBER..;
        let mut mixed = first;
        mixed[last.clone()].copy_from_slice(&second[last]);
        assert_eq!(template.number(&mixed), None);
        assert_eq!(template.number(&second), Some(2));
    }

    #[test]
    fn names_without_a_component_for_the_prefix_are_not_spread() {
        assert!(Template::spread(SHAPES[0], 0, 4000, 7).is_none());
        assert!(Template::spread(SHAPES[2], 0, 4000, 7).is_none());
        assert!(Template::spread(SHAPES[1], 0, 4000, 0).is_none());
        let plain = Template::new(SHAPES[1], 0, 4000).unwrap();
        assert!(!plain.is_spread() && plain.prefixes().next().is_none());
    }

    #[test]
    fn no_two_names_and_no_two_nonces_of_a_pair_are_alike() {
        for names in SHAPES {
            let (mut seen, mut nonces) = (HashSet::new(), HashSet::new());
            for pair in 0..4 {
                let mut template = Template::new(names, pair, 4000).unwrap();
                nonces.clear();
                for number in 0..3000 {
                    let bytes = template.interest(number).to_vec();
                    let interest = Interest::parse(&bytes).unwrap();
                    assert!(seen.insert(interest.name_bytes().to_vec()));
                    assert!(nonces.insert(interest.nonce()));
                }
            }
        }
    }

    #[test]
    fn knows_its_own_names_alone() {
        let mut template = Template::new(SHAPES[1], 1, 4000).unwrap();
        let other = Template::new(SHAPES[1], 2, 4000).unwrap();
        let longer = Template::new(SHAPES[2], 1, 4000).unwrap();
        let bytes = template.interest(9).to_vec();
        let name = Interest::parse(&bytes).unwrap().name_bytes().to_vec();
        assert_eq!(other.number(&name), None);
        assert_eq!(longer.number(&name), None);
        assert_eq!(template.number(&[]), None);
        assert!(other.prefix().as_bytes() != template.prefix().as_bytes());
    }
}
