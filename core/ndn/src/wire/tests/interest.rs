//! Packets are from the unit tests of ndn-cxx (`tests/unit/interest.t.cpp`, commit a362e65e) where they are
//! said to be published.

use super::{hex, packet};
use crate::tlv::WireError;
use crate::wire::interest::{CAN_BE_PREFIX, FORWARDING_HINT, HOP_LIMIT, LIFETIME, MUST_BE_FRESH, NONCE};
use crate::wire::interest::{SIGNATURE_INFO, SIGNATURE_VALUE};
use crate::wire::{Interest, NAME, SignatureType};
use std::string::ToString;
use std::vec::Vec;

const NAME_I: &str = "0703(080149)";
const DIGEST: &str = "0220 FF9100E04EAADCF30674D98026A051BA25F56B69BFA026DCCCD72C6EA0F7315A";

fn error(parts: &[&str]) -> Option<WireError> {
    Interest::parse(&packet(5, parts)).err()
}

#[test]
fn reads_published_interests() {
    let bytes = hex("0505 0703(080149)");
    let bare = Interest::parse(&bytes).unwrap();
    assert_eq!((bare.name().to_string().as_str(), bare.name_len()), ("/I", 1));
    assert_eq!(
        (bare.can_be_prefix(), bare.must_be_fresh(), bare.nonce(), bare.hop_limit()),
        (false, false, None, None)
    );
    assert_eq!((bare.lifetime(), bare.parameters(), bare.forwarding_hint()), (4000, None, &[][..]));
    assert!(bare.has_valid_parameters_digest());

    // Unknown elements that may be ignored stand between all others.
    let bytes = hex(
        "0529 0703(080149) FC00 2100 FC00 1200 FC00 1E05(0703080148) FC00 0A044ACB1E4C FC00 0C0276A1 FC00 2201D6",
    );
    let full = Interest::parse(&bytes).unwrap();
    assert!(full.can_be_prefix() && full.must_be_fresh());
    assert_eq!((full.nonce(), full.lifetime(), full.hop_limit()), (Some(0x4acb_1e4c), 30_369, Some(214)));
    assert_eq!(full.hints().map(|hint| hint.as_bytes().to_vec()).collect::<Vec<_>>(), [hex("0703080148")]);
    assert_eq!(bytes.get(full.nonce_at().unwrap()), Some(&hex("4ACB1E4C")[..]));
    assert_eq!(bytes.get(full.hop_limit_at().unwrap()), Some(&214));
}

#[test]
fn digest_covers_all_behind_the_parameters() {
    // Published: once with nothing behind the parameters, once with an element that is ignored.
    for bytes in [
        packet(5, &["0725(080149", DIGEST, ") 2100 1200 0A044ACB1E4C 2201D6 2404C0C1C2C3"]),
        hex("0539 0725(080149 0220F16DB273F40436A852063F864D5072B01EAD53151F5A688EA1560492BEBEDD05) \
             0A044ACB1E4C 0C0276A1 2404C0C1C2C3 FC00"),
    ] {
        let interest = Interest::parse(&bytes).unwrap();
        assert_eq!(interest.parameters(), Some(&hex("C0C1C2C3")[..]));
        assert!(interest.has_valid_parameters_digest());
        let mut other = bytes.clone();
        let at = bytes.windows(2).rposition(|pair| pair == [0xc0, 0xc1]).unwrap();
        other[at] ^= 1;
        assert!(!Interest::parse(&other).unwrap().has_valid_parameters_digest());
    }
    // Published: a digest of zeros.
    let zeros = packet(5, &["0725(080149 0220", &"00".repeat(32), ") 2402CAFE"]);
    assert!(!Interest::parse(&zeros).unwrap().has_valid_parameters_digest());
}

#[test]
fn parameters_and_their_digest_go_together() {
    let digest = |rest: &str| packet(5, &["0725(080149", DIGEST, ")", rest]);
    for bytes in [
        packet(5, &[NAME_I, "2402CAFE"]),
        digest(""),
        packet(5, &["0747(", DIGEST, "080149", DIGEST, ") 2402CAFE"]),
        digest("2C031B0100 2E0101"),
    ] {
        let refused = Interest::parse(&bytes).err();
        assert!(matches!(refused, Some(WireError::ParametersDigest)), "{refused:?} {bytes:x?}");
    }
    let missing = |typ| Some(WireError::Missing { typ });
    assert_eq!(error(&[NAME_I, "2C031B0100 2E0101"]), missing(36));
    assert_eq!(Interest::parse(&digest("2400 2C031B0100")).err(), missing(SIGNATURE_VALUE));
    assert_eq!(Interest::parse(&digest("2400 2E0101")).err(), missing(SIGNATURE_INFO));
    assert!(Interest::parse(&digest("2400 2C031B0100 2E0101")).is_ok());
    // Bytes 2 and 32 that head no digest: in a value, at the end of a name, and of the other digest.
    for name in ["0724 0822 0220", "0702 0220", "0706 0804 01020220"] {
        let bytes = hex(name);
        let padding = "31".repeat(usize::from(bytes[1]) + 2 - bytes.len());
        let parsed = Interest::parse(&packet(5, &[name, &padding])).map(|interest| interest.name_len());
        assert!(!matches!(parsed, Err(WireError::ParametersDigest)), "{name}");
    }
    let implicit = packet(5, &["0725(080149 0120", &DIGEST[4..], ")"]);
    assert_eq!(Interest::parse(&implicit).unwrap().name_len(), 2);
    // The digest need not come last, where nothing is signed.
    let inside = packet(5, &["0725(", DIGEST, "080149) 2404C0C1C2C3"]);
    let inside = Interest::parse(&inside).unwrap();
    assert!(inside.has_valid_parameters_digest() && inside.signed_portion().is_none());
}

#[test]
fn finds_a_digest_wherever_it_stands_in_a_name() {
    for before in 0..40 {
        for after in 0..3 {
            let mut value: Vec<u8> = Vec::new();
            (0..before).for_each(|_| value.extend(hex("080131")));
            value.extend(hex(DIGEST));
            (0..after).for_each(|_| value.extend(hex("080132")));
            let mut bytes = Vec::new();
            crate::tlv::write_nested(5, &mut bytes, |out| crate::tlv::write_element(NAME, &value, out));
            assert_eq!(Interest::parse(&bytes).err(), Some(WireError::ParametersDigest), "{before} {after}");
        }
    }
}

#[test]
fn critical_elements_keep_their_order() {
    let (prefix, fresh, hint) = ("2100", "1200", "1E05(0703080148)");
    let (nonce, lifetime, hops) = ("0A044ACB1E4C", "0C0276A1", "2201D6");
    let critical = |parts: &[&str], typ: u32| {
        let error = error(parts);
        assert!(matches!(error, Some(WireError::Critical { typ: t, .. }) if t == typ), "{error:?} {parts:?}");
    };
    critical(&[NAME_I, fresh, prefix, hint, nonce, lifetime, hops], CAN_BE_PREFIX);
    critical(&[NAME_I, prefix, hint, fresh, nonce, lifetime, hops], MUST_BE_FRESH);
    critical(&[NAME_I, prefix, fresh, nonce, hint, lifetime, hops], FORWARDING_HINT);
    critical(&[NAME_I, prefix, fresh, hint, lifetime, nonce, hops], NONCE);
    critical(&[NAME_I, prefix, fresh, hint, nonce, hops, lifetime], LIFETIME);
    for (part, typ) in [
        (prefix, CAN_BE_PREFIX),
        (fresh, MUST_BE_FRESH),
        (hint, FORWARDING_HINT),
        (nonce, NONCE),
        (lifetime, LIFETIME),
    ] {
        critical(&[NAME_I, part, part], typ);
    }
    critical(&[NAME_I, "FB00"], 251);
    critical(&[NAME_I, "09030D0101 0A0401000000"], 9);
    assert_eq!(error(&[prefix, NAME_I]), Some(WireError::Missing { typ: NAME }));
    assert_eq!(error(&["FC00", NAME_I]), Some(WireError::Missing { typ: NAME }));
    critical(&[NAME_I, NAME_I], NAME);
}

#[test]
fn ignores_others_out_of_order() {
    // Published: a second HopLimit, and second parameters.
    let name = ["0725(080149", DIGEST, ")"].concat();
    let bytes = packet(5, &[&name, "2201D6 2200 2404C0C1C2C3 22020101"]);
    let interest = Interest::parse(&bytes).unwrap();
    assert_eq!((interest.hop_limit(), interest.parameters()), (Some(214), Some(&hex("C0C1C2C3")[..])));
    let bytes = packet(5, &[&name, "2100 1200 0A044ACB1E4C 0C0276A1 2201D6 2404C0C1C2C3 2401EE"]);
    assert_eq!(Interest::parse(&bytes).unwrap().parameters(), Some(&hex("C0C1C2C3")[..]));
}

#[test]
fn refuses_wrong_lengths() {
    let wrong = |part: &str, typ: u32| {
        assert_eq!(error(&[NAME_I, part]), Some(WireError::Length { typ, at: 7 }), "{part}");
    };
    wrong("210102", CAN_BE_PREFIX);
    wrong("120102", MUST_BE_FRESH);
    ["0A00", "0A0304C263", "0A05EFA420B262"].iter().for_each(|part| wrong(part, NONCE));
    ["0C00", "0C03010203", "0C050102030405", "0C09010203040506070809"]
        .iter()
        .for_each(|part| wrong(part, LIFETIME));
    ["2200", "22021356"].iter().for_each(|part| wrong(part, HOP_LIMIT));
    for (lifetime, milliseconds) in [("0C0100", 0), ("0C020000", 0), ("0C08FFFFFFFFFFFFFFFF", u64::MAX)] {
        assert_eq!(Interest::parse(&packet(5, &[NAME_I, lifetime])).unwrap().lifetime(), milliseconds);
    }
}

#[test]
fn refuses_what_is_no_interest() {
    assert_eq!(Interest::parse(&hex("4202CAFE")).err(), Some(WireError::UnexpectedType { typ: 0x42 }));
    assert_eq!(Interest::parse(&[]).err(), Some(WireError::Truncated { at: 0 }));
    assert_eq!(Interest::parse(&hex("0500")).err(), Some(WireError::Missing { typ: NAME }));
    assert_eq!(Interest::parse(&hex("0502 1200")).err(), Some(WireError::Missing { typ: NAME }));
    assert_eq!(Interest::parse(&hex("0502 0700")).err(), Some(WireError::EmptyName { at: 2 }));
    assert_eq!(Interest::parse(&hex("0505 0703080149 00")).err(), Some(WireError::TrailingBytes { at: 7 }));
    assert!(matches!(error(&["0704(08014900)"]), Some(WireError::Name { at: 2, .. })));
    assert!(matches!(error(&["0721(021F", &"00".repeat(31), ")"]), Some(WireError::Name { at: 2, .. })));
    let mut long = packet(5, &[NAME_I]);
    long.splice(1..2, [253, 0, 5]);
    assert_eq!(Interest::parse(&long).err(), Some(WireError::NotShortest { at: 1 }));
}

#[test]
fn a_forwarding_hint_is_of_names_alone() {
    assert_eq!(error(&[NAME_I, "1E00"]), Some(WireError::Missing { typ: NAME }));
    assert!(matches!(error(&[NAME_I, "1E05(0703080248)"]), Some(WireError::Name { at: 9, .. })));
    for part in ["1E02(2100)", "1E07(1F050703080148)", "1E07(0703080148 FC00)"] {
        assert!(matches!(error(&[NAME_I, part]), Some(WireError::Critical { .. })), "{part}");
    }
}

#[test]
fn signature_covers_components_and_parameters() {
    // Published: a signed Interest of ndn-cxx (`Signed`); its signature is left as it stands.
    let bytes = packet(
        5,
        &[
            "0725(080149",
            DIGEST,
            ") 2404C0C1C2C3",
            "2C17(1B0100 1C05(0703(08014B)) 2604A0A1A2A3 280200FF 2A0107)",
            "FC0101",
            "2E0401020304",
        ],
    );
    let interest = Interest::parse(&bytes).unwrap();
    let info = interest.signature_info().unwrap();
    assert_eq!(
        (info.signature_type, info.time, info.seq_num),
        (SignatureType::DIGEST_SHA256, Some(255), Some(7))
    );
    assert_eq!(info.nonce, Some(&hex("A0A1A2A3")[..]));
    assert_eq!(interest.signature_value(), Some(&[1, 2, 3, 4][..]));
    let [name, rest] = interest.signed_portion().unwrap();
    assert_eq!(name, hex("080149"));
    assert_eq!(rest, hex("2404C0C1C2C3 2C17(1B0100 1C05(0703(08014B)) 2604A0A1A2A3 280200FF 2A0107) FC0101"));
}

#[test]
fn signature_info_begins_with_its_type() {
    let with = |info: &str| {
        let info = hex(info);
        let mut tail = std::vec![0x24, 0, 0x2c, info.len() as u8];
        tail.extend(&info);
        tail.extend([0x2e, 0]);
        let mut bytes = hex(&["0725(080149", DIGEST, ")"].concat());
        bytes.extend(tail);
        bytes.splice(0..0, [5, bytes.len() as u8]);
        Interest::parse(&bytes).err()
    };
    assert_eq!(with("1B0103"), None);
    assert_eq!(with("1B0103 FC00"), None);
    assert_eq!(with(""), Some(WireError::Missing { typ: 27 }));
    assert_eq!(with("1C050703080149 1B0103"), Some(WireError::Missing { typ: 27 }));
    for (info, typ) in [("1B00", 27), ("1B0103 2600", 38), ("1B0103 2803010203", 40), ("1B0103 2A00", 42)] {
        assert!(matches!(with(info), Some(WireError::Length { typ: t, .. }) if t == typ), "{info}");
    }
    for info in ["1B0103 1B0103", "1B0103 FB00", "1B0103 280101 1C02 0700"] {
        assert!(matches!(with(info), Some(WireError::Critical { .. })), "{info}");
    }
    assert!(matches!(with("1B0103 1C0407020801"), Some(WireError::Name { .. })));
}
