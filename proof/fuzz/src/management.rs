//! Properties of the management for any commands, datasets and events, from anybody, while faces come and go
//! and clocks jump: at most one answer to each Interest, no change by those without rights, and a FIB that is
//! what the RIB implies.

use crate::rib::{Kept, implied};
use crate::steps::Steps;
use hashlane_forwarder::Totals;
use hashlane_forwarder::management::{
    Access, Account, Config, FaceInfo, FaceOutcome, FaceRequest, Manager, Now, Origin, Over, Peer, Plane,
    Request, TableRequest, Ticket,
};
use hashlane_forwarder::rib::RibLimits;
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, SEGMENT, SEQUENCE_NUM, VERSION};
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::uri::parse_uri;
use hashlane_ndn::mgmt::command::{CommandBuilder, Target};
use hashlane_ndn::mgmt::dataset::{CsInfo, FaceStatus, FibEntry, RibEntry, StrategyChoice};
use hashlane_ndn::mgmt::segment::{number, with_number};
use hashlane_ndn::mgmt::values::{FacePersistency, FaceScope, LinkType, RouteOrigin};
use hashlane_ndn::mgmt::{
    AnnouncementBuilder, Command, ControlParameters, ControlResponse, PrefixAnnouncement, Record, Scope,
};
use hashlane_ndn::security::{Certificates, Signer};
use hashlane_ndn::wire::{
    Data, DataBuilder, Interest, InterestBuilder, KeyLocator, LpPacket, MAX_PACKET, SignatureInfo,
    SignatureType,
};
use hashlane_ndn_fw::learning::{MAX_ANNOUNCEMENT, RouteEvent};
use hashlane_ndn_fw::trace::MAX_TRACES;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

/// Users with every right: root, the forwarder's own, and one of the configuration.
const PERMITTED: [u32; 3] = [0, 1000, 1001];

/// A user with the rights of every user.
const ORDINARY: u32 = 4_000_001;

/// Time after which a command that waits is answered, in milliseconds.
const MAX_WAIT: u64 = 60_000;

/// Events that late Interests get.
const BACKLOG: u64 = 256;

/// Most components of a prefix.
const DEPTH: usize = 8;

/// Most announced routes of a face.
const ANNOUNCED: usize = 4;

/// Most commands that wait.
const MAX_WAITING: usize = 1024;

const VERBS: [(&str, &str); 13] = [
    ("rib", "register"),
    ("rib", "unregister"),
    ("fib", "add-nexthop"),
    ("fib", "remove-nexthop"),
    ("faces", "create"),
    ("faces", "update"),
    ("faces", "destroy"),
    ("strategy-choice", "set"),
    ("strategy-choice", "unset"),
    ("cs", "config"),
    ("cs", "erase"),
    ("rib", "announce"),
    ("rib", "unknown"),
];

/// Writes down what the management asks for.
#[derive(Default)]
struct Fake {
    fib: BTreeMap<(OwnedNameKey, u64), u64>,
    announced: BTreeSet<(OwnedNameKey, u64)>,
    strategies: BTreeSet<OwnedNameKey>,
    cs: Option<(u64, bool, bool)>,
    /// Requests that change something, FIB entries excepted.
    changes: usize,
    tickets: VecDeque<Ticket>,
    displaced: Vec<Vec<u8>>,
    /// Numbers of the traces that run.
    traces: BTreeSet<u64>,
    is_busy: bool,
}

/// The bytes of a name.
type OwnedNameKey = Vec<u8>;

fn key(name: &OwnedName<Ndn>) -> OwnedNameKey {
    name.as_bytes().to_vec()
}

impl Plane for Fake {
    fn request(&mut self, request: Request) {
        match request {
            Request::Table(TableRequest::AddNextHop { prefix, face, cost }) => {
                self.fib.insert((key(&prefix), face), cost);
            }
            Request::Table(TableRequest::RemoveNextHop { prefix, face }) => {
                let removed = self.fib.remove(&(key(&prefix), face));
                assert!(removed.is_some(), "a next hop is removed once: {prefix} {face}");
            }
            Request::Table(TableRequest::ChooseStrategy { prefix, strategy }) => {
                self.changes += 1;
                match strategy {
                    Some(_) => drop(self.strategies.insert(key(&prefix))),
                    None => assert!(self.strategies.remove(&key(&prefix)), "unset once"),
                }
            }
            Request::Table(TableRequest::Announce { prefix, face, announcement }) => {
                let key = (key(&prefix), face);
                match announcement {
                    Some(announcement) => {
                        assert!(announcement.packet.len() <= MAX_ANNOUNCEMENT);
                        self.announced.insert(key);
                    }
                    None => assert!(self.announced.remove(&key), "an announcement is removed once"),
                }
            }
            Request::Table(TableRequest::ConfigureCs(cs)) => {
                self.changes += 1;
                self.cs = Some((cs.capacity, cs.admit, cs.serve));
            }
            Request::Table(TableRequest::Erase { limit, ticket, .. }) => {
                assert!((1..=256).contains(&limit));
                self.tickets.push_back(ticket);
            }
            Request::Table(TableRequest::StartTrace(trace)) => {
                assert!(self.traces.len() < MAX_TRACES && self.traces.insert(trace.id));
            }
            Request::Table(TableRequest::StopTrace(id)) => {
                assert!(self.traces.remove(&id), "a trace is stopped once");
            }
            Request::Table(TableRequest::Sample(_)) => panic!("nothing is observed"),
            Request::Face(FaceRequest::Create { ticket, .. } | FaceRequest::CreateEther { ticket, .. }) => {
                self.tickets.push_back(ticket);
            }
            Request::Face(FaceRequest::Update { .. } | FaceRequest::Destroy { .. }) => self.changes += 1,
            Request::Data(answer) => self.displaced.push(answer),
            Request::Interest(_) => panic!("no certificate is missing"),
            Request::Echo => panic!("no heartbeat is asked for"),
        }
    }

    fn is_busy(&self) -> bool {
        self.is_busy
    }
}

/// A signature of a command.
#[derive(Clone, Copy, PartialEq)]
enum Signed {
    Digest,
    WrongDigest,
    Trusted(u8),
    Untrusted,
}

struct Harness {
    manager: Manager,
    plane: Fake,
    localhop: bool,
    /// Parties with their faces; 0 for a closed face.
    parties: Vec<Origin>,
    open: BTreeSet<u64>,
    next_face: u64,
    /// Commands that wait: ticket and name.
    waiting: VecDeque<(Ticket, OwnedName<Ndn>, u64)>,
    answered: Vec<Ticket>,
    /// Number of events.
    events: u64,
    /// Prefixes with a next hop that a command has added or removed.
    touched: BTreeSet<OwnedNameKey>,
    /// Keys and times of signatures that were accepted.
    accepted: BTreeSet<(u8, u64)>,
    /// Names of segments that were sent.
    segments: VecDeque<OwnedName<Ndn>>,
    now: Now,
    nonce: u32,
}

/// Runs the steps.
pub fn check_manager(octets: &[u8]) {
    let mut steps = Steps(octets);
    let mut bench = Harness::new(steps.octet() & 1 != 0);
    // A bound on the work for one input.
    for count in 1..=200 {
        if steps.is_empty() {
            break;
        }
        bench.step(&mut steps);
        assert!(bench.waiting.len() <= MAX_WAITING);
        if count % 16 == 0 {
            bench.check();
        }
    }
    bench.ends();
}

fn uri(text: &str) -> OwnedName<Ndn> {
    parse_uri(text.as_bytes()).expect("a name")
}

/// A face; other hosts' have 250 addresses.
pub(crate) fn face_info(id: u64, scope: FaceScope) -> FaceInfo {
    let remote = match scope {
        FaceScope::Local => format!("fd://{id}"),
        FaceScope::NonLocal => format!("udp4://192.0.2.{}:6363", id % 250 + 1),
    };
    FaceInfo {
        id,
        remote: remote.parse().expect("a URI"),
        local: "unix:///run/nfd/nfd.sock".parse().expect("a URI"),
        scope,
        persistency: FacePersistency::OnDemand,
        link_type: LinkType::PointToPoint,
        flags: 0,
        marking_interval: 100_000_000,
        congestion_threshold: 65_536,
        mtu: None,
        idle: None,
        counters: Arc::default(),
    }
}

impl Harness {
    fn new(localhop: bool) -> Self {
        let access = Access {
            own_uid: PERMITTED[1],
            users: vec![Account::Id(PERMITTED[2])],
            localhop,
            ..Access::default()
        };
        let rib = RibLimits { routes: 48, routes_per_face: 24, next_hops: 1 << 16, name_bytes: 1 << 30 };
        let config = Config {
            access,
            rib,
            announcements: Some(ANNOUNCED),
            max_strategies: 6,
            max_depth: DEPTH,
            ..Config::default()
        };
        let verify = |command: &Command<'_>, _: &[&Certificates], _: Now| match command.signature.value {
            b"good" => Ok(command.signature.key().into()),
            _ => Err("no such key".to_owned().into()),
        };
        let now = Now { monotonic: 5000, unix: 1_700_000_000_000 };
        let (here, there) = (Ipv4Addr::LOCALHOST, IpAddr::from([192, 0, 2, 1]));
        let parties = [
            (FaceScope::Local, Peer::User { uid: PERMITTED[0], over: Over::Unix }),
            (FaceScope::Local, Peer::User { uid: PERMITTED[1], over: Over::Loopback }),
            (FaceScope::Local, Peer::User { uid: PERMITTED[2], over: Over::Unix }),
            (FaceScope::Local, Peer::User { uid: ORDINARY, over: Over::Unix }),
            (FaceScope::Local, Peer::User { uid: ORDINARY + 1, over: Over::Loopback }),
            (FaceScope::Local, Peer::Unidentified { address: here.into(), why: "no table".into() }),
            (FaceScope::Local, Peer::Page { address: here.into(), origin: "https://page.example".into() }),
            (FaceScope::NonLocal, Peer::Ip(here.into())),
            (FaceScope::NonLocal, Peer::Ip(there)),
            (FaceScope::NonLocal, Peer::Page { address: there, origin: "https://page.example".into() }),
        ];
        let mut bench = Self {
            manager: Manager::new(config, Totals::default(), Box::new(verify), now),
            plane: Fake::default(),
            localhop,
            parties: parties.map(|(scope, peer)| Origin { face: 0, scope, peer }).into(),
            open: BTreeSet::new(),
            next_face: 300,
            waiting: VecDeque::new(),
            answered: Vec::new(),
            events: 0,
            touched: BTreeSet::new(),
            accepted: BTreeSet::new(),
            segments: VecDeque::new(),
            now,
            nonce: 0,
        };
        (0..bench.parties.len()).for_each(|party| bench.face_up(party));
        bench
    }

    fn step(&mut self, steps: &mut Steps<'_>) {
        let step = steps.octet();
        let party = usize::from(steps.octet()) % self.parties.len();
        match step & 15 {
            0..=6 => self.command(party, steps, step >> 4),
            7 => self.dataset(party, steps.octet(), step >> 4),
            8 => self.ask_for_event(party, steps.octet(), step >> 4),
            9 => self.raw(party, steps),
            10 => {
                if self.parties[party].face == 0 {
                    self.face_up(party);
                } else {
                    self.face_down(party);
                }
            }
            11 => {
                let face = self.parties[party].face;
                let events = self.manager.face_link(face, step & 16 != 0, self.now);
                self.take_events(&events, face != 0);
                self.plane.is_busy = step & 32 != 0;
            }
            12 => self.passes(u64::from(steps.octet()) * 10),
            13 => self.passes(steps.number()),
            14 => {
                // The clock is set.
                let by = steps.number() * 10;
                let unix = self.now.unix;
                self.now.unix = if step & 16 == 0 { unix.saturating_sub(by) } else { unix + by };
            }
            _ => self.outcome(steps.octet(), step >> 4),
        }
    }

    fn face_up(&mut self, party: usize) {
        let id = self.next_face;
        self.next_face += 1;
        let scope = self.parties[party].scope;
        self.parties[party].face = id;
        self.open.insert(id);
        let events = self.manager.face_up(face_info(id, scope), self.now);
        self.take_events(&events, true);
    }

    fn face_down(&mut self, party: usize) {
        let id = std::mem::take(&mut self.parties[party].face);
        self.open.remove(&id);
        let events = self.manager.face_down(id, self.now, &mut self.plane);
        self.take_events(&events, true);
        assert!(self.manager.face_down(id, self.now, &mut self.plane).is_empty(), "closed once");
    }

    fn take_events(&mut self, packets: &[Vec<u8>], expected: bool) {
        assert_eq!(packets.len(), usize::from(expected));
        for packet in packets {
            let stream = uri("/localhost/nfd/faces/events");
            let name = with_number(stream.view(), SEQUENCE_NUM, self.events).expect("a short name");
            assert_eq!(Data::parse(packet).expect("Data").name(), name.view());
            self.events += 1;
        }
    }

    fn passes(&mut self, millis: u64) {
        self.now.monotonic += millis;
        self.now.unix += millis;
        self.tick();
    }

    fn tick(&mut self) {
        let answers = self.manager.tick(self.now, &mut self.plane);
        for answer in answers {
            let (ticket, name, since) = self.waiting.pop_front().expect("a command that waits");
            assert!(self.now.monotonic - since >= MAX_WAIT, "an early answer");
            assert_eq!(response(&answer, name.view()).code, 504);
            self.answered.push(ticket);
        }
        let late = |(_, _, since): &(Ticket, OwnedName<Ndn>, u64)| self.now.monotonic - since >= MAX_WAIT;
        assert!(!self.waiting.front().is_some_and(late), "a command waits for ever");
    }

    /// Passes an Interest on, and checks its answer. Returns the answer, if it is not a Nack.
    fn send(&mut self, packet: &[u8], from: &Origin) -> Option<Vec<u8>> {
        let interest = Interest::parse(packet).expect("an Interest");
        let (name, is_event) = (interest.name(), {
            let target = Target::of(interest.name());
            target.is_some_and(|target| (target.module, target.verb) == (b"faces", b"events"))
        });
        let tickets = self.plane.tickets.len();
        let answers = self.manager.interest(&interest, from, self.now, &mut self.plane);
        for displaced in std::mem::take(&mut self.plane.displaced) {
            let name = OwnedName::from(&Data::parse(&displaced).expect("Data").name());
            let at = self.waiting.iter().position(|(_, waits, _)| *waits == name);
            let (ticket, ..) = at.and_then(|at| self.waiting.remove(at)).expect("a command that waits");
            assert_eq!(response(&displaced, name.view()).code, 503);
            self.answered.push(ticket);
        }
        match (self.plane.tickets.len() - tickets, answers.as_slice()) {
            (1, []) => {
                let ticket = *self.plane.tickets.back().expect("a ticket");
                self.waiting.push_back((ticket, OwnedName::from(&name), self.now.monotonic));
                None
            }
            (0, []) => {
                assert!(is_event, "an Interest without an answer: {name}");
                None
            }
            (0, [answer]) => match LpPacket::parse(answer).expect("a packet") {
                LpPacket { header, fragment } if header.nack.is_some() => {
                    assert_eq!(fragment, packet);
                    None
                }
                LpPacket { fragment, .. } => {
                    let data = Data::parse(fragment).expect("Data");
                    assert!(answer.len() <= MAX_PACKET && data.freshness() == Some(1000));
                    let answered = data.name().components().take(name.len()).eq(name.components());
                    assert!(answered && (interest.can_be_prefix() || data.name().len() == name.len()));
                    Some(answer.clone())
                }
            },
            (tickets, answers) => panic!("{} answers and {tickets} tickets", answers.len()),
        }
    }

    /// Gives a command. `how` chooses the signature, and what is wrong with the command.
    fn command(&mut self, party: usize, steps: &mut Steps<'_>, how: u8) {
        // Changes that were due before are not caused by the command.
        self.tick();
        let verb = usize::from(steps.octet()) % VERBS.len();
        let selected = steps.number() as u16 & if how & 1 == 0 { 0 } else { u16::MAX };
        let from = self.parties[party].clone();
        let parameters = self.parameters(verb, selected, steps);
        let (module, text) = VERBS[verb];
        if text == "announce" && how & 1 == 0 {
            return self.announce(&from, steps, how);
        }
        let scope = if how & 2 == 0 { Scope::Localhost } else { Scope::Localhop };
        let signer = steps.octet();
        let signed = match (how >> 2, signer >> 6) {
            (0 | 1, _) => Signed::Digest,
            (2, _) | (_, 0 | 1) => Signed::Trusted(signer & 3),
            (_, 2) => Signed::Untrusted,
            _ => Signed::WrongDigest,
        };
        let time = self.now.unix + u64::from(signer >> 2 & 15);
        let target = Target { scope, module: module.as_bytes(), verb: text.as_bytes() };
        let packet = self.build(target, &parameters, signed, time);
        let may = self.may(&from, &format!("{module}/{text}"), scope, &parameters, signed);
        let before = (signer & 7 == 0 && !may).then(|| self.dump());
        let (changes, fib) = (self.plane.changes, self.plane.fib.clone());
        let waiting = self.waiting.len();
        let answer = self.send(&packet, &from);
        let name = Interest::parse(&packet).expect("an Interest").name();
        let code = answer.map(|answer| response(&answer, name).code);
        let is_done = code == Some(200);
        assert!(may || !is_done, "a command without rights: {} by {:?}", name, from.peer);
        assert!(may || self.waiting.len() <= waiting, "a command without rights waits: {name}");
        if let (true, Signed::Trusted(key), false) = (
            is_done || self.waiting.len() > waiting,
            signed,
            self.has_rights(&from, text, scope, &parameters),
        ) {
            assert!(self.accepted.insert((key, time)), "a command was replayed");
        }
        if is_done {
            let name = parameters.name.as_ref().map(key);
            self.touched.extend(name.filter(|_| module == "fib"));
        } else {
            assert_eq!(self.plane.changes, changes, "a refused command changes something");
            assert_eq!(self.plane.fib, fib, "a refused command changes the FIB: {code:?}");
        }
        if let Some(before) = before {
            assert_eq!(self.dump(), before, "a refused command changes a list");
        }
        let routable = |name: &OwnedName<Ndn>| {
            let mut parts = name.view().components().map(|part| part.value);
            let top = parts.next();
            !(matches!(top, Some(b"localhost" | b"localhop")) && parts.next() == Some(b"nfd"))
        };
        let face = parameters.face_id.filter(|face| *face != 0).unwrap_or(from.face);
        let must = party < 3
            && (module, text, scope, how & 1) == ("rib", "register", Scope::Localhost, 0)
            && signed == Signed::Digest
            && self.open.contains(&face)
            && parameters.name.as_ref().is_some_and(|name| routable(name) && name.view().len() <= DEPTH);
        assert!(!must || matches!(code, Some(200 | 507)), "a permitted registration is refused: {code:?}");
    }

    /// Gives a prefix announcement, which makes a route only if a trusted key has signed it and it is valid.
    fn announce(&mut self, from: &Origin, steps: &mut Steps<'_>, how: u8) {
        let (prefix, expiration, signer) = (self.name(steps), steps.number(), steps.octet());
        let now = self.now.unix / 1000;
        let validity = (signer & 1 != 0).then_some(match signer >> 1 & 3 {
            0 => (now + 60, now + 120),
            1 => (now.saturating_sub(120), now.saturating_sub(60)),
            _ => (now.saturating_sub(60), now + 60),
        });
        let builder = AnnouncementBuilder { prefix: &prefix, version: 1, expiration, validity };
        let info = SignatureInfo::of(SignatureType::HMAC_WITH_SHA256);
        let Ok(signed) = builder.build_signed(&Signer::hmac(b"key"), info) else { return };
        let announcement = PrefixAnnouncement::parse(&signed).expect("an announcement that was built");
        let lifetime = announcement.lifetime(self.now.unix).filter(|lifetime| *lifetime > 0);
        let is_trusted = signer & 8 == 0;
        // The value of the signature is all that the manager's check looks at.
        let data = announcement.data();
        let mut info = Vec::new();
        data.signature_info().write(&mut info);
        let builder = DataBuilder { content_type: 5, ..DataBuilder::new(data.name(), data.content()) };
        let value = if is_trusted { &b"good"[..] } else { b"bad" };
        let announcement = builder.build_signed(&info, |_| value.to_vec());
        if how & 8 != 0 {
            return self.learn(from, &announcement, &prefix, is_trusted && lifetime.is_some(), signer);
        }
        let scope = if how & 2 == 0 { Scope::Localhost } else { Scope::Localhop };
        let top = std::str::from_utf8(scope.as_bytes()).expect("letters");
        let name = uri(&format!("/{top}/nfd/rib/announce"));
        let key = uri("/key/3");
        let mut info = Vec::new();
        let (locator, time) = (Some(KeyLocator::Name(key.view())), Some(self.now.unix));
        let typ = SignatureType::SHA256_WITH_ECDSA;
        SignatureInfo { key_locator: locator, time, ..SignatureInfo::of(typ) }.write(&mut info);
        let interest =
            InterestBuilder { parameters: Some(&announcement), ..InterestBuilder::new(name.view()) };
        let (signed, value) = match how & 4 {
            0 => (Signed::Trusted(3), &b"good"[..]),
            _ => (Signed::Untrusted, &b"bad"[..]),
        };
        let packet = interest.build_signed(&info, |_| value.to_vec());
        let parameters = ControlParameters { name: Some(prefix), ..Default::default() };
        let may = self.may(from, "rib/announce", scope, &parameters, signed);
        let fib = self.plane.fib.clone();
        let answer = self.send(&packet, from);
        let name = Interest::parse(&packet).expect("an Interest").name();
        let response = answer.map(|answer| response(&answer, name));
        if response.as_ref().is_some_and(ControlResponse::is_ok) {
            assert!(may && is_trusted, "an announcement without rights: {name} by {:?}", from.peer);
            let body = response.and_then(|response| response.parameters().expect("parameters"));
            assert_eq!(body.and_then(|body| body.expiration), lifetime);
        } else {
            assert_eq!(self.plane.fib, fib, "a refused announcement changes the FIB");
        }
    }

    /// Reports an announcement that came with Data, or the use or the end of its route.
    fn learn(&mut self, from: &Origin, announcement: &[u8], prefix: &OwnedName<Ndn>, may: bool, which: u8) {
        let event = match which >> 4 & 3 {
            0 => RouteEvent::Used(prefix.clone()),
            1 => RouteEvent::Broken(prefix.clone()),
            _ => RouteEvent::Announced(announcement.into()),
        };
        let (rib, is_announced) = (self.plane.fib.len(), matches!(event, RouteEvent::Announced(_)));
        let held = (key(prefix), from.face);
        let was_known = self.plane.announced.contains(&held);
        self.manager.route_event(&event, from, self.now, &mut self.plane);
        let is_known = self.plane.announced.contains(&held);
        assert!(was_known || !is_known || may && is_announced, "a route without a trusted announcement");
        assert!(is_announced || self.plane.fib.len() <= rib, "an event makes a next hop");
    }

    /// Parameters that a verb takes; those `selected` are added or missing.
    fn parameters(&self, verb: usize, selected: u16, steps: &mut Steps<'_>) -> ControlParameters {
        const NATURAL: [u16; 13] = [
            0b1_0000_0111,
            0b11,
            0b11,
            0b11,
            0b1000,
            0b110_0000_0010,
            0b10,
            0b1_0000_0000_0001,
            1,
            0b110_0000_0000 | 1 << 13,
            1,
            0,
            1,
        ];
        let fields = NATURAL[verb] ^ selected;
        let has = |bit: u16| fields >> bit & 1 != 0;
        let (name, detail) = (self.name(steps), steps.octet());
        let faces = [0, self.parties[usize::from(detail & 7)].face, 7, self.next_face];
        let uris = ["udp4://192.0.2.77:6363", "tcp4://192.0.2.78:6363", "udp4://127.0.0.1:0", "not a URI"];
        let strategies = ["best-route", "asf", "nothing", "multicast/v=1"];
        let (at, shift) = (usize::from(detail >> 3 & 3), if has(14) { 16 } else { 0 });
        ControlParameters {
            name: has(0).then_some(name),
            face_id: has(1).then_some(faces[at]),
            uri: has(3).then(|| uris[at].to_owned()),
            local_uri: has(4).then(|| uris[0].to_owned()),
            origin: has(2).then_some(RouteOrigin([0, 65, 255, 1 << 40][at])),
            cost: has(5).then_some(detail.into()),
            capacity: has(13).then_some(detail.into()),
            count: has(6).then_some((detail & 7).into()),
            flags: (has(8) || has(9)).then_some(u64::from(detail >> 5) << shift),
            mask: has(10).then_some(7 << shift),
            strategy: has(12).then(|| uri(&format!("/localhost/nfd/strategy/{}", strategies[at]))),
            expiration: (has(7) || detail & 4 != 0 && verb == 0).then_some(u64::from(detail) * 4),
            persistency: has(11).then_some(FacePersistency::Permanent),
            marking_interval: has(15).then_some(detail.into()),
            congestion_threshold: has(15).then_some(detail.into()),
            mtu: has(14).then_some(u64::from(detail) * 40),
        }
    }

    /// A name of a few components, some of them the management's.
    fn name(&self, steps: &mut Steps<'_>) -> OwnedName<Ndn> {
        let mut rest = *steps;
        match rest.octet() {
            0xff => *steps = rest,
            0xfe => {
                *steps = rest;
                return uri("/localhost/nfd/rib");
            }
            0xfd => {
                *steps = rest;
                return uri("/localhop/nfd");
            }
            0xfc => {
                *steps = rest;
                return uri("/1/2/3/4/5/6/7/8/9");
            }
            _ => return steps.name(),
        }
        uri("/")
    }

    fn build(
        &mut self,
        target: Target<'_>,
        parameters: &ControlParameters,
        signed: Signed,
        time: u64,
    ) -> Vec<u8> {
        self.nonce += 1;
        let (nonce, signature_nonce) = (self.nonce, u64::from(self.nonce).to_be_bytes());
        let builder = CommandBuilder { target, parameters, nonce, lifetime: 4000, signature_nonce, time };
        let with_key = |key: u8, signature: &[u8]| {
            let name = uri(&format!("/key/{key}"));
            let locator = Some(KeyLocator::Name(name.view()));
            let info =
                SignatureInfo { key_locator: locator, ..SignatureInfo::of(SignatureType::SHA256_WITH_ECDSA) };
            builder.build_signed(info, |_| signature.to_vec())
        };
        let built = match signed {
            Signed::Digest => builder.build(),
            Signed::WrongDigest => {
                builder.build_signed(SignatureInfo::of(SignatureType::DIGEST_SHA256), |_| vec![7; 32])
            }
            Signed::Trusted(key) => with_key(key, b"good"),
            Signed::Untrusted => with_key(0, b"bad"),
        };
        built.expect("a short name")
    }

    /// True if a party may give a command without a trusted key.
    fn has_rights(&self, from: &Origin, text: &str, scope: Scope, parameters: &ControlParameters) -> bool {
        let is_registration = matches!(text, "register" | "unregister" | "announce");
        if scope == Scope::Localhost && from.scope == FaceScope::NonLocal
            || scope == Scope::Localhop && !is_registration
        {
            return false;
        }
        match from.peer {
            Peer::User { uid, .. } if PERMITTED.contains(&uid) => true,
            Peer::User { uid: ORDINARY, over: Over::Unix } => {
                let own = parameters.face_id.is_none_or(|face| face == 0 || face == from.face);
                let local = parameters.name.as_ref().is_some_and(|name| {
                    name.view().components().next().is_some_and(|top| top.value == b"localhost")
                });
                is_registration && own && !local
            }
            _ => false,
        }
    }

    /// True unless a command must be refused.
    fn may(
        &self,
        from: &Origin,
        verb: &str,
        scope: Scope,
        parameters: &ControlParameters,
        signed: Signed,
    ) -> bool {
        let Some((_, text)) = verb.split_once('/') else { return false };
        if signed == Signed::WrongDigest {
            return false;
        }
        if self.has_rights(from, text, scope, parameters) {
            return true;
        }
        let own = parameters.face_id.is_none_or(|face| face == 0 || face == from.face);
        matches!(signed, Signed::Trusted(_))
            && match scope {
                Scope::Localhost => from.scope == FaceScope::Local,
                Scope::Localhop => {
                    let registrations = ["rib/register", "rib/unregister", "rib/announce"];
                    self.localhop && own && registrations.contains(&verb)
                }
            }
    }

    /// Asks for a dataset, or for a segment of one that was sent.
    fn dataset(&mut self, party: usize, which: u8, how: u8) {
        const LISTS: [&str; 10] = [
            "status/general",
            "faces/list",
            "faces/query",
            "faces/query/%00",
            "faces/channels",
            "fib/list",
            "rib/list",
            "strategy-choice/list",
            "cs/info",
            "rib/none",
        ];
        let at = usize::from(which >> 4).checked_rem(self.segments.len());
        let name = match at.and_then(|at| self.segments.get(at)).filter(|_| how & 1 != 0) {
            Some(name) => name.clone(),
            None => uri(&format!("/localhost/nfd/{}", LISTS[usize::from(which & 15) % LISTS.len()])),
        };
        let (can_be_prefix, must_be_fresh) = (how & 2 == 0, how & 4 == 0);
        let interest =
            InterestBuilder { can_be_prefix, must_be_fresh, ..InterestBuilder::new(name.view()) }.build();
        let from = self.parties[party].clone();
        let changes = self.plane.changes;
        if let Some(packet) = self.send(&interest, &from) {
            assert_eq!(from.scope, FaceScope::Local, "a dataset leaves the host");
            let name = Data::parse(&packet).expect("Data").name();
            self.segments.truncate(15);
            self.segments.push_front(OwnedName::from(&name));
        }
        assert_eq!(self.plane.changes, changes);
    }

    /// Asks for an event, of a number near the next one or without a number.
    fn ask_for_event(&mut self, party: usize, back: u8, how: u8) {
        let stream = uri("/localhost/nfd/faces/events");
        let ahead = [0, 1, BACKLOG - 1, BACKLOG][usize::from(how >> 2)];
        let wanted = match how & 3 {
            0 => None,
            1 => Some(self.events + ahead),
            _ => self.events.checked_sub(u64::from(back) + ahead),
        };
        let name = match wanted {
            Some(wanted) => with_number(stream.view(), SEQUENCE_NUM, wanted).expect("a short name"),
            None => stream,
        };
        let from = self.parties[party].clone();
        let interest = InterestBuilder { can_be_prefix: true, ..InterestBuilder::new(name.view()) }.build();
        let answer = self.send(&interest, &from);
        let Some(wanted) = wanted else { return };
        let is_kept = wanted < self.events && self.events - wanted <= BACKLOG;
        let gets = is_kept && from.scope == FaceScope::Local;
        assert_eq!(answer.is_some(), gets, "event {wanted} of {}", self.events);
    }

    /// Asks for any name below the management's, perhaps with a damaged command.
    fn raw(&mut self, party: usize, steps: &mut Steps<'_>) {
        let verb = VERBS[usize::from(steps.octet()) % VERBS.len()];
        let (len, more) = (steps.octet() & 63, steps.octet());
        let parts =
            [&b"localhost"[..], b"nfd", verb.0.as_bytes(), verb.1.as_bytes(), steps.octets(len.into())];
        let parts = parts.iter().take(5 - usize::from(more & 3)).map(|part| Component::generic(part));
        let name: OwnedName<Ndn> = OwnedName::from_components(parts).expect("a short name");
        let builder = InterestBuilder { can_be_prefix: more & 4 != 0, ..InterestBuilder::new(name.view()) };
        let mut interest = builder.build();
        if more & 8 != 0 {
            let parameters = ControlParameters { name: Some(uri("/a")), ..Default::default() };
            let target =
                Target { scope: Scope::Localhost, module: verb.0.as_bytes(), verb: verb.1.as_bytes() };
            interest = self.build(target, &parameters, Signed::Digest, self.now.unix);
            let at = steps.number() as usize % interest.len();
            interest[at] ^= more.max(1);
        }
        let from = self.parties[party].clone();
        self.tick();
        let changes = self.plane.changes;
        if Interest::parse(&interest).is_ok() {
            // The damage may be to a part that no signature covers.
            self.touched.extend((verb.0 == "fib").then(|| key(&uri("/a"))));
            self.send(&interest, &from);
            assert!(party < 3 || self.plane.changes == changes, "a broken command changes something");
        }
    }

    /// Reports the outcome of a command that waits, or of one that is over.
    fn outcome(&mut self, which: u8, how: u8) {
        let at = usize::from(which).checked_rem(self.waiting.len());
        let waits = at.filter(|_| how & 1 == 0).and_then(|at| self.waiting.remove(at));
        let ticket = match &waits {
            Some((ticket, ..)) => *ticket,
            None => match self.answered.get(usize::from(which)) {
                Some(ticket) => *ticket,
                None => return,
            },
        };
        let face = self.parties[usize::from(which) % self.parties.len()].face;
        let answers = match how >> 1 {
            0 => self.manager.face_created(ticket, FaceOutcome::Created(face)),
            1 => self.manager.face_created(ticket, FaceOutcome::Exists(face)),
            2 => {
                let outcome = FaceOutcome::Failed { code: 504, text: "no answer".into() };
                self.manager.face_created(ticket, outcome)
            }
            _ => self.manager.responded(ticket, &ControlResponse::new(200, "OK")),
        };
        match waits {
            Some((ticket, name, _)) => {
                let [answer] = answers.as_slice() else { panic!("{} answers", answers.len()) };
                response(answer, name.view());
                self.answered.push(ticket);
            }
            None => assert!(answers.is_empty(), "a second answer"),
        }
    }

    /// All records of a list, as root gets them.
    fn list<R: Record>(&mut self, list: &str) -> Vec<R> {
        R::parse_all(&self.content(list)).expect("records")
    }

    fn content(&mut self, list: &str) -> Vec<u8> {
        // A list that is made anew: a command that changes nothing comes before.
        let nothing = ControlParameters { name: Some(uri("/none")), ..Default::default() };
        let target = Target { scope: Scope::Localhost, module: b"fib", verb: b"remove-nexthop" };
        let packet = self.build(target, &nothing, Signed::Digest, self.now.unix);
        let from = Origin { face: 1, ..self.parties[0].clone() };
        assert!(self.send(&packet, &from).is_some());

        let name = uri(&format!("/localhost/nfd/{list}"));
        let interest = InterestBuilder { can_be_prefix: true, ..InterestBuilder::new(name.view()) }.build();
        let mut packet = self.send(&interest, &from).expect("the first segment");
        let mut content = Vec::new();
        loop {
            let data = Data::parse(&packet).expect("Data");
            content.extend_from_slice(data.content());
            let last = data.name().components().last().expect("a segment");
            if data.final_block() == Some(last) {
                return content;
            }
            let rest = data.name().components().take(data.name().len() - 1);
            let versioned: OwnedName<Ndn> = OwnedName::from_components(rest).expect("a name");
            assert_eq!(versioned.view().components().last().map(|part| part.typ), Some(VERSION));
            let next = number(last, SEGMENT).expect("a segment") + 1;
            let next = with_number(versioned.view(), SEGMENT, next).expect("a short name");
            packet = self.send(&InterestBuilder::new(next.view()).build(), &from).expect("another segment");
        }
    }

    /// All tables that commands change, as lists show them.
    fn dump(&mut self) -> [Vec<u8>; 5] {
        ["rib/list", "fib/list", "strategy-choice/list", "cs/info", "faces/list"]
            .map(|list| self.content(list))
    }

    /// Compares the lists with each other, with the requests, and with the open faces.
    fn check(&mut self) {
        let busy = std::mem::replace(&mut self.plane.is_busy, false);
        self.tick();
        let mut listed = BTreeMap::new();
        for FibEntry { name, next_hops } in self.list("fib/list") {
            listed.extend(next_hops.iter().map(|hop| ((key(&name), hop.face_id), hop.cost)));
        }
        assert_eq!(listed, self.plane.fib, "the list of the FIB and the requests differ");
        assert!(listed.keys().all(|(_, face)| self.open.contains(face)), "a next hop of a closed face");

        let mut routes = Vec::new();
        let mut announced = BTreeMap::<u64, usize>::new();
        for RibEntry { name, routes: of_name } in self.list("rib/list") {
            let path: Vec<Vec<u8>> = name.view().components().map(|part| part.value.to_vec()).collect();
            for route in of_name {
                assert!(self.open.contains(&route.face_id), "a route of a closed face");
                let kept = Kept { face: route.face_id, cost: route.cost, flags: route.flags };
                routes.push((path.clone(), kept));
                *announced.entry(route.face_id).or_default() +=
                    usize::from(route.origin == RouteOrigin::PREFIXANN);
            }
        }
        assert!(routes.len() <= 48 && announced.values().all(|routes| *routes <= ANNOUNCED));
        let mut expected = BTreeMap::new();
        for (path, hops) in implied(&routes) {
            let parts = path.iter().map(|part| Component::generic(part));
            let name: OwnedName<Ndn> = OwnedName::from_components(parts).expect("a name");
            expected.extend(hops.into_iter().map(|(face, cost)| ((key(&name), face), cost)));
        }
        expected.retain(|(prefix, _), _| !self.touched.contains(prefix));
        listed.retain(|(prefix, _), _| !self.touched.contains(prefix));
        assert_eq!(listed, expected, "another FIB than the RIB implies");

        let faces = self.list::<FaceStatus>("faces/list").into_iter().map(|face| face.face_id);
        assert_eq!(faces.collect::<BTreeSet<_>>(), self.open);
        let choices = self.list::<StrategyChoice>("strategy-choice/list");
        let root = key(&uri("/"));
        let mut chosen: BTreeSet<_> = choices.iter().map(|choice| key(&choice.name)).collect();
        assert!(choices.len() <= 6 && chosen.contains(&root));
        if !self.plane.strategies.contains(&root) {
            chosen.remove(&root);
        }
        assert_eq!(chosen, self.plane.strategies);
        let info = self.list::<CsInfo>("cs/info").pop().expect("the settings of the content store");
        let held = (info.capacity, info.flags & 1 != 0, info.flags & 2 != 0);
        assert_eq!(self.plane.cs.unwrap_or((65_536, true, true)), held);
        self.plane.is_busy = busy;
    }

    /// Checks that all faces can go, and that each command is answered in the end.
    fn ends(mut self) {
        self.check();
        for party in 0..self.parties.len() {
            if self.parties[party].face != 0 {
                self.face_down(party);
            }
        }
        self.plane.is_busy = false;
        self.passes(MAX_WAIT);
        assert!(self.waiting.is_empty() && self.plane.fib.is_empty());
        self.check();
        assert_eq!(self.manager.deadline(), None);
        assert_eq!(self.manager.faces().count(), 0);
    }
}

/// The response in a Data packet, which must have this name.
fn response(packet: &[u8], name: NdnName<'_>) -> ControlResponse {
    let data = Data::parse(packet).expect("Data");
    assert_eq!(data.name(), name);
    ControlResponse::parse(data.content()).expect("a response")
}
