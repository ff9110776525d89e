//! The table under many keys.

use super::*;
use alloc::vec;
use alloc::vec::Vec;
use hashlane_hash::scheme::BytesHash;

/// Places names in one message. Returns its bytes.
fn write(table: &mut SuffixTable, names: &[&[u8]]) -> Vec<u8> {
    let mut written = vec![0; HEADER_LEN];
    table.start(Case::Ignored);
    for bytes in names {
        let name = Name::parse(bytes).unwrap();
        let place = table.place(&written, name);
        written.extend_from_slice(&bytes[..place.literal()]);
        written.extend(place.pointer().into_iter().flat_map(|at| (0xc000 | at).to_be_bytes()));
    }
    written
}

#[test]
fn keys_are_drawn_anew_and_no_message_changes() {
    let names: [&[u8]; 4] = [
        b"\x01a\x07example\0",
        b"\x01b\x07example\0",
        b"\x01b\x01a\x07example\0",
        b"\x02ns\x01b\x07EXAMPLE\0",
    ];
    let mut table = SuffixTable::new(&Key::VECTOR);
    let expected = write(&mut table, &names);
    let mut hashes = vec![table.hash.hash(b"x")];
    for message in 1..3 * 4080 {
        assert_eq!(write(&mut table, &names), expected, "{message}");
        let hash = table.hash.hash(b"x");
        if hashes.last() != Some(&hash) {
            // The message with which the number of messages begins again, 255 of them being in use.
            assert_eq!((message + 1) % 4080, 0, "{message}");
            hashes.push(hash);
        }
    }
    assert_eq!(hashes.len(), 4);
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 4);
}

#[test]
fn a_label_that_ends_like_two_is_one() {
    // The end of the first label spells the label com.
    let names =
        [name(&[b"ab\x03com", b"example"]), name(&[b"com", b"example"]), name(&[b"b\x03com", b"example"])];
    let mut table = SuffixTable::new(&Key::VECTOR);
    let written = write(&mut table, &names.each_ref().map(Vec::as_slice));
    let example = [0xc0, HEADER_LEN as u8 + 7];
    let rest = [b"\x03com", &example[..], b"\x05b\x03com", &example].concat();
    assert_eq!(written[HEADER_LEN + names[0].len()..], rest);
}

#[test]
fn every_label_of_a_long_name_can_be_pointed_to() {
    let labels: Vec<[u8; 2]> = (0..60).map(|at| [b'a' + at % 26, b'a' + at / 26]).collect();
    let labels: Vec<&[u8]> = labels.iter().map(<[u8; 2]>::as_slice).collect();
    // The first in the table is under `labels`, a question of another name stands before it.
    let mut names = vec![name(&[b"q"]), name(&labels)];
    names.extend((0..60).map(|from| name(&labels[from..])));
    names.extend((0..60).map(|from| name(&[&[&b"NEW"[..]], &labels[from..]].concat())));
    let mut table = SuffixTable::new(&Key::VECTOR);
    let written = write(&mut table, &names.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let start = HEADER_LEN + 3;
    let pointer = |from: usize| (0xc000 | (start + 3 * from) as u16).to_be_bytes();
    let whole = (0..60).flat_map(pointer);
    let under = (0..60).flat_map(|from| [b"\x03NEW", &pointer(from)[..]].concat());
    assert_eq!(written[start + names[1].len()..], whole.chain(under).collect::<Vec<u8>>());
}

/// Slots, slots read to reach every name, and bytes of a message of `names` under each of 3,000 keys, sorted.
fn over_keys(names: &[Vec<u8>]) -> [Vec<usize>; 3] {
    let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    let mut counts = [const { Vec::new() }; 3];
    for number in 0..3000 {
        let mut table = SuffixTable::new(&Key::VECTOR.derive(b"dns-test", number));
        let written = write(&mut table, &names);
        let figures = [table.slots.len(), table.slots.probes(), written.len()];
        counts.iter_mut().zip(figures).for_each(|(counts, figure)| counts.push(figure));
    }
    counts.iter_mut().for_each(|counts| counts.sort_unstable());
    counts
}

/// A name of these labels.
fn name(labels: &[&[u8]]) -> Vec<u8> {
    let labels = labels.iter().flat_map(|label| [&[label.len() as u8][..], label].concat());
    labels.chain([0]).collect()
}

#[test]
fn no_key_makes_a_message_larger_or_slower_than_the_median() {
    let letters = || (b'a'..=b'z').map(|letter| [letter]);
    let hosts = (0..300).map(|number| name(&[alloc::format!("h{number}").as_bytes(), b"example"]));
    for names in [
        letters().map(|letter| name(&[&letter])).collect::<Vec<_>>(),
        letters().map(|letter| name(&[&letter, b"example"])).collect(),
        letters().flat_map(|a| (b'a'..b'g').map(move |b| name(&[&[a[0], b]]))).collect(),
        letters().map(|letter| name(&[&letter, &letter, &letter, b"a"])).collect(),
        hosts.collect(),
    ] {
        let [slots, probes, bytes] = over_keys(&names);
        let (median, worst) = (slots.len() / 2, slots.len() - slots.len() / 1000 - 1);
        assert_eq!((slots[worst], bytes[worst]), (slots[median], bytes[median]));
        assert!(probes[worst] * 2 <= probes[median] * 3, "{} and {}", probes[worst], probes[median]);
        // Not one name is lost, under no key.
        assert_eq!(bytes.first(), bytes.last());
    }
}
