//! The reader of many names against single reads.

use super::names;
use hashlane_name::dns::NameBuf;
use hashlane_name::dns::message::{Reader, read};
use proptest::collection::vec;
use proptest::prelude::*;

/// The reader reads at each of `places`, an offset and an end, as a new reader and [`read`] do.
fn check(message: &[u8], places: &[(usize, usize)]) {
    let mut reader = Reader::new(message);
    let mut name = NameBuf::ROOT;
    for &(at, end) in places {
        let cut = &message[..end.min(message.len())];
        let single = read(cut, at);
        assert_eq!(reader.read_within(at, end), single, "{at}..{end} of {message:02x?}");
        // Again, as it may now be remembered, and in the place of the last name.
        assert_eq!(reader.read_within(at, end), single, "{at}..{end} of {message:02x?}");
        let again = reader.read_into(at, end, &mut name).map(|end| (name, end));
        assert_eq!(again, single, "{at}..{end} of {message:02x?}");
    }
}

/// Pieces of few bytes that lead into each other: labels, pointers anywhere before, roots, long names.
fn messages() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => any::<prop::sample::Index>().prop_map(|target| (vec![], Some(target))),
        8 => (1_usize..4, any::<prop::sample::Index>())
            .prop_map(|(labels, target)| (b"\x01\x01".repeat(labels), Some(target))),
        2 => (1_usize..130).prop_map(|labels| (b"\x01\x01".repeat(labels), None)),
        2 => names().prop_map(|name| (name.as_bytes().to_vec(), None)),
        1 => Just((vec![0], None)),
        1 => any::<u8>().prop_map(|byte| (vec![byte], None)),
    ];
    (vec(piece, 1..80), 0_usize..3).prop_map(|(pieces, near)| {
        let mut message = vec![0];
        for (bytes, target) in pieces {
            message.extend(bytes);
            if let Some(target) = target {
                // Anywhere, or near, which makes deep chains.
                let reach = [message.len(), 40, 5][near].min(message.len());
                let target = message.len() - 1 - target.index(reach);
                message.extend((0xc000 | target as u16).to_be_bytes());
            }
        }
        message
    })
}

/// A message of 127 labels at 0, and a pointer to them at 255.
fn long() -> Vec<u8> {
    [&b"\x01x".repeat(127)[..], b"\0\xc0\0"].concat()
}

#[test]
fn a_name_is_walked_once_and_then_copied() {
    let message = [&long()[..], b"\xc0\x02\x01y\xc0\x02"].concat();
    let mut reader = Reader::new(&message);
    assert_eq!(reader.read(255), read(&message, 255));
    // Its pointer, its labels and the root, and these again to remember them.
    assert_eq!(reader.steps(), 1 + 2 * 128);
    for (at, steps) in [(255, 1), (257, 1), (259, 2)] {
        let before = reader.steps();
        assert_eq!(reader.read(at), read(&message, at));
        assert_eq!(reader.steps() - before, steps, "{at}");
    }
}

#[test]
fn rules_hold_across_what_is_remembered() {
    // Too long by a label before 255 bytes; a pointer that leads to its own labels; the end of the message
    // before the last label.
    let message = [&long()[..], b"\x01y\xc0\0"].concat();
    check(&message, &[(255, 300), (257, 300), (255, 200), (255, 255), (0, 300)]);
    // 10 pointers from 11 on, then labels that go on into the run they came from.
    let mut message = vec![0; 11];
    (0..10).for_each(|number| message.extend([0xc0, if number == 0 { 0 } else { 9 + 2 * number }]));
    message.extend(b"\x01a\xc0\x1d\x01b\xc0\x1d\xc0\x1f\x01c\xc0\x1f");
    let all: Vec<_> = (0..message.len()).map(|at| (at, message.len())).collect();
    check(&message, &all);
    // Chains of 127 pointers, and longer ones.
    let mut message = vec![0];
    (0..200).for_each(|number| {
        message.extend((0xc000 | if number == 0 { 0 } else { 2 * number - 1_u16 }).to_be_bytes())
    });
    let all: Vec<_> = (0..message.len()).map(|at| (at, message.len())).collect();
    check(&message, &all);
}

#[test]
fn names_that_end_beyond_the_reach_of_pointers_are_remembered() {
    let mut message = vec![0xff; 0x3fff];
    message.extend(long());
    let at = message.len();
    message.extend([0xff, 0xff]);
    check(&message, &[(at, at + 2), (0x3fff, at + 2)]);
    let mut reader = Reader::new(&message);
    reader.read(at).unwrap();
    let before = reader.steps();
    reader.read(at).unwrap();
    assert_eq!(reader.steps() - before, 1);
}

proptest! {
    #[test]
    fn all_offsets_in_any_order_read_as_single_reads(
        message in messages(),
        order in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..200),
        cut: bool,
    ) {
        let len = message.len();
        let places: Vec<_> = order
            .iter()
            .map(|(at, end)| (at.index(len + 1), if cut { end.index(len + 1) } else { len }))
            .chain((0..=len).map(|at| (at, len)))
            .collect();
        check(&message, &places);
    }

    #[test]
    fn any_bytes_read_as_single_reads(message in vec(any::<u8>(), 0..300)) {
        let places: Vec<_> = (0..=message.len()).map(|at| (at, message.len())).collect();
        check(&message, &places);
    }

    #[test]
    fn names_read_in_order_cost_a_bounded_number_of_steps(message in messages()) {
        let mut reader = Reader::new(&message);
        for at in 0..message.len() {
            let before = reader.steps();
            let Ok((_, end)) = reader.read(at) else { continue };
            // The second time, all but the labels before the first pointer and 9 steps is remembered.
            let first = reader.steps() - before;
            let before = reader.steps();
            reader.read(at).unwrap();
            let second = reader.steps() - before;
            prop_assert!(second <= first && second <= (end - at).div_ceil(2) + 9, "{at}: {second}");
        }
    }
}
