//! Messages of published attacks on name compression, made from the words of their advisories.

use super::name;
use hashlane_dns::wire::{Class, Content, Flags, Header, Question, Record, RecordType, Section};
use hashlane_name::dns::{Name, NameBuf};

/// Labels of one letter and the root in the longest name.
const LABELS: usize = 127;

/// Longest message in bytes. The generators make as many records as fit if each is as short as can be, or
/// more: the renderer cuts the message where it is full.
const LONGEST: usize = 65_535;

/// CVE-2024-8508: an RRset that is as large as a message can be, and names in its data that differ at the
/// left of 124 labels. Each record takes 14 to 18 bytes of the message and 255 bytes of names.
pub(super) fn shared_suffix() -> Content {
    let suffix: Vec<u8> = (0..124).map(letter).collect();
    set((0..).map(|number: usize| {
        let heads = [number, number / 26, number / 676].map(letter);
        labels(heads.iter().chain(&suffix).map(std::slice::from_ref))
    }))
}

/// CVE-2026-44390: an RRset that is as large as a message can be, and names that share no suffix above the
/// root.
pub(super) fn no_shared_suffix() -> Content {
    set((0..).map(|number: usize| {
        let top = [letter(number), letter(number / 26), letter(number / 676)];
        let one_letter = (0..125).map(|at| [letter(at + number)]);
        let mut name = NameBuf::ROOT;
        one_letter.for_each(|label| push(&mut name, &label));
        push(&mut name, &top);
        name
    }))
}

/// RUSTSEC-2026-0119: many records with many labels, each a candidate that an encoder has to compare: names
/// of 84 labels that share nothing. Not one can be compressed, so that a fix makes no message longer.
pub(super) fn many_candidates() -> Content {
    let name = |number: usize| {
        // The last label differs in all names.
        let pair = move |at: usize| if at == 83 { number } else { 84 * number + at };
        labels((0..84).map(move |at| [letter(pair(at)), letter(pair(at) / 26)]))
    };
    set((0..).map(name))
}

/// ldns issue 173: the denial of a name with as many labels as there can be, from a zone of such names.
pub(super) fn denial() -> Content {
    let deep =
        |number: usize| labels((0..LABELS).map(|at| [letter(at + if at < 100 { number * 7 } else { 0 })]));
    let zone = last_labels(&deep(0), 3);
    let soa = [zone.as_bytes(), zone.as_bytes(), &[0; 20]].concat();
    let record =
        |owner: NameBuf, rtype, data| Record { section: Section::Authority, ..answer(owner, rtype, data) };
    let mut records = vec![record(zone, RecordType::SOA, soa)];
    for number in 1..=3 {
        // The next name, and the types NS, RRSIG and NSEC: uncompressed (RFC 4034 §4.1).
        let next = [deep(number + 10).as_bytes(), b"\0\x06\x20\0\0\0\0\x03"].concat();
        records.push(record(deep(number), RecordType::NSEC, next));
        // The signer and 64 bytes of signature (RFC 4034 §3.1).
        let signature = [&[0, 47, 13, 127][..], &[0; 14], zone.as_bytes(), &[0x5a; 64]].concat();
        records.push(record(deep(number), RecordType::RRSIG, signature));
    }
    response(deep(0), RecordType::A, records)
}

/// Names that repeat by turns, more than a cache of recent names holds, at three names and 16 bytes for each
/// record: the densest names that a message has.
pub(super) fn repeated_triples() -> Content {
    let base: Vec<usize> = (0..LABELS).collect();
    // Equal at both ends, so that nothing but the middle tells them apart.
    let long = |number: usize| {
        labels(base.iter().map(|&at| [letter(if (40..60).contains(&at) { at * number } else { at })]))
    };
    let names: Vec<NameBuf> = (1..=25).map(long).collect();
    let mut by_turns = names.iter().cycle();
    let records = std::iter::from_fn(|| {
        let (owner, first, second) = (by_turns.next()?, by_turns.next()?, by_turns.next()?);
        Some(answer(*owner, RecordType::MINFO, [first.as_bytes(), second.as_bytes()].concat()))
    });
    response(names[0], RecordType::MINFO, records.take(LONGEST / 16).collect())
}

/// A response whose answer is one RRset of names, as large as a message can be.
fn set(names: impl Iterator<Item = NameBuf>) -> Content {
    let (owner, rtype) = (name("www.example.com"), RecordType::NS);
    let mut content = response(owner, rtype, Vec::new());
    // A record takes at least 14 bytes: a pointer, ten bytes, and another pointer.
    content.records =
        names.take(LONGEST / 14).map(|name| answer(owner, rtype, name.as_bytes().to_vec())).collect();
    content
}

fn response(owner: NameBuf, rtype: RecordType, records: Vec<Record>) -> Content {
    let header = Header { id: 0x1603, flags: Flags::RESPONSE.with(Flags::AUTHORITATIVE) };
    Content { header, questions: vec![Question { name: owner, rtype, class: Class::IN }], records }
}

fn answer(owner: NameBuf, rtype: RecordType, data: Vec<u8>) -> Record {
    Record { section: Section::Answer, owner, rtype, class: Class::IN, ttl: 3600, data }
}

fn letter(at: usize) -> u8 {
    b'a' + (at % 26) as u8
}

fn labels<L: AsRef<[u8]>>(labels: impl IntoIterator<Item = L>) -> NameBuf {
    let mut name = NameBuf::ROOT;
    labels.into_iter().for_each(|label| push(&mut name, label.as_ref()));
    name
}

/// Adds a label; the generators make no name that is too long.
fn push(name: &mut NameBuf, label: &[u8]) {
    let pushed = name.push(label);
    debug_assert!(pushed.is_ok(), "{pushed:?}");
}

/// The last labels of a name.
fn last_labels(name: &NameBuf, count: usize) -> NameBuf {
    let view = name.view();
    Name::parse(view.labels_from(view.label_count() - count).as_bytes()).map_or(NameBuf::ROOT, NameBuf::from)
}
