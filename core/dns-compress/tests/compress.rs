//! The compressor behind a writer of messages that knows nothing but bytes.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use hashlane_dns_compress::{Case, CompressedName, Compressor, HEADER_LEN, Key, ParseError, SuffixTable};
use hashlane_name::dns::{NameBuf, message};
use proptest::collection::vec;
use proptest::prelude::*;

/// Appends a name to a message.
fn append(table: &mut SuffixTable, written: &mut Vec<u8>, name: &[u8]) -> Result<CompressedName, ParseError> {
    let place = table.compress(written, name)?;
    written.extend_from_slice(&name[..place.literal()]);
    written.extend(place.pointer_bytes().into_iter().flatten());
    Ok(place)
}

#[test]
fn bytes_that_spell_a_name_that_was_cut_are_no_name() {
    let mut table = SuffixTable::new(&Key::VECTOR);
    let mut written = vec![0; HEADER_LEN];
    append(&mut table, &mut written, b"\x07example\0").unwrap();
    append(&mut table, &mut written, b"\x04late\x05other\0").unwrap();
    written.truncate(HEADER_LEN + 9);
    table.truncate(written.len());
    // Data of a record, which a reader does not take for a name.
    written.extend_from_slice(b"\x04late\x05other\0");
    for name in [&b"\x04late\x05other\0"[..], b"\x05other\0"] {
        let place = append(&mut table, &mut written, name).unwrap();
        assert!(place.pointer().is_none_or(|at| at > HEADER_LEN as u16 + 20), "{place:?}");
    }
}

#[test]
fn refuses_a_malformed_name_and_forgets_nothing() {
    let mut table = SuffixTable::new(&Key::VECTOR);
    let mut written = vec![0; HEADER_LEN];
    append(&mut table, &mut written, b"\x01a\x01b\0").unwrap();
    let long = [&[63; 64][..], &[63; 64], &[63; 64], &[63; 64], &[0]].concat();
    for (name, error) in [
        (&b""[..], ParseError::Truncated { at: 0 }),
        (b"\x01", ParseError::Truncated { at: 0 }),
        (b"\x01a", ParseError::Truncated { at: 2 }),
        (b"\x01a\0\0", ParseError::TrailingBytes { at: 3 }),
        (b"\x01a\xc0\x0c", ParseError::PointerNotAllowed { at: 2 }),
        (b"\x40a\0", ParseError::ReservedLabelType { at: 0 }),
        (&long, ParseError::NameTooLong { at: 192 }),
    ] {
        assert_eq!(table.compress(&written, name), Err(error));
    }
    let place = table.compress(&written, b"\x01c\x01b\0").unwrap();
    assert_eq!((place.literal(), place.pointer(), place.pointer_bytes()), (2, Some(14), Some([0xc0, 14])));
}

#[test]
fn memory_is_as_the_readme_says() {
    let kib = |table: &SuffixTable| format!("{:.1} KiB", table.memory() as f64 / 1024.0);
    let mut table = SuffixTable::new(&Key::VECTOR);
    let mut sizes = vec![kib(&table)];
    let message = |table: &mut SuffixTable, names: u16| {
        let mut written = vec![0; HEADER_LEN];
        table.start(Case::Ignored);
        for number in 0..names {
            let [a, b] = number.to_be_bytes();
            append(table, &mut written, &[1, b, 1, a, 0]).unwrap();
        }
        written.len()
    };
    assert!(message(&mut table, 6000) > 0x4000);
    sizes.push(kib(&table));
    table.start(Case::Ignored);
    let mut written = vec![0; HEADER_LEN];
    for number in 0..200 {
        // Names of 127 labels that share an end from the second on.
        let labels = (0..127).flat_map(|at| [1, b'a' + if at < 30 { (number + at) % 26 } else { 0 }]);
        append(&mut table, &mut written, &labels.chain([0]).collect::<Vec<u8>>()).unwrap();
    }
    for number in 0..3000_u16 {
        let [a, b] = number.to_be_bytes();
        append(&mut table, &mut written, &[&[1, b, 1, a][..], &[1, b'a'].repeat(120), &[0]].concat())
            .unwrap();
    }
    sizes.push(kib(&table));
    for _ in 0..70 {
        message(&mut table, 20);
    }
    sizes.push(kib(&table));
    let readme = include_str!("../README.md");
    let missing: Vec<_> = sizes.iter().filter(|size| !readme.contains(*size)).collect();
    assert!(missing.is_empty(), "{missing:?} of {sizes:?}");
}

#[test]
fn a_pointer_never_leads_beyond_its_14_bits() {
    let mut table = SuffixTable::new(&Key::VECTOR);
    let mut written = vec![0; 0x4000];
    append(&mut table, &mut written, b"\x07example\0").unwrap();
    append(&mut table, &mut written, b"\x07example\0").unwrap();
    assert_eq!(written.len(), 0x4000 + 18);
}

/// A step of a writer.
#[derive(Clone, Debug)]
enum Step {
    Name(Vec<u8>),
    /// Other bytes, which may spell a name.
    Bytes(Vec<u8>),
    /// Cuts a part of the message off, in 256ths.
    Cut(u8),
    /// Begins another message.
    Start(Case),
}

/// Names in wire form of few letters, so that suffixes repeat, and of any bytes.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let few = vec(prop::sample::select(vec!["a", "B", "b", "ab", "com", "COM", "example"]), 0..6);
    let few = few.prop_map(|labels| labels.into_iter().map(|label| label.as_bytes().to_vec()).collect());
    let any = prop_oneof![8 => vec(any::<u8>(), 1..5), 1 => vec(any::<u8>(), 1..64)];
    let labels = prop_oneof![8 => few, 2 => vec(any.clone(), 0..4), 1 => vec(any, 0..100)];
    labels.prop_map(|labels: Vec<Vec<u8>>| {
        let mut name = NameBuf::ROOT;
        // A name that is full stays as it is.
        for label in labels {
            let _ = name.push(&label);
        }
        name.as_bytes().to_vec()
    })
}

fn step() -> impl Strategy<Value = Step> {
    let case = prop_oneof![Just(Case::Ignored), Just(Case::Sensitive)];
    let bytes = (name(), 0..8_usize).prop_map(|(name, from)| name.get(from..).unwrap_or_default().to_vec());
    prop_oneof![
        20 => name().prop_map(Step::Name),
        4 => bytes.prop_map(Step::Bytes),
        1 => vec(any::<u8>(), 0..3000).prop_map(Step::Bytes),
        3 => any::<u8>().prop_map(Step::Cut),
        1 => case.prop_map(Step::Start),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_name_that_stays_is_read_back_and_pointers_lead_to_them(steps in vec(step(), 0..120)) {
        let mut table = SuffixTable::new(&Key::VECTOR);
        let (mut written, mut case, mut names) = (vec![0; HEADER_LEN], Case::Ignored, Vec::new());
        table.start(case);
        for step in steps {
            match step {
                Step::Name(name) => {
                    let at = written.len();
                    let place = append(&mut table, &mut written, &name).unwrap();
                    if let Some(target) = place.pointer().map(usize::from) {
                        let within = |(from, end, _): &(usize, usize, _)| (*from..*end).contains(&target);
                        prop_assert!(names.iter().any(within), "{} leads to {}, which is no name", at, target);
                    }
                    names.push((at, written.len(), name));
                }
                Step::Bytes(bytes) => written.extend_from_slice(&bytes),
                Step::Cut(part) => {
                    let len = HEADER_LEN + (written.len() - HEADER_LEN) * usize::from(part) / 256;
                    written.truncate(len);
                    table.truncate(len);
                    names.retain(|(_, end, _)| *end <= len);
                }
                Step::Start(other) => {
                    (written, case) = (vec![0; HEADER_LEN], other);
                    table.start(case);
                    names.clear();
                }
            }
        }
        for (at, end, name) in names {
            let (read, after) = message::read(&written, at).unwrap();
            prop_assert_eq!(after, end);
            prop_assert!(case.eq(read.as_bytes(), &name), "{:?} in place of {:?}", read.as_bytes(), name);
        }
    }
}
