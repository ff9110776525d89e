//! Forwarding without I/O: the state machine that the forwarder's process runs, and each of its tables alone, over the same packets in
//! the same order.
//!
//! Work is done in blocks: 256 Interests, as many as a load of 16 windows of 16 keeps unanswered, and then the Data of all of them. What
//! the parts of the state machine cost is timed on tables of their own, which hold the same. What it does besides is not timed, and is
//! what remains: loops looked for, faces found and counted, headers made, time passing.

use super::memory::body;
use crate::load::template::Template;
use crate::load::{Index, Names};
use crate::probe::counter;
use hash::scheme::Key;
use ndn::cs::{self, ContentStore};
use ndn::face::{Face, FaceId, Faces, LinkType, Scope};
use ndn::fib::{Fib, NextHop};
use ndn::forward::{Config, Forwarder, Output};
use ndn::hashed::{HashedName, NameHasher};
use ndn::pit::{
    ByDigest, ByName, ByToken, DigestFunction, Hop, InRecord, Label, OutRecord, Pit, PitToken, Satisfy,
};
use ndn::strategy::{Choice, Dice, Question};
use ndn::time::Time;
use ndn::wire::lp::{DigestField, INTEREST_DIGEST};
use ndn::wire::{Data, Interest, LpHeader, LpPacket};
use std::hint::black_box;

/// Exchanges of a block.
pub const BLOCK: usize = 256;

/// Pairs of a consumer and a producer.
const PAIRS: usize = 16;

/// The parts that are timed, and the ids of their records.
pub const PARTS: [&str; 5] = ["whole", "decode", "store", "pit", "fib"];

/// Counts of the counter, of a block, in the order of [`PARTS`].
pub type Counts = [u64; PARTS.len()];

/// A forwarder of any index that does blocks.
pub trait Profile {
    /// Exchanges until the content store is full, which it is in a forwarder that has run for a while.
    fn exchanges_to_fill(&self) -> usize;

    /// Does the work of a block once in the state machine and once in the parts; what each took.
    ///
    /// # Errors
    /// The state machine, or a table, does not do what it should.
    fn block(&mut self) -> Result<Counts, String>;
}

/// One whose PIT has this index, with a route to each producer; `None` for a shape that no workload has.
pub fn indexed(index: Index, names: Names, key: &Key) -> Option<Box<dyn Profile>> {
    match index {
        Index::Name => boxed(index, names, key, ByName::default),
        Index::Token => boxed(index, names, key, || ByToken::new(key, 0)),
        Index::Digest => boxed(index, names, key, || ByDigest::new(DigestFunction::Sha1, Satisfy::All, key)),
        Index::DigestOne => {
            boxed(index, names, key, || ByDigest::new(DigestFunction::Sha1, Satisfy::One, key))
        }
    }
}

// Each in a frame of its own: they are large.
#[inline(never)]
fn boxed<P: Pit + 'static>(
    index: Index,
    names: Names,
    key: &Key,
    pit: impl Fn() -> P,
) -> Option<Box<dyn Profile>> {
    Some(Box::new(Forwarding::with(names, key, index.digests(), pit)?))
}

/// A forwarder, and tables that hold what its own hold.
pub struct Forwarding<P = ByName> {
    templates: Vec<Template>,
    consumers: Vec<FaceId>,
    producers: Vec<FaceId>,
    forwarder: Forwarder<P>,
    /// What Interests are digested with, where neighbours do that.
    digests: Option<DigestFunction>,
    hasher: NameHasher,
    store: ContentStore,
    pit: P,
    fib: Fib,
    faces: Faces,
    choice: Choice,
    dice: Dice,
    now: Time,
    next: u64,
    components: usize,
    interests: Vec<Vec<u8>>,
    data: Vec<Vec<u8>>,
    /// The hashes of the names of a block, one name's behind the other's.
    hashes: Vec<u64>,
    slots: Vec<u32>,
    /// What comes back with the Data of a block for the table alone.
    labels: Vec<Label>,
    sent: Sent,
}

/// Takes what a forwarder sends, counts it, and keeps what is to come back with the Data.
#[derive(Debug, Default)]
struct Sent {
    count: u64,
    labels: Vec<Label>,
}

impl Output for Sent {
    #[inline]
    fn send(&mut self, face: FaceId, header: &LpHeader<'_>, packet: &[u8]) {
        black_box((face, header, packet));
        self.count += 1;
        let label = if header.pit_token.is_empty() { header.digest.value } else { header.pit_token };
        if !label.is_empty() {
            self.labels.push(Label::new(label));
        }
    }
}

impl Forwarding {
    /// By name, with a route to each producer; `None` for a shape that no workload has.
    pub fn new(names: Names, key: &Key) -> Option<Self> {
        Self::with(names, key, None, ByName::default)
    }
}

impl<P: Pit> Forwarding<P> {
    fn with(names: Names, key: &Key, digests: Option<DigestFunction>, pit: impl Fn() -> P) -> Option<Self> {
        let templates: Vec<Template> =
            (0..PAIRS).map(|pair| Template::new(names, pair, 4000)).collect::<Option<_>>()?;
        let mut hasher = NameHasher::new(key);
        let mut forwarder = Forwarder::with_pit(Config::default(), key, 1, pit());
        let (mut fib, mut faces) = (Fib::default(), Faces::default());
        let (mut consumers, mut producers) = (Vec::new(), Vec::new());
        for template in &templates {
            for end in [&mut consumers, &mut producers] {
                let face = || {
                    let mut face = Face::new(Scope::Local, LinkType::PointToPoint);
                    face.pit_tokens = true;
                    face
                };
                let id = faces.add(face())?;
                // Both number their faces alike.
                forwarder.add_face(face()).filter(|same| *same == id)?;
                end.push(id);
            }
            let hop = NextHop { face: *producers.last()?, cost: 0 };
            let prefix = template.prefix().view();
            forwarder.add_route(&prefix, hop);
            fib.add(&hasher.name(&prefix), hop);
        }
        Some(Self {
            templates,
            consumers,
            producers,
            forwarder,
            digests,
            choice: Choice::new(&mut hasher),
            hasher,
            store: ContentStore::new(cs::Config::default()),
            pit: pit(),
            fib,
            faces,
            dice: Dice::new(1),
            now: Time::from_millis(1),
            next: 0,
            components: names.components,
            interests: vec![Vec::new(); BLOCK],
            data: vec![Vec::new(); BLOCK],
            hashes: Vec::new(),
            slots: Vec::new(),
            labels: Vec::new(),
            sent: Sent::default(),
        })
    }
}

impl<P: Pit> Profile for Forwarding<P> {
    fn exchanges_to_fill(&self) -> usize {
        self.store.config().packets
    }

    fn block(&mut self) -> Result<Counts, String> {
        self.prepare();
        let mut counts = [0; PARTS.len()];
        let sent = self.sent.count;
        self.sent.labels.clear();
        counts[0] = timed(|| self.ask());
        self.label_data();
        counts[0] += timed(|| self.answer());
        let sent = self.sent.count - sent;
        if sent != 2 * BLOCK as u64 {
            return Err(format!("{sent} packets were sent for {BLOCK} exchanges"));
        }
        counts[1] = timed(|| self.decode());
        let (interests, data) = (std::mem::take(&mut self.interests), std::mem::take(&mut self.data));
        let done = self.tables(&interests, &data, &mut counts);
        (self.interests, self.data) = (interests, data);
        done.map(|()| counts)
    }
}

impl<P: Pit> Forwarding<P> {
    /// The packets of the next block.
    fn prepare(&mut self) {
        self.now = Time(self.now.0 + 1_000_000);
        let pairs = self.templates.len();
        for at in 0..BLOCK {
            let number = self.next + (at / pairs) as u64;
            let Some(template) = self.templates.get_mut(at % pairs) else { continue };
            let (Some(interest), Some(data)) = (self.interests.get_mut(at), self.data.get_mut(at)) else {
                continue;
            };
            interest.clear();
            let octets = template.interest(number);
            // A template's packets are right.
            if let Some(function) = self.digests
                && let Ok(parsed) = Interest::parse(octets)
            {
                let digest = function.digest(&parsed);
                let digest = DigestField::new(INTEREST_DIGEST, digest.as_bytes());
                let header = LpHeader { digest, ..LpHeader::default() };
                interest.extend_from_slice(header.frame(octets.len()).as_bytes());
            }
            interest.extend_from_slice(octets);
            data.clear();
            data.extend_from_slice(template.data(number));
        }
        self.next += (BLOCK / pairs) as u64;
    }

    fn ask(&mut self) {
        let Self { forwarder, interests, consumers, now, sent, .. } = self;
        for (packet, face) in interests.iter().zip(consumers.iter().cycle()) {
            // What is dropped is not sent, and counted so.
            let _ = forwarder.receive_octets(*face, packet, *now, sent);
        }
    }

    /// Puts what came with each Interest on its Data, as producers do.
    fn label_data(&mut self) {
        for (label, data) in self.sent.labels.iter().zip(&mut self.data) {
            let header = match self.digests {
                Some(_) => LpHeader {
                    digest: DigestField::new(INTEREST_DIGEST, label.as_bytes()),
                    ..LpHeader::default()
                },
                None => LpHeader { pit_token: label.as_bytes(), ..LpHeader::default() },
            };
            data.splice(..0, header.frame(data.len()).as_bytes().iter().copied());
        }
    }

    fn answer(&mut self) {
        let Self { forwarder, data, producers, now, sent, .. } = self;
        for (packet, face) in data.iter().zip(producers.iter().cycle()) {
            let _ = forwarder.receive_octets(*face, packet, *now, sent);
        }
        forwarder.turn(*now);
    }

    fn decode(&mut self) {
        let hasher = &mut self.hasher;
        for packet in self.interests.iter().filter_map(|octets| LpPacket::parse(octets).ok()) {
            black_box(Interest::parse_with(packet.fragment, hasher).is_ok());
            black_box(hasher.hashes());
        }
        for packet in self.data.iter().filter_map(|octets| LpPacket::parse(octets).ok()) {
            black_box(Data::parse_with(packet.fragment, hasher).is_ok());
            black_box(hasher.hashes());
        }
    }

    /// The tables one after the other, on packets that are decoded before.
    fn tables(&mut self, interests: &[Vec<u8>], data: &[Vec<u8>], counts: &mut Counts) -> Result<(), String> {
        let Self {
            hasher,
            store,
            pit,
            fib,
            faces,
            choice,
            dice,
            hashes,
            slots,
            labels,
            consumers,
            producers,
            now,
            ..
        } = self;
        let now = *now;
        let wrong = |error: ndn::tlv::WireError| error.to_string();
        hashes.clear();
        let mut asked = Vec::with_capacity(interests.len());
        for octets in interests {
            let packet = LpPacket::parse(octets).map_err(wrong)?;
            asked.push(Interest::parse_with(packet.fragment, hasher).map_err(wrong)?);
            hashes.extend_from_slice(hasher.hashes());
        }
        let answers = data
            .iter()
            .map(|octets| Data::parse(LpPacket::parse(octets)?.fragment))
            .collect::<Result<Vec<_>, _>>()
            .map_err(wrong)?;
        let names: Vec<HashedName<'_>> = asked
            .iter()
            .zip(hashes.chunks_exact(self.components + 1))
            .map(|(interest, hashes)| HashedName { components: body(interest.name_octets()), hashes })
            .collect();

        let mut hits = 0;
        counts[2] = timed(|| {
            for (name, interest) in names.iter().zip(&asked) {
                hits += usize::from(black_box(store.find(name, interest, now)).is_some());
            }
        });
        slots.clear();
        counts[3] = timed(|| {
            for ((name, interest), face) in names.iter().zip(&asked).zip(consumers.iter().cycle()) {
                // By digest this is where that is computed.
                let Ok(mark) = pit.mark(interest, Hop::default()) else { continue };
                pit.prefetch(name.hash(), &mark);
                if black_box(pit.find(name, interest, &mark)).is_some() {
                    continue;
                }
                let expires = now.after_millis(interest.lifetime());
                let slot = pit.insert(name, interest, mark, expires);
                let nonce = interest.nonce().unwrap_or_default();
                if let Some((_, records)) = pit.entry_mut(slot) {
                    records.ins.push(InRecord {
                        face: *face,
                        scope: Scope::NonLocal,
                        nonce,
                        expires,
                        token: PitToken::new(&[]),
                        hinted: None,
                    });
                }
                slots.push(slot);
            }
        });
        counts[4] = timed(|| {
            for ((name, slot), face) in names.iter().zip(&*slots).zip(consumers.iter().cycle()) {
                let (prefix, hops) =
                    fib.longest(name).map_or((0, &[][..]), |(len, hops)| (name.prefix(len), hops));
                let Some((_, records)) = pit.entry_mut(*slot) else { continue };
                let mut question =
                    Question { ingress: *face, hops, prefix, records, faces, localhop: false, now, dice };
                if let Some(strategy) = choice.find(name) {
                    black_box(strategy.interest(&mut question));
                }
            }
        });
        labels.clear();
        labels.extend(slots.iter().map(|slot| {
            let hop = pit.upstream(*slot);
            Label::new(if hop.token.is_empty() { hop.digest } else { hop.token })
        }));
        let mut matched = 0;
        counts[3] += timed(|| {
            for ((slot, interest), face) in slots.iter().zip(&asked).zip(producers.iter().cycle()) {
                let Some((_, records)) = pit.entry_mut(*slot) else { continue };
                let nonce = interest.nonce().unwrap_or_default();
                let expires = now.after_millis(interest.lifetime());
                let record = OutRecord { face: *face, nonce, sent: now, expires, nack: None, suppression: 0 };
                records.outs.push(record);
            }
            let packets = names.iter().zip(&answers).zip(&*labels).zip(producers.iter().cycle());
            for (((name, answer), label), face) in packets {
                let digest = || answer.implicit_digest();
                // One is the token, the other the digest; which it is, its length and the index tell.
                let hop = Hop { token: label.as_bytes(), digest: label.as_bytes() };
                let matches = pit.matches(name, *face, hop, digest, |octets| hasher.hash(octets));
                for slot in matches.unwrap_or_default() {
                    matched += usize::from(black_box(pit.remove(slot)).is_some());
                }
            }
        });
        counts[2] += timed(|| {
            for (name, answer) in names.iter().zip(&answers) {
                black_box(store.insert(name, answer, now, |octets| hasher.hash(octets)));
            }
        });
        // As in the state machine.
        while let Some(slot) = pit.ended(now) {
            pit.remove(slot);
        }
        store.turn(now);
        if hits > 0 || matched != BLOCK {
            return Err(format!("the store had {hits}, and the PIT {matched} of {BLOCK} names"));
        }
        Ok(())
    }
}

/// What the counter counts while `work` is done.
fn timed(work: impl FnOnce()) -> u64 {
    let start = counter::start();
    work();
    counter::stop().saturating_sub(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_machine_and_the_tables_do_the_same_work() {
        for names in
            [Names { components: 4, third_distinct: false }, Names { components: 11, third_distinct: true }]
        {
            let mut forwarding = Forwarding::new(names, &Key::VECTOR).unwrap();
            for _ in 0..3 {
                let counts = forwarding.block().unwrap();
                assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
            }
            assert_eq!(forwarding.store.len(), 3 * BLOCK);
            assert_eq!(forwarding.forwarder.cs().len(), 3 * BLOCK);
            assert!(forwarding.pit.is_empty() && forwarding.forwarder.pit().is_empty());
        }
    }

    #[test]
    fn every_index_does_the_same_and_labels_come_back() {
        let names = Names { components: 11, third_distinct: false };
        for (_, index) in Index::ALL {
            let mut forwarding = indexed(index, names, &Key::VECTOR).unwrap();
            assert!(forwarding.block().unwrap().iter().all(|count| *count > 0), "{index:?}");
        }
        let mut by_token =
            Forwarding::with(names, &Key::VECTOR, None, || ByToken::new(&Key::VECTOR, 0)).unwrap();
        by_token.block().unwrap();
        assert_eq!(by_token.sent.labels.len(), BLOCK);
        let first = LpPacket::parse(&by_token.data[0]).unwrap();
        assert_eq!(first.header.pit_token, by_token.sent.labels[0].as_bytes());
    }
}
