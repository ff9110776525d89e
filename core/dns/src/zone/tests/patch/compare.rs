//! Two zones that answer alike.

use super::super::KEY;
use super::random::{Kind, Owned, Random, hash, records};
use crate::query::{Batch, Decode, Hash, Suffixes};
use crate::respond::{Asker, Entry, Responder, Settings, Transport, Zones};
use crate::wire::RecordType;
use crate::zone::Zone;
use hashlane_name::dns::NameBuf;
use hashlane_table::stage::Stage;
use std::sync::Arc;
use std::vec;
use std::vec::Vec;

const TYPES: [RecordType; 14] = [
    RecordType::A,
    RecordType::AAAA,
    RecordType::NS,
    RecordType::CNAME,
    RecordType::DNAME,
    RecordType::MX,
    RecordType::SRV,
    RecordType::TXT,
    RecordType::DS,
    RecordType::NSEC,
    RecordType::NSEC3,
    RecordType::SOA,
    RecordType::ANY,
    RecordType::RRSIG,
];

/// Answers queries from one zone.
struct Server {
    zones: Zones,
    hash: Hash,
    suffixes: Suffixes,
    responder: Responder,
}

impl Server {
    fn new(zone: &Arc<Zone>) -> Self {
        let entry = Entry { apex: zone.apex_name().into(), zone: Some(Arc::clone(zone)) };
        Self {
            zones: Zones::new([entry].into(), &KEY).unwrap(),
            hash: Hash::new(&KEY),
            suffixes: Suffixes::new(),
            responder: Responder::new(&KEY),
        }
    }

    fn answer(&mut self, query: &[u8], transport: Transport) -> Vec<u8> {
        let mut batch = Batch::new(&mut self.suffixes);
        assert!(batch.push(0, query));
        Decode.run(&mut batch);
        self.hash.run(&mut batch);
        let settings = Settings::default();
        let mut responses = self.responder.locate(&self.zones, &settings, &batch);
        let asker = Asker { address: [192, 0, 2, 99].into(), transport, now: 1000 };
        let mut out = vec![0; 65_535];
        let reply = responses.write(0, &asker, &mut out);
        out.truncate(reply.len);
        out
    }
}

fn query(name: &NameBuf, rtype: RecordType, dnssec: bool) -> Vec<u8> {
    let mut query = [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1].to_vec();
    query.extend_from_slice(name.as_bytes());
    query.extend_from_slice(&rtype.0.to_be_bytes());
    query.extend_from_slice(&[0, 1, 0, 0, 41, 4, 208, 0, 0, u8::from(dnssec) << 7, 0, 0, 0]);
    query
}

/// Compares all that can be asked of two zones, a patched and a built one. Letters count, unless a name may
/// be spelled in several ways.
pub(super) fn assert_same(random: &mut Random, kind: Kind, patched: &Arc<Zone>, built: &Arc<Zone>) {
    let fold = |mut bytes: Vec<u8>| {
        if kind.mixed_case {
            bytes.make_ascii_lowercase();
        }
        bytes
    };
    let sorted = |zone: &Zone| {
        let folded = |record: Owned| {
            (fold(record.owner.as_bytes().to_vec()), record.rtype, record.ttl, fold(record.data))
        };
        let mut all: Vec<_> = records(zone).into_iter().map(folded).collect();
        all.sort();
        all
    };
    assert_eq!(sorted(patched), sorted(built));
    assert_eq!(patched.fingerprint(&KEY), built.fingerprint(&KEY));
    assert_eq!(patched.denial(), built.denial());
    let facts = |zone: &Zone| {
        (zone.serial(), zone.records(), zone.duplicates(), zone.has_wildcards(), zone.visible_names)
    };
    assert_eq!(facts(patched), facts(built));
    assert_eq!(patched.warnings().lines(), built.warnings().lines());
    assert_eq!(patched.inspect(1000, &mut hash()).count(), built.inspect(1000, &mut hash()).count());
    let whole = |zone: &Zone| {
        zone.owners_in_order()
            .into_iter()
            .map(|id| fold(zone.name(id).as_bytes().to_vec()))
            .collect::<Vec<_>>()
    };
    assert_eq!(whole(patched), whole(built));
    assert_same_names(kind, patched, built);
    let mut servers = [Server::new(patched), Server::new(built)];
    let known: Vec<NameBuf> = patched.names.ids().map(|id| patched.name(id)).collect();
    for _ in 0..40 {
        let mut asked = known[random.below(known.len())];
        if random.one_in(2) {
            asked = kind.name(random, false);
        }
        let (rtype, dnssec) = (TYPES[random.below(TYPES.len())], random.one_in(2));
        let transport = if random.one_in(2) { Transport::Udp } else { Transport::Tcp };
        let query = query(&asked, rtype, dnssec);
        let [one, other] = servers.each_mut().map(|server| fold(server.answer(&query, transport)));
        assert_eq!(one, other, "{asked} {rtype} {dnssec}");
    }
}

/// Compares the properties of all names, and their places in chains.
fn assert_same_names(kind: Kind, patched: &Zone, built: &Zone) {
    let named = |zone: &Zone| {
        let mut all: Vec<_> =
            zone.names.ids().map(|id| (zone.name(id).as_bytes().to_ascii_lowercase(), id)).collect();
        all.sort();
        all
    };
    let (ours, theirs) = (named(patched), named(built));
    assert!(ours.windows(2).all(|pair| pair[0].0 != pair[1].0), "each name has one number");
    let mut at = theirs.iter().peekable();
    for (name, id) in &ours {
        let Some((_, other)) = at.next_if(|(other, _)| other == name) else {
            // A name that has gone.
            assert!(!patched.exists(*id) && patched.sets(*id).next().is_none());
            assert!(patched.wildcard(*id).is_none());
            continue;
        };
        assert!(patched.names.flags(*id) == built.names.flags(*other), "{}", patched.name(*id));
        let wildcard =
            |zone: &Zone, id| zone.wildcard(id).map(|id| zone.name(id).as_bytes().to_ascii_lowercase());
        assert_eq!(wildcard(patched, *id), wildcard(built, *other));
        if built.exists(*other) && !kind.mixed_case {
            assert_eq!(patched.label(*id), built.label(*other));
        }
        let asked = patched.name(*id);
        if asked.view().is_within(patched.apex_name()) {
            let spelled = |zone: &Zone, id| zone.name(id).as_bytes().to_ascii_lowercase();
            let nsec = |zone: &Zone| zone.nsec_before(asked.view()).map(|id| spelled(zone, id));
            assert_eq!(nsec(patched), nsec(built));
            let nsec3 = |zone: &Zone| {
                let found = zone.nsec3_find(&zone.nsec3_hash(asked.view()));
                found.map(|(id, matches)| (spelled(zone, id), matches))
            };
            assert_eq!(nsec3(patched), nsec3(built));
        }
    }
    assert!(at.next().is_none(), "the patched zone lacks a name");
}
