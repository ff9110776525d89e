//! Names as text: the specification's and python-ndn's examples, rules broken one by one, and round trips.

use hashlane_name::build::OwnedName;
use hashlane_name::ccnx::Ccnx;
use hashlane_name::component::Component;
use hashlane_name::error::BuildError;
use hashlane_name::layout::Layout;
use hashlane_name::ndn::Ndn;
use hashlane_name::offset::Offset;
use hashlane_name::uri::{UriError, parse_line, parse_path, parse_uri};
use proptest::prelude::*;

use crate::support::{borrowed, built, components};

/// The digest of the specification's example (NDN packet format 0.3, Name, NDN URI Scheme).
const DIGEST: &str = "893259d98aca58c451453f29ec7dc38688e690dd0b59ef4f3b9d33738bff0b8d";

/// A URI of one component after its slash, and that component's TLV.
type Vector<'a> = (&'a str, &'a [u8]);

/// From the specification's text and from `TestComponent` of python-ndn, tests/encoding/name_test.py; written
/// as both write them.
const VECTORS: &[Vector<'_>] = &[
    ("42=Hello%20world", b"\x2a\x0bHello world"),
    ("Hello%20world", b"\x08\x0bHello world"),
    ("ndn-python", b"\x08\x0andn-python"),
    ("foo%25bar", b"\x08\x07foo%bar"),
    ("-._~", b"\x08\x04-._~"),
    ("%3A%2F%3F%23%5B%5D%40", b"\x08\x07:/?#[]@"),
    ("9=9%3DA", b"\x09\x039=A"),
    ("seg=13", b"\x32\x01\x0d"),
    ("off=13", b"\x34\x01\x0d"),
    ("seq=13", b"\x3a\x01\x0d"),
    ("v=13", b"\x36\x01\x0d"),
    ("t=15686790223318112", b"\x38\x08\x007\xbb\x0dv\xedL`"),
];

fn uri(text: &str) -> OwnedName<Ndn> {
    parse_uri(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn error(text: &str) -> UriError {
    parse_uri::<Ndn>(text.as_bytes()).expect_err(text)
}

fn generic(values: &[&[u8]]) -> OwnedName<Ndn> {
    OwnedName::from_components(values.iter().map(|&value| Component::generic(value))).unwrap()
}

#[test]
fn reads_and_writes_published_components() {
    for (text, tlv) in VECTORS {
        let name = uri(&format!("/{text}"));
        assert_eq!(&name.as_bytes()[2..], *tlv, "{text}");
        assert_eq!(name.to_string(), format!("/{text}"));
    }
}

#[test]
fn reads_and_writes_a_name_of_ndn_cxx() {
    // `TestName/EncodeDecode` of ndn-cxx, tests/unit/name.t.cpp.
    let text = "/Emid/25042=P3/.../..../%1C%9F/\
        sha256digest=0415e3624a151850ac686c84f155f29808c0dd73819aa4a4c20be73a4d8a874c";
    let wire = b"\x07\x37\x08\x04Emid\xfd\x61\xd2\x02P3\x08\0\x08\x01.\x08\x02\x1c\x9f\x01\x20\
        \x04\x15\xe3bJ\x15\x18P\xachl\x84\xf1U\xf2\x98\x08\xc0\xdds\x81\x9a\xa4\xa4\xc2\x0b\xe7:M\x8a\x87L";
    assert_eq!(uri(text).as_bytes(), wire);
    assert_eq!(uri(text).to_string(), text);
}

#[test]
fn names_stand_in_canonical_order() {
    // `TestName.test_compare` of python-ndn, tests/encoding/name_test.py, with empty values as the
    // specification writes them.
    let zeros = "0".repeat(64);
    let ends = [
        &format!("/sha256digest={zeros}")[..],
        &format!("/sha256digest={}1", &zeros[1..]),
        &format!("/sha256digest={}", "F".repeat(64)),
        &format!("/params-sha256={zeros}"),
        "/3=...",
        "/3=D",
        "/3=F",
        "/3=AA",
        "/...",
        "/D",
        "/F",
        "/AA",
        "/21426=...",
        "/21426=D",
        "/21426=AA",
    ];
    let mut ordered = vec![uri("/")];
    for end in ends {
        ordered.push(uri(end));
        if end == "/D" {
            ordered.extend(ends.map(|end| uri(&format!("/D{end}"))));
        }
    }
    for (i, a) in ordered.iter().enumerate() {
        for (j, b) in ordered.iter().enumerate() {
            assert_eq!(a.view().cmp(&b.view()), i.cmp(&j), "{a} {b}");
            assert_eq!(a == b, i == j);
        }
    }
}

#[test]
fn reads_and_writes_digests_in_either_case() {
    for (typ, prefix) in [(1, "sha256digest"), (2, "params-sha256")] {
        let text = format!("/a/{prefix}={DIGEST}");
        let name = uri(&text);
        let digest = name.view().components().last().unwrap();
        assert_eq!((digest.typ, digest.value.len(), digest.value[0]), (typ, 32, 0x89));
        assert_eq!(name.to_string(), text);
        assert_eq!(uri(&format!("/a/{prefix}={}", DIGEST.to_uppercase())), name);
    }
}

#[test]
fn writes_three_more_periods_than_a_value_of_periods_has() {
    let name = generic(&[b"", b".", b"..", b"...", b".a"]);
    assert_eq!(name.to_string(), "/.../..../...../....../.a");
    assert_eq!(uri(&name.to_string()), name);
    assert_eq!(uri("/.%2E./%2E..%2E"), generic(&[b"", b"."]));
    let typed = OwnedName::<Ndn>::from_components([Component { typ: 0xffff, value: b"" }]).unwrap();
    assert_eq!(typed.to_string(), "/65535=...");
    assert_eq!(uri("/65535=..."), typed);
}

#[test]
fn writes_numbers_only_in_their_shortest_form() {
    let version = |value| Component { typ: 54, value }.to_string();
    assert_eq!(version(b"\0"), "v=0");
    assert_eq!(version(b"\xff\xff"), "v=65535");
    assert_eq!(version(b"\0\x01\0\0"), "v=65536");
    assert_eq!(version(&[0xff; 8]), "v=18446744073709551615");
    assert_eq!(version(b""), "54=...");
    assert_eq!(version(b"\0\x0d"), "54=%00%0D");
    assert_eq!(version(b"\0\0\xff\xff"), "54=%00%00%FF%FF");
    assert_eq!(version(b"abc"), "54=abc");
    assert_eq!(Component { typ: 32, value: b"metadata" }.to_string(), "32=metadata");
    assert_eq!(uri("/v=18446744073709551615").as_bytes()[2..4], [54, 8]);
}

#[test]
fn takes_scheme_authority_and_last_slash() {
    let name = generic(&[b"a", b"b"]);
    for text in ["/a/b", "/a/b/", "ndn:/a/b", "NDN:/a/b", "ndn://host:6363/a/b", "ndn:///a/b/", "/8=a/%62"] {
        assert_eq!(uri(text), name, "{text}");
    }
    for text in ["/", "ndn:/", "ndn://host/", "ndn:///"] {
        assert_eq!(uri(text).to_string(), "/", "{text}");
    }
    assert_eq!(uri("/a:b@c!$&'()*+,;d"), generic(&[b"a:b@c!$&'()*+,;d"]));
    assert_eq!(uri("/8=a=b"), generic(&[b"a=b"]));
}

#[test]
fn names_the_rule_and_the_offset() {
    assert_eq!(error(""), UriError::MissingSlash { at: 0 });
    assert_eq!(error("a/b"), UriError::MissingSlash { at: 0 });
    assert_eq!(error("ndn:"), UriError::MissingSlash { at: 4 });
    assert_eq!(error("ndn:a"), UriError::MissingSlash { at: 4 });
    assert_eq!(error("ndn://host"), UriError::MissingSlash { at: 10 });
    assert_eq!(error("//"), UriError::FewPeriods { at: 1 });
    assert_eq!(error("//a"), UriError::FewPeriods { at: 1 });
    assert_eq!(error("/a//b"), UriError::FewPeriods { at: 3 });
    assert_eq!(error("/a//"), UriError::FewPeriods { at: 3 });
    assert_eq!(error("/a/."), UriError::FewPeriods { at: 3 });
    assert_eq!(error("ndn:/a/../b"), UriError::FewPeriods { at: 7 });
    assert_eq!(error("/%2e%2E"), UriError::FewPeriods { at: 1 });
    assert_eq!(error("/42="), UriError::FewPeriods { at: 4 });
    assert_eq!(error("/ab%"), UriError::BadEscape { at: 3 });
    assert_eq!(error("/ABCD%EF%0"), UriError::BadEscape { at: 8 });
    assert_eq!(error("/ABCD%GH"), UriError::BadEscape { at: 5 });
    assert_eq!(error("/ab/c d"), UriError::Unescaped { at: 5, byte: b' ' });
    assert_eq!(error("/a?b"), UriError::Unescaped { at: 2, byte: b'?' });
    assert_eq!(error("/a#b"), UriError::Unescaped { at: 2, byte: b'#' });
    assert_eq!(error("/ü"), UriError::Unescaped { at: 1, byte: 0xc3 });
    assert_eq!(error("/==A"), UriError::UnknownPrefix { at: 1 });
    assert_eq!(error("/+=A"), UriError::UnknownPrefix { at: 1 });
    assert_eq!(error("/-1=A"), UriError::UnknownPrefix { at: 1 });
    assert_eq!(error("/SEG=1"), UriError::UnknownPrefix { at: 1 });
    assert_eq!(error("/0=A"), UriError::BadType { at: 1 });
    assert_eq!(error("/08=A"), UriError::BadType { at: 1 });
    assert_eq!(error("/8a=A"), UriError::BadType { at: 1 });
    assert_eq!(error("/65536=A"), UriError::BadType { at: 1 });
    assert_eq!(error("/99999999999999999999999=A"), UriError::BadType { at: 1 });
    assert_eq!(error("/seg="), UriError::BadNumber { at: 5 });
    assert_eq!(error("/seg=01"), UriError::BadNumber { at: 5 });
    assert_eq!(error("/seg=-1"), UriError::BadNumber { at: 5 });
    assert_eq!(error("/v=18446744073709551616"), UriError::BadNumber { at: 3 });
    assert_eq!(error("/sha256digest=a04z"), UriError::BadDigest { at: 14 });
    assert_eq!(error(&format!("/params-sha256=z{}", &DIGEST[1..])), UriError::BadDigest { at: 15 });
    let build = BuildError::DigestLength { index: 1, len: 3 };
    assert_eq!(error("/a/1=2=A"), UriError::Build { at: 3, error: build });
    let build = BuildError::TooManyComponents;
    assert_eq!(error(&"/a".repeat(256)), UriError::Build { at: 511, error: build });
    let build = BuildError::NameTooLong { index: 0 };
    assert_eq!(error(&format!("/{}", "a".repeat(70_000))), UriError::Build { at: 1, error: build });
    assert_eq!(error(&format!("/{}", ".".repeat(70_000))), UriError::Build { at: 1, error: build });
}

#[test]
fn errors_say_what_was_expected() {
    let text = error("/a/c d").to_string();
    assert_eq!(text, "the byte at offset 4 must be written \"%20\"");
    let text = error("/seg=x").to_string();
    assert_eq!(text, "expected a decimal number below 2^64 without leading zeros at offset 5");
    let text = error("/a/1=A").to_string();
    assert_eq!(text, "at offset 3: component 1 is a digest of 1 bytes, expected 32");
}

#[test]
fn a_path_is_taken_literally() {
    let path = |path: &str| parse_path::<Ndn>(path.as_bytes());
    let name = path("/usr/share/doc/x y/ü=z/100%/%41/../v=1/...").unwrap();
    let expected: [&[u8]; 10] =
        [b"usr", b"share", b"doc", b"x y", "ü=z".as_bytes(), b"100%", b"%41", b"..", b"v=1", b"..."];
    assert_eq!(name, generic(&expected));
    assert_eq!(path("//usr///lib/").unwrap(), generic(&[b"usr", b"lib"]));
    assert_eq!(path("/").unwrap(), generic(&[]));
    assert_eq!(path("usr"), Err(UriError::MissingSlash { at: 0 }));
    assert_eq!(path(""), Err(UriError::MissingSlash { at: 0 }));
    let error = BuildError::TooManyComponents;
    assert_eq!(path(&"//a".repeat(256)), Err(UriError::Build { at: 255 * 3 + 2, error }));
}

#[test]
fn how_a_line_starts_decides_what_it_is() {
    let line = |line: &str| parse_line::<Ndn>(line.as_bytes());
    assert_eq!(line("/a/v=1/%41").unwrap(), generic(&[b"a", b"v=1", b"%41"]));
    assert_eq!(line("ndn:/a/v=1/%41").unwrap(), uri("/a/v=1/A"));
    assert_eq!(line("ndn:/a/../b"), Err(UriError::FewPeriods { at: 7 }));
    for neither in ["", "a/b", "./a", "http://a/b", " /a"] {
        assert_eq!(line(neither), Err(UriError::NeitherUriNorPath), "{neither}");
    }
}

fn survives_text<E: Layout>(components: &[crate::support::Owned]) {
    let name = built::<E>(components);
    let text = name.to_string();
    assert_eq!(parse_uri::<E>(text.as_bytes()).unwrap(), name, "{text}");
    assert_eq!(parse_line::<E>(format!("ndn:{text}").as_bytes()).unwrap(), name, "{text}");
}

proptest! {
    #[test]
    fn text_loses_nothing(components in components()) {
        survives_text::<Ndn>(&components);
        survives_text::<Ccnx>(&components);
        survives_text::<Offset>(&components);
    }

    #[test]
    fn digests_of_any_length_survive_text_where_the_encoding_has_them(
        typ in 1..=2u16,
        value in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        survives_text::<Ccnx>(&[(typ, value.clone())]);
        survives_text::<Offset>(&[(typ, value)]);
    }

    #[test]
    fn what_is_read_is_written_so_that_it_reads_the_same(text in "(ndn:)?/[ -~]{0,12}(/[a-z0-9=%.]{0,6}){0,4}") {
        if let Ok(name) = parse_uri::<Offset>(text.as_bytes()) {
            prop_assert_eq!(parse_uri::<Offset>(name.to_string().as_bytes()).unwrap(), name);
        }
    }

    #[test]
    fn a_path_keeps_its_elements(elements in prop::collection::vec("[^/]{1,8}", 0..8)) {
        let elements: Vec<_> = elements.into_iter().map(|element| (8, element.into_bytes())).collect();
        let mut path = Vec::new();
        elements.iter().for_each(|(_, element)| path.extend([&b"/"[..], element].concat()));
        path.push(b'/');
        let name = parse_line::<Ndn>(&path).unwrap();
        prop_assert!(name.view().components().eq(borrowed(&elements)));
    }
}
