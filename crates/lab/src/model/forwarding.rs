//! Forwarding without I/O: the state machine that the forwarder's process runs, and each of its tables alone, over the same packets in
//! the same order.
//!
//! Work is done in blocks: 256 Interests, as many as a load of 16 windows of 16 keeps unanswered, and then the Data of all of them. What
//! the parts of the state machine cost is timed on tables of their own, which hold the same. What it does besides is not timed, and is
//! what remains: loops looked for, faces found and counted, headers made, time passing.

use super::memory::body;
use crate::load::Names;
use crate::load::template::Template;
use crate::probe::counter;
use hash::scheme::Key;
use ndn::cs::{self, ContentStore};
use ndn::face::{Face, FaceId, Faces, LinkType, Scope};
use ndn::fib::{Fib, NextHop};
use ndn::forward::{Config, Forwarder, Output};
use ndn::hashed::{HashedName, NameHasher};
use ndn::pit::{ByName, Hop, InRecord, OutRecord, Pit as _, PitToken};
use ndn::strategy::{Choice, Dice, Question};
use ndn::time::Time;
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

/// A forwarder, and tables that hold what its own hold.
pub struct Forwarding {
    templates: Vec<Template>,
    consumers: Vec<FaceId>,
    producers: Vec<FaceId>,
    forwarder: Forwarder,
    hasher: NameHasher,
    store: ContentStore,
    pit: ByName,
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
    sent: Sent,
}

/// Takes what a forwarder sends, and counts it.
#[derive(Debug, Default)]
struct Sent(u64);

impl Output for Sent {
    #[inline]
    fn send(&mut self, face: FaceId, header: &LpHeader<'_>, packet: &[u8]) {
        black_box((face, header, packet));
        self.0 += 1;
    }
}

impl Forwarding {
    /// With a route to each producer; `None` for a shape that no workload has.
    pub fn new(names: Names, key: &Key) -> Option<Self> {
        let templates: Vec<Template> =
            (0..PAIRS).map(|pair| Template::new(names, pair, 4000)).collect::<Option<_>>()?;
        let mut hasher = NameHasher::new(key);
        let mut forwarder = Forwarder::new(Config::default(), key, 1);
        let (mut fib, mut faces) = (Fib::default(), Faces::default());
        let (mut consumers, mut producers) = (Vec::new(), Vec::new());
        for template in &templates {
            for end in [&mut consumers, &mut producers] {
                let face = || Face::new(Scope::Local, LinkType::PointToPoint);
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
            choice: Choice::new(&mut hasher),
            hasher,
            store: ContentStore::new(cs::Config::default()),
            pit: ByName::default(),
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
            sent: Sent::default(),
        })
    }

    /// Exchanges until the content store is full, which it is in a forwarder that has run for a while.
    pub fn exchanges_to_fill(&self) -> usize {
        self.store.config().packets
    }

    /// Does the work of a block once in the state machine and once in the parts; what each took.
    ///
    /// # Errors
    /// The state machine, or a table, does not do what it should.
    pub fn block(&mut self) -> Result<Counts, String> {
        self.prepare();
        let mut counts = [0; PARTS.len()];
        let sent = self.sent.0;
        counts[0] = timed(|| self.whole());
        if self.sent.0 - sent != 2 * BLOCK as u64 {
            return Err(format!("{} packets were sent for {BLOCK} exchanges", self.sent.0 - sent));
        }
        counts[1] = timed(|| self.decode());
        let (interests, data) = (std::mem::take(&mut self.interests), std::mem::take(&mut self.data));
        let done = self.tables(&interests, &data, &mut counts);
        (self.interests, self.data) = (interests, data);
        done.map(|()| counts)
    }

    /// The packets of the next block.
    fn prepare(&mut self) {
        self.now = Time(self.now.0 + 1_000_000);
        let pairs = self.templates.len();
        for at in 0..BLOCK {
            let number = self.next + (at / pairs) as u64;
            let Some(template) = self.templates.get_mut(at % pairs) else { continue };
            for (octets, room) in [
                (template.interest(number).to_vec(), self.interests.get_mut(at)),
                (template.data(number).to_vec(), self.data.get_mut(at)),
            ] {
                if let Some(room) = room {
                    *room = octets;
                }
            }
        }
        self.next += (BLOCK / pairs) as u64;
    }

    fn whole(&mut self) {
        let Self { forwarder, interests, data, consumers, producers, now, sent, .. } = self;
        for (faces, packets) in [(consumers, interests), (producers, data)] {
            for (packet, face) in packets.iter().zip(faces.iter().cycle()) {
                // What is dropped is not sent, and counted so.
                let _ = forwarder.receive_octets(*face, packet, *now, sent);
            }
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
            asked.push(Interest::parse_with(octets, hasher).map_err(wrong)?);
            hashes.extend_from_slice(hasher.hashes());
        }
        let answers =
            data.iter().map(|octets| Data::parse(octets)).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
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
                pit.prefetch(name.hash(), &());
                if black_box(pit.find(name, interest, &())).is_some() {
                    continue;
                }
                let expires = now.after_millis(interest.lifetime());
                let slot = pit.insert(name, interest, (), expires);
                let nonce = interest.nonce().unwrap_or_default();
                if let Some((_, records)) = pit.entry_mut(slot) {
                    records.ins.push(InRecord {
                        face: *face,
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
        let mut matched = 0;
        counts[3] += timed(|| {
            for ((slot, interest), face) in slots.iter().zip(&asked).zip(producers.iter().cycle()) {
                let Some((_, records)) = pit.entry_mut(*slot) else { continue };
                let nonce = interest.nonce().unwrap_or_default();
                let expires = now.after_millis(interest.lifetime());
                let record = OutRecord { face: *face, nonce, sent: now, expires, nack: None, suppression: 0 };
                records.outs.push(record);
            }
            for ((name, answer), face) in names.iter().zip(&answers).zip(producers.iter().cycle()) {
                let digest = || answer.implicit_digest();
                let matches = pit.matches(name, *face, Hop::default(), digest, |octets| hasher.hash(octets));
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
}
