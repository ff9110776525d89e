//! Entropy of the fields of keys: the ones that differ.

use super::flows::Flow;
use crate::keys::Keys;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_name::view::{Components, Name};
use std::net::Ipv6Addr;

/// Entropy of a field over a set of keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name of the field.
    pub name: String,
    /// Keys that have the field.
    pub keys: usize,
    /// Its distinct values.
    pub distinct: usize,
    /// Shannon entropy, in bits.
    pub bits: f64,
}

impl Field {
    fn of<T: Ord>(name: impl Into<String>, mut values: Vec<T>) -> Self {
        values.sort_unstable();
        let keys = values.len();
        let (mut distinct, mut sum) = (0, 0.0);
        for equal in values.chunk_by(|a, b| a == b) {
            let count = equal.len() as f64;
            distinct += 1;
            sum += count * count.log2();
        }
        // Σ p · log2(1/p), with p = count / keys.
        let bits = if keys == 0 { 0.0 } else { ((keys as f64).log2() - sum / keys as f64).max(0.0) };
        Self { name: name.into(), keys, distinct, bits }
    }
}

/// Fields of flows. The halves of an address have 64 bits, of an IPv4 address 16.
pub fn of_flows(flows: &[Flow]) -> Vec<Field> {
    let address = |which: &str, half: &str, of: fn(&Flow) -> Ipv6Addr, at: usize| {
        let values = flows.iter().map(|flow| halves(of(flow))[at]).collect();
        Field::of(format!("{which} address, {half} half"), values)
    };
    let [source, destination]: [fn(&Flow) -> Ipv6Addr; 2] =
        [|flow| flow.tuple.foreign(), |flow| flow.tuple.local()];
    vec![
        address("source", "upper", source, 0),
        address("source", "lower", source, 1),
        address("destination", "upper", destination, 0),
        address("destination", "lower", destination, 1),
        Field::of("source port", flows.iter().map(|flow| flow.tuple.foreign_port()).collect()),
        Field::of("destination port", flows.iter().map(|flow| flow.tuple.local_port()).collect()),
        Field::of("protocol", flows.iter().map(|flow| flow.protocol).collect()),
    ]
}

/// Upper and lower half of an address, with the IP version.
fn halves(address: Ipv6Addr) -> [(bool, u64); 2] {
    match address.to_ipv4_mapped() {
        Some(address) => {
            let bits = u64::from(address.to_bits());
            [(true, bits >> 16), (true, bits & 0xffff)]
        }
        None => {
            let bits = address.to_bits();
            [(false, (bits >> 64) as u64), (false, bits as u64)]
        }
    }
}

/// Components of names in NDN's encoding, by their place, first to last.
pub fn of_names(names: &Keys) -> Vec<Field> {
    let mut rest: Vec<Components<'_, Ndn>> =
        names.iter().filter_map(|name| Some(Name::<Ndn>::parse(name).ok()?.components())).collect();
    debug_assert_eq!(rest.len(), names.len(), "names were parsed when they were read");
    let mut fields = Vec::new();
    for place in 1.. {
        let mut values: Vec<Component<'_>> = Vec::new();
        rest.retain_mut(|components| match components.next() {
            Some(component) => {
                values.push(component);
                true
            }
            None => false,
        });
        if values.is_empty() {
            break;
        }
        fields.push(Field::of(format!("component {place}"), values));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::names;
    use hashlane_flow::tuple::Tuple;
    use std::net::Ipv4Addr;

    #[test]
    fn fields_that_differ_have_the_entropy() {
        let flow = |number: u16| {
            let source = Ipv4Addr::new(10, 0, 0, (number % 4) as u8);
            Flow { tuple: Tuple::v4([192, 0, 2, 1].into(), 443, source, number), protocol: 6, packets: 1 }
        };
        let flows: Vec<Flow> = (0..1024).map(flow).collect();
        let fields = of_flows(&flows);
        let bits: Vec<f64> = fields.iter().map(|field| field.bits).collect();
        assert_eq!(bits, [0.0, 2.0, 0.0, 0.0, 10.0, 0.0, 0.0]);
        assert_eq!(fields[4].distinct, 1024);
        assert!(of_flows(&[]).iter().all(|field| field.bits == 0.0 && field.distinct == 0));
    }

    #[test]
    fn components_count_among_the_names_that_have_them() {
        let names = names::read(&b"/a/1\n/a/2\n/b/1\n/b\n"[..], 9, &mut |_| ()).unwrap();
        let fields = of_names(&names.names);
        let found: Vec<_> =
            fields.iter().map(|field| (field.name.as_str(), field.keys, field.distinct)).collect();
        assert_eq!(found, [("component 1", 4, 2), ("component 2", 3, 2)]);
        assert_eq!(fields[0].bits, 1.0);
        assert!((fields[1].bits - 0.918_295_8).abs() < 1e-6, "{fields:?}");
    }
}
