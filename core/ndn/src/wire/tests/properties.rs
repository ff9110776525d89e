//! Built packets are parsed back, and views of any input stay inside it.

use crate::tlv::integer_len;
use crate::wire::interest::DEFAULT_LIFETIME;
use crate::wire::lp::{LpHeader, LpPacket, NackReason};
use crate::wire::signature::{KeyLocator, SignatureInfo, SignatureType};
use crate::wire::{Data, DataBuilder, Interest, InterestBuilder};
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use std::vec::Vec;

fn any_name() -> impl Strategy<Value = OwnedName<Ndn>> {
    vec((3..=u16::MAX, vec(any::<u8>(), 0..40)), 1..8).prop_map(|components| {
        let components = components.iter().map(|(typ, value)| Component { typ: *typ, value });
        OwnedName::from_components(components).expect("a name")
    })
}

/// Lengths of both small and large encodings.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![vec(any::<u8>(), 0..20), vec(any::<u8>(), 240..300)]
}

fn any_number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64).prop_map(|(number, shift)| number >> shift)
}

/// True if `part` lies inside `whole`.
fn inside(whole: &[u8], part: &[u8]) -> bool {
    let (whole, part) = (whole.as_ptr_range(), part.as_ptr_range());
    part.is_empty() || whole.start <= part.start && part.end <= whole.end
}

/// Reads all of what may be a packet.
fn read_all(bytes: &[u8]) {
    let Ok(packet) = LpPacket::parse(bytes) else { return };
    let header = packet.header;
    assert!(inside(bytes, header.pit_token) && inside(bytes, header.prefix_announcement));
    assert!(header.acks().count() <= bytes.len() / 12);
    assert!(inside(bytes, packet.fragment));
    assert_eq!(header.wrapped(packet.fragment.len()).as_bytes().first(), Some(&100));
    let bytes = packet.fragment;
    if let Ok(interest) = Interest::parse(bytes) {
        assert_eq!(interest.name().len(), interest.name_len());
        assert_eq!(
            interest.hints().map(|hint| hint.as_bytes().len()).sum::<usize>(),
            interest.forwarding_hint().len()
        );
        assert_eq!(interest.nonce().is_some(), interest.nonce_at().is_some());
        assert!(interest.nonce_at().is_none_or(|at| bytes.get(at).is_some()));
        assert_eq!(interest.hop_limit().is_some(), interest.hop_limit_at().is_some());
        let signed = interest.signed_portion().unwrap_or_default();
        for part in [interest.name_bytes(), interest.forwarding_hint(), signed[0], signed[1]]
            .into_iter()
            .chain(interest.parameters())
            .chain(interest.signature_value())
        {
            assert!(inside(bytes, part));
        }
        assert_eq!(interest.signature_info().is_some(), interest.signature_value().is_some());
        interest.has_valid_parameters_digest();
    }
    if let Ok(data) = Data::parse(bytes) {
        assert_eq!(data.name().len(), data.name_len());
        for part in [data.name_bytes(), data.content(), data.signature_value(), data.signed_portion()] {
            assert!(inside(bytes, part));
        }
        assert!(inside(bytes, data.final_block().map_or(&[][..], |block| block.value)));
        data.signature_info();
    }
}

proptest! {
    #[test]
    fn reads_back_an_interest(
        name in any_name(),
        flags in any::<(bool, bool)>(),
        hints in vec(any_name(), 0..3),
        nonce in any::<Option<u32>>(),
        lifetime in prop_oneof![Just(DEFAULT_LIFETIME), any_number()],
        hop_limit in any::<Option<u8>>(),
        parameters in of(any_bytes()),
    ) {
        let builder = InterestBuilder {
            name: name.view(),
            can_be_prefix: flags.0,
            must_be_fresh: flags.1,
            hints: hints.iter().map(OwnedName::view).collect(),
            nonce,
            lifetime,
            hop_limit,
            parameters: parameters.as_deref(),
        };
        let bytes = builder.build();
        let interest = Interest::parse(&bytes).unwrap();
        let digests = usize::from(parameters.is_some());
        prop_assert_eq!(interest.name_len(), name.view().len() + digests);
        prop_assert!(interest.name().components().zip(name.view().components()).all(|(a, b)| a == b));
        prop_assert_eq!((interest.can_be_prefix(), interest.must_be_fresh()), flags);
        prop_assert_eq!(interest.hints().collect::<Vec<_>>(), builder.hints);
        prop_assert_eq!((interest.nonce(), interest.lifetime(), interest.hop_limit()), (nonce, lifetime, hop_limit));
        prop_assert_eq!(interest.parameters(), parameters.as_deref());
        prop_assert!(interest.has_valid_parameters_digest());
        prop_assert_eq!(interest.signed_portion(), None);
        read_all(&bytes);
    }

    #[test]
    fn reads_back_a_signed_interest(name in any_name(), locator in any_name(), parameters in of(any_bytes()), nonce in vec(any::<u8>(), 1..9), time in any::<Option<u64>>()) {
        let info = SignatureInfo {
            key_locator: Some(KeyLocator::Name(locator.view())),
            nonce: Some(&nonce),
            time,
            seq_num: time,
            ..SignatureInfo::of(SignatureType::HMAC_WITH_SHA256)
        };
        let mut value = Vec::new();
        info.write(&mut value);
        let builder = InterestBuilder { parameters: parameters.as_deref(), ..InterestBuilder::new(name.view()) };
        let mut covered = Vec::new();
        let bytes = builder.build_signed(&value, |pieces| {
            covered = pieces.concat();
            Sha256::digest(&covered).to_vec()
        });
        let interest = Interest::parse(&bytes).unwrap();
        prop_assert_eq!(interest.signature_info(), Some(info));
        prop_assert_eq!(interest.signed_portion().unwrap().concat(), covered.clone());
        prop_assert_eq!(interest.signature_value(), Some(&Sha256::digest(&covered)[..]));
        prop_assert!(interest.has_valid_parameters_digest());
        prop_assert_eq!(interest.parameters(), Some(parameters.as_deref().unwrap_or_default()));
    }

    #[test]
    fn reads_back_data(
        name in any_name(),
        content_type in any_number(),
        freshness in of(any_number()),
        last in of(any_bytes()),
        content in any_bytes(),
    ) {
        let builder = DataBuilder {
            name: name.view(),
            content_type,
            freshness,
            final_block: last.as_ref().map(|value| Component { typ: 50, value }),
            content: &content,
        };
        let bytes = builder.build();
        let data = Data::parse(&bytes).unwrap();
        prop_assert_eq!(data.name(), name.view());
        prop_assert_eq!((data.content_type(), data.freshness(), data.content()), (content_type, freshness, &content[..]));
        prop_assert_eq!(data.final_block(), builder.final_block);
        prop_assert_eq!(data.signature_value(), &Sha256::digest(data.signed_portion())[..]);
        read_all(&bytes);
    }

    #[test]
    fn reads_back_a_link_packet(
        numbers in vec(of(any_number()), 8),
        token in vec(any::<u8>(), 0..33),
        non_discovery in any::<bool>(),
        announced in vec(any::<u8>(), 0..400),
        fragment in vec(any::<u8>(), 1..300),
    ) {
        let frag_count = numbers[1].unwrap_or_default();
        let header = LpHeader {
            sequence: Some(numbers[0].unwrap_or_default()),
            frag_index: frag_count / 2,
            frag_count,
            pit_token: &token,
            nack: numbers[2].map(NackReason),
            incoming_face: numbers[3],
            next_hop_face: numbers[4],
            cache_policy: numbers[5],
            congestion_mark: numbers[6].unwrap_or_default(),
            tx_sequence: numbers[7],
            non_discovery,
            prefix_announcement: &announced,
            ..LpHeader::default()
        };
        let bytes = [header.wrapped(fragment.len()).as_bytes(), &fragment].concat();
        prop_assert_eq!(LpPacket::parse(&bytes), Ok(LpPacket { header, fragment: &fragment }));
        prop_assert!(integer_len(frag_count) <= 8);
    }

    #[test]
    fn no_mutation_reaches_outside(
        name in any_name(),
        parameters in of(any_bytes()),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        data in any::<bool>(),
    ) {
        let inner = if data {
            DataBuilder { freshness: Some(1000), ..DataBuilder::new(name.view(), b"content") }.build()
        } else {
            let builder = InterestBuilder { nonce: Some(7), hop_limit: Some(3), parameters: parameters.as_deref(), ..InterestBuilder::new(name.view()) };
            builder.build_signed(&[27, 1, 0], |_| Vec::from([1; 8]))
        };
        let header = LpHeader { pit_token: &[1, 2, 3], nack: Some(NackReason::NO_ROUTE), ..LpHeader::default() };
        let mut bytes = [header.frame(inner.len()).as_bytes(), &inner].concat();
        for (at, to) in changes {
            let at = at.index(bytes.len());
            bytes[at] = to;
        }
        read_all(&bytes);
        read_all(&bytes[..cut.index(bytes.len())]);
        read_all(&bytes[cut.index(bytes.len())..]);
    }
}
