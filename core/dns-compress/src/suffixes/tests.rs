//! The table under many keys.

use super::*;
use alloc::collections::BTreeMap;
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

/// Names that share long ends: each is an end of an earlier one under new labels, some of them equal to
/// earlier names but for case, some with labels whose bytes are lengths.
fn names_with_long_ends(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let mut state = seed | 1;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as usize % limit.max(1)
    };
    let mut names: Vec<Vec<u8>> = Vec::new();
    for _ in 0..count {
        let base =
            if names.is_empty() || below(24) == 0 { vec![0] } else { names[below(names.len())].clone() };
        let mut starts = vec![0];
        while base[starts[starts.len() - 1]] > 0 {
            let at = starts[starts.len() - 1];
            starts.push(at + 1 + usize::from(base[at]));
        }
        let kept = if below(3) == 0 { below(starts.len()) } else { below(starts.len().min(4)) };
        let mut name = base[starts[kept]..].to_vec();
        let most = if name.len() == 1 { 1 + below(127) } else { below(5) };
        for _ in 0..most {
            let label = match below(8) {
                0 => vec![b'a' + below(3) as u8; 1 + below(20)],
                1 => vec![1 + below(2) as u8; 1 + below(3)],
                2 => vec![b'A' + below(3) as u8],
                _ => vec![b'a' + below(4) as u8],
            };
            if name.len() + 1 + label.len() <= 255 {
                name = [&[label.len() as u8][..], &label, &name].concat();
            }
        }
        if below(6) == 0 {
            let at = below(name.len());
            // A letter in another case; lengths are no letters.
            name[at] = name[at].to_ascii_uppercase();
        }
        names.push(name);
    }
    names
}

/// All suffixes of a name with their starts, folded, without the root.
fn suffixes(name: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let (mut at, mut all) = (0, Vec::new());
    while name[at] > 0 {
        all.push((at, name[at..].to_ascii_lowercase()));
        at += 1 + usize::from(name[at]);
    }
    all
}

/// Names of one to three letters as labels before one of a few names with many labels: 13 to 24 or 60 of
/// them.
fn names_under_deep_ones(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let mut state = seed | 1;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as usize % limit.max(1)
    };
    let mut base = |most: usize| {
        let labels: Vec<u8> = (0..13 + below(most)).flat_map(|_| [1, b'a' + below(3) as u8]).collect();
        [&labels[..], &[0]].concat()
    };
    let mut bases: Vec<Vec<u8>> = (0..6).map(|_| base(12)).collect();
    bases.push(base(48));
    let mut name = || {
        let mut base = &bases[below(bases.len())][2 * below(4)..];
        let mut heads = Vec::new();
        for _ in 0..1 + below(3) {
            let letter = b'a' + below(5) as u8;
            heads.extend([1, if below(8) == 0 { letter.to_ascii_uppercase() } else { letter }]);
        }
        if below(16) == 0 {
            base = &[0];
        }
        [&heads[..], base].concat()
    };
    (0..count).map(|_| name()).collect()
}

/// Places names in one message, and compares each place with the longest suffix that earlier names have.
/// After the names `cut`, 200 apart, the message is cut to some names fewer.
fn compare_with_all_suffixes(
    table: &mut SuffixTable,
    names: &[Vec<u8>],
    cut: usize,
) -> Result<(), proptest::test_runner::TestCaseError> {
    table.start(Case::Ignored);
    let mut written = vec![0; HEADER_LEN];
    // The suffixes that a pointer can lead to, with the end of the name that brought each.
    let mut known: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    let mut ends = vec![HEADER_LEN];
    for (number, bytes) in names.iter().enumerate() {
        let all = suffixes(bytes);
        let expected = all.iter().find(|(_, suffix)| known.contains_key(suffix));
        let literal = expected.map_or(bytes.len(), |(start, _)| *start);
        let place = table.place(&written, Name::parse(bytes).unwrap());
        proptest::prop_assert_eq!(place.literal(), literal, "name {}", number);
        let at = written.len();
        written.extend_from_slice(&bytes[..literal]);
        written.extend(place.pointer().into_iter().flat_map(|at| (0xc000 | at).to_be_bytes()));
        let reached = all.into_iter().filter(|(start, _)| *start < literal && at + start < POINTER_LIMIT);
        known.extend(reached.map(|(_, suffix)| (suffix, written.len())));
        ends.push(written.len());
        let (read, end) = hashlane_name::dns::message::read(&written, at).unwrap();
        proptest::prop_assert_eq!(end, written.len());
        proptest::prop_assert!(read.as_bytes().eq_ignore_ascii_case(bytes));
        if number % 200 == cut {
            ends.truncate(ends.len().saturating_sub(cut % 20).max(1));
            written.truncate(ends[ends.len() - 1]);
            known.retain(|_, end| *end <= written.len());
            table.truncate(written.len());
        }
    }
    Ok(())
}

proptest::proptest! {
    #[test]
    fn names_with_long_ends_are_as_short_as_can_be(seed: u64, cut in 0..200_usize) {
        let names = names_with_long_ends(seed, 300);
        let mut table = SuffixTable::new(&Key::VECTOR);
        for _ in 0..3 {
            compare_with_all_suffixes(&mut table, &names, cut)?;
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(16))]

    /// Also beyond the limit of pointers, where a name that repeats is written as before.
    #[test]
    fn names_under_deep_ones_are_as_short_as_can_be(seed: u64, cut in 0..400_usize) {
        let names = names_under_deep_ones(seed, 300);
        let mut table = SuffixTable::new(&Key::VECTOR);
        compare_with_all_suffixes(&mut table, &names, cut)?;
        // The same names with others before them, so that some lie beyond the limit.
        let mut filler: Vec<Vec<u8>> = (0..240_u8).map(|number| name(&[&[number; 63]])).collect();
        filler.truncate(200 + cut % 40);
        let all = [&names[..20], &filler, &names, &names].concat();
        compare_with_all_suffixes(&mut table, &all, cut)?;
    }
}
