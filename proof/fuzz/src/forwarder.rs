//! Properties of a forwarder for any packets in any order, while its faces, routes, strategies and content
//! store change, under each PIT index in turn.
//!
//! The input is a list of steps: a byte for the kind of step, and a few bytes of arguments. Names have two
//! letters and Nonces one byte, so that Interests, Data and Nacks meet. Tokens and digests are bytes of the
//! input, values that the forwarder has sent, or such values with changed bits.
//!
//! A second forwarder, the twin, takes the same packets in bursts, which end at any other step. It must send
//! the same packets, and in the end have the same tables.

use crate::steps::Steps;
use ::hashlane_ndn::fragment::{Fragmenter, MAX_MEMORY, Reassembler};
use ::hashlane_ndn::mgmt::{AnnouncementBuilder, PrefixAnnouncement};
use ::hashlane_ndn::security::Signer;
use ::hashlane_ndn::time::Time;
use ::hashlane_ndn::wire::lp::{DigestField, INTEREST_DIGEST, NO_CACHE};
use ::hashlane_ndn::wire::{
    Data, DataBuilder, DigestFunction, Interest, InterestBuilder, LpHeader, LpPacket, MAX_LINK_PACKET,
    MAX_PACKET, NackReason, SignatureInfo, SignatureType,
};
use ::hashlane_ndn_fw::cs;
use ::hashlane_ndn_fw::dead_nonce::LIFETIME;
use ::hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use ::hashlane_ndn_fw::fib::NextHop;
use ::hashlane_ndn_fw::forward::{
    BURST, Burst, Config, DropReason, Forwarder, MAX_LIFETIME, Output, PushError,
};
use ::hashlane_ndn_fw::learning::{Announcement, MAX_EVENTS, Reported, RouteEvent};
use ::hashlane_ndn_fw::pit::{ByDigest, ByName, ByToken, Pit, Satisfy, TOKEN_LEN};
use ::hashlane_ndn_fw::strategy::Strategy;
use hashlane_hash::scheme::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, IMPLICIT_SHA256_DIGEST};
use hashlane_name::ndn::Ndn;
use hashlane_name::uri::parse_uri;
use std::collections::{BTreeSet, VecDeque};
use std::fmt::Debug;
use std::sync::Arc;

const PIT_ENTRIES: usize = 24;

/// One of so many lengths of inputs has the two forwarders compared as text, which is slow.
const DETAIL: usize = 16;

/// A sent packet.
#[derive(Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) face: FaceId,
    token: Vec<u8>,
    digest: Vec<u8>,
    pub(crate) nack: Option<NackReason>,
    pub(crate) packet: Vec<u8>,
}

/// Packets that a forwarder sends, each checked for being one.
#[derive(Default)]
pub(crate) struct Log(pub(crate) Vec<Sent>);

impl Output for Log {
    fn send(&mut self, face: FaceId, header: &LpHeader<'_>, packet: &[u8]) {
        let frame = header.frame(packet.len());
        let octets = [frame.as_bytes(), packet].concat();
        assert_eq!(LpPacket::parse(&octets), Ok(LpPacket { header: *header, fragment: packet }));
        let (token, digest) = (header.pit_token.to_vec(), header.digest.of(INTEREST_DIGEST).to_vec());
        let is_data = packet.first() == Some(&6);
        assert!(header.prefix_announcement.is_empty() || is_data, "an announcement with an Interest");
        assert!(
            !header.non_discovery || !is_data && header.nack.is_none(),
            "NonDiscovery without an Interest"
        );
        assert!(octets.len() <= MAX_LINK_PACKET, "a link packet that the next forwarder drops");
        self.0.push(Sent { face, token, digest, nack: header.nack, packet: packet.to_vec() });
    }
}

/// An announcement of a prefix for a minute.
fn announcement(prefix: &OwnedName<Ndn>) -> Vec<u8> {
    let builder = AnnouncementBuilder { prefix, version: 1, expiration: 60_000, validity: None };
    let info = SignatureInfo::of(SignatureType::HMAC_WITH_SHA256);
    builder.build_signed(&Signer::hmac(b"key"), info).expect("a short prefix")
}

/// A sent packet for comparison: face, token, digest, Nack reason, bytes.
pub(crate) type Brief = (FaceId, Vec<u8>, Vec<u8>, Option<NackReason>, Vec<u8>);

pub(crate) fn briefs(log: &Log) -> impl Iterator<Item = Brief> + '_ {
    log.0
        .iter()
        .map(|sent| (sent.face, sent.token.clone(), sent.digest.clone(), sent.nack, sent.packet.clone()))
}

struct Port {
    face: FaceId,
    reassembler: Reassembler,
}

struct Rig<P> {
    forwarder: Forwarder<P>,
    /// The same forwarder, with packets in bursts.
    twin: Forwarder<P>,
    /// Packets for the next burst of the twin.
    waiting: Vec<(FaceId, Vec<u8>)>,
    /// Packets that the forwarder has sent for the waiting ones.
    sent: Vec<Brief>,
    index: Index,
    ports: Vec<Port>,
    now: Time,
    /// Number of Interests sent.
    interests: usize,
    /// Number of packets dropped.
    drops: u64,
    /// Tokens and digests sent last.
    given: VecDeque<(Vec<u8>, Vec<u8>)>,
}

/// Number of tokens and digests kept to be sent back.
const GIVEN: usize = 15;

/// The PIT index.
#[derive(Clone, Copy, PartialEq)]
enum Index {
    Name,
    Token,
    Digest(DigestFunction),
}

/// Number of PIT indexes.
pub const INDEXES: usize = 4;

/// Runs the steps under one of the indexes, by their length: each takes its time, and finds most of what all
/// find.
pub fn check_forwarder(octets: &[u8]) {
    check_forwarder_under(octets, octets.len() % INDEXES);
}

/// Runs the steps under the index of this number, below [`INDEXES`].
pub fn check_forwarder_under(octets: &[u8], index: usize) {
    let (sha, sip) = (DigestFunction::Sha1, DigestFunction::Sip64([7; 16]));
    match index {
        0 => run(octets, Index::Name, ByName::default),
        // With this thread number no token is all zeros.
        1 => run(octets, Index::Token, || ByToken::new(&Key::VECTOR, 5)),
        2 => run(octets, Index::Digest(sha), || ByDigest::new(sha, Satisfy::All, &Key::VECTOR)),
        _ => run(octets, Index::Digest(sip), || ByDigest::new(sip, Satisfy::One, &Key::VECTOR)),
    }
}

fn run<P: Pit + Debug>(octets: &[u8], index: Index, pit: impl Fn() -> P) {
    let mut steps = Steps(octets);
    let region = parse_uri(b"/b/a").expect("a name");
    let cs = cs::Config { packets: 6, bytes: 40_000, ..cs::Config::default() };
    let config = Config { pit_entries: PIT_ENTRIES, cs, regions: vec![region], ..Config::default() };
    let [forwarder, twin] = [(); 2].map(|()| Forwarder::with_pit(config.clone(), &Key::VECTOR, 7, pit()));
    let mut rig = Rig {
        forwarder,
        twin,
        waiting: Vec::new(),
        sent: Vec::new(),
        index,
        ports: Vec::new(),
        now: Time::from_millis(1),
        interests: 0,
        drops: 0,
        given: VecDeque::new(),
    };
    for number in 0..4 {
        rig.add_face(number);
    }
    let root: OwnedName<Ndn> = parse_uri(b"/").expect("a name");
    let hop = NextHop { face: rig.ports[3].face, cost: 1 };
    rig.both(|forwarder| forwarder.add_route(&root.view(), hop));
    // A bound on the work for one input.
    for _ in 0..2000 {
        if steps.is_empty() {
            break;
        }
        rig.step(&mut steps);
    }
    rig.ends((octets.len() / INDEXES).is_multiple_of(DETAIL));
}

impl<P: Pit + Debug> Rig<P> {
    /// Applies a step to both forwarders, between two bursts.
    fn both<T: PartialEq + Debug>(&mut self, change: impl Fn(&mut Forwarder<P>) -> T) -> T {
        self.take_waiting();
        let done = change(&mut self.forwarder);
        assert_eq!(done, change(&mut self.twin));
        done
    }

    /// Passes the waiting packets to the twin, in a burst.
    fn take_waiting(&mut self) {
        let (waiting, mut burst, mut log) = (std::mem::take(&mut self.waiting), Burst::new(), Log::default());
        for (face, octets) in &waiting {
            match burst.push(*face, octets) {
                Ok(()) => {}
                Err(PushError::Malformed) => self.twin.count_drop(*face, DropReason::Malformed),
                Err(PushError::Fragment) => self.twin.count_drop(*face, DropReason::Reassembly),
            }
        }
        self.twin.receive_burst(&mut burst, self.now, &mut log);
        assert!(briefs(&log).eq(self.sent.drain(..)), "a burst sends something else");
        let events = self.forwarder.take_route_events();
        assert_eq!(events, self.twin.take_route_events());
        assert!(events.len() <= MAX_EVENTS);
        for Reported { event, .. } in events {
            if let RouteEvent::Announced(packet) = event {
                assert!(PrefixAnnouncement::parse(&packet).is_ok());
            }
        }
    }

    /// Keeps a packet for the twin, and the packets that the forwarder sent for it.
    fn wait(&mut self, face: FaceId, octets: Vec<u8>, log: &Log) {
        self.waiting.push((face, octets));
        self.sent.extend(briefs(log));
        if self.waiting.len() == BURST {
            self.take_waiting();
        }
    }

    fn add_face(&mut self, how: u8) {
        if self.ports.len() == 8 {
            return;
        }
        let scope = if how & 1 == 0 { Scope::NonLocal } else { Scope::Local };
        let link = [LinkType::PointToPoint, LinkType::PointToPoint, LinkType::MultiAccess, LinkType::AdHoc];
        let mut face = Face::new(scope, link[usize::from(how >> 2 & 3)]);
        face.local_fields = how & 16 != 0;
        (face.pit_tokens, face.interest_digests) = (how & 32 == 0, how & 64 == 0);
        let face = self.both(|forwarder| {
            let mut face = face.clone();
            // Each counts for itself.
            face.counters = Arc::default();
            forwarder.add_face(face)
        });
        let face = face.expect("room for a face");
        self.ports.push(Port { face, reassembler: Reassembler::default() });
    }

    /// One of the faces, or one that is gone, or none.
    fn face(&self, octet: u8) -> FaceId {
        match self.ports.get(usize::from(octet & 7)) {
            Some(port) => port.face,
            None => FaceId(u32::from(octet) + 250),
        }
    }

    fn step(&mut self, steps: &mut Steps<'_>) {
        let step = steps.octet();
        match step & 15 {
            0..=3 => {
                let octets = interest(steps);
                self.packet(steps, None, &octets, step);
            }
            4..=6 => {
                let octets = data(steps);
                self.packet(steps, None, &octets, step);
            }
            7 => {
                let reason = NackReason([0, 50, 100, 150][usize::from(step >> 6)]);
                let octets = interest(steps);
                self.packet(steps, Some(reason), &octets, step);
            }
            8 => {
                let (face, len) = (steps.octet(), steps.number());
                let octets = steps.octets(len as usize);
                self.octets(face, octets);
            }
            9 => self.passes(steps.octet().into()),
            10 => self.passes(steps.number()),
            11 => {
                if let Some(at) = usize::from(steps.octet()).checked_rem(self.ports.len()) {
                    let port = self.ports.remove(at);
                    assert!(self.both(|forwarder| forwarder.remove_face(port.face).is_some()));
                }
            }
            12 => self.add_face(steps.octet()),
            13 => {
                let (prefix, face) = (steps.name(), self.face(steps.octet()));
                if step >> 4 & 3 == 0 {
                    self.both(|forwarder| forwarder.remove_route(&prefix.view(), face));
                } else {
                    let hop = NextHop { face, cost: (step >> 4).into() };
                    self.both(|forwarder| forwarder.add_route(&prefix.view(), hop));
                }
            }
            14 => self.strategy(steps, step >> 4),
            _ => self.store(steps, step >> 4),
        }
        self.within_limits();
    }

    fn strategy(&mut self, steps: &mut Steps<'_>, which: u8) {
        const NAMES: [&str; 7] = [
            "best-route",
            "multicast",
            "random",
            "asf",
            "asf/probing-interval~1000/max-timeouts~1",
            "access",
            "self-learning",
        ];
        let prefix = steps.name();
        if which >= 8 {
            // Names with announcements, of routes that there may be or not.
            let face = self.face(steps.octet());
            let packet = (which & 1 == 0).then(|| announcement(&prefix).into());
            let announced = packet.map(|packet| Announcement { packet, is_learned: which & 2 == 0 });
            return self.both(|forwarder| forwarder.announce(&prefix.view(), face, announced.clone()));
        }
        let Some(name) = NAMES.get(usize::from(which)) else {
            self.both(|forwarder| forwarder.unset_strategy(&prefix.view()));
            return;
        };
        let name: OwnedName<Ndn> =
            parse_uri(format!("/localhost/nfd/strategy/{name}").as_bytes()).expect("a name");
        self.both(|forwarder| {
            let strategy = Strategy::from_name(name.view()).expect("a strategy");
            forwarder.set_strategy(&prefix.view(), strategy);
        });
    }

    fn store(&mut self, steps: &mut Steps<'_>, which: u8) {
        if which & 1 == 0 {
            let limit = usize::from(steps.octet());
            let prefix = steps.name();
            assert!(self.both(|forwarder| forwarder.erase(&prefix.view(), limit)) <= limit);
            return;
        }
        let policy = if which & 2 == 0 { cs::Policy::Lru } else { cs::Policy::PriorityFifo };
        let (packets, octets) = (usize::from(steps.octet() & 15), steps.number() as usize);
        let (admit, serve) = (which & 4 == 0, which & 8 == 0);
        let config = cs::Config { packets, bytes: octets, policy, admit, serve };
        self.both(|forwarder| forwarder.configure_cs(config));
        // Packets beyond the new limits leave with the next turns.
        while self.forwarder.cs().is_over_capacity() {
            let before = self.forwarder.cs().len();
            let now = self.now;
            self.both(|forwarder| forwarder.handle_timeout(now));
            assert!(self.forwarder.cs().len() < before, "a store that stays too full");
        }
    }

    /// Passes a packet to the forwarder: whole, or in fragments over a narrow link, as `how` states. A
    /// fragment may be lost.
    fn packet(&mut self, steps: &mut Steps<'_>, nack: Option<NackReason>, packet: &[u8], how: u8) {
        let (face, fields) = (steps.octet(), steps.octet());
        let (token, digest) = self.hop(face >> 3, fields);
        let announced = if fields & 128 == 0 { Vec::new() } else { announcement(&steps.name()) };
        let header = LpHeader {
            pit_token: &token,
            digest: DigestField::new(INTEREST_DIGEST, &digest),
            nack,
            next_hop_face: (fields & 1 != 0).then(|| self.face(fields >> 5).0.into()),
            cache_policy: (fields & 2 != 0).then_some(NO_CACHE),
            congestion_mark: (fields >> 2 & 1).into(),
            non_discovery: fields & 16 != 0,
            prefix_announcement: &announced,
            ..LpHeader::default()
        };
        if how >> 4 & 3 != 3 {
            return self.receive(self.face(face), &LpPacket { header, fragment: packet });
        }
        let mut pieces = Vec::new();
        let sequence = u64::from(fields) << 1;
        let done = Fragmenter::new(sequence)
            .send(&header, packet, 200, |head, piece| pieces.push([head, piece].concat()));
        assert!(done);
        if how & 64 != 0 {
            pieces.reverse();
        }
        if how & 128 != 0 {
            pieces.pop();
        }
        pieces.iter().for_each(|piece| self.octets(face, piece));
    }

    /// A token and a digest: unknown ones, or values that the forwarder has sent, perhaps with changed last
    /// bits.
    fn hop(&self, which: u8, fields: u8) -> (Vec<u8>, Vec<u8>) {
        let given = usize::from(which >> 1).checked_rem(self.given.len());
        let Some((token, digest)) = given.filter(|_| which > 0).and_then(|at| self.given.get(at)) else {
            let token = vec![fields; usize::from(fields >> 3 & 3) * 16 % 33];
            let digest = if fields & 64 == 0 { Vec::new() } else { vec![fields; 20] };
            return (token, digest);
        };
        let mut hop = (token.clone(), digest.clone());
        for octets in [&mut hop.0, &mut hop.1] {
            octets.iter_mut().last().into_iter().for_each(|last| *last ^= which & 1);
        }
        hop
    }

    /// Passes bytes from a link to the forwarder.
    fn octets(&mut self, face: u8, octets: &[u8]) {
        let id = self.face(face);
        let port = self.ports.get_mut(usize::from(face & 7));
        match (LpPacket::parse(octets), port) {
            (Ok(piece), Some(port)) if piece.header.is_fragmented() => {
                match port.reassembler.receive(&piece, octets, self.now) {
                    Ok(Some(whole)) => self.receive(id, &whole.packet()),
                    Ok(None) => {}
                    Err(_) => self.both(|forwarder| forwarder.count_drop(id, DropReason::Reassembly)),
                }
                self.drops = self.counted();
            }
            _ => {
                let mut log = Log::default();
                let result = self.forwarder.receive_bytes(id, octets, self.now, &mut log);
                self.wait(id, octets.to_vec(), &log);
                self.done(result, log);
            }
        }
    }

    fn receive(&mut self, face: FaceId, packet: &LpPacket<'_>) {
        let mut log = Log::default();
        let result = self.forwarder.receive(face, packet, self.now, &mut log);
        let head = packet.header.wrapped(packet.fragment.len());
        self.wait(face, [head.as_bytes(), packet.fragment].concat(), &log);
        self.done(result, log);
    }

    fn counted(&self) -> u64 {
        let drops = &self.forwarder.counters().drops;
        DropReason::ALL.iter().map(|reason| drops.value(*reason)).sum()
    }

    /// Checks the outcome of a step: sent bytes are packets, to faces that exist.
    fn done(&mut self, result: Result<(), DropReason>, log: Log) {
        let drops = self.counted();
        assert_eq!(drops - self.drops, u64::from(result.is_err()), "a drop that is not counted once");
        self.drops = drops;
        assert!(result != Err(DropReason::Digest) || matches!(self.index, Index::Digest(_)));
        let mut answers = Vec::new();
        let mut upstream = BTreeSet::new();
        for Sent { face, token, digest, nack, packet } in log.0 {
            let live = self.forwarder.faces().find(face).expect("a face that is there");
            assert!(packet.len() <= MAX_PACKET);
            let own = match self.index {
                Index::Digest(function) if live.interest_digests => function.len(),
                _ => 0,
            };
            assert_eq!(digest.len(), own, "an InterestDigest of another length");
            if !(token.is_empty() && digest.is_empty()) {
                self.given.truncate(GIVEN - 1);
                self.given.push_front((token.clone(), digest.clone()));
            }
            let localhost = match Interest::parse(&packet) {
                Ok(interest) => {
                    assert!(
                        interest.nonce().is_some() && (nack.is_none() || live.link == LinkType::PointToPoint)
                    );
                    self.interests += usize::from(nack.is_none());
                    if let Index::Digest(function) = self.index {
                        let right = function.digest(&interest);
                        assert!(digest.is_empty() || digest == right.as_bytes(), "another Interest's digest");
                    }
                    if nack.is_none() {
                        let takes = self.index == Index::Token && live.pit_tokens;
                        assert_eq!(token.len(), if takes { TOKEN_LEN } else { 0 }, "{token:?}");
                        upstream.extend(takes.then(|| token.clone()));
                    }
                    interest.name().components().next() == Some(Component::generic(b"localhost"))
                }
                Err(_) => {
                    let data = Data::parse(&packet).expect("an Interest or Data");
                    answers.push((face, token));
                    data.name().components().next() == Some(Component::generic(b"localhost"))
                }
            };
            assert!(!localhost || live.scope == Scope::Local, "a name of this host left it");
        }
        assert!(upstream.len() <= 1, "one Interest went out under two tokens");
        let all = answers.len();
        answers.sort();
        answers.dedup();
        assert_eq!(all, answers.len(), "Data that came twice to one who asked once");
    }

    fn passes(&mut self, millis: u64) {
        // The twin takes earlier packets at their own time.
        self.take_waiting();
        self.now = self.now.after_millis(millis);
        let now = self.now;
        let sent = self.both(|forwarder| {
            let mut log = Log::default();
            forwarder.handle_retries(now, &mut log);
            forwarder.handle_timeout(now);
            log.0
        });
        // Several entries may have retries at one time.
        sent.into_iter().for_each(|sent| self.done(Ok(()), Log(vec![sent])));
        self.ports.iter_mut().for_each(|port| port.reassembler.handle_timeout(self.now));
        let past = self.now.millis();
        let late =
            self.forwarder.pit().iter().filter(|(_, records)| records.expires.millis() + 1 < past).count();
        assert_eq!(late, 0, "entries that outlived their time");
        // One turn visits all entries, as there are few.
        let faces = self.forwarder.faces();
        let is_stale = |face| faces.find(face).is_none();
        let stale = self.forwarder.pit().iter().any(|(_, records)| {
            records.ins.iter().any(|record| is_stale(record.face))
                || records.outs.iter().any(|record| is_stale(record.face))
        });
        assert!(!stale, "records of a face that is gone");
    }

    fn within_limits(&self) {
        let forwarder = &self.forwarder;
        let pit = forwarder.pit();
        let ins: usize = pit.iter().map(|(_, records)| records.ins.len()).sum();
        assert_eq!(forwarder.pending(), ins);
        assert_eq!(pit.iter().count(), pit.len());
        assert!(ins <= PIT_ENTRIES && pit.len() <= ins, "{} entries, {ins} records", pit.len());
        assert!(forwarder.dead_nonces() <= self.interests);
        let cs = forwarder.cs();
        assert!(cs.len() <= cs.config().packets && cs.bytes() <= cs.config().bytes);
        assert_eq!(cs.iter().count(), cs.len());
        for (_, face) in forwarder.faces().iter() {
            assert!(face.pending() <= ins);
        }
        assert!(self.ports.iter().all(|port| port.reassembler.memory() <= MAX_MEMORY));
    }

    /// Compares the PIT, the content store and the counters of the two forwarders.
    fn agrees_with_twin(&self) -> bool {
        let pit = |forwarder: &Forwarder<P>| {
            let mut entries = Vec::new();
            for (key, records) in forwarder.pit().iter() {
                let ins = records.ins.iter();
                let ins = ins.map(|record| (record.face, record.nonce, record.expires, record.token));
                let outs = records.outs.iter();
                let outs = outs.map(|record| (record.face, record.nonce, record.sent, record.nack));
                entries.push((
                    key.packet().to_vec(),
                    records.expires,
                    Vec::from_iter(ins),
                    Vec::from_iter(outs),
                ));
            }
            entries
        };
        let counts = |forwarder: &Forwarder<P>| {
            let counters = forwarder.counters();
            let counts = [&counters.in_interests, &counters.in_data, &counters.in_nacks];
            let more = [&counters.out_interests, &counters.out_data, &counters.out_nacks, &counters.cs_hits];
            let drops: Vec<u64> =
                DropReason::ALL.iter().map(|reason| counters.drops.value(*reason)).collect();
            (
                forwarder.pending(),
                forwarder.dead_nonces(),
                counts.map(|c| c.value()),
                more.map(|c| c.value()),
                drops,
            )
        };
        let (one, other) = (&self.forwarder, &self.twin);
        pit(one) == pit(other) && one.cs().iter().eq(other.cs().iter()) && counts(one) == counts(other)
    }

    /// Checks that no Interest is pending after the longest lifetime, and compares the twin: each byte of it
    /// if `in_detail`.
    fn ends(mut self, in_detail: bool) {
        self.take_waiting();
        assert!(self.agrees_with_twin(), "a burst leaves something else");
        if in_detail {
            let [one, other] = [&self.forwarder, &self.twin].map(|forwarder| format!("{forwarder:?}"));
            assert_eq!(one, other, "a burst leaves something else");
        }
        self.passes(MAX_LIFETIME + 1);
        assert!(self.forwarder.pit().is_empty() && self.forwarder.pending() == 0);
        // Nonces are forgotten, too.
        self.passes(LIFETIME);
        assert_eq!(self.forwarder.dead_nonces(), 0);
        assert!(self.ports.iter().all(|port| port.reassembler.memory() == 0));
    }
}

/// Lifetimes, in milliseconds: none, short, the default, and above the limit.
const LIFETIMES: [u64; 8] = [0, 1, 9, 100, 4000, 20_000, 3_600_000, u64::MAX];

/// An Interest of a name, selectors, a Nonce and a lifetime that the steps give.
pub(crate) fn interest(steps: &mut Steps<'_>) -> Vec<u8> {
    let (name, selectors, nonce) = (steps.name(), steps.octet(), steps.octet());
    let parts = name.view();
    let digest = match selectors >> 6 {
        1 => Some(Data::parse(&data_of(&name, 0, 0)).expect("Data").implicit_digest()),
        _ => None,
    };
    let digest = digest.as_ref().map(|digest| Component { typ: IMPLICIT_SHA256_DIGEST, value: digest });
    let name: OwnedName<Ndn> =
        OwnedName::from_components(parts.components().chain(digest)).expect("a short name");
    let hints: Vec<OwnedName<Ndn>> = match selectors >> 4 & 3 {
        1 => vec![steps.name()],
        2 => vec![parse_uri(b"/b").expect("a name"), steps.name()],
        _ => Vec::new(),
    };
    InterestBuilder {
        can_be_prefix: selectors & 1 != 0,
        must_be_fresh: selectors & 2 != 0,
        hints: hints.iter().map(OwnedName::view).collect(),
        nonce: (nonce != 0).then_some(nonce.into()),
        lifetime: LIFETIMES[usize::from(steps.octet() & 7)],
        hop_limit: (selectors & 4 != 0).then(|| steps.octet()),
        parameters: (selectors & 8 != 0).then_some(b"x"),
        ..InterestBuilder::new(name.view())
    }
    .build()
}

/// Data of a name, a freshness and a length that the steps give.
pub(crate) fn data(steps: &mut Steps<'_>) -> Vec<u8> {
    let (name, how) = (steps.name(), steps.octet());
    data_of(&name, [0, 10, 1000, 20_000][usize::from(how & 3)], usize::from(how >> 2) * 32)
}

fn data_of(name: &OwnedName<Ndn>, freshness: u64, len: usize) -> Vec<u8> {
    let content = vec![b'x'; len];
    let mut builder = DataBuilder::new(name.view(), &content);
    builder.freshness = (freshness > 0).then_some(freshness);
    builder.build()
}
