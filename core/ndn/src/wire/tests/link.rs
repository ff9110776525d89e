//! Packets are from the unit tests of ndn-cxx (`tests/unit/lp/packet.t.cpp`, commit a362e65e) where they are
//! said to be published.

use super::{hex, packet};
use crate::tlv::WireError;
use crate::wire::lp::{
    self, DigestField, FRAGMENT, INTEREST_DIGEST, LpHeader, LpPacket, NACK, NackReason, PIT_TOKEN, SEQUENCE,
};
use std::vec::Vec;

fn error(parts: &[&str]) -> Option<WireError> {
    LpPacket::parse(&packet(100, parts)).err()
}

/// Parses the header of a link packet with these parts.
fn with_header(parts: &[&str], check: impl FnOnce(&LpHeader<'_>)) {
    let bytes = packet(100, parts);
    check(&LpPacket::parse(&bytes).unwrap().header);
}

#[test]
fn writes_and_reads_published_packets() {
    let token = hex("A0A1A2A3A4A5");
    // NFD, tests/daemon/fw/pit-token.t.cpp.
    let interest = hex("050E 0706(080155 080130) 0A0400000001");
    let cases: [(&str, LpHeader<'_>, &[u8]); 4] = [
        (
            "640E 510800000000000003E8 5002 03E8",
            LpHeader { sequence: Some(1000), ..LpHeader::default() },
            &[3, 0xe8],
        ),
        (
            "6409 FD032005(FD03210164)",
            LpHeader { nack: Some(NackReason::DUPLICATE), ..LpHeader::default() },
            &[],
        ),
        ("6404 FD034C00", LpHeader { non_discovery: true, ..LpHeader::default() }, &[]),
        (
            "641A 6206A0A1A2A3A4A5 5010 050E 0706080155080130 0A0400000001",
            LpHeader { pit_token: &token, ..LpHeader::default() },
            &interest,
        ),
    ];
    for (digits, header, fragment) in cases {
        let bytes = hex(digits);
        assert_eq!([header.frame(fragment.len()).as_bytes(), fragment].concat(), bytes);
        assert_eq!(LpPacket::parse(&bytes), Ok(LpPacket { header, fragment }));
    }
}

#[test]
fn reads_published_packets_of_other_orders() {
    // Acks out of the order of their numbers.
    with_header(
        &[
            "520100 530101 FD034408 0000000000000001 FD034408 0000000000000003 FD034408 0000000000000002 500203E8",
        ],
        |header| {
            assert_eq!(header.acks().collect::<Vec<_>>(), [1, 3, 2]);
            assert_eq!((header.frag_index, header.frag_count, header.is_fragmented()), (0, 1, false));
        },
    );
    // Idle, and empty.
    for idle in ["520100 530101", ""] {
        assert_eq!(LpPacket::parse(&packet(100, &[idle])).unwrap().fragment, &[] as &[u8]);
    }
    // An unknown field that may be ignored, and one that may not.
    assert_eq!(error(&["520100 FD03240102 500203E8"]), None);
    assert_eq!(error(&["520100 FD03220102 500203E8"]), Some(WireError::Critical { typ: 802, at: 5 }));
    // A bare Interest.
    let bare = hex("050A 0702 03E8 0A0401020304");
    assert_eq!(LpPacket::parse(&bare), Ok(LpPacket { header: LpHeader::default(), fragment: &bare }));
    // Sequence is of fixed width.
    assert_eq!(error(&["5104A4A5A6A7 5002FFFF"]), Some(WireError::Length { typ: SEQUENCE, at: 2 }));
    with_header(&["5108A0A1A2A3A4A5A6A7 5002FFFF"], |header| {
        assert_eq!(header.sequence, Some(0xa0a1_a2a3_a4a5_a6a7));
    });
}

#[test]
fn reads_each_field() {
    with_header(&["FD032000"], |header| assert_eq!(header.nack, Some(NackReason::NONE)));
    with_header(&["FD032004(FD033000)"], |header| assert_eq!(header.nack, Some(NackReason::NONE)));
    with_header(&["FD032006(FD0321020FA0)"], |header| assert_eq!(header.nack, Some(NackReason(4000))));
    with_header(&["FD032C0109"], |header| assert_eq!(header.incoming_face, Some(9)));
    with_header(&["FD0330020109"], |header| assert_eq!(header.next_hop_face, Some(0x109)));
    with_header(&["FD033405(FD03350101)"], |header| assert_eq!(header.cache_policy, Some(lp::NO_CACHE)));
    with_header(&["FD03400107"], |header| assert_eq!(header.congestion_mark, 7));
    with_header(&["FD034808 0102030405060708"], |header| {
        assert_eq!(header.tx_sequence, Some(0x0102_0304_0506_0708));
    });
    with_header(&["FD034C00"], |header| assert!(header.non_discovery));
    with_header(&["FD035002 0600"], |header| assert_eq!(header.prefix_announcement, &[6, 0]));
}

#[test]
fn refuses_fields_of_wrong_lengths() {
    for (field, typ) in [
        ("5107 01020304050607", 81),
        ("5200", 82),
        ("5303010203", 83),
        ("6200", PIT_TOKEN),
        ("FD032C00", 812),
        ("FD033003010203", 816),
        ("FD034000", 832),
        ("FD034407 01020304050607", 836),
        ("FD034804 01020304", 840),
        ("FD034C0100", 844),
    ] {
        assert_eq!(error(&[field]), Some(WireError::Length { typ, at: 2 }), "{field}");
    }
    let nack = |inner: &str| error(&[&std::format!("FD0320{:02X}({inner})", inner.len() / 2)]);
    assert_eq!(nack("FD032100"), Some(WireError::Length { typ: 801, at: 6 }));
    assert_eq!(nack("FD03210132FD03210132"), Some(WireError::Critical { typ: 801, at: 11 }));
    assert_eq!(nack("FB00"), Some(WireError::Critical { typ: 251, at: 6 }));
    assert_eq!(nack("FD0321"), Some(WireError::Truncated { at: 6 }));
    assert_eq!(error(&["FD033400"]), Some(WireError::Missing { typ: 821 }));
    assert_eq!(error(&["530100"]), Some(WireError::Value { typ: 83, at: 2 }));
}

#[test]
fn a_pit_token_has_1_to_32_bytes() {
    for len in 0..=33_usize {
        let field = std::format!("62{len:02X}{}", "5A".repeat(len));
        match len {
            1..=32 => with_header(&[&field], |header| assert_eq!(header.pit_token.len(), len)),
            _ => assert_eq!(error(&[&field]), Some(WireError::Length { typ: PIT_TOKEN, at: 2 })),
        }
    }
    let header = LpHeader { pit_token: &[1; 33], ..LpHeader::default() };
    assert_eq!(header.wrapped(0).as_bytes(), hex("6400"));
}

#[test]
fn fields_come_once_and_in_order() {
    let critical = |parts: &str| {
        let error = error(&[parts]);
        assert!(matches!(error, Some(WireError::Critical { .. })), "{error:?} {parts}");
    };
    // Published.
    critical("520100 520101");
    critical("500203E8 500203E9");
    critical("530101 520100 500203E8");
    critical("520100 500203E8 530101");
    // A Nack behind a congestion mark is not overlooked, and no field stands among Acks.
    critical("FD03400101 FD032000 500203E8");
    critical("FD032000 FD032000");
    critical("FD03440800000000000000 01 FD032400 FD0344080000000000000002");
    critical("FD0344080000000000000001 FD034808 0000000000000001 FD0344080000000000000002");
    critical("FD03240101 FD03240102");
    critical("500203E8 FD032400");
    // The edges of what may be ignored.
    for (typ, ignored) in [
        (796, false),
        (799, false),
        (804, true),
        (805, false),
        (806, false),
        (807, false),
        (956, true),
        (960, false),
        (1000, false),
    ] {
        let result = error(&[&std::format!("FD{typ:04X}00")]);
        assert_eq!(result, (!ignored).then_some(WireError::Critical { typ, at: 2 }));
    }
}

#[test]
fn fragments_say_which_of_how_many() {
    let sequence = "51080000000000000001";
    assert_eq!(error(&[sequence, "520101 530102 5001FF"]), None);
    assert_eq!(error(&["520101 530102 5001FF"]), Some(WireError::Missing { typ: SEQUENCE }));
    assert_eq!(error(&[sequence, "520102 530102 5001FF"]), Some(WireError::Value { typ: 82, at: 0 }));
    assert_eq!(error(&[sequence, "520101 5001FF"]), Some(WireError::Value { typ: 82, at: 0 }));
    assert_eq!(error(&["5000"]), Some(WireError::Length { typ: FRAGMENT, at: 2 }));
    assert_eq!(error(&["5002FF"]), Some(WireError::Truncated { at: 2 }));
    assert_eq!(LpPacket::parse(&hex("4202CAFE")).err(), Some(WireError::UnexpectedType { typ: 0x42 }));
    assert_eq!(LpPacket::parse(&hex("640000")).err(), Some(WireError::TrailingBytes { at: 2 }));
    assert_eq!(LpPacket::parse(&[]).err(), Some(WireError::Truncated { at: 0 }));
}

#[test]
fn a_frame_has_room_for_every_field() {
    let header = LpHeader {
        sequence: Some(u64::MAX),
        frag_index: u64::MAX - 1,
        frag_count: u64::MAX,
        pit_token: &[0xff; 32],
        nack: Some(NackReason(u64::MAX)),
        incoming_face: Some(u64::MAX),
        next_hop_face: Some(u64::MAX),
        cache_policy: Some(u64::MAX),
        congestion_mark: u64::MAX,
        tx_sequence: Some(u64::MAX),
        non_discovery: true,
        digest: DigestField::new(INTEREST_DIGEST, &[0xff; 32]),
        ..LpHeader::default()
    };
    for len in [0, 1, 252, 253, crate::wire::MAX_PACKET, 65_535, 65_536] {
        let fragment = std::vec![7; len];
        let bytes = [header.frame(len).as_bytes(), &fragment].concat();
        assert_eq!(LpPacket::parse(&bytes), Ok(LpPacket { header, fragment: &fragment }), "{len}");
    }
    assert_eq!(LpHeader::default().frame(5).as_bytes(), &[] as &[u8]);
    assert_eq!(LpHeader::default().wrapped(5).as_bytes(), hex("6407 5005"));
}

#[test]
fn a_frame_carries_an_announcement_of_any_length() {
    let digest = DigestField::new(INTEREST_DIGEST, &[0xff; 20]);
    for announced in [1, 150, 180, 190, 252, 253, 1000, 65_536] {
        let announced = std::vec![6; announced];
        for (len, token) in [(0, &[][..]), (9, &[1; 32]), (8800, &[])] {
            let fragment = std::vec![7; len];
            let header = LpHeader {
                pit_token: token,
                non_discovery: true,
                prefix_announcement: &announced,
                digest,
                ..LpHeader::default()
            };
            let bytes = [header.frame(len).as_bytes(), &fragment].concat();
            assert_eq!(LpPacket::parse(&bytes), Ok(LpPacket { header, fragment: &fragment }));
            let [before, after] = header.around_acks(len);
            let body = [before.as_bytes(), after.as_bytes(), &fragment].concat();
            assert!(bytes.ends_with(&body) && bytes.len() - body.len() <= 6);
        }
    }
}

#[test]
fn reasons_are_ordered_by_severity() {
    let order = [NackReason::CONGESTION, NackReason::DUPLICATE, NackReason::NO_ROUTE, NackReason::NONE];
    assert_eq!(order.map(NackReason::severity), [0, 1, 2, 3]);
    assert_eq!(order.map(|reason| reason.0), [50, 100, 150, 0]);
    assert_eq!(NackReason(7).severity(), NackReason::NONE.severity());
    assert_eq!(NACK, 800);
}
