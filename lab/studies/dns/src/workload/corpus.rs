//! Corpora for renderers: the names of BIND 10's benchmark, typical responses, and names that an attacker
//! would choose.

use super::{attacks, held, hostile, name, reading, serving};
use hashlane_dns::render::{Options, Renderer};
use hashlane_dns::wire::{Class, Content, Flags, Header, Question, Record, RecordType, Section};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::NameBuf;

/// One workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Corpus {
    /// Names, one after the other, and nothing else.
    Names(Vec<NameBuf>),
    /// Messages.
    Messages(Vec<Content>),
}

impl Corpus {
    /// Number of names, on average over its messages: of questions, owners and, if they may be compressed, in
    /// data.
    pub(crate) fn names(&self) -> f64 {
        match self {
            Self::Names(names) => names.len() as f64,
            Self::Messages(messages) => {
                let names = messages.iter().map(|content| {
                    let in_data = content.rdata().unwrap_or_default();
                    let in_data: usize =
                        in_data.iter().map(|rdata| rdata.names.iter().flatten().count()).sum();
                    content.questions.len() + content.records.len() + in_data
                });
                names.sum::<usize>() as f64 / messages.len().max(1) as f64
            }
        }
    }

    /// Messages in it: one of names alone.
    pub(crate) fn messages(&self) -> usize {
        match self {
            Self::Names(_) => 1,
            Self::Messages(messages) => messages.len(),
        }
    }
}

/// Generates a workload; its key is known to the attacker.
pub(crate) type Generate = fn(&Key) -> Corpus;

/// A workload by its generator.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Workload {
    /// Messages to render.
    Render(Generate),
    /// A message to read.
    Read(GenerateMessage),
    /// An RRset for servers to answer with.
    Serve(GenerateContent),
}

/// Generates the answer of a server.
type GenerateContent = fn(&Key) -> Content;

/// Generates a message to read.
type GenerateMessage = fn(&Key) -> Vec<u8>;

/// Workloads by the ids in study files.
const WORKLOADS: [(&str, Generate); 30] = [
    // The source's referral, its name error and its server failure.
    ("positive", |_| benign()),
    ("nxdomain", |_| names(&["www.example.com", "example.com", "ns.example.com", "root.example.com"])),
    ("servfail", |_| names(&["www.example.com"])),
    // Responses with this many records of a kind.
    ("response/a1", |_| response(Records::Set, 1)),
    ("response/a100", |_| response(Records::A, 100)),
    ("response/a500", |_| response(Records::A, 500)),
    ("response/set100", |_| response(Records::Set, 100)),
    ("response/ns100", |_| response(Records::Ns, 100)),
    ("response/ns500", |_| response(Records::Ns, 500)),
    ("response/ptr500", |_| response(Records::Ptr, 500)),
    // A message of a zone transfer that is as long as can be.
    ("transfer", transfer),
    // Responses with 500 records whose names are drawn at random, under this many parents.
    ("held/a500-p10", |key| message(RecordType::A, held::records(RecordType::A, 500, 10, key))),
    ("held/a500-p40", |key| message(RecordType::A, held::records(RecordType::A, 500, 40, key))),
    ("held/a500-p100", |key| message(RecordType::A, held::records(RecordType::A, 500, 100, key))),
    ("held/ns500-p40", |key| message(RecordType::NS, held::records(RecordType::NS, 500, 40, key))),
    ("held/ptr500-p40", |key| message(RecordType::PTR, held::records(RecordType::PTR, 500, 40, key))),
    // A message as long as can be, of addresses whose owners are drawn so.
    ("held/transfer-p37", |key| longest(held::records(RecordType::A, 4000, 37, key), key)),
    // Names alone: without a label in common, of 127 labels drawn at random, and of one letter.
    ("names/distinct500", |_| Corpus::Names(hostile::distinct())),
    ("names/labels127", |key| Corpus::Names(held::labels127(key))),
    ("names/letters26", |_| Corpus::Names(('a'..='z').map(|letter| name(&letter.to_string())).collect())),
    // Attacks, by the owners of addresses.
    ("hostile/deep", |_| addresses(hostile::deep())),
    ("hostile/deep-repeated", |_| addresses(hostile::deep_repeated())),
    ("hostile/distinct", |_| addresses(hostile::distinct())),
    ("hostile/same-start", |_| addresses(hostile::same_start())),
    ("hostile/known-key", |key| addresses(hostile::known_key(key))),
    // Published attacks on name compression, each as long as a message can be.
    ("attack/cve-2024-8508", |key| full(attacks::shared_suffix(), key)),
    ("attack/cve-2026-44390", |key| full(attacks::no_shared_suffix(), key)),
    ("attack/rustsec-2026-0119", |key| full(attacks::many_candidates(), key)),
    ("attack/ldns-173", |key| full(attacks::denial(), key)),
    ("attack/repeated-triples", |key| full(attacks::repeated_triples(), key)),
];

/// Messages to read that attack nobody.
const ORDINARY: [&str; 2] = ["read/a500", "read/ptr500"];

/// Messages to read: ordinary answers, and messages of published reports.
const READINGS: [(&str, GenerateMessage); 7] = [
    ("read/a500", benign_reading),
    ("read/ptr500", |key| rendered(&response(Records::Ptr, 500), key)),
    ("read/c-ares-1164-long-name", |_| reading::long_name()),
    ("read/c-ares-1164-overlong-name", |_| reading::overlong_name()),
    ("read/c-ares-1164-chain", |_| reading::pointer_chain()),
    ("read/long-suffixes", |_| reading::long_suffixes()),
    ("read/short-chain", |_| reading::short_chain()),
];

/// Answers of servers: the RRsets of published attacks.
const SERVED: [(&str, GenerateContent); 4] = [
    ("serve/cve-2024-8508", |key| serving::with_room(first(attacks::shared_suffix(), key))),
    ("serve/cve-2024-8508-240", |_| serving::few_shared()),
    ("serve/cve-2026-44390", |key| serving::with_room(first(attacks::no_shared_suffix(), key))),
    ("serve/rustsec-2026-0119", |key| serving::with_room(first(attacks::many_candidates(), key))),
];

/// The messages of published attacks, by the names of their files in `vectors/dns/compression`.
pub(crate) fn vectors() -> Vec<(String, Vec<u8>)> {
    let key = Key::VECTOR;
    let attacks = WORKLOADS.iter().filter(|(id, _)| id.starts_with("attack/"));
    let attacks = attacks.map(|(id, generate)| (*id, rendered(&generate(&key), &key)));
    let readings = READINGS.iter().filter(|(id, _)| !ORDINARY.contains(id));
    let readings = readings.map(|(id, generate)| (*id, generate(&key)));
    let files = attacks.chain(readings).map(|(id, bytes)| (format!("{}.bin", id.replace('/', "-")), bytes));
    files.collect()
}

/// An id that no workload has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown workload {:?}; known: {}, {}, {}",
    .0,
    WORKLOADS.map(|(id, _)| id).join(", "),
    READINGS.map(|(id, _)| id).join(", "),
    SERVED.map(|(id, _)| id).join(", ")
)]
pub(crate) struct UnknownCorpus(String);

/// The workload `id`.
///
/// # Errors
/// No workload has this id.
pub(crate) fn generator(id: &str) -> Result<Workload, UnknownCorpus> {
    let render = WORKLOADS.iter().map(|(id, generate)| (*id, Workload::Render(*generate)));
    let read = READINGS.iter().map(|(id, generate)| (*id, Workload::Read(*generate)));
    let serve = SERVED.iter().map(|(id, generate)| (*id, Workload::Serve(*generate)));
    let found = render.chain(read).chain(serve).find(|(known, _)| *known == id);
    found.map(|(_, workload)| workload).ok_or_else(|| UnknownCorpus(id.to_owned()))
}

/// The benign positive answer, with whose cost per byte attacks are compared: the source's referral.
pub(crate) fn benign() -> Corpus {
    Corpus::Names(positive())
}

/// The benign message of those to read: an ordinary answer.
pub(crate) fn benign_reading(key: &Key) -> Vec<u8> {
    rendered(&response(Records::A, 500), key)
}

/// Kinds of records in generated responses.
#[derive(Clone, Copy)]
enum Records {
    /// Addresses of different hosts of one domain.
    A,
    /// Addresses of one host: one set.
    Set,
    /// Delegations, each to a server of another domain.
    Ns,
    /// Names of addresses.
    Ptr,
}

fn names(all: &[&str]) -> Corpus {
    Corpus::Names(all.iter().copied().map(name).collect())
}

fn message(rtype: RecordType, records: Vec<Record>) -> Corpus {
    Corpus::Messages(vec![content(rtype, records)])
}

/// A response with an address for each name.
fn addresses(owners: Vec<NameBuf>) -> Corpus {
    let (section, rtype, class) = (Section::Answer, RecordType::A, Class::IN);
    let record = |owner| Record { section, owner, rtype, class, ttl: 3600, data: vec![192, 0, 2, 1] };
    message(rtype, owners.into_iter().map(record).collect())
}

fn response(records: Records, count: usize) -> Corpus {
    message(records.rtype(), (0..count).map(|number| records.record(number)).collect())
}

/// The first message of a transfer of these records.
fn longest(records: Vec<Record>, key: &Key) -> Corpus {
    full(content(RecordType::AXFR, records), key)
}

/// As many records as a message has room for.
fn full(content: Content, key: &Key) -> Corpus {
    Corpus::Messages(vec![first(content, key)])
}

/// The first of the messages that it takes to carry all records.
fn first(content: Content, key: &Key) -> Content {
    split(content, key).swap_remove(0)
}

/// The first message of a corpus at the smallest size; empty for names alone.
pub(crate) fn rendered(corpus: &Corpus, key: &Key) -> Vec<u8> {
    let Corpus::Messages(messages) = corpus else { return Vec::new() };
    let Some(content) = messages.first() else { return Vec::new() };
    let mut renderer = Renderer::new(key);
    let mut message = renderer.start(content.header, Options::stream());
    // Content that does not fit ends the message.
    let _ = content.rdata().map(|rdata| message.content(content, &rdata));
    message.finish().get(2..).unwrap_or_default().to_vec()
}

/// A referral from a root server to the servers of `com`, with their addresses.
fn positive() -> Vec<NameBuf> {
    let server = |letter: char| name(&format!("{letter}.gtld-servers.net"));
    let mut names = vec![name("www.example.com")];
    for letter in 'a'..='l' {
        names.extend([name("com"), server(letter)]);
    }
    names.extend([name("com"), name("com")]);
    names.extend("aabbcdefghijklm".chars().map(server));
    names
}

impl Records {
    fn rtype(self) -> RecordType {
        match self {
            Self::A | Self::Set => RecordType::A,
            Self::Ns => RecordType::NS,
            Self::Ptr => RecordType::PTR,
        }
    }

    fn record(self, number: usize) -> Record {
        let address = (number as u32 + 0xc000_0201).to_be_bytes().to_vec();
        let (owner, data) = match self {
            Self::A => (format!("h{number}.example.com"), address),
            Self::Set => ("www.example.com".to_owned(), address),
            Self::Ns => {
                let server = name(&format!("ns{}.provider{}.example.net", number % 4, number / 4));
                (format!("zone{number}.example.com"), server.as_bytes().to_vec())
            }
            Self::Ptr => {
                let host = name(&format!("host-{number}.dynamic.example.net"));
                (format!("{}.{}.0.192.in-addr.arpa", number % 256, number / 256), host.as_bytes().to_vec())
            }
        };
        record(&owner, self.rtype(), data)
    }
}

/// A response to a question for the first owner.
fn content(rtype: RecordType, records: Vec<Record>) -> Content {
    let flags = Flags::RESPONSE.with(Flags::AUTHORITATIVE);
    let name = records.first().map_or(NameBuf::ROOT, |record| record.owner);
    let question = Question { name, rtype, class: Class::IN };
    Content { header: Header { id: 0x1603, flags }, questions: vec![question], records }
}

fn record(owner: &str, rtype: RecordType, data: Vec<u8>) -> Record {
    Record { section: Section::Answer, owner: name(owner), rtype, class: Class::IN, ttl: 3600, data }
}

/// The records of a zone of hosts, as many as fit into a message of 65,535 bytes.
fn transfer(key: &Key) -> Corpus {
    let soa =
        [name("ns1.example.com").as_bytes(), name("hostmaster.example.com").as_bytes(), &[0; 20]].concat();
    let mut records = vec![record("example.com", RecordType::SOA, soa)];
    for number in 0..4 {
        let server = name(&format!("ns{number}.example.com"));
        records.push(record("example.com", RecordType::NS, server.as_bytes().to_vec()));
    }
    for number in 0..2000 {
        let host = format!("host{number}.dept{}.example.com", number % 40);
        let alias = format!("www{number}.dept{}.example.com", number % 40);
        let exchange = [&[0, 10], name(&format!("mail{}.example.com", number % 8)).as_bytes()].concat();
        records.push(record(&host, RecordType::A, (number as u32 + 0x0a00_0001).to_be_bytes().to_vec()));
        records.push(record(
            &host,
            RecordType::AAAA,
            [&[0x20, 1, 0x0d, 0xb8], &[number as u8; 12][..]].concat(),
        ));
        records.push(record(&host, RecordType::MX, exchange));
        records.push(record(&alias, RecordType::CNAME, name(&host).as_bytes().to_vec()));
    }
    longest(records, key)
}

/// The messages that it takes to carry all records of `content`, each as long as can be: as a transfer sends
/// a zone (RFC 5936 §2.2). A record that is too long for any message is left out.
pub(crate) fn split(mut content: Content, key: &Key) -> Vec<Content> {
    let mut renderer = Renderer::new(key);
    let mut messages = Vec::new();
    loop {
        let mut message = renderer.start(content.header, Options::stream());
        // Content that does not fit ends the message.
        let _ = content.rdata().map(|rdata| message.content(&content, &rdata));
        let records = Section::ALL.iter().skip(1).map(|section| usize::from(message.count(*section))).sum();
        let mut rest = content.records.split_off(records);
        if records == 0 && !rest.is_empty() {
            rest.remove(0);
        }
        let header = content.header;
        if records > 0 || messages.is_empty() {
            messages.push(content);
        }
        if rest.is_empty() {
            return messages;
        }
        content = Content { header, questions: Vec::new(), records: rest };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_what_is_too_long_and_drops_what_cannot_be() {
        let long = |number: usize| record(&format!("a{number}.example"), RecordType::TXT, vec![b'x'; 30_000]);
        let mut records: Vec<Record> = (0..5).map(long).collect();
        records.insert(3, record("b.example", RecordType::TXT, vec![b'x'; 65_530]));
        let messages = split(content(RecordType::AXFR, records.clone()), &Key::VECTOR);
        let counts: Vec<usize> = messages.iter().map(|message| message.records.len()).collect();
        assert_eq!(counts, [2, 1, 2]);
        records.remove(3);
        let kept: Vec<Record> = messages.into_iter().flat_map(|message| message.records).collect();
        assert_eq!(kept, records);
    }

    #[test]
    fn every_workload_has_the_size_of_its_id() {
        for (id, generate) in WORKLOADS {
            let corpus = generate(&Key::VECTOR);
            assert!(corpus.names() >= 1.0 && corpus.messages() == 1, "{id}");
            assert_eq!(corpus, generate(&Key::VECTOR), "{id}");
            let names = match &corpus {
                Corpus::Names(names) => names.clone(),
                Corpus::Messages(messages) => {
                    assert!(messages.iter().all(|content| content.rdata().is_ok()), "{id}");
                    messages.iter().flat_map(|m| m.records.iter().map(|r| r.owner)).collect()
                }
            };
            // The generator's texts are names, or they would be the root.
            assert!(names.iter().all(|name| !name.view().is_root()), "{id}");
        }
        let names = |id: &str| match generator(id).unwrap() {
            Workload::Render(generate) => generate(&Key::VECTOR).names(),
            Workload::Read(_) | Workload::Serve(_) => 0.0,
        };
        assert!(names("transfer") > 2000.0);
        let error = generator("positiv").unwrap_err().to_string();
        assert!(error.contains("\"positiv\"; known: positive, nxdomain"), "{error}");
        assert_eq!(["positive", "nxdomain", "servfail"].map(names), [42.0, 4.0, 1.0]);
        assert_eq!(["response/a100", "response/ns500"].map(names), [101.0, 1001.0]);
    }
}
