//! Packets are from the unit tests of ndn-cxx (`tests/unit/data.t.cpp`, commit a362e65e) where they are said
//! to be published.

use super::{hex, packet};
use crate::tlv::WireError;
use crate::wire::data::{CONTENT, FINAL_BLOCK_ID, META_INFO, SIGNATURE_INFO, SIGNATURE_VALUE};
use crate::wire::signature::KeyLocator;
use crate::wire::{Data, NAME, SignatureType};
use std::string::ToString;

const NAME_D: &str = "0703(080144)";
const INFO: &str = "1603(1B0100)";
const VALUE: &str = "1720 612A79399E60304A9F701C1ECAC7956BF2F1B046E6C6F0D6C29B3FE3A29BAD76";

fn error(parts: &[&str]) -> Option<WireError> {
    Data::parse(&packet(6, parts)).err()
}

#[test]
fn reads_published_data() {
    // DATA1.
    let bytes = packet(
        6,
        &[
            "0714(08056C6F63616C 08036E646E 0806707265666978) 1404(19022710) 1508 5355434345535321",
            "161B(1B0101 1C16(0714(080474657374 08036B6579 08076C6F6361746F72))) 1780",
            &"2F".repeat(128),
        ],
    );
    let data = Data::parse(&bytes).unwrap();
    assert_eq!((data.name().to_string().as_str(), data.name_len()), ("/local/ndn/prefix", 3));
    assert_eq!((data.freshness(), data.content_type(), data.final_block()), (Some(10_000), 0, None));
    assert_eq!(data.content(), b"SUCCESS!");
    let info = data.signature_info();
    assert_eq!(info.signature_type, SignatureType::SHA256_WITH_RSA);
    let Some(KeyLocator::Name(locator)) = info.key_locator else { panic!("{info:?}") };
    assert_eq!(locator.to_string(), "/test/key/locator");
    assert_eq!(data.signature_value().len(), 128);
    assert_eq!(data.signed_portion(), &bytes[2..bytes.len() - 130]);
}

#[test]
fn ignores_unknown_elements_and_signs_them() {
    let meta = "FC00 1414(FC00 180103 FC00 190400000BB8 1A03(080145) FC00)";
    let bytes = packet(6, &[NAME_D, meta, "FC00 1504C0C1C2C3 FC00", INFO, "FC0101", VALUE, "FC00"]);
    let data = Data::parse(&bytes).unwrap();
    assert_eq!((data.content_type(), data.freshness()), (3, Some(3000)));
    assert_eq!(data.final_block().map(|block| (block.typ, block.value)), Some((8, &b"E"[..])));
    assert_eq!(data.content(), hex("C0C1C2C3"));
    assert_eq!(data.signed_portion().last_chunk(), Some(&[0xfc, 1, 1]));
    assert_eq!(data.signature_info().signature_type, SignatureType::DIGEST_SHA256);
}

#[test]
fn elements_keep_their_order() {
    let critical = |parts: &[&str], typ: u32| {
        let error = error(parts);
        assert!(matches!(error, Some(WireError::Critical { typ: t, .. }) if t == typ), "{error:?} {parts:?}");
    };
    let (meta, content) = ("1403(180100)", "1500");
    critical(&[NAME_D, content, meta, INFO, VALUE], META_INFO);
    critical(&[NAME_D, meta, INFO, content, VALUE], CONTENT);
    critical(&[NAME_D, meta, content, INFO, VALUE, INFO], SIGNATURE_INFO);
    critical(&[NAME_D, meta, content, INFO, VALUE, VALUE], SIGNATURE_VALUE);
    critical(&[NAME_D, NAME_D, INFO, VALUE], NAME);
    critical(&[NAME_D, meta, meta, INFO, VALUE], META_INFO);
    critical(&[NAME_D, "FB00", INFO, VALUE], 251);
    critical(&[NAME_D, "1406(190101 180100)", INFO, VALUE], 24);
    let missing = |typ| Some(WireError::Missing { typ });
    assert_eq!(error(&[INFO, "1700"]), missing(NAME));
    assert_eq!(error(&[meta, NAME_D, INFO, VALUE]), missing(NAME));
    assert_eq!(error(&[NAME_D, "1700"]), missing(SIGNATURE_INFO));
    assert_eq!(error(&[NAME_D, VALUE, "FC00"]), missing(SIGNATURE_INFO));
    assert_eq!(error(&[NAME_D, INFO]), missing(SIGNATURE_VALUE));
    assert_eq!(error(&[NAME_D, INFO, "1700"]), None);
}

#[test]
fn refuses_wrong_values() {
    assert_eq!(Data::parse(&hex("4202CAFE")).err(), Some(WireError::UnexpectedType { typ: 0x42 }));
    assert_eq!(error(&["0700", INFO, VALUE]), Some(WireError::EmptyName { at: 2 }));
    for (meta, typ) in [("1402(1800)", 24), ("1405(1803000001)", 24), ("1402(1900)", 25)] {
        assert_eq!(error(&[NAME_D, meta, INFO, VALUE]), Some(WireError::Length { typ, at: 9 }), "{meta}");
    }
    // A FinalBlockId is one component.
    for block in ["1A00", "1A020802", "1A0408000800", "1A0600", "1A06FE0001000000"] {
        let bytes = hex(block);
        let whole = bytes.len() == usize::from(bytes[1]) + 2;
        let meta = std::format!("14{:02X}({block})", bytes.len());
        let refused = error(&[NAME_D, &meta, INFO, VALUE]);
        match whole {
            true => assert_eq!(refused, Some(WireError::Value { typ: FINAL_BLOCK_ID, at: 9 }), "{block}"),
            false => assert_eq!(refused, Some(WireError::Truncated { at: 9 }), "{block}"),
        }
    }
}
