//! The wire form: limits, and how names are compared.

use super::{name, names, respelled};
use hashlane_name::dns::{MAX_LABELS, Name, NameBuf, ParseError, message};
use proptest::prelude::*;

/// Three labels of 63 bytes and one of `last`: 194 + `last` bytes with the root.
fn long(last: usize) -> Vec<u8> {
    let mut wire = Vec::new();
    for len in [63, 63, 63, last] {
        wire.push(len as u8);
        wire.resize(wire.len() + len, b'x');
    }
    wire.push(0);
    wire
}

#[test]
fn takes_a_label_of_63_bytes_and_none_of_64() {
    let mut buf = NameBuf::ROOT;
    assert_eq!(buf.push(&[b'a'; 64]), Err(ParseError::LabelLength { at: 0, len: 64 }));
    assert_eq!(buf.push(b""), Err(ParseError::LabelLength { at: 0, len: 0 }));
    assert_eq!(buf, NameBuf::ROOT);
    buf.push(&[b'a'; 63]).unwrap();
    assert_eq!(buf.as_bytes().len(), 65);
    assert_eq!(Name::parse(buf.as_bytes()), Ok(buf.view()));
    assert_eq!(buf.push(&[b'a'; 64]), Err(ParseError::LabelLength { at: 64, len: 64 }));

    let of_64 = [&[64][..], &[b'a'; 64], &[0]].concat();
    assert_eq!(Name::parse(&of_64), Err(ParseError::ReservedLabelType { at: 0 }));
}

#[test]
fn takes_a_name_of_255_bytes_and_none_of_256() {
    assert_eq!(long(61).len(), 255);
    assert_eq!(Name::parse(&long(61)).map(Name::len), Ok(255));
    assert_eq!(Name::parse(&long(62)), Err(ParseError::NameTooLong { at: 192 }));
    assert_eq!(message::read(&long(61), 0).unwrap().1, 255);
    assert_eq!(message::read(&long(62), 0), Err(ParseError::NameTooLong { at: 192 }));

    let mut buf = name(&[&[b'x'; 63][..]; 3]);
    assert_eq!(buf.push(&[b'x'; 62]), Err(ParseError::NameTooLong { at: 192 }));
    assert_eq!(buf.as_bytes().len(), 193);
    buf.push(&[b'x'; 61]).unwrap();
    assert_eq!(buf.as_bytes(), long(61));
    assert_eq!(buf.push(b"x"), Err(ParseError::NameTooLong { at: 254 }));
}

#[test]
fn takes_127_labels_and_no_128th() {
    let mut buf = name(&[&b"d"[..]; MAX_LABELS]);
    assert_eq!(buf.view().label_count(), 127);
    assert_eq!(buf.as_bytes().len(), 255);
    assert_eq!(buf.push(b"d"), Err(ParseError::NameTooLong { at: 254 }));
    let wire = [&b"\x01d".repeat(128)[..], &[0]].concat();
    assert_eq!(Name::parse(&wire), Err(ParseError::NameTooLong { at: 254 }));
    assert_eq!(message::read(&wire, 0), Err(ParseError::NameTooLong { at: 254 }));
}

#[test]
fn refuses_what_is_no_name_by_itself() {
    for (wire, error) in [
        (&b""[..], ParseError::Truncated { at: 0 }),
        (b"\x03ww", ParseError::Truncated { at: 0 }),
        (b"\x03www", ParseError::Truncated { at: 4 }),
        (b"\x03www\x05exa", ParseError::Truncated { at: 4 }),
        (b"\0\0", ParseError::TrailingBytes { at: 1 }),
        (b"\x01a\0\x01b\0", ParseError::TrailingBytes { at: 3 }),
        (b"\x01a\xc0\0", ParseError::PointerNotAllowed { at: 2 }),
        (b"\x01a\x40\0", ParseError::ReservedLabelType { at: 2 }),
        (b"\x01a\x80\0", ParseError::ReservedLabelType { at: 2 }),
        (b"\x01a\xbf\0", ParseError::ReservedLabelType { at: 2 }),
    ] {
        assert_eq!(Name::parse(wire), Err(error), "{wire:02x?}");
    }
    assert_eq!(Name::parse_first(b"\x01a\0\x01b\0").map(Name::len), Ok(3));
}

#[test]
fn only_letters_of_ascii_have_a_case() {
    for a in 0..=u8::MAX {
        for b in 0..=u8::MAX {
            let (x, y) = (name(&[&[a]]), name(&[&[b]]));
            assert_eq!(x.view().eq_ignore_case(y.view()), a.eq_ignore_ascii_case(&b), "{a:02x} {b:02x}");
        }
    }
    assert!(!name(&[b"["]).view().eq_ignore_case(name(&[b"{"]).view()));
    assert!(!name(&[b"\xc0"]).view().eq_ignore_case(name(&[b"\xe0"]).view()));
}

#[test]
fn a_name_is_within_itself_and_what_it_is_below() {
    let www = name(&[b"www", b"Example", b"com"]);
    for ancestor in [&[&b"WWW"[..], b"example", b"com"][..], &[b"eXample", b"COM"], &[b"com"], &[]] {
        assert!(www.view().is_within(name(ancestor).view()), "{ancestor:?}");
    }
    // Neither a part of a label, nor bytes that only look like the ancestor, nor a longer name.
    for other in [&[&b"ample"[..], b"com"][..], &[b"org"], &[b"www"], &[b"a", b"www", b"example", b"com"]] {
        assert!(!www.view().is_within(name(other).view()), "{other:?}");
    }
    let label = name(&[b"a\x03com"]);
    assert!(!label.view().is_within(name(&[b"com"]).view()));
    assert!(Name::ROOT.is_within(Name::ROOT));
}

proptest! {
    #[test]
    fn a_name_parses_as_built((name, other) in respelled()) {
        let view = Name::parse(name.as_bytes()).unwrap();
        prop_assert_eq!(NameBuf::from(view), name);
        prop_assert_eq!(view.labels().map(|label| label.len() + 1).sum::<usize>() + 1, view.len());
        prop_assert!(view.eq_ignore_case(other.view()));
        prop_assert_eq!(view == other.view(), name.as_bytes() == other.as_bytes());
    }

    #[test]
    fn a_name_is_within_every_name_of_its_last_labels((name, other) in respelled()) {
        for first in 0..=name.view().label_count() {
            let ancestor = other.view().labels_from(first).as_name().unwrap();
            prop_assert!(name.view().is_within(ancestor));
            prop_assert_eq!(ancestor.is_within(name.view()), first == 0);
        }
    }

    #[test]
    fn a_name_cut_off_is_refused_at_the_label_that_is_cut(name in names(), cut: prop::sample::Index) {
        let wire = &name.as_bytes()[..cut.index(name.as_bytes().len())];
        let mut at = 0;
        for label in name.view().labels() {
            if at + 1 + label.len() > wire.len() {
                break;
            }
            at += 1 + label.len();
        }
        prop_assert_eq!(Name::parse(wire), Err(ParseError::Truncated { at }));
        prop_assert_eq!(message::read(wire, 0), Err(ParseError::Truncated { at }));
    }
}
