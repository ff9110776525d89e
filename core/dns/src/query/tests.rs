//! Batches are compared with single datagrams, and accepted datagrams with `hickory-proto` and our own
//! reader.

use super::*;
use crate::render::Edns;
use crate::wire::{Class, Flags, Header, Message, Opcode, Rcode, RecordType};
use ::hashlane_hash::scheme::{BytesHash, Key, Scheme};
use ::hashlane_hash::siphash::{SipHash13, SipHash24};
use hashlane_name::dns::{Case, Name, NameBuf};
use hashlane_table::stage::Stage;
use hickory_proto::op;
use hickory_proto::serialize::binary::{BinDecodable, BinDecoder};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::vec::Vec;

/// An OPT record: owner, payload, version and flags, options.
type OptShape = (bool, u16, [u8; 4], Vec<u8>);

/// The parts of a datagram, and the changes after it is written.
#[derive(Clone, Debug)]
struct Shape {
    header: Header,
    questions: u16,
    name: Vec<u8>,
    rtype: u16,
    /// Records of each section: owners, all A.
    records: [Vec<Vec<u8>>; 3],
    opts: Vec<OptShape>,
    trailing: Vec<u8>,
    cut: Option<Index>,
    change: Option<(Index, u8)>,
}

impl Shape {
    fn bytes(&self) -> Vec<u8> {
        let [answers, authority, additional] = &self.records;
        let counts = [answers.len(), authority.len(), additional.len() + self.opts.len()];
        let mut out = self.header.to_bytes().to_vec();
        out.extend_from_slice(&self.questions.to_be_bytes());
        counts.iter().for_each(|count| out.extend_from_slice(&(*count as u16).to_be_bytes()));
        out.extend_from_slice(&[&self.name[..], &self.rtype.to_be_bytes(), &[0, 1]].concat());
        for owner in self.records.iter().flatten() {
            out.extend_from_slice(owner);
            out.extend_from_slice(b"\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x01");
        }
        for (root, payload, ttl, options) in &self.opts {
            out.extend_from_slice(if *root { b"\0\0\x29" } else { b"\xc0\x0c\0\x29" });
            out.extend_from_slice(&[&payload.to_be_bytes()[..], ttl].concat());
            out.extend_from_slice(&[&(options.len() as u16).to_be_bytes()[..], options].concat());
        }
        out.extend_from_slice(&self.trailing);
        if let Some((at, byte)) = &self.change {
            let at = at.index(out.len());
            out[at] = *byte;
        }
        if let Some(cut) = &self.cut {
            out.truncate(cut.index(out.len()));
        }
        out
    }
}

/// A name in wire form: of few labels, or of many.
fn a_name() -> impl Strategy<Value = Vec<u8>> {
    let label = |len| vec(prop_oneof![8 => select(&b"abAB-[{"[..]), 1 => any::<u8>()], len);
    let few = vec(label(1..8), 0..5);
    let many = vec(label(1..2), 0..=127);
    let long = vec(label(60..64), 3);
    prop_oneof![8 => few, 1 => many, 1 => long].prop_map(|labels: Vec<Vec<u8>>| {
        let mut out = Vec::new();
        labels.iter().for_each(|label| {
            out.push(label.len() as u8);
            out.extend_from_slice(label);
        });
        out.push(0);
        out
    })
}

fn an_opt() -> impl Strategy<Value = OptShape> {
    let ttl = prop_oneof![3 => Just([0, 0, 0, 0]), 3 => Just([0, 0, 0x80, 0]), 1 => any::<[u8; 4]>()];
    let options = prop_oneof![
        4 => Just(Vec::new()),
        2 => Just(b"\xfd\xe9\0\x03abc\xfd\xea\0\0".to_vec()),
        1 => vec(any::<u8>(), 0..9),
    ];
    (prop::bool::weighted(0.95), prop_oneof![Just(1232), any::<u16>()], ttl, options)
}

fn shape() -> impl Strategy<Value = Shape> {
    let flags = prop_oneof![8 => Just(0x0100), 1 => Just(0x8180), 1 => any::<u16>()];
    let header = (any::<u16>(), flags).prop_map(|(id, flags)| Header { id, flags: Flags(flags) });
    let questions = prop_oneof![16 => Just(1), 1 => 0..3_u16];
    let rtype = prop_oneof![4 => Just(1), 1 => any::<u16>()];
    let owners = || prop_oneof![6 => Just(Vec::new()), 1 => vec(prop_oneof![a_name(), Just(b"\xc0\x0c".to_vec())], 1..3)];
    let records = (owners(), owners(), owners()).prop_map(|(a, b, c)| [a, b, c]);
    let opts = prop_oneof![3 => Just(Vec::new()), 4 => vec(an_opt(), 1), 1 => vec(an_opt(), 2)];
    let changes = (
        prop_oneof![12 => Just(Vec::new()), 1 => vec(any::<u8>(), 1..4)],
        weighted(0.1, any::<Index>()),
        weighted(0.2, any::<(Index, u8)>()),
    );
    (header, questions, a_name(), rtype, records, opts, changes).prop_map(
        |(header, questions, name, rtype, records, opts, (trailing, cut, change))| Shape {
            header,
            questions,
            name,
            rtype,
            records,
            opts,
            trailing,
            cut,
            change,
        },
    )
}

/// The hash of each suffix by its definition.
fn naive<H: BytesHash>(hash: &H, name: Name<'_>) -> Vec<u64> {
    let labels: Vec<Vec<u8>> = name
        .labels()
        .map(|label| {
            let folded = label.iter().map(|byte| Case::Ignored.fold(*byte));
            std::iter::once(label.len() as u8).chain(folded).collect()
        })
        .collect();
    (0..=labels.len())
        .map(|from| hash.hash(&labels[from..].iter().rev().flatten().copied().collect::<Vec<_>>()))
        .collect()
}

fn names_of(batch: &Batch<'_>) -> Vec<Option<NameBuf>> {
    let name = |outcome: &Outcome<'_>| match outcome {
        Outcome::Answer(query) => Some(NameBuf::from(query.name)),
        _ => None,
    };
    batch.outcomes().iter().map(name).collect()
}

proptest! {
    #[test]
    fn a_batch_gives_what_its_datagrams_give_one_by_one(
        key: [u8; 16],
        batches in vec(vec(shape(), 1..=BATCH), 1..3),
    ) {
        let key = Key::new(key);
        let (mut hash, mut suffixes) = (Hash::new(&key), Suffixes::new());
        let mut of_13 = Hash::<SipHash13>::with(&key);
        for shapes in &batches {
            let datagrams: Vec<Vec<u8>> = shapes.iter().map(Shape::bytes).collect();
            let mut batch = Batch::new(&mut suffixes);
            for (number, datagram) in datagrams.iter().enumerate() {
                prop_assert!(batch.push(1000 - number, datagram));
            }
            Decode.run(&mut batch);
            prop_assert!((0..datagrams.len()).all(|number| batch.suffixes(number).is_empty()));
            hash.run(&mut batch);
            for (number, datagram) in datagrams.iter().enumerate() {
                prop_assert_eq!(batch.datagrams()[number], (1000 - number, &datagram[..]));
                prop_assert_eq!(batch.outcomes()[number], parse(datagram));
            }
            let expected = |name: &Option<NameBuf>| {
                name.as_ref().map(|name| naive(&SipHash24::new(&key), name.view())).unwrap_or_default()
            };
            for (number, name) in names_of(&batch).iter().enumerate() {
                prop_assert_eq!(batch.suffixes(number), expected(name));
            }
            of_13.run(&mut batch);
            for (number, name) in names_of(&batch).iter().enumerate() {
                let Some(name) = name else { continue };
                prop_assert_eq!(batch.suffixes(number), naive(&SipHash13::new(&key), name.view()));
                prop_assert_eq!(hash.name(name.view()), expected(&Some(*name)));
            }
        }
    }

    #[test]
    fn hashes_do_not_depend_on_the_case_of_letters(name in a_name(), upper: u64) {
        let Ok(name) = Name::parse(&name) else { return Ok(()) };
        let mut hash = Hash::new(&Key::VECTOR);
        let mut spelled = NameBuf::ROOT;
        for (number, label) in name.labels().enumerate() {
            let byte = |(at, byte): (usize, &u8)| match upper >> ((number + at) % 64) & 1 {
                0 => byte.to_ascii_lowercase(),
                _ => byte.to_ascii_uppercase(),
            };
            spelled.push(&label.iter().enumerate().map(byte).collect::<Vec<_>>()).unwrap();
        }
        let expected = hash.name(name).to_vec();
        prop_assert_eq!(hash.name(spelled.view()), expected);
    }

    #[test]
    fn several_names_have_the_hashes_of_each(key: [u8; 16], names in vec(a_name(), 0..20)) {
        let mut hash = Hash::new(&Key::new(key));
        let names: Vec<Name<'_>> = names.iter().filter_map(|name| Name::parse(name).ok()).collect();
        let mut expected = std::vec![7];
        names.iter().for_each(|name| expected.extend_from_slice(hash.name(*name)));
        let mut hashes = std::vec![7];
        hash.names(names, &mut hashes);
        prop_assert_eq!(hashes, expected);
    }

    #[test]
    fn accepts_what_hickory_accepts(shape in shape()) {
        agrees_with_hickory(&shape.bytes());
    }
}

/// `hickory-proto` and our own reader accept every accepted datagram, with the same fields. Every datagram
/// that `hickory-proto` accepts as a query with one question is accepted.
fn agrees_with_hickory(datagram: &[u8]) {
    let mut decoder = BinDecoder::new(datagram);
    let theirs = op::Message::read(&mut decoder);
    let ended = decoder.is_empty();
    match parse(datagram) {
        Outcome::Answer(query) => {
            let (questions, mut records) = Message::parse(datagram).unwrap().questions().unwrap();
            assert_eq!((questions.len(), questions[0].name.view()), (1, query.name));
            // Records other than OPT are not read, and may be malformed.
            let readable = records.by_ref().all(|record| record.is_ok());
            let Ok(theirs) = theirs else {
                assert!(
                    !readable
                        || has_records(datagram, u8::from(query.edns.is_some()))
                        || query.edns.is_some_and(|e| !e.options.is_empty())
                );
                return;
            };
            assert_eq!(theirs.metadata.id, query.header.id);
            assert_eq!(theirs.queries.len(), 1);
            let question = &theirs.queries[0];
            let labels: Vec<&[u8]> = question.name.iter().collect();
            assert_eq!(labels, query.name.labels().collect::<Vec<_>>());
            assert_eq!(
                (question.query_type.into(), question.query_class.into()),
                (query.rtype.0, query.class.0)
            );
            let edns =
                theirs.edns.as_ref().map(|edns| (edns.max_payload(), edns.flags().dnssec_ok, edns.version()));
            let of_query = query.edns.map(|edns| (edns.payload.max(512), edns.dnssec_ok, edns.version));
            assert_eq!(edns, of_query);
            assert_eq!(query.limit(), usize::from(theirs.edns.map_or(512, |edns| edns.max_payload())));
        }
        outcome => {
            let Ok(theirs) = theirs else { return };
            let is_query = theirs.metadata.message_type == op::MessageType::Query
                && theirs.metadata.op_code == op::OpCode::Query;
            // Stricter than `hickory-proto`: bytes after the message, options that do not fill their record,
            // and pointers in the question's name and to the root as the owner of an OPT record.
            let pointer = datagram.windows(4).any(|bytes| bytes[0] >= 0xc0 && bytes[2..] == [0, 41]);
            let question = Name::parse_first(&datagram[12..]).is_err();
            let strict = !ended || question || pointer || broken_options(datagram);
            let version = theirs.edns.as_ref().map_or(0, |edns| edns.version());
            assert!(
                !is_query || theirs.queries.len() != 1 || version != 0 || strict,
                "{outcome:?} of {theirs:?}"
            );
        }
    }
}

/// True if the header counts records other than `opts` in the additional section.
fn has_records(datagram: &[u8], opts: u8) -> bool {
    datagram[6..12] != [0, 0, 0, 0, 0, opts]
}

/// True if the message ends with an OPT record whose options do not fill it.
fn broken_options(datagram: &[u8]) -> bool {
    let (_, records) = Message::parse(datagram).unwrap().questions().unwrap();
    let mut opts = records.flatten().filter(|record| record.rtype == RecordType::OPT);
    opts.any(|opt| {
        let mut rest = &opt.data[..];
        while rest.len() >= 4 {
            let len = usize::from(u16::from_be_bytes([rest[2], rest[3]]));
            match rest.get(4 + len..) {
                Some(after) => rest = after,
                None => return true,
            }
        }
        !rest.is_empty()
    })
}

/// A query for `a.`, A, with these bytes in place of those at `at`, and `rest` after it.
fn message(at: usize, bytes: &[u8], rest: &[u8]) -> Vec<u8> {
    let mut out = [b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01a\0\0\x01\0\x01", rest].concat();
    out[at..at + bytes.len()].copy_from_slice(bytes);
    out
}

/// An OPT record of 1,232 bytes, of this version and these options.
fn opt(version: u8, options: &[u8]) -> Vec<u8> {
    let head = [b"\0\0\x29\x04\xd0\0".as_slice(), &[version, 0x80, 0, 0, options.len() as u8]].concat();
    [&head[..], options].concat()
}

fn refused(datagram: &[u8]) -> (Rcode, bool) {
    match parse(datagram) {
        Outcome::Refuse(refusal) => {
            assert_eq!(refusal.header.id, 0x1234);
            (refusal.rcode, refusal.edns)
        }
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn gives_the_parts_of_a_query() {
    let options = b"\0\x0a\0\x08abcdefgh";
    let datagram = message(11, &[1], &opt(0, options));
    let header = Header { id: 0x1234, flags: Flags::RECURSION_DESIRED };
    let edns = Edns { payload: 1232, dnssec_ok: true, options, ..Edns::default() };
    let (name, rtype, class) = (Name::parse(b"\x01a\0").unwrap(), RecordType::A, Class::IN);
    let query = Query { header, name, rtype, class, edns: Some(edns), is_signed: false };
    assert_eq!((parse(&datagram), query.limit()), (Outcome::Answer(query), 1232));
    let plain = Query { edns: None, ..query };
    assert_eq!((parse(&message(0, &[], &[])), plain.limit()), (Outcome::Answer(plain), 512));
    let small = Query { edns: Some(Edns { payload: 100, ..edns }), ..query };
    assert_eq!(small.limit(), 512);
}

#[test]
fn drops_responses_and_what_is_shorter_than_a_header() {
    let datagram = message(0, &[], &[]);
    for len in 0..12 {
        assert_eq!(parse(&datagram[..len]), Outcome::Drop(DropReason::TooShort));
    }
    assert_eq!(parse(&message(2, &[0x81], &[])), Outcome::Drop(DropReason::Response));
}

#[test]
fn refuses_other_opcodes_whatever_follows() {
    for opcode in 1..16 {
        let flags = Flags(0).with_opcode(Opcode(opcode)).0.to_be_bytes();
        assert_eq!(refused(&message(2, &flags, &[])), (Rcode::NOT_IMPLEMENTED, false));
        assert_eq!(refused(&message(2, &flags, &[])[..12]), (Rcode::NOT_IMPLEMENTED, false));
    }
}

#[test]
fn refuses_no_question_and_two() {
    for questions in [0, 2] {
        assert_eq!(refused(&message(5, &[questions], b"\x01a\0\0\x01\0\x01")), (Rcode::FORMAT_ERROR, false));
    }
    assert_eq!(refused(&message(5, &[0], &[])[..12]), (Rcode::FORMAT_ERROR, false));
}

#[test]
fn refuses_a_query_that_ends_early_or_late() {
    let datagram = message(11, &[1], &opt(0, b""));
    for len in 12..datagram.len() {
        assert_eq!(refused(&datagram[..len]), (Rcode::FORMAT_ERROR, false), "{len}");
    }
    assert_eq!(refused(&message(11, &[1], &[&opt(0, b"")[..], &[0]].concat())), (Rcode::FORMAT_ERROR, true));
}

#[test]
fn refuses_a_question_whose_name_is_none_or_has_a_pointer() {
    for name in [[0xc0, 0x00, 0], [0x40, b'a', 0], [0x02, b'a', 0]] {
        assert_eq!(refused(&message(12, &name, &[])), (Rcode::FORMAT_ERROR, false));
    }
}

#[test]
fn refuses_an_opt_record_that_breaks_a_rule() {
    let one = |bytes: &[u8]| refused(&message(11, &[1], bytes));
    assert_eq!(one(&opt(1, b"")), (Rcode::BAD_VERSION, true));
    // The options of another version may have another form.
    assert_eq!(one(&opt(1, b"\0")), (Rcode::BAD_VERSION, true));
    assert_eq!(one(&opt(0, b"\0")), (Rcode::FORMAT_ERROR, true));
    assert_eq!(one(&opt(0, b"\0\x0a\0\x08abcdefg")), (Rcode::FORMAT_ERROR, true));
    let named = [b"\xc0\x0c", &opt(0, b"")[1..]].concat();
    assert_eq!(one(&named), (Rcode::FORMAT_ERROR, false));
    let two = message(11, &[2], &[opt(0, b""), opt(0, b"")].concat());
    assert_eq!(refused(&two), (Rcode::FORMAT_ERROR, true));
    for section in [7, 9] {
        assert_eq!(refused(&message(section, &[1], &opt(0, b""))), (Rcode::FORMAT_ERROR, false));
    }
}

#[test]
fn walks_over_records_to_the_opt_record() {
    // An IXFR has an SOA record in its authority section (RFC 1995 §3), and a TSIG record comes last.
    let soa = b"\xc0\x0c\0\x06\0\x01\0\0\0\0\0\x16\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let other = b"\x01k\0\0\xfa\0\xff\0\0\0\0\0\x01x";
    let datagram = message(9, &[1, 0, 2], &[&soa[..], &opt(0, b""), other].concat());
    let Outcome::Answer(query) = parse(&datagram) else { panic!("{:?}", parse(&datagram)) };
    assert_eq!(query.edns.unwrap().payload, 1232);
}

#[test]
fn a_full_batch_takes_no_datagram_and_a_new_one_forgets_the_last() {
    let datagram = message(0, &[], &[]);
    let (mut hash, mut suffixes) = (Hash::new(&Key::VECTOR), Suffixes::new());
    let mut batch = Batch::new(&mut suffixes);
    assert!((0..BATCH).all(|index| batch.push(index, &datagram)) && !batch.push(BATCH, &datagram));
    Decode.run(&mut batch);
    hash.run(&mut batch);
    hash.run(&mut batch);
    assert!((0..BATCH).all(|number| batch.suffixes(number).len() == 2) && batch.suffixes(BATCH).is_empty());
    let batch = Batch::new(&mut suffixes);
    assert!(batch.outcomes().is_empty() && batch.suffixes(0).is_empty());
}

#[test]
fn a_truncated_response_keeps_its_question_and_its_opt_record() {
    // A question for `www.sub.example`, type A, and the records.
    let message = |counts: [u8; 4], records: &[u8]| {
        let [a, b, c, d] = counts;
        let header = [0, 1, 0x84, 0, 0, a, 0, b, 0, c, 0, d];
        [&header[..], b"\x03www\x03sub\x07example\0\0\x01\0\x01", records].concat()
    };
    let a = b"\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x01";
    let opt = b"\0\0\x29\x04\xd0\0\0\x80\0\0\x06\0\x0a\0\x02ab";
    let cut = |opt: &[u8]| {
        let mut cut = message([1, 0, 0, u8::from(!opt.is_empty())], opt);
        cut[2] |= 0x02;
        cut
    };
    // Wherever the OPT record stands in its section.
    let record = [b"\xc0\x10", &a[..]].concat();
    for additional in [[&record[..], opt].concat(), [&opt[..], &record].concat()] {
        let mut whole = message([1, 1, 0, 2], &[b"\xc0\x0c", &a[..], &additional].concat());
        let len = truncate(&mut whole).unwrap();
        assert_eq!(whole[..len], cut(opt));
    }
    let mut plain = message([1, 1, 0, 0], &[b"\xc0\x0c", &a[..]].concat());
    let len = truncate(&mut plain).unwrap();
    assert_eq!(plain[..len], cut(&[]));
    let mut header = [0, 1, 0x84, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!((truncate(&mut header), header[2]), (Some(12), 0x86));
    // Malformed: a record that is cut off, one that is missing, a second OPT record.
    for (counts, records) in
        [([1, 1, 0, 0], &a[..9]), ([1, 0, 0, 1], &b""[..]), ([1, 0, 0, 2], &opt.repeat(2))]
    {
        let mut bad = message(counts, records);
        let before = bad.clone();
        assert_eq!((truncate(&mut bad), bad), (None, before));
    }
}
