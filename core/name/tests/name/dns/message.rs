//! Names in messages: pointers, and where the name ends.

use super::{name, names};
use hashlane_name::dns::{MAX_NAME_LEN, NameBuf, ParseError, message};
use proptest::prelude::*;

/// The bytes of a pointer.
fn pointer(target: usize) -> [u8; 2] {
    (0xc000 | target as u16).to_be_bytes()
}

/// The root, then `count` pointers, each to the one before it.
fn chain(count: usize) -> Vec<u8> {
    let mut message = vec![0];
    for number in 0..count {
        message.extend(pointer(if number == 0 { 0 } else { 2 * number - 1 }));
    }
    message
}

#[test]
fn reads_the_names_of_rfc_1035() {
    // RFC 1035 §4.1.4: F.ISI.ARPA at 20, FOO.F.ISI.ARPA at 40, ARPA at 64, the root at 92.
    let mut message = vec![0xff; 93];
    message[20..32].copy_from_slice(b"\x01F\x03ISI\x04ARPA\0");
    message[40..46].copy_from_slice(b"\x03FOO\xc0\x14");
    message[64..66].copy_from_slice(b"\xc0\x1a");
    message[92] = 0;
    for (at, labels, end) in [
        (20, &[&b"F"[..], b"ISI", b"ARPA"][..], 32),
        (40, &[b"FOO", b"F", b"ISI", b"ARPA"], 46),
        (64, &[b"ARPA"], 66),
        (92, &[], 93),
    ] {
        assert_eq!(message::read(&message, at), Ok((name(labels), end)));
    }
}

#[test]
fn the_end_is_after_the_first_pointer_whatever_follows() {
    // "com" at 0; a pointer to it at 5; "www" and a pointer to the pointer at 7.
    let message = b"\x03com\0\xc0\0\x03www\xc0\x05\xff\xff";
    assert_eq!(message::read(message, 5), Ok((name(&[b"com"]), 7)));
    assert_eq!(message::read(message, 7), Ok((name(&[b"www", b"com"]), 13)));
}

#[test]
fn refuses_pointers_that_do_not_lead_backward() {
    for (message, at, error) in [
        // To itself, and forward.
        (&b"\xc0\0"[..], 0, ParseError::PointerNotBackward { at: 0, target: 0 }),
        (b"\xc0\x02\0", 0, ParseError::PointerNotBackward { at: 0, target: 2 }),
        (b"\xff\xff", 0, ParseError::PointerNotBackward { at: 0, target: 0x3fff }),
        // To the labels that it ends: a loop, and into the middle of one.
        (b"\x01a\xc0\0", 0, ParseError::PointerNotBackward { at: 2, target: 0 }),
        (b"\x03\x01a\0\xc0\x01", 0, ParseError::PointerNotBackward { at: 4, target: 1 }),
        // Two that lead to each other.
        (b"\xc0\x02\xc0\0", 2, ParseError::PointerNotBackward { at: 0, target: 2 }),
        (b"\x01a\xc0\x04\x01b\xc0\0", 4, ParseError::PointerNotBackward { at: 2, target: 4 }),
    ] {
        assert_eq!(message::read(message, at), Err(error), "{message:02x?}");
    }
}

#[test]
fn reads_127_pointers_and_no_128th() {
    assert_eq!(message::read(&chain(127), 253), Ok((NameBuf::ROOT, 255)));
    // The last that is read is the first of the chain.
    assert_eq!(message::read(&chain(128), 255), Err(ParseError::TooManyPointers { at: 1 }));
    assert_eq!(message::read(&chain(200), 399), Err(ParseError::TooManyPointers { at: 399 - 2 * 127 }));
}

#[test]
fn refuses_names_that_are_cut_off() {
    for (message, at, where_) in [
        (&b""[..], 0, 0),
        (b"\0", 1, 1),
        (b"\0", 2, 2),
        (b"\0", usize::MAX, usize::MAX),
        (b"\0\xc0", 1, 1),
        (b"\0\x01a\xc0", 1, 3),
        (b"\0\x02a", 1, 1),
        (b"\0\x01a", 1, 3),
    ] {
        assert_eq!(message::read(message, at), Err(ParseError::Truncated { at: where_ }), "{message:02x?}");
    }
}

#[test]
fn refuses_reserved_label_types_at_either_side_of_a_pointer() {
    for high in 0x40..0xc0 {
        assert_eq!(message::read(&[high, 0], 0), Err(ParseError::ReservedLabelType { at: 0 }));
        assert_eq!(message::read(&[0, high, 0xc0, 1], 2), Err(ParseError::ReservedLabelType { at: 1 }));
    }
}

#[test]
fn counts_the_bytes_across_pointers() {
    // 3 × 64 bytes and the root at 0; then a label and a pointer to them.
    let mut message = [&[63][..], &[b'x'; 63]].concat().repeat(3);
    message.push(0);
    for (len, read) in [(61, Ok(255)), (62, Err(ParseError::NameTooLong { at: 128 }))] {
        let whole = [&message[..], &[len], &vec![b'y'; len.into()], &pointer(0)].concat();
        assert_eq!(message::read(&whole, 193).map(|(name, _)| name.as_bytes().len()), read);
    }
}

proptest! {
    #[test]
    fn reads_a_name_through_a_pointer_as_its_labels(tail in names(), head in names(), gap in 0_usize..40) {
        let labels: Vec<&[u8]> = head.view().labels().chain(tail.view().labels()).collect();
        let relative = &head.as_bytes()[..head.as_bytes().len() - 1];
        let at = gap + tail.as_bytes().len();
        let message = [&vec![0xee; gap][..], tail.as_bytes(), relative, &pointer(gap), b"after"].concat();
        let read = message::read(&message, at);
        if relative.len() + tail.as_bytes().len() <= MAX_NAME_LEN {
            prop_assert_eq!(read, Ok((name(&labels), message.len() - 5)));
        } else {
            let refused = matches!(read, Err(ParseError::NameTooLong { .. }));
            prop_assert!(refused, "{read:?}");
        }
    }
}
