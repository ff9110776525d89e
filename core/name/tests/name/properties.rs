//! Properties of every name and every input.

use hashlane_name::build::{NameBuilder, encode_into};
use hashlane_name::ccnx::Ccnx;
use hashlane_name::convert::convert;
use hashlane_name::layout::Layout;
use hashlane_name::ndn::Ndn;
use hashlane_name::offset::Offset;
use hashlane_name::view::Name;
use hashlane_name::walk::Walk;
use proptest::prelude::*;

use crate::support::{Owned, Read, borrowed, built, components, damaged};

/// Parsing and the oracle accept the same names with the same components; each parsed name is rebuilt byte
/// for byte.
fn agrees<E: Layout>(bytes: &[u8], oracle: Option<Vec<Read>>) {
    let parsed = Name::<E>::parse(bytes);
    let Some(read) = oracle else {
        assert!(parsed.is_err(), "the oracle refuses {bytes:02x?}");
        return;
    };
    let name = parsed.unwrap();
    assert_eq!(name.len(), read.len());
    assert!(name.spans().eq(read.iter().map(|&(start, end, ..)| start..end)));
    let components: Vec<Owned> = read.into_iter().map(|(_, _, typ, value)| (typ, value)).collect();
    assert!(name.components().eq(borrowed(&components)));
    assert_eq!(built::<E>(&components).as_bytes(), bytes);
    let walked = name.walk().bytes();
    assert!(bytes.ends_with(walked) && name.spans().all(|span| walked.get(span).is_some()));
}

fn builds_alike<E: Layout>(components: &[Owned]) {
    let name = built::<E>(components);
    let mut builder = NameBuilder::<E>::new();
    borrowed(components).for_each(|component| builder.push(component).unwrap());
    assert_eq!(builder.finish(), name);
    let mut out = vec![0xaa];
    encode_into::<E>(&mut out, borrowed(components)).unwrap();
    assert_eq!(out[1..], *name.as_bytes());
    assert!(Name::<E>::parse(name.as_bytes()).unwrap().components().eq(borrowed(components)));
}

fn refuses_truncations<E: Layout>(components: &[Owned]) {
    let name = built::<E>(components);
    for end in 0..name.as_bytes().len() {
        assert!(Name::<E>::parse(&name.as_bytes()[..end]).is_err(), "truncated to {end}");
    }
}

fn converts<A: Layout, B: Layout>(components: &[Owned]) {
    let name = built::<A>(components);
    let there = convert::<A, B>(&name.view()).unwrap();
    assert_eq!(there, built::<B>(components));
    assert_eq!(convert::<B, A>(&there.view()).unwrap(), name);
}

proptest! {
    #[test]
    fn any_bytes_parse_as_the_oracle_says(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        agrees::<Ndn>(&bytes, crate::support::read_ndn(&bytes));
        agrees::<Ccnx>(&bytes, crate::support::read_ccnx(&bytes));
        agrees::<Offset>(&bytes, crate::support::read_offset(&bytes));
    }

    #[test]
    fn any_bytes_in_a_frame_parse_as_the_oracle_says(value in prop::collection::vec(0..40u8, 0..40)) {
        let name = [&[7, value.len() as u8], &value[..]].concat();
        agrees::<Ndn>(&name, crate::support::read_ndn(&name));
        let name = [&[0, 0, 0, value.len() as u8], &value[..]].concat();
        agrees::<Ccnx>(&name, crate::support::read_ccnx(&name));
    }

    #[test]
    fn damaged_ndn_names_parse_as_the_oracle_says(bytes in damaged::<Ndn>()) {
        agrees::<Ndn>(&bytes, crate::support::read_ndn(&bytes));
    }

    #[test]
    fn damaged_ccnx_names_parse_as_the_oracle_says(bytes in damaged::<Ccnx>()) {
        agrees::<Ccnx>(&bytes, crate::support::read_ccnx(&bytes));
    }

    #[test]
    fn damaged_offset_names_parse_as_the_oracle_says(bytes in damaged::<Offset>()) {
        agrees::<Offset>(&bytes, crate::support::read_offset(&bytes));
    }

    #[test]
    fn every_way_to_build_gives_the_same_name(components in components()) {
        builds_alike::<Ndn>(&components);
        builds_alike::<Ccnx>(&components);
        builds_alike::<Offset>(&components);
    }

    #[test]
    fn every_truncation_is_an_error(components in prop::collection::vec(crate::support::component(), 0..6)) {
        refuses_truncations::<Ndn>(&components);
        refuses_truncations::<Ccnx>(&components);
        refuses_truncations::<Offset>(&components);
    }

    #[test]
    fn conversion_loses_nothing(components in components()) {
        converts::<Ndn, Ccnx>(&components);
        converts::<Ndn, Offset>(&components);
        converts::<Ccnx, Offset>(&components);
        converts::<Ndn, Ndn>(&components);
    }

    #[test]
    fn canonical_order_is_the_order_of_the_bytes(a in components(), b in components(), shared in 0..4usize) {
        // Random names differ at once; let them begin alike.
        let b: Vec<Owned> = a.iter().take(shared).chain(&b).take(255).cloned().collect();
        let value = |name: &[Owned]| built::<Ndn>(name).view().walk().bytes().to_vec();
        let order = value(&a).cmp(&value(&b));
        prop_assert_eq!(built::<Ndn>(&a).view().cmp(&built::<Ndn>(&b).view()), order);
        prop_assert_eq!(built::<Offset>(&a).view().cmp(&built::<Offset>(&b).view()), order);
        prop_assert_eq!(built::<Ccnx>(&a).view().cmp(&built::<Ccnx>(&b).view()), order);
    }
}
