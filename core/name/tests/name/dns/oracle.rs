//! Comparison with the `domain` crate: both accept the same names and read them alike.

use super::{names, respelled};
use domain::base::ParsedName;
use domain::base::name::{Name as Peer, ToName};
use domain::dep::octseq::Parser;
use hashlane_name::dns::text::TextError;
use hashlane_name::dns::{MAX_NAME_LEN, Name, NameBuf, ParseError, message, text};
use proptest::collection::vec;
use proptest::prelude::*;

/// The name at `at` and the offset after it, as `domain` reads it.
fn peer_read(message: &[u8], at: usize) -> Option<(Vec<u8>, usize)> {
    let mut parser = Parser::from_ref(message);
    parser.advance(at).ok()?;
    let name = ParsedName::parse_ref(&mut parser).ok()?;
    Some((name.to_vec().into_octets(), parser.pos()))
}

fn peer_text(text: &[u8]) -> Option<Vec<u8>> {
    Some(Peer::vec_from_str(core::str::from_utf8(text).ok()?).ok()?.into_octets())
}

/// Both read the same, or refuse; but for two kinds of pointers that `domain` follows and we refuse: one that
/// leads into the run of labels that it ends itself, and the 128th to 255th of one name.
fn check_read(message: &[u8], at: usize) {
    let peer = peer_read(message, at);
    match message::read(message, at) {
        Ok((name, end)) => assert_eq!(peer, Some((name.as_bytes().to_vec(), end)), "{message:02x?}"),
        Err(ParseError::PointerNotBackward { at, target }) if target < at => {}
        Err(ParseError::TooManyPointers { .. }) => {}
        Err(error) => assert_eq!(peer, None, "{error}: {message:02x?}"),
    }
}

/// Bytes that are often lengths, letters and pointers to near places.
fn messages() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => vec(prop::sample::select(b"aZ[\x01".to_vec()), 1..5).prop_map(|label| {
            let mut piece = vec![label.len() as u8];
            piece.extend(label);
            piece
        }),
        6 => (0_u8..32).prop_map(|low| vec![0xc0, low]),
        3 => Just(vec![0]),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
        1 => (1_u8..64).prop_map(|len| [&[len][..], &vec![b'l'; len.into()]].concat()),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

#[test]
fn domain_follows_pointers_that_are_refused_here() {
    // Into the label that it ends.
    let inward = b"\x03\x01a\0\xc0\x01";
    assert_eq!(message::read(inward, 0), Err(ParseError::PointerNotBackward { at: 4, target: 1 }));
    assert_eq!(peer_read(inward, 0), Some((b"\x03\x01a\0\x01a\0".to_vec(), 6)));
    // 128 in a row.
    let mut chain = vec![0, 0xc0, 0];
    (1..128).for_each(|number| chain.extend([0xc0, 2 * number - 1]));
    assert_eq!(message::read(&chain, 255), Err(ParseError::TooManyPointers { at: 1 }));
    assert_eq!(peer_read(&chain, 255), Some((vec![0], 257)));
}

#[test]
fn domain_reads_other_presentation_forms_in_three_cases() {
    // The mark of binary labels.
    assert_eq!(text::parse(br"\[a").unwrap().as_bytes(), b"\x02[a\0");
    assert_eq!(peer_text(br"\[a"), None);
    // Bytes that do not print, as they are or after a backslash.
    for bytes in [&b"a\tb"[..], b"a\\\tb", "ä".as_bytes()] {
        assert!(text::parse(bytes).is_ok());
        assert_eq!(peer_text(bytes), None);
    }
    // A last label of one byte that makes 256.
    let long = format!("{0}.{0}.{0}.{1}.z", "x".repeat(63), "y".repeat(60));
    assert_eq!(text::parse(long.as_bytes()), Err(TextError::NameTooLong { at: 253 }));
    assert_eq!(peer_text(long.as_bytes()).map(|name| name.len()), Some(256));
}

proptest! {
    #[test]
    fn both_read_the_same_of_messages(message in messages()) {
        for at in 0..=message.len() {
            check_read(&message, at);
        }
    }

    #[test]
    fn both_parse_the_same_wire_forms(name in names(), at: prop::sample::Index, byte: u8, extra in 0_usize..3) {
        let mut wire = name.as_bytes().to_vec();
        prop_assert!(Peer::from_slice(&wire).is_ok());
        let at = at.index(wire.len());
        wire[at] = byte;
        wire.resize(wire.len() + extra, 0);
        prop_assert_eq!(Name::parse(&wire).is_ok(), Peer::from_slice(&wire).is_ok());
        check_read(&wire, 0);
    }

    /// Printing bytes alone: others `domain` refuses unescaped, and we take.
    #[test]
    fn both_read_the_same_presentation_forms(
        text in prop_oneof![r"[a.\\0-9]{0,12}", r"([ -~]|\\[ -~]|\\[0-2][0-9][0-9]){0,80}", r"([a-c]{1,66}\.){0,6}[d-f]{0,66}"],
    ) {
        let (ours, peer) = (text::parse(text.as_bytes()), peer_text(text.as_bytes()));
        let ours = ours.map(|name| name.as_bytes().to_vec()).ok();
        // `domain` keeps `\[` at the start of a label for binary labels (RFC 2673, historic since RFC 6891).
        let binary = text.contains(r"\[");
        // `domain` takes a last label of one byte after 253 others, and has then a name of 256.
        let beyond = peer.as_ref().is_some_and(|name| name.len() > MAX_NAME_LEN);
        if !(binary && peer.is_none() || beyond && ours.is_none()) {
            prop_assert_eq!(ours, peer, "{}", text);
        }
    }

    #[test]
    fn each_reads_what_the_other_writes(name in names()) {
        let peer = Peer::from_slice(name.as_bytes()).unwrap();
        let theirs = peer.fmt_with_dot().to_string();
        prop_assert_eq!(text::parse(theirs.as_bytes()), Ok(name));
        prop_assert_eq!(peer_text(name.to_string().as_bytes()), Some(name.as_bytes().to_vec()));
    }

    #[test]
    fn both_find_the_same_names_equal((name, other) in respelled(), at: prop::sample::Index, byte: u8) {
        let mut wire = other.as_bytes().to_vec();
        let at = at.index(wire.len());
        wire[at] = byte;
        let changed = Name::parse(&wire).map_or(other, NameBuf::from);
        let peer = |name: NameBuf| Peer::from_octets(name.as_bytes().to_vec()).unwrap();
        prop_assert_eq!(peer(name), peer(other));
        let equal = peer(name) == peer(changed);
        prop_assert_eq!(name.view().eq_ignore_case(changed.view()), equal);
        let within = peer(name).ends_with(&peer(changed));
        prop_assert_eq!(name.view().is_within(changed.view()), within);
    }
}
