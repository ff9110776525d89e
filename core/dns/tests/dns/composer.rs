//! Messages built with `domain` into our target equal our renderer's, and read back as written.

use domain::base::iana::Class as DomainClass;
use domain::base::message_builder::{AdditionalBuilder, PushError};
use domain::base::name::{Label, ToLabelIter, ToName};
use domain::base::rdata::{ComposeRecordData, RecordData};
use domain::base::wire::Composer;
use domain::base::{
    Message, MessageBuilder, Name, ParsedName, RelativeName, Rtype, Serial, StreamTarget, Ttl,
};
use domain::dep::octseq::{FreezeBuilder, OctetsBuilder, ShortBuf, Truncate};
use domain::rdata::{A, AllRecordData, Cname, Mx, Ns, Ptr, Soa, Srv, Txt};
use hashlane_dns::composer::{Compressed, Compressing};
use hashlane_dns::render::{CompressedName, Compressor, Edns, Options, Renderer};
use hashlane_dns::wire::{self, Class, Header, Rdata, RecordType, Section};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::Case;
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::RefCell;
use std::iter::Copied;
use std::rc::Rc;
use std::slice;

type Owner = Name<Vec<u8>>;
type Data = AllRecordData<Vec<u8>, Owner>;

const TTL: u32 = 3600;

/// The content of a message.
#[derive(Clone, Debug, Default)]
struct Content {
    questions: Vec<Owner>,
    /// Answers, authorities, additional ones.
    records: [Vec<(Owner, Data)>; 3],
}

/// A buffer of limited length.
#[derive(Clone, Debug)]
struct Limited(Vec<u8>, usize);

impl AsRef<[u8]> for Limited {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl AsMut<[u8]> for Limited {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl OctetsBuilder for Limited {
    type AppendError = ShortBuf;

    fn append_slice(&mut self, slice: &[u8]) -> Result<(), ShortBuf> {
        if self.0.len() + slice.len() > self.1 {
            return Err(ShortBuf);
        }
        self.0.extend_from_slice(slice);
        Ok(())
    }
}

impl Truncate for Limited {
    fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }
}

impl Composer for Limited {}

fn name(text: &str) -> Owner {
    text.parse().unwrap()
}

fn compressing<T>(target: T) -> Compressing<T> {
    Compressing::new(target, &Key::VECTOR)
}

fn message<T: Composer>(target: T) -> MessageBuilder<T> {
    MessageBuilder::from_target(target).map_err(|_| "no room for a header").unwrap()
}

fn stream<T: Composer>(target: T) -> StreamTarget<T> {
    StreamTarget::new(target).map_err(|_| "no room for a prefix").unwrap()
}

/// Builds a message with an OPT record. Returns the records that fit.
fn build<T: Composer>(target: T, content: &Content) -> (T, Content) {
    let mut built = Content::default();
    let mut questions = message(target).question();
    for owner in &content.questions {
        if questions.push((owner, Rtype::A)).is_ok() {
            built.questions.push(owner.clone());
        }
    }
    let mut answer = questions.answer();
    built.records[0] =
        fitting(&content.records[0], |owner, data| answer.push((owner, TTL, Compressed(data))));
    let mut authority = answer.authority();
    built.records[1] =
        fitting(&content.records[1], |owner, data| authority.push((owner, TTL, Compressed(data))));
    let mut additional = authority.additional();
    built.records[2] =
        fitting(&content.records[2], |owner, data| additional.push((owner, TTL, Compressed(data))));
    let _ = opt(&mut additional);
    (additional.finish(), built)
}

fn fitting(
    records: &[(Owner, Data)],
    mut push: impl FnMut(&Owner, &Data) -> Result<(), PushError>,
) -> Vec<(Owner, Data)> {
    records.iter().filter(|(owner, data)| push(owner, data).is_ok()).cloned().collect()
}

fn opt<T: Composer>(additional: &mut AdditionalBuilder<T>) -> Result<(), PushError> {
    additional.opt(|opt| {
        opt.set_udp_payload_size(1232);
        Ok(())
    })
}

/// The same content by our renderer.
fn render(content: &Content, case: Case) -> Vec<u8> {
    let mut renderer = Renderer::new(&Key::VECTOR);
    let mut message = renderer.start(Header::query(0), Options { case, limit: 65_535, ..Options::default() });
    for owner in &content.questions {
        message.question(ours(owner), RecordType::A, Class::IN).unwrap();
    }
    for (section, records) in Section::ALL[1..].iter().zip(&content.records) {
        for (owner, data) in records {
            let (rtype, bytes) = (RecordType(data.rtype().to_int()), bytes(data));
            let rdata = Rdata::parse(rtype, &bytes).unwrap();
            message.record(*section, ours(owner), rtype, Class::IN, TTL, &rdata).unwrap();
        }
    }
    message.edns(&Edns { payload: 1232, ..Edns::default() }).unwrap();
    message.finish().to_vec()
}

fn ours(name: &Owner) -> ::hashlane_name::dns::Name<'_> {
    ::hashlane_name::dns::Name::parse(name.as_slice()).unwrap()
}

fn bytes(data: &Data) -> Vec<u8> {
    let mut bytes = Vec::new();
    data.compose_rdata(&mut bytes).unwrap();
    bytes
}

/// Reads a message with `domain` and with our own reader, and compares it with its content.
fn check(bytes: &[u8], content: &Content) {
    let theirs = Message::from_octets(bytes).unwrap();
    let questions: Vec<_> = theirs.question().map(Result::unwrap).collect();
    assert!(questions.iter().map(|question| question.qname().to_vec()).eq(content.questions.iter().cloned()));
    let sections = [theirs.answer(), theirs.authority(), theirs.additional()].map(Result::unwrap);
    for (section, records) in sections.into_iter().zip(&content.records) {
        let read = section.limit_to::<AllRecordData<_, ParsedName<_>>>().map(Result::unwrap);
        let read: Vec<_> = read.filter(|record| record.rtype() != Rtype::OPT).collect();
        assert_eq!(read.len(), records.len());
        for (record, (owner, data)) in read.iter().zip(records) {
            assert!(record.owner().name_eq(owner), "{} in place of {owner}", record.owner());
            assert_eq!(record.data(), data);
            assert_eq!((record.class(), record.ttl()), (DomainClass::IN, Ttl::from_secs(TTL)));
        }
    }

    let message = wire::Message::parse(bytes).unwrap();
    let (questions, mut records) = message.questions().unwrap();
    assert_eq!(questions.len(), content.questions.len());
    assert!(questions.iter().zip(&content.questions).all(|(a, b)| a.name.view().eq_ignore_case(ours(b))));
    for (section, expected) in Section::ALL[1..].iter().zip(&content.records) {
        for (owner, data) in expected {
            let record = records.next().unwrap().unwrap();
            assert_eq!((record.section, record.rtype.0), (*section, data.rtype().to_int()));
            assert!(record.owner.view().eq_ignore_case(ours(owner)));
            assert!(record.data.eq_ignore_ascii_case(&self::bytes(data)));
        }
    }
    let rest: Vec<_> = records.by_ref().map(|record| record.unwrap().rtype).collect();
    assert!(rest.is_empty() || rest == [RecordType::OPT], "{rest:?}");
    assert_eq!(records.at(), bytes.len());
}

/// Builds the content in every nesting, each with such a target inside, and checks each message.
fn every_nesting(content: &Content, limit: usize) -> [(Vec<u8>, Content); 4] {
    let inner = || Limited(Vec::new(), limit + 2);
    let (alone, built_alone) = build(compressing(Limited(Vec::new(), limit)), content);
    let (inside, built_inside) = build(stream(compressing(inner())), content);
    let (around, built_around) = build(compressing(stream(inner())), content);
    let (between, built_between) =
        build(stream(compressing(stream(Limited(Vec::new(), limit + 4)))), content);

    let prefixed =
        [inside.as_stream_slice(), around.as_target().as_stream_slice(), between.as_stream_slice()];
    for bytes in prefixed {
        assert_eq!(bytes[..2], u16::try_from(bytes.len() - 2).unwrap().to_be_bytes());
    }
    let built = [
        (alone.as_ref().to_vec(), built_alone),
        (inside.as_dgram_slice().to_vec(), built_inside),
        (around.as_ref().to_vec(), built_around),
        (between.as_ref().to_vec(), built_between),
    ];
    for (bytes, content) in &built {
        check(bytes, content);
    }
    built
}

fn sample() -> Content {
    let soa = |server, person| {
        let time = Ttl::from_secs(7200);
        Data::Soa(Soa::new(name(server), name(person), Serial(7), time, time, time, time))
    };
    let address = |last| Data::A(A::from_octets(192, 0, 2, last));
    let answers = vec![
        (name("example.com"), Data::Mx(Mx::new(10, name("mail.Example.com")))),
        (name("EXAMPLE.com"), Data::Mx(Mx::new(20, name("mail.example.net")))),
        (name("www.example.com"), Data::Cname(Cname::new(name("Web.example.net")))),
        (name("web.Example.NET"), address(80)),
        (name("1.2.0.192.in-addr.arpa"), Data::Ptr(Ptr::new(name("www.example.com")))),
        (name("_sip._tcp.example.com"), Data::Srv(Srv::new(1, 2, 5060, name("mail.example.com")))),
    ];
    let authorities = vec![
        (name("example.com"), Data::Ns(Ns::new(name("ns1.example.com")))),
        (name("example.com"), Data::Ns(Ns::new(name("example.com")))),
        (name("com"), soa("ns.example.com", "host\\.master.example.com")),
        (name("."), Data::Ns(Ns::new(name(".")))),
    ];
    let additional = vec![
        (name("ns1.example.com"), address(1)),
        (name("mail.example.com"), address(2)),
        (name("a.mail.example.com"), Data::Txt(Txt::build_from_slice(b"mail.example.com").unwrap())),
    ];
    Content { questions: vec![name("Example.com")], records: [answers, authorities, additional] }
}

#[test]
fn writes_what_the_renderer_writes_in_every_nesting() {
    let expected = render(&sample(), Case::Ignored);
    for (bytes, built) in every_nesting(&sample(), usize::MAX / 2) {
        assert_eq!(bytes, expected);
        assert_eq!(built.records.map(|records| records.len()), [6, 4, 3]);
    }
}

#[test]
fn pointers_count_from_the_header_under_a_stream_target() {
    let mut answer = message(stream(Compressing::<Vec<u8>>::default())).question();
    answer.push((name("example.com"), Rtype::A)).unwrap();
    let mut answer = answer.answer();
    answer.push((name("www.example.com"), TTL, A::from_octets(192, 0, 2, 1))).unwrap();
    let target = answer.finish();
    assert_eq!(target.as_stream_slice()[..2], [0, 49]);
    assert_eq!(target.as_dgram_slice()[29..35], *b"\x03www\xc0\x0c");
}

/// A call of a compressor.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    Start,
    Place(Vec<u8>),
    Truncate(usize),
}

/// Compresses nothing, and records its calls.
struct Witness(Rc<RefCell<Vec<Asked>>>);

impl Compressor for Witness {
    fn start(&mut self, _: Case) {
        self.0.borrow_mut().push(Asked::Start);
    }

    fn place(&mut self, written: &[u8], name: ::hashlane_name::dns::Name<'_>) -> CompressedName {
        self.0.borrow_mut().push(Asked::Place(written.to_vec()));
        CompressedName::whole(name)
    }

    fn truncate(&mut self, len: usize) {
        self.0.borrow_mut().push(Asked::Truncate(len));
    }
}

#[test]
fn two_bytes_by_themselves_into_an_empty_target_are_no_part_of_the_message() {
    let asked = Rc::new(RefCell::new(Vec::new()));
    let asked_since = || asked.borrow_mut().drain(..).collect::<Vec<_>>();
    let mut target = Compressing::with(Vec::new(), Witness(Rc::clone(&asked)));
    assert_eq!(asked_since(), [Asked::Start]);

    target.append_slice(&[]).unwrap();
    target.append_slice(&[0; 2]).unwrap();
    target.append_slice(&[1; 2]).unwrap();
    target.append_compressed_name(&name("a")).unwrap();
    assert_eq!(asked_since(), [Asked::Place(vec![1; 2])]);
    target.truncate(5);
    assert_eq!(asked_since(), [Asked::Truncate(3)]);
    // All of the message goes, and the next one stands after the same two bytes.
    target.truncate(2);
    target.append_slice(&[2; 2]).unwrap();
    target.append_compressed_name(&name("a")).unwrap();
    assert_eq!(asked_since(), [Asked::Start, Asked::Place(vec![2; 2])]);
    // They go too.
    target.truncate(0);
    target.append_slice(&[3; 4]).unwrap();
    target.append_compressed_name(&name("a")).unwrap();
    assert_eq!(asked_since(), [Asked::Start, Asked::Place(vec![3; 4])]);
    // A length beyond the target cuts nothing.
    target.truncate(100);
    assert_eq!((asked_since(), target.as_ref().len()), (vec![], 7));
}

#[test]
fn bytes_of_length_inside_are_never_seen() {
    let asked = Rc::new(RefCell::new(Vec::new()));
    let mut target = message(Compressing::with(stream(Vec::new()), Witness(Rc::clone(&asked)))).question();
    target.push((name("a"), Rtype::A)).unwrap();
    assert_eq!(*asked.borrow(), [Asked::Start, Asked::Start, Asked::Place(vec![0; 12])]);
}

#[test]
fn stream_target_hides_names_in_data_that_are_not_compressed() {
    let build = |wrapped: bool| {
        let mut answer = message(stream(compressing(Vec::new()))).answer();
        for server in ["ns1.example.com", "ns2.example.com"] {
            let data = Ns::new(name(server));
            match wrapped {
                true => answer.push((name("example.com"), TTL, Compressed(data))).unwrap(),
                false => answer.push((name("example.com"), TTL, data)).unwrap(),
            }
        }
        answer.finish().as_dgram_slice().to_vec()
    };
    let data = |server| (name("example.com"), Data::Ns(Ns::new(name(server))));
    let answers = vec![data("ns1.example.com"), data("ns2.example.com")];
    let content = Content { questions: Vec::new(), records: [answers, Vec::new(), Vec::new()] };
    let (plain, wrapped) = (build(false), build(true));
    check(&plain, &content);
    check(&wrapped, &content);
    assert_eq!((plain.len(), wrapped.len()), (12 + 23 + 17 + 12 + 17, 12 + 23 + 6 + 12 + 6));
}

#[test]
fn compressed_data_are_whole_in_a_target_that_does_not_compress() {
    let (bytes, built) = build(Vec::new(), &sample());
    check(&bytes, &built);
    let mut plain = Vec::new();
    let mx = Mx::new(10, name("mail.example.com"));
    Compressed(&mx).compose_canonical_len_rdata(&mut plain).unwrap();
    assert_eq!(plain, b"\x00\x14\x00\x0a\x04mail\x07example\x03com\x00");
}

#[test]
fn points_below_0x4000_alone_and_ends_where_a_stream_does() {
    let record = |number: usize| {
        let owner = name(&format!("host-{number}.zone-{}.example", number % 700));
        (owner, Data::Ns(Ns::new(name(&format!("host-{}.zone-{number}.example", number / 2)))))
    };
    let answers: Vec<_> = (0..1200).map(record).collect();
    let content = Content { questions: vec![name("example")], records: [answers, Vec::new(), Vec::new()] };
    let [alone, others @ ..] = every_nesting(&content, 65_535);
    assert!(alone.0.len() > 0x8000 && alone.0.len() <= 65_535);
    assert_eq!(alone.1.records[0].len(), 1200);
    assert_eq!(alone.0, render(&content, Case::Ignored));
    assert!(others.iter().all(|(bytes, _)| *bytes == alone.0));

    // The stream target itself refuses more than its two bytes can say, after it grew.
    let answers: Vec<_> = (0..9000).map(record).collect();
    let content = Content { questions: vec![name("example")], records: [answers, Vec::new(), Vec::new()] };
    let (around, built) = build(compressing(stream(Vec::new())), &content);
    check(around.as_ref(), &built);
    assert!(around.as_ref().len() > 65_000 && built.records[0].len() < 9000);
    let (inside, built) = build(stream(compressing(Vec::new())), &content);
    check(inside.as_ref(), &built);
    assert_eq!(inside.as_ref(), around.as_ref());
}

#[test]
fn leaves_the_target_as_it_was_where_something_does_not_fit() {
    let whole = render(&sample(), Case::Ignored).len();
    for limit in 12..=whole {
        for (bytes, _) in every_nesting(&sample(), limit) {
            assert!(bytes.len() <= limit);
        }
    }

    let mut target = compressing(Limited(vec![0; 12], 31));
    target.append_compressed_name(&name("example.com")).unwrap();
    for _ in 0..2 {
        // There is room for the label, not for the pointer after it.
        assert!(target.append_compressed_name(&name("wwww.example.com")).is_err());
        assert_eq!(target.as_ref()[12..], *b"\x07example\x03com\0");
    }
    target.append_compressed_name(&name("ww.example.com")).unwrap();
    assert_eq!(target.as_ref()[12..], *b"\x07example\x03com\0\x02ww\xc0\x0c");
}

#[test]
fn names_of_sections_that_were_taken_back_are_not_pointed_to() {
    fn taken_back<T: Composer>(target: T) -> T {
        let data = |host: &str| Compressed(Mx::new(1, name(host)));
        let mut questions = message(target).question();
        questions.push((name("example.com"), Rtype::MX)).unwrap();
        let mut answer = questions.answer();
        answer.push((name("gone.example.com"), TTL, data("mail.gone.example.com"))).unwrap();
        answer.rewind();
        answer.push((name("a.gone.example.com"), TTL, data("mail.gone.example.com"))).unwrap();
        let mut authority = answer.authority();
        authority.push((name("lost.example.net"), TTL, data("gone.example.com"))).unwrap();
        let mut answer = authority.answer();
        answer.push((name("lost.example.net"), TTL, data("mail.lost.example.net"))).unwrap();
        // The questions are cut, and another message begins.
        let mut questions = answer.question();
        questions.rewind();
        questions.push((name("lost.example.net"), Rtype::MX)).unwrap();
        let mut answer = questions.answer();
        answer.push((name("example.com"), TTL, data("mail.lost.example.net"))).unwrap();
        answer.push((name("lost.example.net"), TTL, data("gone.example.com"))).unwrap();
        answer.finish()
    }
    let data = |host: &str| Data::Mx(Mx::new(1, name(host)));
    let answers = vec![
        (name("example.com"), data("mail.lost.example.net")),
        (name("lost.example.net"), data("gone.example.com")),
    ];
    let content = Content { questions: vec![name("lost.example.net")], records: [answers, vec![], vec![]] };
    let bytes = taken_back(compressing(Vec::new())).into_target();
    assert_eq!(bytes.len(), 12 + 22 + (23 + 9) + (12 + 9));
    assert_eq!(taken_back(stream(compressing(Vec::new()))).as_dgram_slice(), bytes);
    assert_eq!(taken_back(compressing(stream(Vec::new()))).as_ref(), bytes);

    check(&bytes, &content);
}

#[test]
fn a_target_serves_message_after_message() {
    let expected = render(&sample(), Case::Ignored);
    let mut target = compressing(Vec::new());
    let mut outer = stream(compressing(Vec::new()));
    for _ in 0..600 {
        target = build(target, &sample()).0;
        assert_eq!(target.as_ref(), expected);
        // The stream target is made again, as its constructor has it.
        outer = build(stream(outer.into_target()), &sample()).0;
        assert_eq!(outer.as_dgram_slice(), expected);
        // And so may one that had a prefix be used without.
        let bare = build(outer.into_target(), &sample()).0;
        assert_eq!(bare.as_ref(), expected);
        outer = stream(bare);
    }
}

#[test]
fn names_need_not_stand_in_one_piece() {
    let head: RelativeName<Vec<u8>> = RelativeName::from_octets(b"\x03www\x02eu".to_vec()).unwrap();
    let mut target = compressing(vec![0; 12]);
    target.append_compressed_name(&name("example.com")).unwrap();
    target.append_compressed_name(&head.clone().chain(name("example.com")).unwrap()).unwrap();
    target.append_compressed_name(&RelativeName::empty_vec().chain(Name::root_vec()).unwrap()).unwrap();
    target.append_compressed_name(&Name::root_vec()).unwrap();
    assert_eq!(target.as_ref()[12..], *b"\x07example\x03com\0\x03www\x02eu\xc0\x0c\0\0");

    // One that was read from a message, with a pointer in it.
    let (bytes, _) = build(compressing(Vec::new()), &sample());
    let message = Message::from_octets(bytes.into_target()).unwrap();
    let record = message.answer().unwrap().nth(2).unwrap().unwrap();
    assert!(record.owner().as_flat_slice().is_none() && record.owner().iter_labels().count() == 4);
    target.append_compressed_name(&record.owner()).unwrap();
    assert!(target.as_ref().ends_with(b"\x03www\xc0\x0c"));
}

#[test]
fn what_is_no_name_is_written_as_it_is_or_not_at_all() {
    /// More labels than a name can have, and its root.
    struct TooLong(Vec<&'static Label>);

    impl ToLabelIter for TooLong {
        type LabelIter<'a> = Copied<slice::Iter<'a, &'a Label>>;

        fn iter_labels(&self) -> Self::LabelIter<'_> {
            self.0.iter().copied()
        }
    }

    impl ToName for TooLong {}

    let labels = std::iter::repeat_n(Label::from_slice(b"abc").unwrap(), 64);
    let long = TooLong(labels.chain([Label::root()]).collect());
    let mut target = compressing(Vec::new());
    target.append_compressed_name(&name("abc")).unwrap();
    target.append_compressed_name(&long).unwrap();
    assert_eq!(target.as_ref(), [b"\x03abc\0".to_vec(), b"\x03abc".repeat(64), vec![0]].concat());
    let mut target = compressing(Limited(Vec::new(), 200));
    assert!(target.append_compressed_name(&long).is_err());
    assert!(target.as_ref().is_empty());
}

#[test]
fn keys_are_drawn_at_random_and_clones_go_on_apart() {
    let mut one = Compressing::<Vec<u8>>::default();
    one.append_slice(&[0; 12]).unwrap();
    one.append_compressed_name(&name("example.com")).unwrap();
    let mut two = one.clone();
    one.append_compressed_name(&name("a.example.com")).unwrap();
    two.append_compressed_name(&name("b.a.example.com")).unwrap();
    assert_eq!(one.freeze()[12..], *b"\x07example\x03com\0\x01a\xc0\x0c");
    assert_eq!(two.freeze()[12..], *b"\x07example\x03com\0\x01b\x01a\xc0\x0c");
}

#[test]
fn case_counts_on_request() {
    let content = sample();
    let (bytes, _) = build(compressing(Vec::new()).case(Case::Sensitive), &content);
    assert_eq!(bytes.as_ref(), render(&content, Case::Sensitive));
    let message = wire::Message::parse(bytes.as_ref()).unwrap();
    let owners: Vec<_> = message.questions().unwrap().1.map(|record| record.unwrap().owner).collect();
    let expected = content.records.iter().flatten().map(|(owner, _)| owner.as_slice());
    assert!(owners.iter().map(|owner| owner.as_bytes()).take(13).eq(expected));
}

fn any_name() -> impl Strategy<Value = Owner> {
    let label = prop_oneof![
        8 => prop::sample::select(vec!["a", "A", "b", "ns", "Ns", "example", "EXAMPLE", "com", "\\001-"])
            .prop_map(str::to_owned),
        1 => "[a-c]{1,63}",
    ];
    vec(label, 0..6).prop_filter_map("too long", |labels| format!("{}.", labels.join(".")).parse().ok())
}

fn any_record() -> impl Strategy<Value = (Owner, Data)> {
    let data = (0..7, any_name(), any_name(), any::<u16>()).prop_map(|(kind, one, two, number)| match kind {
        0 => Data::A(A::from_octets(192, 0, 2, number as u8)),
        1 => Data::Ns(Ns::new(one)),
        2 => Data::Mx(Mx::new(number, one)),
        3 => Data::Ptr(Ptr::new(one)),
        4 => Data::Cname(Cname::new(one)),
        5 => Data::Srv(Srv::new(number, 1, 2, one)),
        _ => {
            let time = Ttl::from_secs(u32::from(number));
            Data::Soa(Soa::new(one, two, Serial(1), time, time, time, time))
        }
    });
    (any_name(), data)
}

fn any_content() -> impl Strategy<Value = Content> {
    let records = || vec(any_record(), 0..12);
    (vec(any_name(), 0..3), [records(), records(), records()])
        .prop_map(|(questions, records)| Content { questions, records })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_message_reads_as_it_was_put_in(content in any_content()) {
        let expected = render(&content, Case::Ignored);
        for (bytes, _) in every_nesting(&content, usize::MAX / 2) {
            prop_assert_eq!(&bytes, &expected);
        }
    }

    #[test]
    fn any_message_that_was_cut_reads_as_what_is_left(content in any_content(), limit in 12_usize..600) {
        let [alone, others @ ..] = every_nesting(&content, limit);
        prop_assert!(others.iter().all(|(bytes, _)| *bytes == alone.0));
    }

    #[test]
    fn sections_can_be_taken_back_anywhere(one in any_content(), two in any_content()) {
        let (target, _) = build(stream(compressing(Vec::new())), &one);
        // A builder over an existing message begins anew; this one goes on, after each section was taken
        // back.
        let mut answer = message(target).answer();
        for (owner, data) in one.records.iter().flatten() {
            answer.push((owner, TTL, Compressed(data))).unwrap();
        }
        answer.rewind();
        let mut authority = answer.authority();
        for (owner, data) in one.records.iter().flatten() {
            authority.push((owner, TTL, Compressed(data))).unwrap();
        }
        let mut answer = authority.answer();
        for (owner, data) in &two.records[0] {
            answer.push((owner, TTL, Compressed(data))).unwrap();
        }
        let left = Content { questions: Vec::new(), records: [two.records[0].clone(), Vec::new(), Vec::new()] };
        let target = answer.finish();
        check(target.as_dgram_slice(), &left);
    }
}
