//! A pointer never leads to a name that was rolled back, whatever bytes stand there now.
//!
//! Three readers decode each message: ours, `domain` and `hickory-proto`.

use domain::base::wire::Composer;
use domain::base::{ParsedName, Rtype};
use domain::dep::octseq::{OctetsBuilder, Truncate};
use domain::rdata::AllRecordData;
use hashlane_dns::composer::Compressing;
use hashlane_dns::render::{Compressor, Message, Options, RenderError, Renderer};
use hashlane_dns::wire::{Class, Content, Flags, Header, Question, Rdata, Record, RecordType, Section};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf};
use hickory_proto::op;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::collections::HashSet;
use std::{env, iter};

fn name(text: &str) -> NameBuf {
    text.parse().unwrap()
}

fn record(owner: &str, rtype: RecordType, ttl: u32, data: &[u8]) -> Record {
    let (section, owner, class, data) = (Section::Answer, name(owner), Class::IN, data.to_vec());
    Record { section, owner, rtype, class, ttl, data }
}

fn add<C: Compressor>(message: &mut Message<'_, C>, record: &Record) -> Result<(), RenderError> {
    let Record { section, owner, rtype, class, ttl, data } = record;
    let data = [Rdata::parse(*rtype, data).unwrap()];
    message.rrset(*section, owner.view(), *rtype, *class, *ttl, data)
}

/// Decodes `bytes` with each reader, and compares the result with `content` decoded without compression.
fn check(bytes: &[u8], content: &Content) {
    let plain = content.uncompressed().unwrap();
    let read = Content::parse(bytes).unwrap();
    assert_eq!(read.uncompressed().unwrap(), plain, "our own reader");

    let theirs = |bytes: &[u8]| {
        let message = domain::base::Message::from_octets(bytes.to_vec()).unwrap();
        let questions: Vec<_> = message.question().map(|question| question.unwrap().to_string()).collect();
        let records = message.answer().unwrap();
        let records = records.limit_to::<AllRecordData<_, ParsedName<_>>>().map(|record| {
            let record = record.unwrap();
            (record.owner().to_string(), record.ttl(), record.data().to_string())
        });
        (questions, records.collect::<Vec<_>>())
    };
    assert_eq!(theirs(bytes), theirs(&plain), "domain");

    let theirs = |bytes: &[u8]| {
        let message = op::Message::from_vec(bytes).unwrap();
        let records = message.answers.iter().map(|record| (record.ttl, record.clone())).collect::<Vec<_>>();
        (message.queries, records)
    };
    assert_eq!(theirs(bytes), theirs(&plain), "hickory-proto");
    check_pointers(bytes, content);
}

/// Checks that each pointer of `bytes` leads to a label of a name before it.
fn check_pointers(bytes: &[u8], content: &Content) {
    let mut labels = HashSet::new();
    let mut pass_name = |mut at: usize| {
        loop {
            match bytes[at] {
                0 => return at + 1,
                high @ 0xc0.. => {
                    let target = usize::from(u16::from_be_bytes([high & 0x3f, bytes[at + 1]]));
                    assert!(
                        labels.contains(&target),
                        "the pointer at {at} leads to {target}, which is no name"
                    );
                    return at + 2;
                }
                len => {
                    labels.insert(at);
                    at += 1 + usize::from(len);
                }
            }
        }
    };
    let mut at = 12;
    for _ in &content.questions {
        at = pass_name(at) + 4;
    }
    for record in &content.records {
        at = pass_name(at) + 10;
        let end = at + usize::from(u16::from_be_bytes([bytes[at - 2], bytes[at - 1]]));
        if let Some(layout) = record.rtype.layout().filter(|_| record.rtype.compresses()) {
            (0..layout.names).fold(at + layout.before, |at, _| pass_name(at));
        }
        at = end;
    }
    assert_eq!(at, bytes.len());
}

fn content(question: &str, flags: Flags, records: Vec<Record>) -> Content {
    let question = Question { name: name(question), rtype: RecordType::A, class: Class::IN };
    Content { header: Header { flags, ..Header::response(1) }, questions: vec![question], records }
}

#[test]
fn data_that_spell_a_name_rolled_back_are_no_name() {
    let mut renderer = Renderer::new(&Key::VECTOR);
    let mut message = renderer.start(Header::response(1), Options::default());
    message.question(name("q").view(), RecordType::A, Class::IN).unwrap();
    let long = record("aaaaaaaaaa.foo", RecordType::NULL, 60, &[0; 600]);
    assert_eq!(add(&mut message, &long), Err(RenderError::Full));
    // The data begin at 30, where the label foo stood; as character strings they are foo and 192 bytes of 5.
    let text = record(".", RecordType::TXT, 60, &[&b"\x03foo\xc0"[..], &[5; 192]].concat());
    let address = record("foo", RecordType::A, 60, &[192, 0, 2, 1]);
    add(&mut message, &text).unwrap();
    add(&mut message, &address).unwrap();
    let flags = message.header_mut().flags;
    let bytes = message.finish();
    assert_eq!(bytes[12 + 7 + 11 + 197..][..5], *b"\x03foo\0");
    check(bytes, &content("q", flags, vec![text, address]));
}

#[test]
fn a_ttl_that_spells_a_name_rolled_back_is_no_name() {
    let mut renderer = Renderer::new(&Key::VECTOR);
    let mut message = renderer.start(Header::response(1), Options::default());
    message.question(name("q").view(), RecordType::A, Class::IN).unwrap();
    let mark = message.mark();
    add(&mut message, &record("abcd.com", RecordType::A, 60, &[192, 0, 2, 1])).unwrap();
    message.rollback(mark).unwrap();
    // The TTL begins where the label com stood, and the length after it is 0 until the data are written.
    let labels = [&[63; 64][..], &[63; 64], &[63; 64], &[50; 51]].concat();
    let data = [&b"\x03com\0"[..], &labels, &[0; 21]].concat();
    let soa = record(".", RecordType::SOA, 0x0363_6f6d, &data);
    add(&mut message, &soa).unwrap();
    let flags = message.header_mut().flags;
    check(message.finish(), &content("q", flags, vec![soa]));
}

#[test]
fn a_mark_of_another_message_or_of_a_part_rolled_back_is_refused() {
    let (mut renderer, mut buffer) = (Renderer::new(&Key::VECTOR), [0; 512]);
    let start = |message: &mut Message<'_, _>| {
        message.question(name("q").view(), RecordType::A, Class::IN).unwrap();
        message.mark()
    };
    let address = |owner| record(owner, RecordType::A, 60, &[192, 0, 2, 1]);
    // Two renderers, the same buffer, the first message of both.
    let mut others = Vec::new();
    for mut renderer in [renderer.clone(), Renderer::new(&Key::VECTOR)] {
        others.push(start(
            &mut renderer.start_in(&mut buffer, Header::response(1), Options::default()).unwrap(),
        ));
    }
    others.push(start(&mut renderer.start(Header::response(1), Options::default())));
    let mut message = renderer.start(Header::response(1), Options::default());
    let early = start(&mut message);
    add(&mut message, &address("a.foo")).unwrap();
    for other in others {
        assert_eq!(message.rollback(other), Err(RenderError::Mark));
    }
    let late = message.mark();
    add(&mut message, &address("b.foo")).unwrap();
    let ahead = message.mark();
    message.rollback(late).unwrap();
    assert_eq!(message.rollback(ahead), Err(RenderError::Mark));
    message.rollback(late).unwrap();
    message.rollback(early).unwrap();
    message.rollback(early).unwrap();
    // Long enough that both marks would lie within it.
    let kept = [address("a-longer-name-than-both.example"), address("foo")];
    kept.iter().for_each(|record| add(&mut message, record).unwrap());
    for mark in [late, ahead] {
        assert_eq!(message.rollback(mark), Err(RenderError::Mark));
    }
    let last = message.mark();
    add(&mut message, &address("c.foo")).unwrap();
    message.rollback(last).unwrap();
    assert_eq!(message.count(Section::Answer), 2);
    check(message.finish(), &content("q", Header::response(1).flags, kept.to_vec()));
}

#[test]
fn a_name_cut_from_a_target_is_no_name() {
    let append = |target: &mut Compressing<Vec<u8>>, text: &str| {
        let name: domain::base::Name<Vec<u8>> = text.parse().unwrap();
        target.append_compressed_name(&name).unwrap();
    };
    let mut target = Compressing::new(Vec::new(), &Key::VECTOR);
    target.append_slice(&[0; 12]).unwrap();
    append(&mut target, "q");
    append(&mut target, "abcd.com");
    target.truncate(15);
    target.append_slice(b"12345\x03com\0").unwrap();
    append(&mut target, "abcd.com");
    assert_eq!(target.as_ref()[15..], *b"12345\x03com\0\x04abcd\x03com\0");
    // A part of the last name remains, which is not a name.
    target.truncate(33);
    append(&mut target, "com");
    assert_eq!(target.as_ref()[33..], *b"\x03com\0");
}

#[test]
fn no_pointer_leads_into_the_header() {
    let mut target = Compressing::new(Vec::new(), &Key::VECTOR);
    let name = domain::base::Name::from_octets(b"\x03foo\0").unwrap();
    for _ in 0..4 {
        target.append_compressed_name(&name).unwrap();
    }
    // They stand at 0, 5, 10 and 15.
    target.append_compressed_name(&name).unwrap();
    assert_eq!(target.as_ref()[5..], *b"\x03foo\0\x03foo\0\x03foo\0\xc0\x0f");
}

/// One edit of a message.
#[derive(Clone, Debug)]
enum Step {
    /// A record with names.
    Names(Index, Index, RecordType, u32),
    /// A record of the root with names; its TTL is the bytes of an earlier record of the first name.
    EchoTtl(Index, Index, RecordType),
    /// A record of the root; its data are the bytes of an earlier record of the name, some bytes fewer, then
    /// a pointer.
    EchoData(Index, usize, u16),
    /// A record of the root whose data are ends of names.
    Fragments(Vec<(Index, usize)>),
    Mark,
    Rollback,
}

/// Few labels, of lengths that let one follow another at many offsets.
fn any_name() -> impl Strategy<Value = NameBuf> {
    let label = select(vec!["a", "b", "aaaaaaaaaa", "foo", "com", "abcd"]);
    vec(label, 1..5).prop_map(|labels| name(&labels.join(".")))
}

/// Steps that belong together.
fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    use RecordType as T;
    let with_names = || {
        let rtype = select(vec![T::NS, T::MX, T::SOA, T::PTR, T::A, T::CNAME]);
        (any::<Index>(), any::<Index>(), rtype, 0..0x8000_0000_u32)
            .prop_map(|(a, b, rtype, ttl)| Step::Names(a, b, rtype, ttl))
    };
    let rolled_back =
        |a, echo, after| vec![Step::Mark, Step::Names(a, a, T::NS, 0), Step::Rollback, echo, after];
    let fragments = vec((any::<Index>(), 0..16_usize), 0..6).prop_map(Step::Fragments);
    let cut = prop_oneof![3 => Just(0), 1 => 0..16_usize];
    let echo_data = (any::<Index>(), cut, 0..40_u16, with_names())
        .prop_map(move |(a, cut, to, after)| rolled_back(a, Step::EchoData(a, cut, to), after));
    let echo_ttl = (any::<Index>(), any::<Index>(), select(vec![T::NS, T::SOA]), with_names())
        .prop_map(move |(a, b, rtype, after)| rolled_back(a, Step::EchoTtl(a, b, rtype), after));
    prop_oneof![
        8 => with_names().prop_map(|step| vec![step]),
        3 => echo_data,
        3 => echo_ttl,
        2 => fragments.prop_map(|step| vec![step]),
        3 => Just(vec![Step::Mark]),
        3 => Just(vec![Step::Rollback]),
    ]
}

/// The record that a step adds.
fn added(step: &Step, names: &[NameBuf]) -> Option<Record> {
    let tail = |name: &Index, cut: usize| {
        let bytes = name.get(names).as_bytes();
        bytes.get(cut..).unwrap_or_default().to_vec()
    };
    let (owner, rtype, ttl, data) = match step {
        Step::Names(a, b, rtype, ttl) => {
            let (a, b) = (a.get(names), b.get(names));
            let data = match *rtype {
                RecordType::A => vec![192, 0, 2, 1],
                RecordType::MX => [&[0, 10], b.as_bytes()].concat(),
                RecordType::SOA => [b.as_bytes(), a.as_bytes(), &[7; 20]].concat(),
                _ => b.as_bytes().to_vec(),
            };
            (*a, *rtype, *ttl, data)
        }
        Step::EchoTtl(a, b, rtype) => {
            let (a, b) = (a.get(names).as_bytes(), b.get(names).as_bytes());
            // After the root's byte, type and class.
            let ttl = a.get(5..9).map_or(0, |ttl| u32::from_be_bytes(ttl.try_into().unwrap()));
            let data = if *rtype == RecordType::SOA { [a, b, &[7; 20]].concat() } else { a.to_vec() };
            (NameBuf::ROOT, *rtype, ttl, data)
        }
        Step::EchoData(name, cut, to) => {
            // After the root's byte, type, class, TTL and length.
            let mut data = tail(name, 11);
            data.truncate(data.len().saturating_sub(*cut));
            data.extend((0xc000 | to).to_be_bytes());
            (NameBuf::ROOT, RecordType::NULL, 0, data)
        }
        Step::Fragments(all) => {
            // Never without data: `hickory-proto` takes such records for an update.
            let data = iter::once(3).chain(all.iter().flat_map(|(name, cut)| tail(name, *cut))).collect();
            (NameBuf::ROOT, RecordType::NULL, 0x0363_6f6d, data)
        }
        Step::Mark | Step::Rollback => return None,
    };
    Some(Record { section: Section::Answer, owner, rtype, class: Class::IN, ttl, data })
}

/// Renders the steps; gives the message and the records that stay.
fn render(renderer: &mut Renderer, names: &[NameBuf], steps: &[Step], limit: usize) -> (Vec<u8>, Content) {
    let mut message = renderer.start(Header::response(1), Options { limit, ..Options::default() });
    message.question(names[0].view(), RecordType::A, Class::IN).unwrap();
    let (mut records, mut marks) = (Vec::new(), Vec::new());
    for step in steps {
        match step {
            Step::Mark => marks.push((message.mark(), records.len())),
            Step::Rollback => {
                if let Some((mark, count)) = marks.pop() {
                    message.rollback(mark).unwrap();
                    records.truncate(count);
                }
            }
            _ => {
                let record = added(step, names).unwrap();
                if add(&mut message, &record).is_ok() {
                    records.push(record);
                }
            }
        }
    }
    let header = *message.header_mut();
    let question = Question { name: names[0], rtype: RecordType::A, class: Class::IN };
    (message.finish().to_vec(), Content { header, questions: vec![question], records })
}

/// The same by a target of the crate `domain`, which knows no limit.
fn compose(names: &[NameBuf], steps: &[Step]) -> Vec<u8> {
    let mut target = Compressing::new(Vec::new(), &Key::VECTOR);
    let append = |target: &mut Compressing<Vec<u8>>, name: Name<'_>| {
        let name = domain::base::Name::from_octets(name.as_bytes()).unwrap();
        target.append_compressed_name(&name).unwrap();
    };
    target.append_slice(&Header::response(1).to_bytes()).unwrap();
    target.append_slice(&[0; 8]).unwrap();
    append(&mut target, names[0].view());
    target.append_slice(&[0, 1, 0, 1]).unwrap();
    let (mut count, mut marks) = (0_u16, Vec::new());
    for step in steps {
        match step {
            Step::Mark => marks.push((target.as_ref().len(), count)),
            Step::Rollback => {
                if let Some((len, kept)) = marks.pop() {
                    target.truncate(len);
                    count = kept;
                }
            }
            _ => {
                let Record { owner, rtype, ttl, data, .. } = added(step, names).unwrap();
                let rdata = Rdata::parse(rtype, &data).unwrap();
                append(&mut target, owner.view());
                Rtype::from_int(rtype.0).compose(&mut target).unwrap();
                target.append_slice(&[0, 1]).unwrap();
                target.append_slice(&ttl.to_be_bytes()).unwrap();
                let at = target.as_ref().len();
                target.append_slice(&[0; 2]).unwrap();
                target.append_slice(rdata.before).unwrap();
                rdata.names.iter().flatten().for_each(|name| append(&mut target, *name));
                target.append_slice(rdata.after).unwrap();
                let len = (target.as_ref().len() - at - 2) as u16;
                target.as_mut()[at..at + 2].copy_from_slice(&len.to_be_bytes());
                count += 1;
            }
        }
    }
    let mut bytes = target.into_target();
    bytes[5] = 1;
    bytes[6..8].copy_from_slice(&count.to_be_bytes());
    bytes
}

/// One thing that is done to a target.
#[derive(Clone, Debug)]
enum Edit {
    Name(Box<NameBuf>),
    Bytes(Vec<u8>),
    /// Cuts this many bytes off, at most to the header.
    Cut(usize),
}

fn any_edit() -> impl Strategy<Value = Edit> {
    let bytes = (any_name(), 0..20_usize)
        .prop_map(|(name, from)| Edit::Bytes(name.as_bytes().get(from..).unwrap_or_default().to_vec()));
    let name = any_name().prop_map(|name| Edit::Name(Box::new(name)));
    prop_oneof![6 => name, 2 => bytes, 4 => (0..30_usize).prop_map(Edit::Cut)]
}

/// 512 cases, or as many as `PROPTEST_CASES` says: `cargo xtask nightly` asks for a million.
fn cases() -> ProptestConfig {
    match env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(512),
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_target_cut_anywhere_points_to_whole_names_alone(edits in vec(any_edit(), 0..60)) {
        let mut target = Compressing::new(Vec::new(), &Key::VECTOR);
        target.append_slice(&[0; 12]).unwrap();
        // Names that are there: where they begin and end.
        let mut names: Vec<(usize, usize)> = Vec::new();
        for edit in edits {
            let len = target.as_ref().len();
            match edit {
                Edit::Bytes(bytes) => target.append_slice(&bytes).unwrap(),
                Edit::Cut(bytes) => {
                    let len = len.saturating_sub(bytes).max(12);
                    target.truncate(len);
                    names.retain(|(_, end)| *end <= len);
                }
                Edit::Name(name) => {
                    let theirs = domain::base::Name::from_octets(name.as_bytes()).unwrap();
                    target.append_compressed_name(&theirs).unwrap();
                    let bytes = target.as_ref();
                    prop_assert_eq!(hashlane_name::dns::message::read(bytes, len), Ok((*name, bytes.len())));
                    if let [.., high @ 0xc0..=0xff, low] = bytes[len..] {
                        let to = usize::from(u16::from_be_bytes([high & 0x3f, low]));
                        let within = |(from, end): &(usize, usize)| (*from..*end).contains(&to);
                        prop_assert!(names.iter().any(within), "{} -> {}", len, to);
                    }
                    names.push((len, bytes.len()));
                }
            }
        }
    }

    #[test]
    fn no_message_points_to_what_was_rolled_back(
        names in vec(any_name(), 2..6),
        steps in vec(any_steps(), 0..20),
        limit in prop_oneof![Just(65_535), 80..600_usize],
    ) {
        let steps = steps.concat();
        let mut renderer = Renderer::new(&Key::VECTOR);
        // Twice, as the second message meets the leftovers of the first.
        for limit in [limit, 65_535] {
            let (bytes, content) = render(&mut renderer, &names, &steps, limit);
            check(&bytes, &content);
            if limit == 65_535 {
                prop_assert_eq!(bytes, compose(&names, &steps));
            }
        }
    }
}
