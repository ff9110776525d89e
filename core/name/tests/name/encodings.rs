//! The three encodings: published vectors, examples byte for byte, and hostile input.

use hashlane_name::build::{NameBuilder, OwnedName, encode_into};
use hashlane_name::ccnx::{Ccnx, CcnxName};
use hashlane_name::component::Component;
use hashlane_name::convert::convert;
use hashlane_name::error::{BuildError, ParseError};
use hashlane_name::layout::Layout;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::offset::{Offset, OffsetName};
use hashlane_name::view::Name;
use hashlane_name::walk::Walk;

/// The example of Mosko, "Name hashing performance for three encoding schemes" (CCNxCon 2015).
const EXAMPLE: [Component<'_>; 4] = [
    Component::generic(b"BellLabs"),
    Component::generic(b"Presentations"),
    Component::generic(b"packetFormat.ppt"),
    Component::generic(&[1]),
];

/// From `TestName.test_basic_encode` of python-ndn, tests/encoding/name_test.py.
const EMID: &[u8] = b"\x07\x37\x08\x04Emid\xfd\x61\xd2\x02P3\x08\x00\x08\x01.\x08\x02\x1c\x9f\x01\x20\
    \x04\x15\xe3bJ\x15\x18P\xachl\x84\xf1U\xf2\x98\x08\xc0\xdds\x81\x9a\xa4\xa4\xc2\x0b\xe7:M\x8a\x87L";

fn example<E: Layout>() -> OwnedName<E> {
    OwnedName::from_components(EXAMPLE).unwrap()
}

fn error<E: Layout>(bytes: &[u8]) -> ParseError {
    Name::<E>::parse(bytes).expect_err("these bytes are not a name")
}

/// The frame of encoding `E` around components that are written by hand.
fn ndn(value: &[u8]) -> Vec<u8> {
    [&[7, value.len() as u8], value].concat()
}

fn ccnx(value: &[u8]) -> Vec<u8> {
    [&[0, 0, 0, value.len() as u8], value].concat()
}

#[test]
fn example_has_48_bytes_in_ndn() {
    let name = example::<Ndn>();
    let expected = b"\x07\x2e\x08\x08BellLabs\x08\x0dPresentations\x08\x10packetFormat.ppt\x08\x01\x01";
    assert_eq!(name.as_bytes(), expected);
    assert_eq!(name.as_bytes().len(), 48);
}

#[test]
fn example_has_58_bytes_in_ccnx() {
    let name = example::<Ccnx>();
    let expected = b"\0\0\0\x36\0\x01\0\x08BellLabs\0\x01\0\x0dPresentations\0\x01\0\x10packetFormat.ppt\
        \0\x01\0\x01\x01";
    assert_eq!(name.as_bytes(), expected);
    assert_eq!(name.as_bytes().len(), 58);
}

#[test]
fn example_has_2_and_38_bytes_and_13_of_index_as_offsets() {
    let name = example::<Offset>();
    let index = b"\x04\x08\0\x08\x08\0\x15\x08\0\x25\x08\0\x26";
    assert_eq!(index.len(), 13);
    let expected = [&index[..], b"\0\x26", b"BellLabsPresentationspacketFormat.ppt\x01"].concat();
    assert_eq!(name.as_bytes(), expected);
    assert_eq!(expected.len(), 13 + 2 + 38);
}

#[test]
fn views_give_components_and_spans() {
    let name = example::<Ccnx>();
    let view = CcnxName::parse(name.as_bytes()).unwrap();
    assert_eq!(view.len(), 4);
    assert!(view.components().eq(EXAMPLE));
    assert!(view.spans().eq([0..12, 12..29, 29..49, 49..54]));
    assert_eq!(view.walk().bytes(), &name.as_bytes()[4..]);
    let name = example::<Offset>();
    assert!(name.view().spans().eq([0..8, 8..21, 21..37, 37..38]));
    assert_eq!(name.view().walk().bytes(), &name.as_bytes()[15..]);
    let name = example::<Ndn>();
    assert!(name.view().spans().eq([0..10, 10..25, 25..43, 43..46]));
}

#[test]
fn reads_a_name_of_python_ndn() {
    let name = NdnName::parse(EMID).unwrap();
    let digest = &EMID[25..];
    let components = [
        Component::generic(b"Emid"),
        Component { typ: 25_042, value: b"P3" },
        Component::generic(b""),
        Component::generic(b"."),
        Component::generic(b"\x1c\x9f"),
        Component { typ: 1, value: digest },
    ];
    assert!(name.components().eq(components));
    assert_eq!(OwnedName::<Ndn>::from_components(components).unwrap().as_bytes(), EMID);
}

#[test]
fn accepts_the_name_without_components() {
    let empty: [&[u8]; 3] = [b"\x07\0", b"\0\0\0\0", b"\0\0\0"];
    assert!(NdnName::parse(empty[0]).unwrap().is_empty());
    assert!(CcnxName::parse(empty[1]).unwrap().is_empty());
    assert!(OffsetName::parse(empty[2]).unwrap().is_empty());
    assert_eq!(NameBuilder::<Ndn>::new().finish().as_bytes(), empty[0]);
    assert_eq!(NameBuilder::<Ccnx>::new().finish().as_bytes(), empty[1]);
    assert_eq!(NameBuilder::<Offset>::new().finish().as_bytes(), empty[2]);
}

#[test]
fn ccnx_swaps_the_generic_type_and_1() {
    // RFC 8609 §3.6.1: T_NAMESEGMENT 1, T_IPID 2, applications from 0x1000.
    let bytes = ccnx(b"\0\x01\0\x01a\0\x02\0\0\x10\x00\0\x01b\0\x08\0\x01c");
    let name = CcnxName::parse(&bytes).unwrap();
    let types: Vec<u16> = name.components().map(|c| c.typ).collect();
    assert_eq!(types, [8, 2, 0x1000, 1]);
}

#[test]
fn offset_keeps_types_from_255_in_the_segments() {
    let components = [254, 255, 256, 65_535].map(|typ| Component { typ, value: b"v" });
    let name = OwnedName::<Offset>::from_components(components).unwrap();
    let expected = b"\x04\xfe\0\x01\xff\0\x04\xff\0\x07\xff\0\x0a\0\x0av\0\xffv\x01\0v\xff\xffv";
    assert_eq!(name.as_bytes(), expected);
    assert!(OffsetName::parse(expected).unwrap().components().eq(components));
}

#[test]
fn ndn_rejects_a_broken_frame() {
    assert_eq!(error::<Ndn>(b""), ParseError::Truncated { at: 0 });
    assert_eq!(error::<Ndn>(b"\x07"), ParseError::Truncated { at: 1 });
    assert_eq!(error::<Ndn>(b"\x07\x01"), ParseError::Truncated { at: 0 });
    assert_eq!(error::<Ndn>(b"\x06\0"), ParseError::NotAName { typ: 6 });
    assert_eq!(error::<Ndn>(b"\xfd\0\x07\0"), ParseError::NotShortest { at: 0 });
    assert_eq!(error::<Ndn>(b"\x07\xfd\0\0"), ParseError::NotShortest { at: 1 });
    assert_eq!(error::<Ndn>(b"\x07\xfd\0"), ParseError::Truncated { at: 1 });
    assert_eq!(error::<Ndn>(b"\x07\0\x08"), ParseError::TrailingBytes { at: 2 });
    assert_eq!(error::<Ndn>(b"\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff"), ParseError::Truncated { at: 0 });
}

#[test]
fn ndn_rejects_a_broken_component() {
    assert_eq!(error::<Ndn>(&ndn(b"\x08\0\0\0")), ParseError::ZeroType { at: 4 });
    assert_eq!(error::<Ndn>(&ndn(b"\x08\x01")), ParseError::Overrun { at: 2 });
    assert_eq!(error::<Ndn>(&ndn(b"\x08\0\x08")), ParseError::Overrun { at: 4 });
    assert_eq!(error::<Ndn>(&ndn(b"\x08\xfd\0")), ParseError::Overrun { at: 2 });
    assert_eq!(
        error::<Ndn>(&ndn(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff")),
        ParseError::Overrun { at: 2 }
    );
    assert_eq!(error::<Ndn>(&ndn(b"\xfd\0\x08\0")), ParseError::NotShortest { at: 2 });
    assert_eq!(error::<Ndn>(&ndn(b"\x08\xfd\0\x01a")), ParseError::NotShortest { at: 3 });
    assert_eq!(error::<Ndn>(&ndn(b"\xfe\0\x01\0\0\0")), ParseError::TypeTooLarge { at: 2 });
    assert_eq!(error::<Ndn>(&ndn(b"\x08\0\x01\x01a")), ParseError::DigestLength { at: 4 });
    assert_eq!(error::<Ndn>(&ndn(b"\x02\0")), ParseError::DigestLength { at: 2 });
}

#[test]
fn ccnx_rejects_what_is_malformed() {
    assert_eq!(error::<Ccnx>(b""), ParseError::Truncated { at: 0 });
    assert_eq!(error::<Ccnx>(b"\0\0\0"), ParseError::Truncated { at: 0 });
    assert_eq!(error::<Ccnx>(b"\0\0\0\x01"), ParseError::Truncated { at: 0 });
    assert_eq!(error::<Ccnx>(b"\0\x01\0\0"), ParseError::NotAName { typ: 1 });
    assert_eq!(error::<Ccnx>(b"\0\0\0\0a"), ParseError::TrailingBytes { at: 4 });
    assert_eq!(error::<Ccnx>(&ccnx(b"\0\x01\0\0\0\0\0\0")), ParseError::ZeroType { at: 8 });
    assert_eq!(error::<Ccnx>(&ccnx(b"\0\x01\0\x01")), ParseError::Overrun { at: 4 });
    assert_eq!(error::<Ccnx>(&ccnx(b"\0\x01\0")), ParseError::Overrun { at: 4 });
}

#[test]
fn offset_rejects_what_is_malformed() {
    assert_eq!(error::<Offset>(b""), ParseError::Truncated { at: 0 });
    assert_eq!(error::<Offset>(b"\x01\x08\0"), ParseError::Truncated { at: 1 });
    assert_eq!(error::<Offset>(b"\x02\x08\0\x01\x08"), ParseError::Truncated { at: 4 });
    assert_eq!(error::<Offset>(b"\x01\x08\0\x01\0"), ParseError::Truncated { at: 4 });
    assert_eq!(error::<Offset>(b"\x01\x08\0\x01\0\x01"), ParseError::Truncated { at: 6 });
    assert_eq!(error::<Offset>(b"\0\0\0a"), ParseError::TrailingBytes { at: 3 });
    assert_eq!(error::<Offset>(b"\0\0\x01a"), ParseError::LastEnd { at: 1 });
    assert_eq!(error::<Offset>(b"\x01\x08\0\x02\0\x01a"), ParseError::LastEnd { at: 4 });
    assert_eq!(error::<Offset>(b"\x01\0\0\x01\0\x01a"), ParseError::ZeroType { at: 1 });
    let decreases = b"\x03\x08\0\x01\x08\0\0\x08\0\x01\0\x01a";
    assert_eq!(error::<Offset>(decreases), ParseError::EndDecreases { at: 5 });
    assert_eq!(error::<Offset>(b"\x02\x08\0\x02\x08\0\x01\0\x01a"), ParseError::Overrun { at: 1 });
    assert_eq!(error::<Offset>(b"\x01\xff\0\x01\0\x01a"), ParseError::Truncated { at: 6 });
    assert_eq!(error::<Offset>(b"\x01\xff\0\x02\0\x02\0\xfe"), ParseError::NotShortest { at: 6 });
}

#[test]
fn parsers_refuse_a_component_too_many() {
    let most = ndn_of(255);
    assert_eq!(NdnName::parse(&most).unwrap().len(), 255);
    assert_eq!(error::<Ndn>(&ndn_of(256)), ParseError::TooManyComponents { at: 4 + 2 * 255 });
    // The slow path counts too: a digest as component 256.
    let mut digest = ndn_of(255);
    digest.extend([1, 32]);
    digest.extend([0; 32]);
    let len = digest.len() as u16 - 4;
    digest[2..4].copy_from_slice(&len.to_be_bytes());
    assert_eq!(error::<Ndn>(&digest), ParseError::TooManyComponents { at: 4 + 2 * 255 });
    let mut segments = b"\0\0\x04\0".to_vec();
    segments.extend(b"\0\x01\0\0".repeat(256));
    assert_eq!(error::<Ccnx>(&segments), ParseError::TooManyComponents { at: 4 + 4 * 255 });
}

/// An NDN name of `count` empty generic components, at least 127 of them.
fn ndn_of(count: u16) -> Vec<u8> {
    let mut bytes = vec![7, 253];
    bytes.extend((2 * count).to_be_bytes());
    bytes.extend(b"\x08\0".repeat(usize::from(count)));
    bytes
}

#[test]
fn parsers_refuse_more_than_65535_bytes() {
    let mut name = vec![7, 254];
    name.extend((65_532u32 + 4).to_be_bytes());
    name.extend(b"\x08\xfd\xff\xfc");
    name.resize(name.len() + 65_532, b'a');
    assert_eq!(error::<Ndn>(&name), ParseError::NameTooLong { len: name.len() });
    let mut name = b"\0\0\xff\xff\0\x01\xff\xfb".to_vec();
    name.resize(4 + 65_535, b'a');
    assert_eq!(error::<Ccnx>(&name), ParseError::NameTooLong { len: 65_539 });
    assert_eq!(error::<Offset>(&[0; 65_536]), ParseError::NameTooLong { len: 65_536 });
}

#[test]
fn builders_fill_a_name_to_the_last_byte() {
    fn longest<E: Layout>(overhead: usize) {
        let value = vec![0; 65_535 - overhead + 1];
        let fits = Component::generic(&value[1..]);
        let name = OwnedName::<E>::from_components([fits]).unwrap();
        assert_eq!(name.as_bytes().len(), 65_535);
        assert_eq!(Name::<E>::parse(name.as_bytes()).unwrap(), name.view());
        let over = OwnedName::<E>::from_components([Component::generic(&value)]);
        assert_eq!(over, Err(BuildError::NameTooLong { index: 0 }));
    }
    longest::<Ndn>(4 + 4);
    longest::<Ccnx>(4 + 4);
    longest::<Offset>(3 + 3);
}

#[test]
fn builders_refuse_what_parsers_refuse_and_stay_as_they_were() {
    let mut builder = NameBuilder::<Ndn>::new();
    builder.push(Component::generic(b"a")).unwrap();
    let bad = [
        (Component { typ: 0, value: b"" }, BuildError::ZeroType { index: 1 }),
        (Component { typ: 1, value: b"" }, BuildError::DigestLength { index: 1, len: 0 }),
        (Component { typ: 2, value: &[0; 33] }, BuildError::DigestLength { index: 1, len: 33 }),
        (Component::generic(&[0; 65_536]), BuildError::NameTooLong { index: 1 }),
    ];
    for (component, error) in bad {
        assert_eq!(builder.push(component), Err(error));
    }
    assert_eq!(builder.finish().as_bytes(), b"\x07\x03\x08\x01a");
    let mut out = b"before".to_vec();
    let many = std::iter::repeat_n(Component::generic(b""), 256);
    assert_eq!(encode_into::<Offset>(&mut out, many), Err(BuildError::TooManyComponents));
    assert_eq!(out, b"before");
    encode_into::<Ndn>(&mut out, [Component::generic(b"")].into_iter()).unwrap();
    assert_eq!(out, b"before\x07\x02\x08\0");
}

#[test]
fn converting_to_ndn_checks_digests() {
    let name = OwnedName::<Offset>::from_components([Component { typ: 1, value: b"short" }]).unwrap();
    assert_eq!(convert::<Offset, Ndn>(&name.view()), Err(BuildError::DigestLength { index: 0, len: 5 }));
    let there = convert::<Offset, Ccnx>(&name.view()).unwrap();
    assert_eq!(there.as_bytes(), b"\0\0\0\x09\0\x08\0\x05short");
    assert_eq!(convert::<Ccnx, Offset>(&there.view()).unwrap(), name);
}

#[test]
fn errors_say_what_was_expected() {
    let text = |error: ParseError| error.to_string();
    assert_eq!(
        text(error::<Ndn>(&ndn(b"\x08\0\x01\x01a"))),
        "the digest component at offset 4 must have a value of 32 bytes"
    );
    assert_eq!(
        text(error::<Ndn>(b"\x07\0\x08")),
        "the name ends at offset 2, but the input goes on; pass exactly one name"
    );
    assert_eq!(text(error::<Ccnx>(b"\0\x01\0\0")), "the outer type at offset 0 is 1, which is not a name's");
    assert_eq!(
        BuildError::NameTooLong { index: 7 }.to_string(),
        "with component 7 the encoded name is over 65535 bytes"
    );
    assert_eq!(format!("{:?}", example::<Ccnx>()), "ccnx:/BellLabs/Presentations/packetFormat.ppt/%01");
}
