//! Properties of shards: for any packets in any order, while buckets of names move and split, they answer as
//! one forwarder does.
//!
//! The input is a list of steps: a byte for the kind of step, and a few bytes of arguments. Names have up to
//! nine components of two letters, some with the digest of their Data, and Nonces one byte, so that
//! Interests, Data and Nacks meet. Nothing is evicted: limits belong to each shard.

use crate::forwarder::Log;
use crate::steps::Steps;
use ::hashlane_ndn::time::Time;
use ::hashlane_ndn::wire::{Data, DataBuilder, Interest, InterestBuilder, LpHeader, LpPacket, NackReason};
use ::hashlane_ndn_fw::dead_nonce::LIFETIME;
use ::hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use ::hashlane_ndn_fw::fib::NextHop;
use ::hashlane_ndn_fw::forward::{Burst, Config, DropReason, Forwarder, HandOver};
use ::hashlane_ndn_fw::hashed::NameHasher;
use ::hashlane_ndn_fw::pit::{ByName, Pit as _};
use ::hashlane_ndn_fw::shard::{Balance, Dispatch, Load, MAX_SHARDS, Served, Visit, Visits};
use ::hashlane_table::stage::Stage as _;
use hashlane_hash::scheme::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, DIGEST_LEN, IMPLICIT_SHA256_DIGEST};
use hashlane_name::ndn::Ndn;
use hashlane_name::uri::parse_uri;
use hashlane_name::walk::Walk as _;

/// Faces of a run.
const FACES: u32 = 4;

/// Shards, and the choice among them.
struct Fleet {
    shards: Vec<Forwarder<ByName>>,
    dispatch: Dispatch,
    hasher: NameHasher,
    load: Load,
    balance: Balance,
}

/// Packet on its way from one shard to another.
struct Handed {
    visits: Visits,
    served: Option<Box<Served>>,
    hashes: Vec<u64>,
    bytes: Vec<u8>,
}

impl From<HandOver<'_>> for Handed {
    fn from(HandOver { visits, served, hashes, parts, .. }: HandOver<'_>) -> Self {
        Self { visits, served, hashes: hashes.to_vec(), bytes: parts.concat() }
    }
}

impl Fleet {
    /// Receives a packet at the shards that it visits.
    fn receive(
        &mut self,
        face: FaceId,
        packet: &LpPacket<'_>,
        now: Time,
        log: &mut Log,
    ) -> Result<(), DropReason> {
        let mut next: Option<Handed> = None;
        let mut burst = Burst::new();
        burst.push_packet(face, packet);
        let alone = self.dispatch.route_packet(packet, &mut self.hasher, now, &mut Load::default());
        // The first shard has the faces.
        let [first, ..] = &mut self.shards[..] else { unreachable!("a fleet has shards") };
        first.decode().run(&mut burst);
        let mut hand_over = |packet: HandOver<'_>| next = Some(Handed::from(packet));
        self.dispatch.route_burst(0, first, &mut burst, now, &mut self.load, &mut hand_over);
        first.forward_decoded(&mut burst, now, log);
        let mut outcome = burst.outcomes().next().expect("a packet");
        assert_eq!(next.as_ref().map_or(0, |next| next.visits.shard()), alone.shard());
        burst.hand_over_passed(first.decode(), |packet| next = Some(packet.into()));
        while let Some(Handed { visits, served, hashes, bytes }) = next.take() {
            assert_eq!(outcome, Ok(()), "a packet that was dropped goes no further");
            let mut burst = Burst::new();
            burst.push(face, &bytes).expect("a packet that was handed over");
            burst.set_visit(Visit { visits, served: served.as_deref() }, &hashes);
            let shard = &mut self.shards[visits.shard()];
            shard.receive_burst(&mut burst, now, log);
            outcome = burst.outcomes().next().expect("a packet");
            burst.hand_over_passed(shard.decode(), |packet| next = Some(packet.into()));
        }
        outcome
    }
}

/// A name of up to nine letters, from two bytes.
fn name(steps: &mut Steps<'_>) -> OwnedName<Ndn> {
    let (len, bits) = (steps.octet() % 10, steps.number());
    let letters = (0..len).map(|bit| if bits >> bit & 1 == 0 { &b"a"[..] } else { b"b" });
    let parts: Vec<_> = letters.map(Component::generic).collect();
    OwnedName::from_components(parts).expect("a short name")
}

/// The Data packet of a name.
fn data(name: &OwnedName<Ndn>) -> Vec<u8> {
    let mut data = DataBuilder::new(name.view(), b"x");
    data.freshness = name.view().len().is_multiple_of(2).then_some(1000);
    data.build()
}

/// A name with the implicit digest of its Data. No Data has an empty name.
fn full_name(name: &OwnedName<Ndn>) -> OwnedName<Ndn> {
    let digest = Data::parse(&data(name)).map_or([0; DIGEST_LEN], |data| data.implicit_digest());
    let last = Component { typ: IMPLICIT_SHA256_DIGEST, value: &digest };
    OwnedName::from_components(name.view().components().chain([last])).expect("a short name")
}

/// Routes of bytes to any shards, malformed ones included.
fn check_route(octets: &[u8]) {
    let dispatch = Dispatch::new(1 + octets.len() % MAX_SHARDS);
    let mut hasher = NameHasher::new(&Key::VECTOR);
    let routed = dispatch.route(octets, &mut hasher, Time::from_millis(1), &mut Load::default());
    let visits: Vec<_> = std::iter::successors(Some(routed), |visits| visits.after()).collect();
    assert!(visits.len() <= dispatch.shards());
    assert!(visits.iter().all(|visit| visit.shard() < dispatch.shards()));
}

/// Runs the steps with one forwarder and with shards.
///
/// # Panics
/// They differ in what they send, or in whether they drop a packet, or in their tables.
pub fn check_shards(octets: &[u8]) {
    check_route(octets);
    let mut steps = Steps(octets);
    let count = 2 + usize::from(steps.octet() % 3);
    let forwarder = |_| Forwarder::with_pit(Config::default(), &Key::VECTOR, 7, ByName::default());
    let mut one = forwarder(0);
    let (dispatch, load, balance) = (Dispatch::new(count), Load::default(), Balance::with_threshold(1));
    let hasher = NameHasher::new(&Key::VECTOR);
    let mut fleet = Fleet { shards: (0..count).map(forwarder).collect(), dispatch, hasher, load, balance };
    let mut faces = Vec::new();
    for number in 0..FACES {
        let scope = if number % 2 == 0 { Scope::NonLocal } else { Scope::Local };
        let face = Face::new(scope, LinkType::PointToPoint);
        let id = one.add_face(face.clone()).expect("room for a face");
        fleet
            .shards
            .iter_mut()
            .for_each(|shard| assert_eq!(shard.add_face(Face::new(scope, face.link)), Some(id)));
        faces.push(id);
    }
    for (uri, at) in [("/", 0), ("/a", 1), ("/a/b", 2)] {
        let prefix = parse_uri(uri.as_bytes()).expect("a name");
        let hop = NextHop { face: faces[at], cost: 0 };
        one.add_route(&prefix.view(), hop);
        fleet.shards.iter_mut().for_each(|shard| shard.add_route(&prefix.view(), hop));
    }
    let (mut now, mut moved) = (Time::from_millis(1), None);
    while !steps.is_empty() {
        let step = steps.octet();
        let face = faces[usize::from(step >> 4) % faces.len()];
        let mut header = LpHeader::default();
        let packet = match step % 8 {
            0..=3 => {
                let (name, nonce, flags) = (name(&mut steps), steps.octet(), steps.octet());
                let name = if flags & 4 != 0 { full_name(&name) } else { name };
                if step % 8 == 3 {
                    header.nack = Some(NackReason::NO_ROUTE);
                }
                InterestBuilder {
                    can_be_prefix: flags & 1 != 0,
                    must_be_fresh: flags & 2 != 0,
                    nonce: Some(nonce.into()),
                    lifetime: 10 << (flags >> 4),
                    ..InterestBuilder::new(name.view())
                }
                .build()
            }
            4 | 5 => data(&name(&mut steps)),
            6 => {
                let end = now.after_millis(steps.number());
                // Timeouts are handled when they are due, as a thread does.
                while now < end {
                    let due = fleet.shards.iter().chain([&one]).filter_map(Forwarder::poll_timeout).min();
                    now = due.map_or(end, |due| due.max(now.after_millis(1)).min(end));
                    one.handle_timeout(now);
                    fleet.shards.iter_mut().for_each(|shard| shard.handle_timeout(now));
                }
                continue;
            }
            _ => {
                fleet.balance.gather(&mut fleet.load);
                if fleet.balance.balance(&fleet.dispatch, &[], now) > 0 {
                    moved.get_or_insert(now);
                }
                continue;
            }
        };
        let packet = LpPacket { header, fragment: &packet };
        let (mut single, mut several) = (Log::default(), Log::default());
        let is_past = moved.is_some_and(|moved: Time| now.since(moved).as_millis() >= LIFETIME.into());
        // An Interest may be pending at a former owner, which Interests visit no longer after a while.
        let is_renewed = is_past && is_pending(&one, &packet);
        let expected = one.receive(face, &packet, now, &mut single);
        let got = fleet.receive(face, &packet, now, &mut several);
        let entries: usize = fleet.shards.iter().map(|shard| shard.pit().len()).sum();
        if is_renewed && (got != expected || single.0.len() != several.0.len() || entries != one.pit().len())
        {
            return;
        }
        let is_data = |log: &Log| matches!(&log.0[..], [sent] if Data::parse(&sent.packet).is_ok());
        // The store of another shard answers a prefix before its own shard finds the loop.
        if expected == Err(DropReason::Loop) && got == Ok(()) && is_data(&several) {
            return;
        }
        assert_eq!(got, expected, "{packet:?}");
        // Data stays in the store of a former owner, which nothing visits after a while.
        if is_past && is_data(&single) && !is_data(&several) {
            return;
        }
        compare(&single, &several);
        assert_eq!(entries, one.pit().len(), "pending Interests after {packet:?}");
    }
}

/// True for an Interest of a name that is pending.
fn is_pending(one: &Forwarder<ByName>, packet: &LpPacket<'_>) -> bool {
    let interest = Interest::parse(packet.fragment).ok().filter(|_| packet.header.nack.is_none());
    interest.is_some_and(|interest| {
        one.pit().iter().any(|(key, _)| key.components() == interest.name().walk().bytes())
    })
}

/// Compares what was sent for a packet. For a prefix, a store may choose other Data than another store.
fn compare(single: &Log, several: &Log) {
    if let ([one], [other]) = (&single.0[..], &several.0[..])
        && let (Ok(_), Ok(_)) = (Data::parse(&one.packet), Data::parse(&other.packet))
    {
        return assert_eq!(one.face, other.face);
    }
    let sorted = |log: &Log| {
        let mut sent: Vec<_> = log.0.iter().map(|sent| (sent.face, sent.nack, sent.packet.clone())).collect();
        sent.sort_by_key(|(face, _, packet)| (face.0, packet.clone()));
        sent
    };
    assert_eq!(sorted(several), sorted(single));
}
