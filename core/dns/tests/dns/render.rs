//! Messages read back as written, and none is longer than with a naive search for the longest suffix.

use hashlane_dns::render::{
    CompressedName, Compressor, Edns, Framing, Mark, Message, Options, POINTER_LIMIT, RenderError, Renderer,
    SuffixTable, Writer,
};
use hashlane_dns::wire::{self, Class, Flags, Header, Rdata, Record, RecordType, Section};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Case, Name, NameBuf};
use proptest::prelude::*;

/// Searches the whole message for the longest suffix, byte by byte: slow, and obviously right.
#[derive(Default)]
struct Naive {
    case: Case,
    /// Offsets of all labels written that a pointer may lead to.
    labels: Vec<usize>,
}

impl Compressor for Naive {
    fn start(&mut self, case: Case) {
        *self = Self { case, labels: Vec::new() };
    }

    fn place(&mut self, written: &[u8], name: Name<'_>) -> CompressedName {
        let bytes = name.as_bytes();
        let mut starts = Vec::new();
        let mut labels = name.labels();
        let mut found = None;
        while labels.rest().len() > 1 && found.is_none() {
            let same = |at: &&usize| {
                let (there, _) = hashlane_name::dns::message::read(written, **at).unwrap();
                self.case.eq(there.as_bytes(), labels.rest())
            };
            match self.labels.iter().find(same) {
                Some(at) => found = Some(*at as u16),
                None => {
                    starts.push(bytes.len() - labels.rest().len());
                    labels.next();
                }
            }
        }
        let starts = starts.into_iter().map(|start| written.len() + start).filter(|at| *at < POINTER_LIMIT);
        self.labels.extend(starts);
        let literal = if found.is_some() { bytes.len() - labels.rest().len() } else { bytes.len() };
        CompressedName::new(literal, found)
    }

    fn truncate(&mut self, len: usize) {
        self.labels.retain(|at| *at < len);
    }
}

fn names(all: &[&str]) -> Vec<NameBuf> {
    all.iter().map(|name| name.parse().unwrap()).collect()
}

/// Renders names after a header's worth of bytes.
fn write<C: Compressor>(compressor: &mut C, names: &[NameBuf], case: Case) -> Vec<u8> {
    write_behind(12, compressor, names, case)
}

/// Renders names from offset `start` on.
fn write_behind<C: Compressor>(start: usize, compressor: &mut C, names: &[NameBuf], case: Case) -> Vec<u8> {
    let mut buffer = vec![0; start + 256 * names.len()];
    let mut writer = Writer::new(&mut buffer, 0, compressor, case);
    writer.bytes(&vec![0; start]).unwrap();
    for name in names {
        writer.name(name.view()).unwrap();
    }
    writer.finish().to_vec()
}

fn read_names(message: &[u8]) -> Vec<NameBuf> {
    read_names_behind(12, message)
}

fn read_names_behind(start: usize, message: &[u8]) -> Vec<NameBuf> {
    let mut at = start;
    let mut names = Vec::new();
    while at < message.len() {
        let (name, end) = hashlane_name::dns::message::read(message, at).unwrap();
        names.push(name);
        at = end;
    }
    names
}

fn same_names(a: &[NameBuf], b: &[NameBuf], case: Case) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| case.eq(a.as_bytes(), b.as_bytes()))
}

/// The source's positive response.
fn positive() -> Vec<NameBuf> {
    let mut all = vec!["www.example.com".to_owned()];
    let server = |letter: char| format!("{letter}.gtld-servers.net");
    for letter in 'a'..='l' {
        all.extend(["com".to_owned(), server(letter)]);
    }
    all.extend(["com".to_owned(), "com".to_owned()]);
    all.extend("aabbcdefghijklm".chars().map(server));
    all.iter().map(|name| name.parse().unwrap()).collect()
}

#[test]
fn messages_of_the_source_have_their_known_sizes() {
    let nxdomain = names(&["www.example.com", "example.com", "ns.example.com", "root.example.com"]);
    let servfail = names(&["www.example.com"]);
    for (names, size) in [(positive(), 153), (nxdomain, 43), (servfail, 29)] {
        let all = [
            write(&mut SuffixTable::new(&Key::VECTOR), &names, Case::Ignored),
            write(&mut Naive::default(), &names, Case::Ignored),
        ];
        for message in &all {
            assert_eq!(message.len(), size);
            assert!(same_names(&read_names(message), &names, Case::Ignored));
        }
    }
    assert_eq!(positive().len(), 42);
}

#[test]
fn many_names_are_compressed_as_by_a_naive_search() {
    let names: Vec<NameBuf> =
        (0..2000).map(|number| format!("host{number}.zone{}.example", number % 7).parse().unwrap()).collect();
    let message = write(&mut SuffixTable::new(&Key::VECTOR), &names, Case::Ignored);
    assert!(same_names(&read_names(&message), &names, Case::Ignored));
    assert_eq!(message.len(), write(&mut Naive::default(), &names, Case::Ignored).len());
}

#[test]
fn names_that_share_nothing_are_found_when_others_share_them() {
    let apart = |number: usize| format!("host{number}.zone{number}.t{number}");
    for shared in ["t3", "zone3.t3", "host3.zone3.t3", "new.t3", "new.zone30.t3", "new.host3.zone3.t3", "T17"]
    {
        // The first name, one that was remembered with its parent, or one that was found to share nothing.
        for which in ["3", "0", "12"] {
            let mut all: Vec<String> = (0..20).map(apart).collect();
            all.extend([shared.replace('3', which), shared.replace('3', which)]);
            all.extend((20..40).map(apart).chain([shared.replace('3', "25")]));
            let names: Vec<NameBuf> = all.iter().map(|name| name.parse().unwrap()).collect();
            let message = write(&mut SuffixTable::new(&Key::VECTOR), &names, Case::Ignored);
            assert!(same_names(&read_names(&message), &names, Case::Ignored), "{shared} {which}");
            assert_eq!(message.len(), write(&mut Naive::default(), &names, Case::Ignored).len());
        }
    }
}

#[test]
fn names_share_the_first_as_far_as_pointers_reach() {
    let all = names(&[
        "a.bc.example.com",
        "com",
        "x",
        "x.com",
        "EXAMPLE.com",
        "x.example.com",
        "x.a.bc.example.com",
        "bc.example.com",
        "c.example.com",
        "a.bc.example.com",
    ]);
    for start in (12..40).chain(POINTER_LIMIT - 40..POINTER_LIMIT + 2) {
        for order in 0..all.len() {
            let mut names = all.clone();
            names[1..].rotate_left(order);
            let mut table = SuffixTable::new(&Key::VECTOR);
            let message = write_behind(start, &mut table, &names, Case::Ignored);
            assert!(same_names(&read_names_behind(start, &message), &names, Case::Ignored), "{start}");
            let naive = write_behind(start, &mut Naive::default(), &names, Case::Ignored);
            assert_eq!(message.len(), naive.len(), "{start} {order}");
        }
    }
}

#[test]
fn a_table_serves_message_after_message() {
    let mut table = SuffixTable::new(&Key::VECTOR);
    let memory = table.memory();
    // More than its numbers of messages go round.
    for number in 0..600 {
        let names = names(&[&format!("a{number}.example"), &format!("b{}.example", number / 2), "example"]);
        let message = write(&mut table, &names, Case::Ignored);
        assert!(same_names(&read_names(&message), &names, Case::Ignored));
        assert_eq!(message.len(), write(&mut Naive::default(), &names, Case::Ignored).len());
    }
    assert_eq!(table.memory(), memory);
    let many: Vec<NameBuf> = (0..4000).map(|number| format!("h{number}").parse().unwrap()).collect();
    write(&mut table, &many, Case::Ignored);
    assert!(table.memory() > 64 << 10 && table.memory() < 192 << 10);
    // After enough ordinary messages the memory is given back.
    for _ in 0..70 {
        write(&mut table, &positive(), Case::Ignored);
    }
    assert!(table.memory() < memory + (6 << 10), "{}", table.memory());
}

#[test]
fn large_messages_that_alternate_with_small_ones_do_not_cost_memory_each_time() {
    let many: Vec<NameBuf> = (0..4000).map(|number| format!("h{number}").parse().unwrap()).collect();
    let mut renderer = Renderer::new(&Key::VECTOR);
    let least = renderer.compressor().memory();
    let (mut reallocated, mut before) = (0, (0, 0));
    for number in 0..256 {
        let (names, options) = match number % 2 {
            0 => (&many[..], Options::stream()),
            _ => (&many[..1], Options::default()),
        };
        let mut message = renderer.start(Header::response(1), options);
        for name in names {
            message.question(name.view(), RecordType::A, Class::IN).unwrap();
        }
        message.finish();
        let memory = (renderer.buffer(), renderer.compressor().memory());
        reallocated += usize::from(memory != before);
        before = memory;
    }
    // By the first message.
    assert_eq!(reallocated, 1);
    for _ in 0..70 {
        renderer.start(Header::response(1), Options::default()).finish();
    }
    assert!(renderer.buffer() <= 16 << 10 && renderer.compressor().memory() < least + (6 << 10));
}

/// Renders 400 records after attempts that are rolled back, each with 24 names that no other attempt has.
fn after_rollbacks<C: Compressor>(renderer: &mut Renderer<C>, attempts: usize) -> Vec<u8> {
    let mut message = renderer.start(Header::response(1), Options { limit: 65_535, ..Options::default() });
    message.question(names(&["example"])[0].view(), RecordType::A, Class::IN).unwrap();
    let add = |message: &mut Message<'_, C>, text: &str| {
        let (name, data) = (names(&[text])[0], Rdata::opaque(&[192, 0, 2, 1]));
        message.record(Section::Answer, name.view(), RecordType::A, Class::IN, 60, &data).unwrap();
    };
    for attempt in 0..attempts {
        let mark = message.mark();
        (0..24).for_each(|name| add(&mut message, &format!("a{name}.b{name}.t{attempt}.example")));
        message.rollback(mark).unwrap();
    }
    (0..400).for_each(|name| add(&mut message, &format!("h.z{}.example", name % 200)));
    message.finish().to_vec()
}

#[test]
fn rollbacks_leave_the_table_as_it_was() {
    let shortest = after_rollbacks(&mut Renderer::with(Naive::default()), 0);
    let mut renderer = Renderer::new(&Key::VECTOR);
    let memory = |renderer: &mut Renderer, attempts| {
        assert_eq!(after_rollbacks(renderer, attempts).len(), shortest.len());
        renderer.compressor().memory()
    };
    let without = memory(&mut renderer.clone(), 0);
    assert_eq!(memory(&mut renderer, 400), without);
}

#[test]
fn keeps_spelling_and_optionally_compares_case() {
    let spelled = names(&["Example.COM", "www.example.com", "WWW.EXAMPLE.com"]);
    for (case, size) in [(Case::Ignored, 12 + 13 + 6 + 2), (Case::Sensitive, 12 + 13 + 17 + 4 + 8 + 2)] {
        let mut table = SuffixTable::new(&Key::VECTOR);
        let message = write(&mut table, &spelled, case);
        assert_eq!(message.len(), size, "{case:?}");
        assert!(same_names(&read_names(&message), &spelled, case));
        assert_eq!(&message[12..25], b"\x07Example\x03COM\0");
        assert_eq!(message.len(), write(&mut Naive::default(), &spelled, case).len());
    }
    // Bytes that differ in 0x20 and are no letters are other names.
    let others = names(&["a[.example", "a{.example"]);
    assert_eq!(read_names(&write(&mut SuffixTable::new(&Key::VECTOR), &others, Case::Ignored)), others);
}

#[test]
fn the_root_is_never_pointed_to() {
    let names = names(&[".", ".", "com", "."]);
    let message = write(&mut SuffixTable::new(&Key::VECTOR), &names, Case::Ignored);
    assert_eq!(&message[12..], b"\0\0\x03com\0\0");
}

/// One edit of a message.
#[derive(Clone, Debug)]
enum Step {
    Record(usize, usize, RecordType),
    Padding(usize),
    /// Data that are a name from its twelfth byte on, as where a record of it was rolled back.
    Echo(usize),
    Mark,
    Rollback,
}

/// Labels of few letters, so that names repeat and differ in case alone, or of any bytes, or long.
fn label() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'A'), Just(b'b'), Just(b'['), Just(b'{')], 1..3),
        1 => proptest::collection::vec(any::<u8>(), 1..6),
        1 => proptest::collection::vec(Just(b'x'), 60..=63),
    ]
}

fn any_name() -> impl Strategy<Value = NameBuf> {
    proptest::collection::vec(label(), 0..6).prop_map(|labels| {
        let mut name = NameBuf::ROOT;
        for label in labels {
            let _ = name.push(&label);
        }
        name
    })
}

fn step() -> impl Strategy<Value = Step> {
    use RecordType as T;
    let rtype = prop_oneof![
        Just(T::A),
        Just(T::NS),
        Just(T::MX),
        Just(T::SOA),
        Just(T::SRV),
        Just(T::MINFO),
        Just(T::PTR)
    ];
    prop_oneof![
        12 => (any::<usize>(), any::<usize>(), rtype).prop_map(|(a, b, rtype)| Step::Record(a, b, rtype)),
        2 => (0..6000_usize).prop_map(Step::Padding),
        2 => any::<usize>().prop_map(Step::Echo),
        2 => Just(Step::Mark),
        2 => Just(Step::Rollback),
    ]
}

/// The data of a record in wire form.
fn data(rtype: RecordType, a: &NameBuf, b: &NameBuf) -> Vec<u8> {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    match rtype {
        RecordType::A => vec![192, 0, 2, 1],
        RecordType::NS | RecordType::PTR => a.to_vec(),
        RecordType::MX => [&[0, 10], a].concat(),
        RecordType::SOA => [a, b, &[7; 20]].concat(),
        RecordType::SRV => [&[0; 6], a].concat(),
        RecordType::MINFO => [a, b].concat(),
        _ => unreachable!("not generated"),
    }
}

/// Renders the steps, and gives the message and the records that went in.
fn render<C: Compressor>(
    renderer: &mut Renderer<C>,
    names: &[NameBuf],
    steps: &[Step],
    options: Options,
) -> (Vec<u8>, Vec<Record>) {
    let mut message: Message<'_, C> = renderer.start(Header::response(7), options);
    let mut records: Vec<Record> = Vec::new();
    message.question(names[0].view(), RecordType::ANY, Class::IN).unwrap();
    let mut marks: Vec<(Mark, usize)> = Vec::new();
    for step in steps {
        let (owner, rtype, bytes) = match step {
            Step::Record(a, b, rtype) => {
                let (a, b) = (&names[a % names.len()], &names[b % names.len()]);
                (*a, *rtype, data(*rtype, b, a))
            }
            Step::Padding(len) => (NameBuf::ROOT, RecordType::NULL, vec![0xc0; *len]),
            Step::Echo(a) => {
                let name = names[a % names.len()].as_bytes();
                (NameBuf::ROOT, RecordType::NULL, name.get(11..).unwrap_or_default().to_vec())
            }
            Step::Mark => {
                marks.push((message.mark(), records.len()));
                continue;
            }
            Step::Rollback => {
                if let Some((mark, count)) = marks.pop() {
                    message.rollback(mark).unwrap();
                    records.truncate(count);
                }
                continue;
            }
        };
        let rdata = Rdata::parse(rtype, &bytes).unwrap();
        match message.record(Section::Answer, owner.view(), rtype, Class::IN, 60, &rdata) {
            Ok(()) => records.push(Record {
                section: Section::Answer,
                owner,
                rtype,
                class: Class::IN,
                ttl: 60,
                data: bytes,
            }),
            Err(error) => assert_eq!(error, RenderError::Full),
        }
    }
    let bytes = message.finish();
    let from = if options.framing == Framing::Stream { 2 } else { 0 };
    if from == 2 {
        assert_eq!(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])), bytes.len() - 2);
    }
    assert!(bytes.len() - from <= options.limit);
    (bytes[from..].to_vec(), records)
}

fn check(message: &[u8], records: &[Record], case: Case) {
    let (questions, mut read) = wire::Message::parse(message).unwrap().questions().unwrap();
    assert_eq!(questions.len(), 1);
    for record in records {
        let there = read.next().unwrap().unwrap();
        assert!(case.eq(there.owner.as_bytes(), record.owner.as_bytes()));
        assert!(case.eq(&there.data, &record.data), "{there:?} {record:?}");
        assert_eq!((there.rtype, there.ttl), (record.rtype, record.ttl));
    }
    assert!(read.next().is_none());
    assert_eq!(read.at(), message.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn every_message_reads_back_and_is_the_shortest(
        names in proptest::collection::vec(any_name(), 1..24),
        steps in proptest::collection::vec(step(), 0..60),
        limit in prop_oneof![Just(65_535), Just(17_000), 512..2000_usize],
        stream: bool,
        sensitive: bool,
        key: [u8; 16],
    ) {
        let framing = if stream { Framing::Stream } else { Framing::Datagram };
        let case = if sensitive { Case::Sensitive } else { Case::Ignored };
        let options = Options { limit, framing, case };
        let (shortest, records) = render(&mut Renderer::with(Naive::default()), &names, &steps, options);
        check(&shortest, &records, case);
        let mut ours = Renderer::new(&Key::new(key));
        for _ in 0..2 {
            let (message, records) = render(&mut ours, &names, &steps, options);
            check(&message, &records, case);
            prop_assert_eq!(message.len(), shortest.len());
        }
    }
}

#[test]
fn a_set_that_does_not_fit_is_left_out_whole_and_said_to_be() {
    let (owner, server) = (names(&["example.com"])[0], names(&["ns.example.net"])[0]);
    let mut renderer = Renderer::new(&Key::VECTOR);
    let options = Options { limit: 80, ..Options::default() };
    let mut message = renderer.start(Header::response(1), options);
    let edns = Edns { payload: 1232, ..Edns::default() };
    message.reserve(edns.len()).unwrap();
    message.question(owner.view(), RecordType::NS, Class::IN).unwrap();
    let set = |count: usize| (0..count).map(|_| Rdata::name(server.view()));
    let add = |message: &mut Message<'_, _>, section, count| {
        message.rrset(section, owner.view(), RecordType::NS, Class::IN, 60, set(count))
    };
    assert_eq!(add(&mut message, Section::Additional, 4), Err(RenderError::Full));
    assert!(!message.header_mut().flags.contains(Flags::TRUNCATED));
    assert_eq!(add(&mut message, Section::Answer, 4), Err(RenderError::Full));
    assert!(message.header_mut().flags.contains(Flags::TRUNCATED));
    assert_eq!((message.len(), message.count(Section::Answer)), (29, 0));
    // A smaller set still fits, next to the reserved bytes.
    assert_eq!(add(&mut message, Section::Answer, 1), Ok(()));
    message.edns(&edns).unwrap();
    let bytes = message.finish();
    assert_eq!(bytes.len(), 29 + 12 + 16 + 11);
    let (_, records) = wire::Message::parse(bytes).unwrap().questions().unwrap();
    let types: Vec<RecordType> = records.map(|record| record.unwrap().rtype).collect();
    assert_eq!(types, [RecordType::NS, RecordType::OPT]);
}

#[test]
fn glue_that_a_referral_cannot_do_without_sets_tc() {
    let (zone, server) = (names(&["example.com"])[0], names(&["ns.example.com"])[0]);
    let addresses = |count: usize| (0..count).map(|_| Rdata::opaque(&[192, 0, 2, 1]));
    for (limit, fits) in [(78, true), (77, false)] {
        let mut renderer = Renderer::new(&Key::VECTOR);
        let options = Options { limit, ..Options::default() };
        let mut message = renderer.start(Header::response(1), options);
        message.question(zone.view(), RecordType::A, Class::IN).unwrap();
        let data = [Rdata::name(server.view())];
        message.rrset(Section::Authority, zone.view(), RecordType::NS, Class::IN, 60, data).unwrap();
        let len = message.len();
        assert_eq!(len, 29 + 12 + 5);
        let added = message.required_glue(server.view(), RecordType::A, Class::IN, 60, addresses(2));
        assert_eq!(added.is_ok(), fits);
        assert_eq!(message.header_mut().flags.contains(Flags::TRUNCATED), !fits);
        assert_eq!(message.count(Section::Additional), if fits { 2 } else { 0 });
        assert_eq!(message.len(), if fits { 78 } else { len });
    }
}

#[test]
fn sections_stand_in_their_order() {
    let name = names(&["example.com"])[0];
    let mut renderer = Renderer::new(&Key::VECTOR);
    let mut message = renderer.start(Header::response(1), Options::default());
    let data = Rdata::opaque(&[192, 0, 2, 1]);
    message.record(Section::Authority, name.view(), RecordType::A, Class::IN, 0, &data).unwrap();
    let error = message.record(Section::Answer, name.view(), RecordType::A, Class::IN, 0, &data).unwrap_err();
    assert_eq!(error, RenderError::SectionOrder { section: Section::Answer, after: Section::Authority });
    assert!(message.question(name.view(), RecordType::A, Class::IN).is_err());
    assert_eq!(message.count(Section::Authority), 1);
}

#[test]
fn a_caller_s_buffer_ends_the_message() {
    let name = names(&["example.com"])[0];
    let mut renderer = Renderer::new(&Key::VECTOR);
    let mut buffer = [0xee; 40];
    let start = renderer.start_in(&mut buffer[..11], Header::response(1), Options::default());
    assert!(matches!(start, Err(RenderError::Full)));
    let mut message = renderer.start_in(&mut buffer[..31], Header::response(1), Options::stream()).unwrap();
    message.question(name.view(), RecordType::A, Class::IN).unwrap();
    assert_eq!(message.question(name.view(), RecordType::A, Class::IN), Err(RenderError::Full));
    assert_eq!(message.finish().len(), 31);
    assert_eq!(buffer[..2], [0, 29]);
    assert_eq!(buffer[31..], [0xee; 9]);
}
