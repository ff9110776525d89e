//! Responses over small zones.

use super::*;
use crate::query::{Batch, Decode, Hash, Suffixes};
use crate::wire::{Class, Content, Flags, Header, Rcode, RecordType, Section};
use crate::zone::{Builder, Zone};
use alloc::sync::Arc;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{NameBuf, text};
use hashlane_table::stage::Stage;
use std::format;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

fn key() -> Key {
    Key::new([7; 16])
}

fn name(text: &str) -> NameBuf {
    text::parse(text.as_bytes()).unwrap()
}

fn wire(text: &str) -> Vec<u8> {
    name(text).as_bytes().to_vec()
}

/// Data of a record from a short form.
fn data(rtype: RecordType, form: &str) -> Vec<u8> {
    let fields: Vec<&str> = form.split(' ').collect();
    match rtype {
        RecordType::A => form.parse::<core::net::Ipv4Addr>().unwrap().octets().into(),
        RecordType::AAAA => form.parse::<core::net::Ipv6Addr>().unwrap().octets().into(),
        RecordType::NS | RecordType::CNAME | RecordType::DNAME => wire(form),
        RecordType::MX => [&fields[0].parse::<u16>().unwrap().to_be_bytes()[..], &wire(fields[1])].concat(),
        RecordType::SRV => [&[0, 1, 0, 2, 0, 53][..], &wire(form)].concat(),
        RecordType::SOA => [
            wire(fields[0]),
            wire(fields[1]),
            [1_u32, 7200, 3600, 86_400, 300].map(u32::to_be_bytes).concat(),
        ]
        .concat(),
        RecordType::TXT => [&[form.len() as u8][..], form.as_bytes()].concat(),
        // Type covered, and 16 bytes more before the signer; the signature is short.
        RecordType::RRSIG => {
            let covered = rtype_of(fields[0]).0.to_be_bytes();
            [&covered[..], &[0; 16], &wire(fields[1]), b"signature"].concat()
        }
        RecordType::NSEC => [wire(form), vec![0, 1, 0x40]].concat(),
        // SHA-1, flags, no iterations, no salt, next hash, types.
        RecordType::NSEC3 => {
            let next = data_encoding::BASE32HEX_NOPAD.decode(fields[0].to_uppercase().as_bytes()).unwrap();
            [&[1, 0, 0, 0, 0, 20][..], &next, &[0, 1, 0x40]].concat()
        }
        RecordType::NSEC3PARAM => vec![1, 0, 0, 0, 0],
        RecordType::DS => vec![0, 1, 8, 2, 1, 2, 3, 4],
        _ => form.as_bytes().into(),
    }
}

fn rtype_of(text: &str) -> RecordType {
    let known = (0..300).map(RecordType).find(|rtype| rtype.mnemonic() == Some(text));
    known.unwrap_or_else(|| RecordType(text.trim_start_matches("TYPE").parse().unwrap()))
}

/// A zone of lines `owner type data`.
fn zone(apex: &str, lines: &str) -> Arc<Zone> {
    let mut builder = Builder::new(name(apex).view(), &key());
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut fields = line.splitn(3, ' ');
        let (owner, rtype) = (fields.next().unwrap(), rtype_of(fields.next().unwrap()));
        let data = data(rtype, fields.next().unwrap_or_default());
        builder.add(name(owner).view(), rtype, 3600, &data).unwrap();
    }
    Arc::new(builder.finish().unwrap())
}

const EXAMPLE: &str = "
    example. SOA ns.example. admin.example.
    example. NS ns.example.
    example. MX 10 mail.example.
    example. TXT hello
    ns.example. A 192.0.2.1
    ns.example. AAAA 2001:db8::1
    mail.example. A 192.0.2.2
    www.example. A 192.0.2.3
    www.example. A 192.0.2.4
    alias.example. CNAME www.example.
    chain.example. CNAME alias.example.
    out.example. CNAME www.elsewhere.
    lost.example. CNAME nowhere.example.
    loop.example. CNAME loop2.example.
    loop2.example. CNAME loop.example.
    to-child.example. CNAME www.child.example.
    deep.ent.example. A 192.0.2.5
    *.wild.example. TXT anything
    *.wild.example. MX 5 mail.example.
    there.wild.example. A 192.0.2.6
    *.cname.example. CNAME www.example.
    old.example. DNAME new.example.
    www.new.example. A 192.0.2.7
    child.example. NS ns.child.example.
    child.example. NS ns.example.
    child.example. NS ns.elsewhere.
    child.example. DS ds
    ns.child.example. A 192.0.2.8
    unsigned.example. NS ns.unsigned.example.
    unsigned.example. NS ns.child.example.
    ns.unsigned.example. A 192.0.2.9
    _dns._udp.example. SRV ns.example.
    type.example. TYPE65280 unknown";

fn zones(all: &[(&str, &str)]) -> Zones {
    let entry = |(apex, lines): &(&str, &str)| Entry { apex: name(apex), zone: Some(zone(apex, lines)) };
    Zones::new(all.iter().map(entry).collect(), &key()).unwrap()
}

/// A query.
#[derive(Clone)]
struct Ask<'a> {
    name: &'a str,
    rtype: &'a str,
    class: Class,
    flags: u16,
    /// Payload size, DO and options of an OPT record.
    edns: Option<(u16, bool, Vec<u8>)>,
    transport: Transport,
}

fn ask<'a>(name: &'a str, rtype: &'a str) -> Ask<'a> {
    Ask { name, rtype, class: Class::IN, flags: 0x0100, edns: None, transport: Transport::Udp }
}

impl Ask<'_> {
    fn dnssec(self) -> Self {
        Self { edns: Some((4096, true, Vec::new())), ..self }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Header { id: 0x1234, flags: Flags(self.flags) }.to_bytes().to_vec();
        bytes.extend([0, 1, 0, 0, 0, 0, 0, u8::from(self.edns.is_some())]);
        bytes.extend(wire(self.name));
        bytes.extend(rtype_of(self.rtype).0.to_be_bytes());
        bytes.extend(self.class.0.to_be_bytes());
        if let Some((payload, dnssec, options)) = &self.edns {
            bytes.extend([0, 0, 41]);
            bytes.extend(payload.to_be_bytes());
            bytes.extend([0, 0, u8::from(*dnssec) << 7, 0]);
            bytes.extend((options.len() as u16).to_be_bytes());
            bytes.extend(options);
        }
        bytes
    }

    fn of(&self, zones: &Zones) -> Answered {
        self.with(zones, &Settings::default())
    }

    fn with(&self, zones: &Zones, settings: &Settings) -> Answered {
        answer_bytes(zones, settings, &self.bytes(), self.transport)
    }
}

fn answer_bytes(zones: &Zones, settings: &Settings, query: &[u8], transport: Transport) -> Answered {
    let (mut hash, mut suffixes) = (Hash::new(&key()), Suffixes::new());
    let mut batch = Batch::new(&mut suffixes);
    assert!(batch.push(0, query));
    Decode.run(&mut batch);
    hash.run(&mut batch);
    let mut responder = Responder::new(&key());
    let mut responses = responder.locate(zones, settings, &batch);
    let asker = Asker { address: [192, 0, 2, 99].into(), transport, now: 1000 };
    let mut out = vec![0xee; 65_535];
    let reply = responses.write(0, &asker, &mut out);
    out.truncate(reply.len);
    let content = Content::parse(&out).unwrap();
    Answered { reply, bytes: out, content }
}

struct Answered {
    reply: Reply,
    bytes: Vec<u8>,
    content: Content,
}

impl Answered {
    /// Rcode, flags and records: `section owner type`, with the data of those that have a name.
    fn lines(&self) -> Vec<String> {
        let flags = self.content.header.flags;
        let mut lines = vec![format!(
            "{}{}{}",
            self.reply.rcode.0,
            if flags.contains(Flags::AUTHORITATIVE) { " aa" } else { "" },
            if flags.contains(Flags::TRUNCATED) { " tc" } else { "" }
        )];
        for record in self.content.records.iter().filter(|record| record.rtype != RecordType::OPT) {
            let section = match record.section {
                Section::Question => "?",
                Section::Answer => "an",
                Section::Authority => "au",
                Section::Additional => "ad",
            };
            let data = match record.rtype {
                RecordType::A => record.data.last().unwrap().to_string(),
                RecordType::CNAME | RecordType::NS | RecordType::DNAME => {
                    hashlane_name::dns::Name::parse(&record.data).unwrap().to_string()
                }
                RecordType::RRSIG => {
                    RecordType(u16::from_be_bytes([record.data[0], record.data[1]])).to_string()
                }
                _ => String::new(),
            };
            lines
                .push(format!("{section} {} {} {data}", record.owner.view(), record.rtype).trim_end().into());
        }
        lines
    }
}

#[track_caller]
fn check(answered: &Answered, expected: &[&str]) {
    assert_eq!(answered.lines(), expected);
}

#[test]
fn answers_with_the_records_of_the_name() {
    let zones = zones(&[("example.", EXAMPLE)]);
    let answered = ask("WWW.eXample.", "A").of(&zones);
    check(&answered, &["0 aa", "an WWW.eXample. A 3", "an WWW.eXample. A 4"]);
    // The owner is a pointer to the question, whose case is kept.
    assert_eq!(answered.bytes.len(), 12 + 17 + 2 * 16);
    assert_eq!(answered.content.header.id, 0x1234);
    assert!(answered.content.header.flags.contains(Flags::RESPONSE.with(Flags::RECURSION_DESIRED)));
    assert_eq!((answered.reply.kind, answered.reply.zone), (ResponseKind::Positive, Some(0)));
    check(&ask("type.example.", "TYPE65280").of(&zones), &["0 aa", "an type.example. TYPE65280"]);
    let soa = ask("example.", "SOA").of(&zones);
    check(&soa, &["0 aa", "an example. SOA"]);
    // Both names of the SOA end in a pointer to the question.
    assert_eq!(soa.bytes.len(), 12 + 13 + 12 + 5 + 8 + 20);
}

#[test]
fn adds_the_addresses_of_the_servers_that_it_names() {
    let zones = zones(&[("example.", EXAMPLE)]);
    let mx = ask("example.", "MX").of(&zones);
    check(&mx, &["0 aa", "an example. MX", "ad mail.example. A 2"]);
    let ns = ask("example.", "NS").of(&zones);
    check(&ns, &["0 aa", "an example. NS ns.example.", "ad ns.example. A 1", "ad ns.example. AAAA"]);
    let srv = ask("_dns._udp.example.", "SRV").of(&zones);
    check(&srv, &["0 aa", "an _dns._udp.example. SRV", "ad ns.example. A 1", "ad ns.example. AAAA"]);
    // The name in the SRV record is whole (RFC 2782).
    assert!(srv.bytes.windows(12).any(|window| window == b"\x02ns\x07example\0"));
}

#[test]
fn adds_addresses_that_a_wildcard_makes() {
    let lines = "
        example. SOA ns.example. admin.example.
        example. NS a.wild.example.
        example. MX 10 b.c.Wild.example.
        example. MX 20 b.c.wild.example.
        example. MX 30 there.wild.example.
        example. MX 40 ent.wild.example.
        *.wild.example. A 192.0.2.1
        there.wild.example. AAAA 2001:db8::1
        x.ent.wild.example. TXT text
        cut.wild.example. NS x.cut.wild.example.
        s.example. SRV k.wild.example.
        s.example. SRV k.wild.example.
        s.example. SRV x.cut.wild.example.
        s.example. SRV k.d.example.
        d.example. DNAME wild.example.
        child.example. NS ns.wild.example.";
    let zones = zones(&[("example.", lines)]);
    let ns = ask("example.", "NS").of(&zones);
    check(&ns, &["0 aa", "an example. NS a.wild.example.", "ad a.wild.example. A 1"]);
    let mx = ask("example.", "MX").of(&zones);
    let expected = ["ad b.c.wild.example. A 1", "ad there.wild.example. AAAA"];
    assert_eq!(mx.lines()[5..], expected);
    let srv = ask("s.example.", "SRV").of(&zones);
    assert_eq!(srv.lines()[4..], ["ad k.wild.example. A 1"]);
    let referral = ask("child.example.", "A").of(&zones);
    check(&referral, &["0", "au child.example. NS ns.wild.example.", "ad ns.wild.example. A 1"]);
}

#[test]
fn the_response_code_is_that_of_the_end_of_a_chain_that_has_no_room() {
    let label = "x".repeat(60);
    let long = |first: &str| format!("{first}.{label}.{label}.{label}.example.");
    let mut lines = String::from("example. SOA ns.example. admin.example.\nexample. NS ns.example.\n");
    // Targets of other names do not compress each other.
    for (number, end) in [(0, "nowhere.example."), (1, "example.")] {
        let name = |at: usize| format!("{label}{number}{at}.example.");
        for at in 0..8 {
            lines.push_str(&format!(
                "{} CNAME {}\n",
                name(at),
                if at < 7 { name(at + 1) } else { end.into() }
            ));
        }
        lines.push_str(&format!("many{number}.example. CNAME {}\n", name(0)));
    }
    lines.push_str(&format!("{} DNAME elsewhere.example.\n", long("d")));
    // The DNAME has room, and the CNAME that is made of it has none.
    let targets = [0, 1, 2].map(|at| format!("{label}p{at}.example."));
    let [first, second, third] = &targets;
    let end = long("a.b.c.d");
    lines.push_str(&format!("dname.example. CNAME {first}\n{first} CNAME {second}\n"));
    lines.push_str(&format!("{second} CNAME {third}\n{third} CNAME {end}\n"));
    let zones = zones(&[("example.", &lines)]);
    for (name, rcode, kind) in [
        ("many0.example.", 3, ResponseKind::NxDomain),
        ("many1.example.", 0, ResponseKind::NoData),
        ("dname.example.", 3, ResponseKind::NxDomain),
    ] {
        let answered = ask(name, "TXT").of(&zones);
        let tcp = Ask { transport: Transport::Tcp, ..ask(name, "TXT") }.of(&zones);
        assert_eq!((answered.reply.truncated, tcp.reply.truncated), (true, false), "{name}");
        assert_eq!((answered.reply.rcode.0, answered.reply.kind), (rcode, kind), "{name}");
        assert_eq!((tcp.reply.rcode.0, tcp.reply.kind), (rcode, kind), "{name}");
        // The records that have room begin the whole answer, and nothing follows them.
        let (some, all) = (answered.lines(), tcp.lines());
        assert!(some.len() > 1 && some[1..] == all[1..some.len()], "{some:?}\n{all:?}");
    }
}

#[test]
fn denies_names_and_types() {
    let zones = zones(&[("example.", EXAMPLE)]);
    let none = ask("no.www.example.", "A").of(&zones);
    check(&none, &["3 aa", "au example. SOA"]);
    assert_eq!(none.reply.kind, ResponseKind::NxDomain);
    // The smaller of the SOA's time to live and its minimum.
    assert_eq!(none.content.records[0].ttl, 300);
    check(&ask("www.example.", "MX").of(&zones), &["0 aa", "au example. SOA"]);
    // An empty non-terminal exists.
    check(&ask("ent.example.", "A").of(&zones), &["0 aa", "au example. SOA"]);
    check(&ask("x.ent.example.", "A").of(&zones), &["3 aa", "au example. SOA"]);
}

#[test]
fn follows_aliases_to_their_end() {
    let zones = zones(&[("example.", EXAMPLE)]);
    let chain = ask("chain.example.", "A").of(&zones);
    let expected = [
        "0 aa",
        "an chain.example. CNAME alias.example.",
        "an alias.example. CNAME www.example.",
        "an www.example. A 3",
        "an www.example. A 4",
    ];
    check(&chain, &expected);
    check(&ask("chain.example.", "CNAME").of(&zones), &expected[..2]);
    check(&ask("out.example.", "A").of(&zones), &["0 aa", "an out.example. CNAME www.elsewhere."]);
    let lost = ask("lost.example.", "A").of(&zones);
    check(&lost, &["3 aa", "an lost.example. CNAME nowhere.example.", "au example. SOA"]);
    let child = ask("to-child.example.", "A").of(&zones);
    check(
        &child,
        &[
            "0 aa",
            "an to-child.example. CNAME www.child.example.",
            "au child.example. NS ns.child.example.",
            "au child.example. NS ns.example.",
            "au child.example. NS ns.elsewhere.",
            "ad ns.child.example. A 8",
            "ad ns.example. A 1",
            "ad ns.example. AAAA",
        ],
    );
    let looping = ask("loop.example.", "A").of(&zones);
    check(
        &looping,
        &["0 aa", "an loop.example. CNAME loop2.example.", "an loop2.example. CNAME loop.example."],
    );
}

#[test]
fn follows_aliases_into_other_zones() {
    let elsewhere = "
        elsewhere. SOA ns.elsewhere. admin.elsewhere.
        elsewhere. NS ns.elsewhere.
        www.elsewhere. CNAME www.example.";
    let zones = zones(&[("elsewhere.", elsewhere), ("example.", EXAMPLE)]);
    check(
        &ask("out.example.", "A").of(&zones),
        &[
            "0 aa",
            "an out.example. CNAME www.elsewhere.",
            "an www.elsewhere. CNAME www.example.",
            "an www.example. A 3",
            "an www.example. A 4",
        ],
    );
    check(
        &ask("out.example.", "MX").of(&zones),
        &[
            "0 aa",
            "an out.example. CNAME www.elsewhere.",
            "an www.elsewhere. CNAME www.example.",
            "au example. SOA",
        ],
    );
}

#[test]
fn expands_wildcards() {
    let zones = zones(&[("example.", EXAMPLE)]);
    let wild = ask("a.b.wild.example.", "TXT").of(&zones);
    check(&wild, &["0 aa", "an a.b.wild.example. TXT"]);
    assert_eq!(wild.reply.kind, ResponseKind::Wildcard);
    check(&ask("x.wild.example.", "A").of(&zones), &["0 aa", "au example. SOA"]);
    // A name that exists keeps the wildcard away, from what is below it, too (RFC 4592 §2.2.1).
    check(&ask("there.wild.example.", "TXT").of(&zones), &["0 aa", "au example. SOA"]);
    check(&ask("x.there.wild.example.", "TXT").of(&zones), &["3 aa", "au example. SOA"]);
    check(&ask("*.wild.example.", "TXT").of(&zones), &["0 aa", "an *.wild.example. TXT"]);
    check(&ask("wild.example.", "TXT").of(&zones), &["0 aa", "au example. SOA"]);
    check(
        &ask("a.cname.example.", "A").of(&zones),
        &["0 aa", "an a.cname.example. CNAME www.example.", "an www.example. A 3", "an www.example. A 4"],
    );
}

#[test]
fn makes_a_cname_of_a_dname() {
    let zones = zones(&[("example.", EXAMPLE)]);
    check(
        &ask("www.old.example.", "A").of(&zones),
        &[
            "0 aa",
            "an old.example. DNAME new.example.",
            "an www.old.example. CNAME www.new.example.",
            "an www.new.example. A 7",
        ],
    );
    check(
        &ask("a.b.old.example.", "A").of(&zones),
        &[
            "3 aa",
            "an old.example. DNAME new.example.",
            "an a.b.old.example. CNAME a.b.new.example.",
            "au example. SOA",
        ],
    );
    // The target in the data of the DNAME is written whole, and what follows points to it.
    let answered = ask("www.old.example.", "A").of(&zones);
    let target = answered.bytes.windows(4).filter(|window| window == b"\x03new").count();
    assert_eq!((target, answered.bytes.len()), (1, 12 + 21 + 12 + 13 + 12 + 6 + 16));
    // The owner itself is not redirected.
    check(&ask("old.example.", "A").of(&zones), &["0 aa", "au example. SOA"]);
    check(&ask("old.example.", "DNAME").of(&zones), &["0 aa", "an old.example. DNAME new.example."]);
    let long = "
        . SOA ns. admin.
        . NS ns.
        a. DNAME 123456789012345678901234567890.b.";
    let label = "x".repeat(60);
    let name = format!("{label}.{label}.{label}.{label}.a.");
    let answered = ask(&name, "A").of(&super::tests::zones(&[(".", long)]));
    check(&answered, &["6 aa", "an a. DNAME 123456789012345678901234567890.b."]);
}

#[test]
fn refers_to_the_servers_of_a_zone_below() {
    let zones = zones(&[("example.", EXAMPLE)]);
    let referral = ask("a.b.child.example.", "A").of(&zones);
    let expected = [
        "0",
        "au child.example. NS ns.child.example.",
        "au child.example. NS ns.example.",
        "au child.example. NS ns.elsewhere.",
        "ad ns.child.example. A 8",
        "ad ns.example. A 1",
        "ad ns.example. AAAA",
    ];
    check(&referral, &expected);
    assert_eq!(referral.reply.kind, ResponseKind::Referral);
    for (name, rtype) in [("child.example.", "NS"), ("ns.child.example.", "A"), ("child.example.", "ANY")] {
        check(&ask(name, rtype).of(&zones), &expected);
    }
    check(&ask("child.example.", "DS").of(&zones), &["0 aa", "an child.example. DS"]);
    check(&ask("unsigned.example.", "DS").of(&zones), &["0 aa", "au example. SOA"]);
    assert_eq!(ask("x.child.example.", "DS").of(&zones).lines(), expected);
    // Glue of a sibling (RFC 9471 §2.2).
    check(
        &ask("unsigned.example.", "A").of(&zones),
        &[
            "0",
            "au unsigned.example. NS ns.unsigned.example.",
            "au unsigned.example. NS ns.child.example.",
            "ad ns.unsigned.example. A 9",
            "ad ns.child.example. A 8",
        ],
    );
}

#[test]
fn asks_the_zone_above_for_ds_records() {
    let child = "
        child.example. SOA ns.child.example. admin.child.example.
        child.example. NS ns.child.example.
        ns.child.example. A 192.0.2.8
        www.child.example. A 192.0.2.10";
    let both = zones(&[("child.example.", child), ("example.", EXAMPLE)]);
    check(&ask("child.example.", "DS").of(&both), &["0 aa", "an child.example. DS"]);
    check(&ask("www.child.example.", "A").of(&both), &["0 aa", "an www.child.example. A 10"]);
    // The child is served, too: no referral to it.
    check(
        &ask("to-child.example.", "A").of(&both),
        &["0 aa", "an to-child.example. CNAME www.child.example.", "an www.child.example. A 10"],
    );
    let alone = zones(&[("child.example.", child)]);
    check(&ask("child.example.", "DS").of(&alone), &["0 aa", "au child.example. SOA"]);
}

/// A zone of `servers` name servers below a cut, with an address each.
fn crowded(servers: usize, label: &str) -> String {
    let mut lines = String::from("example. SOA ns.example. admin.example.\nexample. NS ns.example.\n");
    for server in 0..servers {
        let name = format!("{label}{server}.child.example.");
        lines.push_str(&format!("child.example. NS {name}\n{name} A 192.0.2.{server}\n"));
    }
    lines
}

/// A zone with 40 signatures at its apex.
fn zones_of_signatures() -> Zones {
    let mut lines = String::from("example. SOA ns.example. admin.example.\nexample. NS ns.example.\n");
    lines.push_str("example. RRSIG SOA example.\n");
    for number in 0..39 {
        lines.push_str(&format!("example. TYPE{} data\n", 65_000 + number));
        lines.push_str(&format!("example. RRSIG TYPE{} example.\n", 65_000 + number));
    }
    zones(&[("example.", &lines)])
}

#[test]
fn truncates_what_has_no_room() {
    let fits = zones(&[("example.", &crowded(10, "n"))]);
    assert_eq!(ask("child.example.", "A").of(&fits).content.records.len(), 20);
    // The servers fit into 512 bytes, not all their addresses do, which are required (RFC 9471).
    let some = zones(&[("example.", &crowded(18, "n"))]);
    let answered = ask("child.example.", "A").of(&some);
    assert!(answered.lines()[0].ends_with(" tc") && answered.bytes.len() <= 512);
    assert!(answered.reply.truncated && answered.content.records.len() > 18);
    assert_eq!(answered.content.records.iter().filter(|r| r.section == Section::Authority).count(), 18);
    // Over TCP, and with a larger datagram, they fit.
    let tcp = Ask { transport: Transport::Tcp, ..ask("child.example.", "A") }.of(&some);
    assert_eq!((tcp.content.records.len(), tcp.reply.truncated), (36, false));
    let large = Ask { edns: Some((1232, false, Vec::new())), ..ask("child.example.", "A") }.of(&some);
    assert_eq!((large.content.records.len(), large.reply.truncated), (37, false));
    // Neither are addresses below a cut added to other answers, nor parts of a set of signatures.
    let signed = zones_of_signatures();
    for payload in 400..700 {
        let ask = Ask { edns: Some((payload, true, Vec::new())), ..ask("example.", "RRSIG") };
        let records = ask.of(&signed).content.records.len();
        assert!(records == 1 || records == 41, "{records}");
    }
    // A set that fits into no message is not taken for none.
    let mut lines = String::from("example. SOA ns.example. admin.example.\nexample. NS ns.example.\n");
    for number in 0..5000 {
        lines.push_str(&format!("many.example. A 10.0.{}.{}\n", number / 256, number % 256));
    }
    let huge = zones(&[("example.", &lines)]);
    for transport in [Transport::Udp, Transport::Tcp] {
        check(&Ask { transport, ..ask("many.example.", "A") }.of(&huge), &["0 aa tc"]);
    }
    // A set that does not fit is left out whole.
    let servers = zones(&[("example.", &crowded(40, "a-long-name-of-a-server-"))]);
    let answered = ask("child.example.", "A").of(&servers);
    assert_eq!((answered.content.records.len(), answered.reply.truncated), (0, true));
    // No more than the server's own limit.
    let limit = Settings { max_udp: 600, ..Settings::default() };
    let edns = Ask { edns: Some((4096, false, Vec::new())), ..ask("child.example.", "A") };
    assert!(edns.with(&some, &limit).bytes.len() <= 600);
}

const SIGNED: &str = "
    example. SOA ns.example. admin.example.
    example. RRSIG SOA example.
    example. NS ns.example.
    example. RRSIG NS example.
    example. NSEC a.example.
    example. RRSIG NSEC example.
    a.example. A 192.0.2.1
    a.example. RRSIG A example.
    a.example. NSEC child.example.
    a.example. RRSIG NSEC example.
    child.example. NS ns.child.example.
    child.example. NSEC secure.example.
    child.example. RRSIG NSEC example.
    ns.child.example. A 192.0.2.2
    secure.example. NS ns.child.example.
    secure.example. DS ds
    secure.example. RRSIG DS example.
    secure.example. NSEC *.wild.example.
    secure.example. RRSIG NSEC example.
    *.wild.example. TXT text
    *.wild.example. RRSIG TXT example.
    *.wild.example. NSEC example.
    *.wild.example. RRSIG NSEC example.";

#[test]
fn proves_with_nsec_records() {
    let zones = zones(&[("example.", SIGNED)]);
    let signed = |name, rtype| ask(name, rtype).dnssec().of(&zones);
    check(&signed("a.example.", "A"), &["0 aa", "an a.example. A 1", "an a.example. RRSIG A"]);
    assert!(signed("a.example.", "A").content.records.last().unwrap().ttl == 0x8000);
    check(&ask("a.example.", "A").of(&zones), &["0 aa", "an a.example. A 1"]);
    let soa = ["au example. SOA", "au example. RRSIG SOA"];
    let apex = ["au example. NSEC", "au example. RRSIG NSEC"];
    let a = ["au a.example. NSEC", "au a.example. RRSIG NSEC"];
    let child = ["au child.example. NSEC", "au child.example. RRSIG NSEC"];
    let secure = ["au secure.example. NSEC", "au secure.example. RRSIG NSEC"];
    let wild = ["au *.wild.example. NSEC", "au *.wild.example. RRSIG NSEC"];
    // One record may prove both: no such name, and no wildcard.
    check(&signed("0.example.", "A"), &[&["3 aa"][..], &soa, &apex].concat());
    check(&signed("b.example.", "A"), &[&["3 aa"][..], &soa, &a, &apex].concat());
    check(&signed("a.example.", "TXT"), &[&["0 aa"][..], &soa, &a].concat());
    // An empty non-terminal is proved by the record that covers it.
    check(&signed("wild.example.", "TXT"), &[&["0 aa"][..], &soa, &secure].concat());
    check(
        &signed("x.wild.example.", "TXT"),
        &[&["0 aa", "an x.wild.example. TXT", "an x.wild.example. RRSIG TXT"][..], &wild].concat(),
    );
    check(&signed("x.wild.example.", "A"), &[&["0 aa"][..], &soa, &wild].concat());
    // The record that covers the name, then the wildcard's: unbound 1.17 validates no other order if there
    // is a wildcard further up, too.
    check(&signed("\\000.wild.example.", "A"), &[&["0 aa"][..], &soa, &secure, &wild].concat());
    let referral = ["0", "au child.example. NS ns.child.example."];
    check(&signed("x.child.example.", "A"), &[&referral[..], &child, &["ad ns.child.example. A 2"]].concat());
    check(
        &signed("x.secure.example.", "A"),
        &[
            "0",
            "au secure.example. NS ns.child.example.",
            "au secure.example. DS",
            "au secure.example. RRSIG DS",
            "ad ns.child.example. A 2",
        ],
    );
    check(&signed("child.example.", "DS"), &[&["0 aa"][..], &soa, &child].concat());
    let signatures = ask("a.example.", "RRSIG").of(&zones);
    check(&signatures, &["0 aa", "an a.example. RRSIG A", "an a.example. RRSIG NSEC"]);
}

/// A zone with NSEC3 records for `names`, in the order of their hashes.
fn nsec3_zone(lines: &str, names: &[&str]) -> (String, Vec<(String, String)>) {
    let hash = |text: &str| {
        use sha1::Digest;
        data_encoding::BASE32HEX_NOPAD.encode(&sha1::Sha1::digest(wire(text))).to_lowercase()
    };
    let mut owners: Vec<(String, String)> = names.iter().map(|name| (hash(name), name.to_string())).collect();
    owners.sort();
    let mut lines = format!("{lines}\nexample. TYPE51 param\n");
    for (number, (owner, _)) in owners.iter().enumerate() {
        let (next, _) = &owners[(number + 1) % owners.len()];
        lines.push_str(&format!("{owner}.example. NSEC3 {next}\n{owner}.example. RRSIG NSEC3 example.\n"));
    }
    (lines, owners)
}

#[test]
fn proves_with_nsec3_records() {
    let lines = "
        example. SOA ns.example. admin.example.
        example. NS ns.example.
        a.example. A 192.0.2.1
        child.example. NS ns.child.example.
        ns.child.example. A 192.0.2.2
        opt.out.example. NS ns.child.example.
        *.wild.example. TXT text";
    // `opt.out` and `out` are left out.
    let names = ["example.", "a.example.", "child.example.", "wild.example.", "*.wild.example."];
    let (lines, owners) = nsec3_zone(lines, &names);
    let zones = zones(&[("example.", &lines)]);
    let hash = |text: &str| {
        use sha1::Digest;
        data_encoding::BASE32HEX_NOPAD.encode(&sha1::Sha1::digest(wire(text))).to_lowercase()
    };
    // The owner of the record that matches or covers a name.
    let record = |name: &str| {
        let hash = hash(name);
        let covering = owners.iter().rev().find(|(owner, _)| *owner <= hash).or(owners.last());
        covering.unwrap().0.clone()
    };
    let proof = |name: &str, rtype: &str| -> Vec<String> {
        let answered = ask(name, rtype).dnssec().of(&zones);
        let records = answered.content.records.iter().filter(|record| record.rtype == RecordType::NSEC3);
        let mut owners: Vec<String> = records.map(|record| record.owner.view().to_string()).collect();
        owners.sort();
        owners
    };
    let expected = |names: &[&str]| -> Vec<String> {
        let mut owners: Vec<String> = names.iter().map(|name| format!("{}.example.", record(name))).collect();
        owners.sort();
        owners.dedup();
        owners
    };
    assert_eq!(proof("a.b.example.", "A"), expected(&["example.", "b.example.", "*.example."]));
    assert_eq!(proof("x.a.example.", "A"), expected(&["a.example.", "x.a.example.", "*.a.example."]));
    assert_eq!(proof("a.example.", "TXT"), expected(&["a.example."]));
    assert_eq!(proof("y.x.wild.example.", "TXT"), expected(&["x.wild.example."]));
    let expected_star = expected(&["wild.example.", "x.wild.example.", "*.wild.example."]);
    assert_eq!(proof("x.wild.example.", "A"), expected_star);
    assert_eq!(proof("child.example.", "DS"), expected(&["child.example."]));
    assert_eq!(proof("x.child.example.", "A"), expected(&["child.example."]));
    assert_eq!(proof("x.opt.out.example.", "A"), expected(&["example.", "out.example."]));
    assert_eq!(proof("out.example.", "A"), expected(&["example.", "out.example."]));
    // The closest encloser that can be proved is the apex, and the wildcard is the apex's.
    assert_eq!(proof("y.x.out.example.", "A"), expected(&["example.", "out.example.", "*.example."]));
    // The names of the records themselves do not exist (RFC 5155 §7.2.8).
    let own = format!("{}.example.", owners[0].0);
    check(&ask(&own, "A").of(&zones), &["3 aa", "au example. SOA"]);
}

#[test]
fn any_over_udp_is_one_set() {
    let zones = zones(&[("example.", EXAMPLE)]);
    assert_eq!(ask("example.", "ANY").of(&zones).content.records.len(), 1);
    let tcp = Ask { transport: Transport::Tcp, ..ask("example.", "ANY") }.of(&zones);
    assert_eq!(tcp.content.records.len(), 4);
    check(&ask("alias.example.", "ANY").of(&zones), &["0 aa", "an alias.example. CNAME www.example."]);
}

#[test]
fn options_are_answered() {
    let zones = zones(&[("example.", EXAMPLE)]);
    let settings = Settings {
        nsid: b"one".into(),
        cookies: Some(Cookies::new(&Key::new([1; 16]), None)),
        ..Settings::default()
    };
    let opt = |options: &[u8]| {
        let edns = Some((1232, true, options.to_vec()));
        let answered = Ask { edns, ..ask("www.example.", "A") }.with(&zones, &settings);
        let opt = answered.content.records.iter().find(|record| record.rtype == RecordType::OPT).cloned();
        (answered, opt.map(|opt| (opt.class.0, opt.ttl, opt.data)))
    };
    assert_eq!(opt(b"").1, Some((1232, 0x8000, vec![])));
    assert_eq!(opt(b"\0\x03\0\0").1.unwrap().2, b"\0\x03\0\x03one");
    let (first, learned) = opt(b"\0\x0a\0\x08clientco");
    let learned = learned.unwrap().2;
    assert_eq!((learned.len(), first.reply.is_known), (28, false));
    let (second, again) = opt(&learned);
    assert_eq!((again.unwrap().2, second.reply.is_known), (learned, true));
    // A cookie of a length that there is not.
    let (bad, _) = opt(b"\0\x0a\0\x09clientcoo");
    assert_eq!((bad.reply.rcode, bad.bytes.len()), (Rcode::FORMAT_ERROR, 12 + 11));
    // The timeout of connections is of no use over UDP (RFC 7828 §3.2.1).
    assert_eq!(opt(b"\0\x0b\0\0").1.unwrap().2, b"");
    let edns = Some((1232, false, b"\0\x0b\0\0\0\x03\0\0".to_vec()));
    let tcp = Ask { edns, transport: Transport::Tcp, ..ask("www.example.", "A") };
    let answered = tcp.with(&zones, &Settings { keepalive: 0x1234, ..settings.clone() });
    let opt_record = answered.content.records.last().unwrap();
    assert_eq!(opt_record.data, b"\0\x03\0\x03one\0\x0b\0\x02\x12\x34");
    // Unknown options are ignored; without EDNS there is no OPT record.
    assert_eq!(opt(b"\xfd\xe9\0\x01x").1.unwrap().2, b"");
    assert!(ask("www.example.", "A").with(&zones, &settings).content.records.len() == 2);
}

#[test]
fn refuses_what_it_has_not() {
    let zones = zones(&[("example.", EXAMPLE)]);
    check(&ask("elsewhere.", "A").of(&zones), &["5"]);
    check(&ask("com.", "DS").of(&zones), &["5"]);
    let edns = Ask { edns: Some((1232, false, Vec::new())), ..ask("elsewhere.", "A") }.of(&zones);
    assert_eq!(edns.content.records[0].data, b"\0\x0f\0\x02\0\x14");
    check(&Ask { class: Class::HS, ..ask("example.", "A") }.of(&zones), &["5"]);
    let any = Ask { class: Class::ANY, ..ask("mail.example.", "A") }.of(&zones);
    check(&any, &["0", "an mail.example. A 2"]);
    // A negative answer of no class in particular has no SOA record.
    check(&Ask { class: Class::ANY, ..ask("mail.example.", "TXT") }.of(&zones), &["0"]);
    check(&Ask { class: Class::ANY, ..ask("no.example.", "A") }.of(&zones), &["3"]);
    check(&ask("example.", "AXFR").of(&zones), &["5"]);
    check(&ask("example.", "OPT").of(&zones), &["1"]);
    // NOTIFY.
    let notify = Ask { flags: 0x2000, ..ask("example.", "SOA") }.of(&zones);
    assert_eq!((notify.reply.rcode, notify.bytes.len()), (Rcode::NOT_IMPLEMENTED, 12));
    let mut later = Ask { edns: Some((1232, false, Vec::new())), ..ask("example.", "A") }.bytes();
    let version = later.len() - 5;
    later[version] = 1;
    let bad = answer_bytes(&zones, &Settings::default(), &later, Transport::Udp);
    assert_eq!((bad.reply.rcode, bad.content.questions.len()), (Rcode::BAD_VERSION, 1));
    let broken = Zones::new(vec![Entry { apex: name("example."), zone: None }], &key()).unwrap();
    check(&ask("www.example.", "A").of(&broken), &["2"]);
}

#[test]
fn a_restricted_zone_is_for_the_clients_that_the_server_chooses() {
    let alias = "example.org. SOA ns.example. admin.example.\nexample.org. NS ns.example.\n\
                 into.example.org. CNAME mail.example.";
    let mut zones = zones(&[("example.", EXAMPLE), ("example.org.", alias)]);
    check(
        &ask("into.example.org.", "A").of(&zones),
        &["0 aa", "an into.example.org. CNAME mail.example.", "an mail.example. A 2"],
    );
    zones.restrict(0);
    // An alias of another zone does not lead into it; its own do.
    check(&ask("into.example.org.", "A").of(&zones), &["0 aa", "an into.example.org. CNAME mail.example."]);
    check(&ask("mail.example.", "A").of(&zones), &["0 aa", "an mail.example. A 2"]);
    let asked = |name, rtype| {
        let query = Ask { edns: Some((1232, false, Vec::new())), ..ask(name, rtype) }.bytes();
        let key = key();
        let (mut suffixes, mut responder, mut out) = (Suffixes::new(), Responder::new(&key), [0; 512]);
        let mut batch = Batch::new(&mut suffixes);
        assert!(batch.push(0, &query));
        Decode.run(&mut batch);
        Hash::new(&key).run(&mut batch);
        let settings = Settings::default();
        let asker = Asker { address: [127, 0, 0, 1].into(), transport: Transport::Udp, now: 0 };
        let mut responses = responder.locate(&zones, &settings, &batch);
        let zone = responses.restricted(0);
        let reply = responses.prohibit(0, 0, &asker, &mut out);
        (zone, reply.zone, reply.rcode, out[..reply.len].ends_with(&[0, 15, 0, 2, 0, 18]), reply.is_special)
    };
    assert_eq!(asked("mail.example.", "A"), (Some(0), Some(0), Rcode::REFUSED, true, false));
    assert_eq!(asked("mail.example.", "AXFR"), (Some(0), None, Rcode::REFUSED, true, true));
    assert_eq!(asked("into.example.org.", "A").0, None);
}

#[test]
fn tells_of_itself_in_class_chaos() {
    let zones = zones(&[("example.", EXAMPLE)]);
    let chaos = |name| Ask { class: Class::CH, ..ask(name, "TXT") };
    let settings =
        Settings { version: b"hashlane".into(), identity: b"a".repeat(300), ..Settings::default() };
    let version = chaos("Version.Bind.").with(&zones, &settings);
    check(&version, &["0 aa", "an Version.Bind. TXT"]);
    assert_eq!(version.content.records[0].data, b"\x08hashlane");
    assert_eq!(chaos("id.server.").with(&zones, &settings).content.records[0].data.len(), 302);
    check(&chaos("id.server.").of(&zones), &["5"]);
    check(&chaos("example.").with(&zones, &settings), &["5"]);
}

#[test]
fn the_root_zone_is_served() {
    let root = "
        . SOA a.root. admin.root.
        . NS a.root.
        a.root. A 192.0.2.1
        com. NS a.com.
        a.com. A 192.0.2.2";
    let zones = zones(&[(".", root)]);
    check(&ask(".", "NS").of(&zones), &["0 aa", "an . NS a.root.", "ad a.root. A 1"]);
    check(&ask("www.com.", "A").of(&zones), &["0", "au com. NS a.com.", "ad a.com. A 2"]);
    check(&ask("net.", "A").of(&zones), &["3 aa", "au . SOA"]);
}

#[test]
fn a_short_buffer_gets_nothing_or_a_truncated_message() {
    let zones = zones(&[("example.", SIGNED)]);
    let query = ask("b.example.", "A").dnssec().bytes();
    let (mut hash, mut suffixes) = (Hash::new(&key()), Suffixes::new());
    let mut batch = Batch::new(&mut suffixes);
    assert!(batch.push(0, &query));
    Decode.run(&mut batch);
    hash.run(&mut batch);
    let (mut responder, settings) = (Responder::new(&key()), Settings::default());
    let mut responses = responder.locate(&zones, &settings, &batch);
    let asker = Asker { address: [192, 0, 2, 99].into(), transport: Transport::Udp, now: 0 };
    for len in 0..600 {
        let mut out = vec![0; len];
        let reply = responses.write(0, &asker, &mut out);
        assert!(reply.len <= len);
        if reply.len > 0 {
            Content::parse(&out[..reply.len]).unwrap();
        }
    }
}
