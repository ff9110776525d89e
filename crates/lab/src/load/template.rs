//! Packets made once, in which a number is written for each use.

use super::Names;
use name::build::OwnedName;
use name::component::Component;
use name::ndn::Ndn;
use ndn::wire::{DataBuilder, Interest, InterestBuilder};

/// Octets of content.
pub const CONTENT: usize = 100;

/// Octets of the component that differs: a number in network order.
const NUMBER: usize = 8;

/// The Interests and the Data of one pair: alike but for the number in their names, and the Nonce.
///
/// The name is `/load/<pair>/…`, each further component of eight octets. The Data is signed as it is made, so that its signature is that
/// of the number 0; no forwarder verifies it.
#[derive(Clone, Debug)]
pub struct Template {
    prefix: OwnedName<Ndn>,
    /// The encoded name, and where the number stands in it.
    name: Vec<u8>,
    number_at: usize,
    interest: Patched,
    nonce_at: usize,
    nonce_seed: u32,
    data: Patched,
}

/// A packet, and where the number stands in it.
#[derive(Clone, Debug)]
struct Patched {
    octets: Vec<u8>,
    number_at: usize,
}

impl Template {
    /// The packets of pair `pair`, whose Interests have this lifetime in milliseconds. `None` for a shape that no workload has.
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
        let (prefix, before) = (components(2)?, components(names.varied())?);
        let name = components(names.components)?;
        // Behind the components before it, its own type and length.
        let number_at = before.as_bytes().len() + 2;
        let builder = InterestBuilder { nonce: Some(0), lifetime, ..InterestBuilder::new(name.view()) };
        let interest = builder.build();
        let nonce_at = Interest::parse(&interest).ok()?.nonce_at()?.start;
        let data = DataBuilder::new(name.view(), &[0x55; CONTENT]).build();
        let nonce_seed = pair
            .bytes()
            .fold(0x6c6f_6164, |seed: u32, digit| (seed ^ u32::from(digit)).wrapping_mul(0x0100_0193));
        Some(Self {
            interest: Patched::new(interest, name.as_bytes(), number_at)?,
            data: Patched::new(data, name.as_bytes(), number_at)?,
            name: name.into_bytes(),
            prefix,
            number_at,
            nonce_at,
            nonce_seed,
        })
    }

    /// The prefix of all its names, two components: what a producer registers.
    pub fn prefix(&self) -> &OwnedName<Ndn> {
        &self.prefix
    }

    /// The Interest of a number.
    #[inline]
    pub fn interest(&mut self, number: u64) -> &[u8] {
        // Odd, so that no two numbers of 32 bits have one Nonce.
        let nonce = (number as u32).wrapping_mul(0x9e37_79b1) ^ self.nonce_seed;
        if let Some(octets) = self.interest.octets.get_mut(self.nonce_at..self.nonce_at + 4) {
            octets.copy_from_slice(&nonce.to_be_bytes());
        }
        self.interest.with(number)
    }

    /// The Data of a number.
    #[inline]
    pub fn data(&mut self, number: u64) -> &[u8] {
        self.data.with(number)
    }

    /// The number in an encoded name; `None` where that is not a name of these packets.
    #[inline]
    pub fn number(&self, name: &[u8]) -> Option<u64> {
        let end = self.number_at + NUMBER;
        let same = name.len() == self.name.len()
            && name.get(..self.number_at) == self.name.get(..self.number_at)
            && name.get(end..) == self.name.get(end..);
        let number = name.get(self.number_at..end)?.try_into().ok()?;
        same.then(|| u64::from_be_bytes(number))
    }
}

impl Patched {
    fn new(octets: Vec<u8>, name: &[u8], number_at: usize) -> Option<Self> {
        let name_at = octets.windows(name.len()).position(|window| window == name)?;
        Some(Self { octets, number_at: name_at + number_at })
    }

    #[inline]
    fn with(&mut self, number: u64) -> &[u8] {
        if let Some(octets) = self.octets.get_mut(self.number_at..self.number_at + NUMBER) {
            octets.copy_from_slice(&number.to_be_bytes());
        }
        &self.octets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndn::wire::Data;
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
                let octets = template.interest(number).to_vec();
                let interest = Interest::parse(&octets).unwrap();
                assert_eq!(interest.name_len(), names.components);
                assert_eq!((interest.lifetime(), interest.can_be_prefix()), (4000, false));
                assert!(interest.nonce().is_some());
                assert_eq!(template.number(interest.name_octets()), Some(number));
                assert!(interest.name_octets().starts_with(&[7]));
                let octets = template.data(number).to_vec();
                let data = Data::parse(&octets).unwrap();
                assert_eq!(data.name_octets(), interest.name_octets());
                assert_eq!((data.content().len(), data.freshness()), (CONTENT, None));
            }
        }
    }

    #[test]
    fn the_component_that_differs_is_the_one_asked_for() {
        for names in SHAPES {
            let mut template = Template::new(names, 0, 4000).unwrap();
            let [first, second] = [1, 2].map(|number| template.interest(number).to_vec());
            let [first, second] = [&first, &second].map(|octets| Interest::parse(octets).unwrap().name());
            let pairs = first.components().zip(second.components());
            let differing: Vec<usize> =
                pairs.enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at).collect();
            assert_eq!(differing, [names.varied()]);
        }
    }

    #[test]
    fn no_two_names_and_no_two_nonces_of_a_pair_are_alike() {
        for names in SHAPES {
            let (mut seen, mut nonces) = (HashSet::new(), HashSet::new());
            for pair in 0..4 {
                let mut template = Template::new(names, pair, 4000).unwrap();
                nonces.clear();
                for number in 0..3000 {
                    let octets = template.interest(number).to_vec();
                    let interest = Interest::parse(&octets).unwrap();
                    assert!(seen.insert(interest.name_octets().to_vec()));
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
        let octets = template.interest(9).to_vec();
        let name = Interest::parse(&octets).unwrap().name_octets().to_vec();
        assert_eq!(other.number(&name), None);
        assert_eq!(longer.number(&name), None);
        assert_eq!(template.number(&[]), None);
        assert!(other.prefix().as_bytes() != template.prefix().as_bytes());
    }
}
