//! The presentation form.

use super::{name, names};
use hashlane_name::dns::NameBuf;
use hashlane_name::dns::text::{TextError, parse};
use proptest::prelude::*;

#[test]
fn reads_names_with_and_without_the_dot_at_the_end() {
    assert_eq!(parse(b"."), Ok(NameBuf::ROOT));
    let www = name(&[b"www", b"Example", b"com"]);
    assert_eq!(parse(b"www.Example.com"), Ok(www));
    assert_eq!(parse(b"www.Example.com."), Ok(www));
    assert_eq!("www.Example.com".parse(), Ok(www));
    assert_eq!(www.to_string(), "www.Example.com.");
    assert_eq!(NameBuf::ROOT.to_string(), ".");
}

#[test]
fn reads_escapes() {
    for (text, label) in [
        (&br"a\.b"[..], &b"a.b"[..]),
        (br"\\", b"\\"),
        (br"\a\[", b"a["),
        (br"\000\046\255", b"\0.\xff"),
        (br"\0655", b"A5"),
        (br"\.", b"."),
    ] {
        assert_eq!(parse(text), Ok(name(&[label])), "{}", text.escape_ascii());
    }
}

#[test]
fn refuses_escapes_that_are_none() {
    for (text, at) in [
        (&br"\"[..], 0),
        (br"ab\", 2),
        (br"a.\256", 2),
        (br"\999", 0),
        (br"\1", 0),
        (br"\12", 0),
        (br"\12a", 0),
        (br"\1.2", 0),
    ] {
        assert_eq!(parse(text), Err(TextError::BadEscape { at }), "{}", text.escape_ascii());
    }
}

#[test]
fn refuses_labels_of_no_byte() {
    assert_eq!(parse(b""), Err(TextError::Empty));
    for (text, at) in [(&b".a"[..], 0), (b"..", 0), (b"a..b", 2), (b"a..", 2), (b"a.b..", 4)] {
        assert_eq!(parse(text), Err(TextError::EmptyLabel { at }), "{}", text.escape_ascii());
    }
}

#[test]
fn keeps_the_limits_of_bytes_not_of_text() {
    let (label, long) = (r"\097".repeat(63), r"\097".repeat(64));
    assert_eq!(parse(label.as_bytes()), Ok(name(&[&[b'a'; 63]])));
    assert_eq!(parse(long.as_bytes()), Err(TextError::LabelTooLong { at: 0 }));
    assert_eq!(parse(format!("b.{long}").as_bytes()), Err(TextError::LabelTooLong { at: 2 }));

    let three = format!("{0}.{0}.{0}.", "x".repeat(63));
    let whole = parse(format!("{three}{}", "y".repeat(61)).as_bytes()).unwrap();
    assert_eq!(whole.as_bytes().len(), 255);
    let over = format!("{three}{}", "y".repeat(62));
    assert_eq!(parse(over.as_bytes()), Err(TextError::NameTooLong { at: 192 }));

    assert_eq!(parse(&b"d.".repeat(127)), Ok(name(&[&b"d"[..]; 127])));
    assert_eq!(parse(&b"d.".repeat(128)), Err(TextError::NameTooLong { at: 254 }));
}

#[test]
fn every_byte_is_written_in_print_and_read_back() {
    for byte in 0..=u8::MAX {
        let one = name(&[&[byte], &[b'x', byte]]);
        let text = one.to_string();
        assert!(text.bytes().all(|byte| byte.is_ascii_graphic()), "{text}");
        assert_eq!(parse(text.as_bytes()), Ok(one), "{text}");
    }
    assert_eq!(name(&[b" .\\\"();@$\x7f\x80[*"]).to_string(), r#"\032\.\\\"\(\)\;\@\$\127\128[*."#);
}

proptest! {
    #[test]
    fn names_are_read_as_written(name in names()) {
        let text = name.to_string();
        prop_assert_eq!(parse(text.as_bytes()), Ok(name));
        // The dot at the end may go, but for the root's own.
        if !name.view().is_root() {
            prop_assert_eq!(parse(&text.as_bytes()[..text.len() - 1]), Ok(name));
        }
    }
}
