//! A program with its own encoder, in the shape of `hickory-proto`'s: names are lists of labels, types emit
//! themselves into the encoder, and a record that does not fit is rolled back.
//!
//! Such an encoder usually writes a name label by label, looks each suffix up in its own list of offsets, and
//! remembers the offset of each label. With the compressor, [`Encoder::emit_name`] collects the labels and
//! makes one call; the encoder remembers nothing of names.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use hashlane_dns::render::{Options, Renderer};
use hashlane_dns::wire::{Class, Header, Rdata, RecordType, Section};
use hashlane_dns_compress::{Case, Compressor as _, HEADER_LEN, Key, SuffixTable};
use hashlane_name::dns::NameBuf;
use hickory_proto::op;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A name: its labels.
#[derive(Clone, Debug)]
struct DomainName(Vec<Vec<u8>>);

/// Data of a record.
#[derive(Clone, Debug)]
enum Data {
    A([u8; 4]),
    Ns(DomainName),
    Mx(u16, DomainName),
    Soa(DomainName, DomainName, [u32; 5]),
    Txt(Vec<u8>),
    Srv([u16; 3], DomainName),
}

/// A record of the class IN.
#[derive(Clone, Debug)]
struct DomainRecord {
    owner: DomainName,
    ttl: u32,
    data: Data,
}

/// The message has no room.
#[derive(Debug)]
struct Full;

/// Something that writes itself into an encoder.
trait Emit {
    fn emit(&self, encoder: &mut Encoder) -> Result<(), Full>;
}

/// The writer of a message.
struct Encoder {
    buffer: Vec<u8>,
    limit: usize,
    /// `None` for no compression.
    names: Option<SuffixTable>,
}

impl Encoder {
    fn new(limit: usize, names: Option<SuffixTable>) -> Self {
        Self { buffer: Vec::new(), limit, names }
    }

    /// Begins a message, with the four bytes of an identifier and flags.
    fn start(&mut self, flags: [u8; 4]) {
        self.buffer.clear();
        self.buffer.extend([&flags[..], &[0; HEADER_LEN - 4]].concat());
        if let Some(names) = &mut self.names {
            names.start(Case::Ignored);
        }
    }

    fn emit_bytes(&mut self, bytes: &[u8]) -> Result<(), Full> {
        if self.buffer.len() + bytes.len() > self.limit {
            return Err(Full);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn emit_u16(&mut self, value: u16) -> Result<(), Full> {
        self.emit_bytes(&value.to_be_bytes())
    }

    /// Emits a name; `compress` is false in the data of types that came after RFC 1035.
    fn emit_name(&mut self, name: &DomainName, compress: bool) -> Result<(), Full> {
        let (mut wire, mut len) = ([0; 255], 0);
        for label in &name.0 {
            wire[len] = label.len() as u8;
            wire[len + 1..][..label.len()].copy_from_slice(label);
            len += 1 + label.len();
        }
        let wire = &wire[..=len];
        let Some(names) = self.names.as_mut().filter(|_| compress) else { return self.emit_bytes(wire) };
        let place = names.compress(&self.buffer, wire).unwrap();
        self.emit_bytes(&wire[..place.literal()])?;
        place.pointer_bytes().map_or(Ok(()), |pointer| self.emit_bytes(&pointer))
    }

    /// Emits an entry of a section whole or not at all.
    fn emit_entry(&mut self, entry: &dyn Emit, section: Section) -> Result<(), Full> {
        let before = self.buffer.len();
        let emitted = entry.emit(self);
        if emitted.is_ok() {
            let count = &mut self.buffer[4 + 2 * section.index()..][..2];
            let more = u16::from_be_bytes([count[0], count[1]]) + 1;
            count.copy_from_slice(&more.to_be_bytes());
        } else {
            self.rollback(before);
        }
        emitted
    }

    fn rollback(&mut self, len: usize) {
        self.buffer.truncate(len);
        if let Some(names) = &mut self.names {
            names.truncate(len);
        }
    }
}

/// A question for addresses.
impl Emit for DomainName {
    fn emit(&self, encoder: &mut Encoder) -> Result<(), Full> {
        encoder.emit_name(self, true)?;
        encoder.emit_bytes(&[0, 1, 0, 1])
    }
}

impl Emit for DomainRecord {
    fn emit(&self, encoder: &mut Encoder) -> Result<(), Full> {
        encoder.emit_name(&self.owner, true)?;
        encoder.emit_u16(self.data.rtype())?;
        encoder.emit_u16(1)?;
        encoder.emit_bytes(&self.ttl.to_be_bytes())?;
        let place = encoder.buffer.len();
        encoder.emit_u16(0)?;
        self.data.emit(encoder)?;
        let len = encoder.buffer.len() - place - 2;
        encoder.buffer[place..place + 2].copy_from_slice(&(len as u16).to_be_bytes());
        Ok(())
    }
}

impl Data {
    fn rtype(&self) -> u16 {
        match self {
            Self::A(_) => 1,
            Self::Ns(_) => 2,
            Self::Mx(..) => 15,
            Self::Soa(..) => 6,
            Self::Txt(_) => 16,
            Self::Srv(..) => 33,
        }
    }
}

impl Emit for Data {
    fn emit(&self, encoder: &mut Encoder) -> Result<(), Full> {
        match self {
            Self::A(address) => encoder.emit_bytes(address),
            Self::Ns(server) => encoder.emit_name(server, true),
            Self::Mx(preference, exchange) => {
                encoder.emit_u16(*preference)?;
                encoder.emit_name(exchange, true)
            }
            Self::Soa(server, person, times) => {
                encoder.emit_name(server, true)?;
                encoder.emit_name(person, true)?;
                times.iter().try_for_each(|time| encoder.emit_bytes(&time.to_be_bytes()))
            }
            Self::Txt(text) => encoder.emit_bytes(&[&[text.len() as u8][..], text].concat()),
            Self::Srv(numbers, target) => {
                numbers.iter().try_for_each(|number| encoder.emit_u16(*number))?;
                encoder.emit_name(target, false)
            }
        }
    }
}

/// A message by the encoder, and the records that fit.
fn encode(encoder: &mut Encoder, question: &DomainName, records: &[DomainRecord]) -> Vec<DomainRecord> {
    encoder.start(Header::response(7).to_bytes());
    encoder.emit_entry(question, Section::Question).unwrap();
    records.iter().filter(|record| encoder.emit_entry(*record, Section::Answer).is_ok()).cloned().collect()
}

/// The message by our renderer.
fn render(question: &DomainName, records: &[DomainRecord], limit: usize) -> Vec<u8> {
    let wire = |name: &DomainName| {
        let mut wire = NameBuf::ROOT;
        name.0.iter().for_each(|label| wire.push(label).unwrap());
        wire
    };
    let mut renderer = Renderer::new(&Key::VECTOR);
    let mut message = renderer.start(Header::response(7), Options { limit, ..Options::default() });
    message.question(wire(question).view(), RecordType::A, Class::IN).unwrap();
    for record in records {
        // An encoder of the data alone, which compresses nothing.
        let mut data = Encoder::new(usize::MAX, None);
        record.data.emit(&mut data).unwrap();
        let rtype = RecordType(record.data.rtype());
        let rdata = Rdata::parse(rtype, &data.buffer).unwrap();
        let owner = wire(&record.owner);
        let _ = message.record(Section::Answer, owner.view(), rtype, Class::IN, record.ttl, &rdata);
    }
    message.finish().to_vec()
}

/// The message as `hickory-proto` reads it. It compares names without regard to case.
fn decode(bytes: &[u8]) -> (Vec<op::Query>, Vec<(u32, hickory_proto::rr::Record)>) {
    let message = op::Message::from_vec(bytes).unwrap();
    // Two records are equal even if their times to live differ.
    let answers = message.answers.into_iter().map(|record| (record.ttl, record));
    (message.queries, answers.collect())
}

/// Encodes the records within the limit, twice by the same encoder, and checks the messages.
fn check(question: &DomainName, records: &[DomainRecord], limit: usize) -> usize {
    let mut encoder = Encoder::new(limit, Some(SuffixTable::new(&Key::VECTOR)));
    for _ in 0..2 {
        let kept = encode(&mut encoder, question, records);
        let mut plain = Encoder::new(usize::MAX, None);
        assert_eq!(encode(&mut plain, question, &kept).len(), kept.len());
        let (read, expected) = (decode(&encoder.buffer), decode(&plain.buffer));
        assert_eq!(read, expected);
        assert_eq!((read.0.len(), read.1.len()), (1, kept.len()));
        assert_eq!(encoder.buffer, render(question, records, limit));
    }
    encoder.buffer.len()
}

fn name(text: &str) -> DomainName {
    DomainName(text.split('.').map(|label| label.as_bytes().to_vec()).collect())
}

fn record(owner: &str, data: Data) -> DomainRecord {
    DomainRecord { owner: name(owner), ttl: 3600, data }
}

#[test]
fn a_message_is_as_short_as_the_renderer_s_and_read_by_hickory() {
    let records = [
        record("example.com", Data::Mx(10, name("mail.example.com"))),
        record("EXAMPLE.com", Data::Mx(20, name("mail.example.net"))),
        record("example.com", Data::Ns(name("ns1.example.com"))),
        record("com", Data::Soa(name("ns.example.com"), name("host.example.com"), [1, 2, 3, 4, 5])),
        record("_sip._tcp.example.com", Data::Srv([1, 2, 5060], name("mail.example.com"))),
        record("mail.example.com", Data::Txt(b"\x07example\x03com\0".to_vec())),
        record("ns1.example.com", Data::A([192, 0, 2, 1])),
    ];
    let question = name("example.com");
    let mut plain = Encoder::new(usize::MAX, None);
    encode(&mut plain, &question, &records);
    assert_eq!((check(&question, &records, 65_535), plain.buffer.len()), (232, 354));
}

#[test]
fn a_record_without_room_leaves_no_name_behind() {
    // The second record does not fit, and the third has its owner.
    let text = vec![b'x'; 200];
    let records = [
        record("a.example", Data::A([192, 0, 2, 1])),
        record("late.other", Data::Txt(text)),
        record("late.other", Data::A([192, 0, 2, 2])),
    ];
    assert_eq!(check(&name("a.example"), &records, 100), 12 + 15 + 16 + 26);
}

fn any_name() -> impl Strategy<Value = DomainName> {
    let label = select(vec!["a", "b", "B", "com", "COM", "example", "x\0y"]);
    vec(label, 1..6)
        .prop_map(|labels| DomainName(labels.iter().map(|label| label.as_bytes().to_vec()).collect()))
}

fn any_record(names: Vec<DomainName>) -> impl Strategy<Value = DomainRecord> {
    (any::<[Index; 3]>(), 0..6, 0..0x8000_0000_u32, vec(any::<u8>(), 0..60)).prop_map(
        move |(places, kind, ttl, text)| {
            let [owner, one, two] = places.map(|place| place.get(&names).clone());
            let data = match kind {
                0 => Data::A([192, 0, 2, 1]),
                1 => Data::Ns(one),
                2 => Data::Mx(10, one),
                3 => Data::Soa(one, two, [ttl; 5]),
                4 => Data::Txt(text),
                _ => Data::Srv([0, 0, 53], one),
            };
            DomainRecord { owner, ttl, data }
        },
    )
}

fn any_message() -> impl Strategy<Value = (DomainName, Vec<DomainRecord>)> {
    vec(any_name(), 1..8).prop_flat_map(|names| (Just(names[0].clone()), vec(any_record(names), 0..60)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_message_is_the_renderer_s(
        (question, records) in any_message(),
        limit in prop_oneof![Just(65_535), 60..600_usize],
    ) {
        check(&question, &records, limit);
    }
}
