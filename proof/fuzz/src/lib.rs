//! Properties that hold for any bytes given to a parser or a state machine, and the fuzz [`targets`] made of
//! them.
#![forbid(unsafe_code)]
#![allow(
    clippy::missing_panics_doc,
    reason = "a property that does not hold is a panic, which is the finding"
)]

pub mod advertised;
pub mod audit;
pub mod catalogs;
pub mod client;
pub mod compress;
pub mod dns_streams;
pub mod dump;
pub mod endpoints;
pub mod faces;
pub mod fetches;
pub mod files;
pub mod flows;
pub mod forwarder;
pub mod frames;
pub mod imports;
pub mod ipfix;
pub mod management;
pub mod mutate;
pub mod name_lists;
pub mod name_map;
pub mod name_rules;
pub mod ndn;
pub mod patches;
pub mod patterns;
pub mod queries;
pub mod reassembly;
pub mod reliability;
pub mod respond;
pub mod rib;
pub mod shards;
pub mod signed;
pub mod sketches;
mod steps;
pub mod strings;
pub mod targets;
pub mod traces;
pub mod transfers;
pub mod zone_files;
pub mod zones;

use ::hashlane_dns::render::{Compressor, Framing, Options, Renderer};
use ::hashlane_dns::wire::{Content, Rdata, Record};
use hashlane_baseline::dns::Old;
use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::siphash::SipHash24;
use hashlane_name::build::{NameBuilder, OwnedName};
use hashlane_name::ccnx::Ccnx;
use hashlane_name::convert::convert;
use hashlane_name::dns::{self, Case, LabelSequence, NameBuf};
use hashlane_name::layout::Layout;
use hashlane_name::ndn::Ndn;
use hashlane_name::offset::Offset;
use hashlane_name::prefix::{BurstHashes, HashBuffer, OnePass, one_by_one};
use hashlane_name::uri::{parse_line, parse_path, parse_uri};
use hashlane_name::view::Name;
use hashlane_name::walk::Walk;

/// Bytes that parse as a name of encoding `E` are rebuilt from its components byte for byte, survive every
/// encoding that can hold them, and survive the text form.
pub fn check_octets<E: Layout>(octets: &[u8]) {
    let Ok(name) = Name::<E>::parse(octets) else {
        return;
    };
    assert_eq!(name.components().count(), name.len());
    let mut builder = NameBuilder::<E>::new();
    for component in name.components() {
        builder.push(component).expect("a component of a parsed name");
    }
    let rebuilt = builder.finish();
    assert_eq!(rebuilt.as_bytes(), octets);
    assert_eq!(rebuilt.view(), name);

    let walked = name.walk().bytes();
    let mut end = 0;
    for span in name.spans() {
        assert_eq!(span.start, end);
        end = span.end;
    }
    assert_eq!(end, walked.len());

    check_conversion::<E, Ndn>(name);
    check_conversion::<E, Ccnx>(name);
    check_conversion::<E, Offset>(name);
    check_text(name);
}

fn check_conversion<From: Layout, To: Layout>(name: Name<'_, From>) {
    let Ok(there) = convert::<From, To>(&name) else {
        return;
    };
    assert_eq!(Name::<To>::parse(there.as_bytes()).expect("a converted name"), there.view());
    let back = convert::<To, From>(&there.view()).expect("the way back");
    assert_eq!(back.as_bytes(), name.as_bytes());
}

fn check_text<E: Layout>(name: Name<'_, E>) {
    let text = name.to_string();
    let read: OwnedName<E> = parse_uri(text.as_bytes()).expect("the text of a name");
    assert_eq!(read.view(), name);
}

/// A text that parses as a name in any of the three ways gives a name whose own text reads the same, and a
/// line is what it starts as.
pub fn check_line(line: &[u8]) {
    let uri = parse_uri::<Offset>(line);
    let path = parse_path::<Offset>(line);
    for name in [&uri, &path].into_iter().flatten() {
        check_octets::<Offset>(name.as_bytes());
    }
    let either = parse_line::<Offset>(line);
    match line.first() {
        Some(b'/') => assert_eq!(either, path),
        Some(b'n' | b'N') => assert_eq!(either.is_ok(), uri.is_ok()),
        _ => assert!(either.is_err()),
    }
}

/// Names, separated by a byte ff, hash in a burst as each does one by one. A name that the parser rejects,
/// the burst rejects for the same rule.
pub fn check_burst<E: Layout>(octets: &[u8]) {
    let names: Vec<&[u8]> = octets.split(|octet| *octet == 0xff).collect();
    let hash = SipHash24::new(&Key::VECTOR);
    let mut kept = HashBuffer::new();
    let mut hashed = BurstHashes::new();
    OnePass::<E, _>::new(hash.clone()).burst(names.iter().copied(), &mut hashed);
    assert_eq!(hashed.len(), names.len());
    for (name, hashes) in names.iter().zip(hashed.iter()) {
        let expected = one_by_one::<E, _>(&hash, name, &mut kept).map(|()| kept.hashes());
        assert_eq!(hashes, expected);
        assert_eq!(Name::<E>::parse(name).map(|name| name.len()), hashes.map(<[u64]>::len));
    }
}

/// Bytes that are a DNS name by themselves, or begin one at offset 0 or 12 of a message, give a name that
/// parses again, survives the presentation form, and equals its own lower case. A reader that remembers names
/// reads at each offset, in the message and in a first part of it, as a single read does.
pub fn check_dns_octets(octets: &[u8]) {
    if let Ok(name) = dns::Name::parse(octets) {
        check_dns_name(name);
        assert_eq!(dns::message::read(octets, 0), Ok((NameBuf::from(name), octets.len())));
    }
    for at in [0, 12] {
        if let Ok((name, end)) = dns::message::read(octets, at) {
            assert!(at < end && end <= octets.len());
            check_dns_name(name.view());
        }
    }
    let mut reader = dns::message::Reader::new(octets);
    for at in 0..=octets.len() {
        let end = (at + 16).min(octets.len());
        assert_eq!(reader.read_within(at, end), dns::message::read(&octets[..end], at));
        assert_eq!(reader.read(at), dns::message::read(octets, at));
    }
    // The other way: long names are now remembered.
    for at in (0..=octets.len()).rev() {
        assert_eq!(reader.read(at), dns::message::read(octets, at));
    }
}

/// A text that parses as a DNS name is written and read back as the same name.
pub fn check_dns_text(text: &[u8]) {
    if let Ok(name) = dns::text::parse(text) {
        check_dns_name(name.view());
    }
}

fn check_dns_name(name: dns::Name<'_>) {
    assert_eq!(dns::Name::parse(name.as_bytes()), Ok(name));
    let text = name.to_string();
    let read = dns::text::parse(text.as_bytes()).expect("the presentation form of a name");
    assert_eq!(read.view(), name);
    assert_eq!(read.to_string(), text);

    let mut lower = NameBuf::ROOT;
    for label in name.labels() {
        let folded: Vec<u8> = label.iter().map(|octet| Case::Ignored.fold(*octet)).collect();
        assert!(folded.iter().all(|octet| Case::Ignored.fold(*octet) == *octet));
        lower.push(&folded).expect("a label in lower case");
    }
    let (spelled, lower) = (LabelSequence::of(name), LabelSequence::of(lower.view()));
    assert!(spelled.equals(lower, Case::Ignored));
    let hash = SipHash24::new(&Key::VECTOR);
    assert_eq!(spelled.hash(&hash, Case::Ignored), lower.hash(&hash, Case::Sensitive));
}

/// Bytes that parse as a message, after a byte of options, are rendered and read back as the same message
/// without the records that the limit cuts off and those that are rolled back; and no message is longer than
/// the one that an ordered set of suffixes makes. See `rendered` for what is rolled back.
pub fn check_dns_message(octets: &[u8]) {
    let Some((how, message)) = octets.split_first() else { return };
    let Ok(content) = Content::parse(message) else { return };
    let Ok(rdata) = content.rdata() else { return };
    let case = if how & 1 == 0 { Case::Ignored } else { Case::Sensitive };
    let framing = if how & 2 == 0 { Framing::Datagram } else { Framing::Stream };
    let limit = if how & 4 == 0 { 65_535 } else { 12 + 16 * usize::from(how >> 3) };
    let options = Options { limit, framing, case };
    let mut renderer = Renderer::new(&Key::VECTOR);
    let (first, kept) = rendered(&mut renderer, &content, &rdata, options);
    assert_eq!(rendered(&mut renderer, &content, &rdata, options).0, first);
    let by_set = rendered(&mut Renderer::with(Old::default()), &content, &rdata, options).0;
    assert_eq!(first.len(), by_set.len());

    let octets = &first[if framing == Framing::Stream { 2 } else { 0 }..];
    assert!(octets.len() <= limit);
    let read = Content::parse(octets).expect("a message that was rendered");
    let same = |a: &[u8], b: &[u8]| case.eq(a, b);
    assert!(read.questions.len() <= content.questions.len());
    for (read, question) in read.questions.iter().zip(&content.questions) {
        assert!(same(read.name.as_bytes(), question.name.as_bytes()));
        assert_eq!((read.rtype, read.class), (question.rtype, question.class));
    }
    assert_eq!(read.records.len(), kept.len());
    for (read, record) in read.records.iter().zip(kept.iter().map(|number| &content.records[*number])) {
        assert!(same(read.owner.as_bytes(), record.owner.as_bytes()) && same(&read.data, &record.data));
        assert_eq!((read.section, read.rtype, read.ttl), (record.section, record.rtype, record.ttl));
    }
}

/// Bit of a TTL: rolls its record back at once.
const UNDO: u32 = 1 << 31;

/// Bit of a TTL: marks the message before its record.
const MARK: u32 = 1 << 30;

/// Bit of a TTL: rolls back to the last mark left, after its record.
const ROLLBACK: u32 = 1 << 29;

/// The message with the records that fit, without those that the upper bits of the TTLs roll back; and the
/// numbers of its records.
fn rendered<C: Compressor>(
    renderer: &mut Renderer<C>,
    content: &Content,
    rdata: &[Rdata<'_>],
    options: Options,
) -> (Vec<u8>, Vec<usize>) {
    let mut message = renderer.start(content.header, options);
    for question in &content.questions {
        if message.question(question.name.view(), question.rtype, question.class).is_err() {
            break;
        }
    }
    let (mut kept, mut marks) = (Vec::new(), Vec::new());
    for (number, (record, rdata)) in content.records.iter().zip(rdata).enumerate() {
        let before = message.mark();
        if record.ttl & MARK != 0 {
            marks.push((before, kept.len()));
        }
        let Record { section, owner, rtype, class, ttl, data } = record;
        match message.record(*section, owner.view(), *rtype, *class, *ttl, rdata) {
            Ok(()) if ttl & UNDO != 0 => message.rollback(before).expect("a mark that was just taken"),
            Ok(()) => kept.push(number),
            Err(_) => assert!(message.len() + owner.view().len() + 10 + data.len() > options.limit),
        }
        if ttl & ROLLBACK != 0
            && let Some((mark, count)) = marks.pop()
        {
            message.rollback(mark).expect("a mark of what is there");
            kept.truncate(count);
        }
    }
    (message.finish().to_vec(), kept)
}

/// A text that reads as a zone file gives records that fit into a message. No text ends the program.
pub fn check_zone(text: &[u8]) {
    let origin: NameBuf = "example.com".parse().expect("a name");
    let Ok(content) = hashlane_zone_file::messages::read(text, "zone", Some(origin.view())) else {
        return;
    };
    assert!(!content.records.is_empty());
    assert_eq!(content.rdata().expect("data that were checked").len(), content.records.len());
}
