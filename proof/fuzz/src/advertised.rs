//! Properties of the prefixes that NLSR and a gateway are asked to advertise, whatever applications register
//! and the other side answers.
//!
//! The model has the routes and what both sides have accepted. After a silence, in which all commands are
//! accepted, both sides have the prefixes that the routes imply. Commands without an answer are bounded, and
//! none is sent while no face leads to the destination.

use crate::management;
use crate::steps::Steps;
use hashlane_forwarder::Totals;
use hashlane_forwarder::management::{
    Config, Distrust, FaceInfo, Identity, Manager, Now, Origin, Over, Peer, Plane, Propagation, Request,
};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_name::uri::parse_uri;
use hashlane_ndn::mgmt::command::{CommandBuilder, Target};
use hashlane_ndn::mgmt::values::{FaceScope, RouteOrigin};
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse, Record, Scope};
use hashlane_ndn::security::{Certificates, Signer};
use hashlane_ndn::wire::{DataBuilder, Interest, LpHeader, LpPacket, NackReason};
use std::collections::{BTreeMap, BTreeSet};

/// Faces of applications, of NLSR, and of two gateways.
const APPLICATIONS: [u64; 3] = [300, 301, 302];
const NLSR: u64 = 310;
const GATEWAYS: [u64; 2] = [400, 401];

/// Most commands without an answer, of each side.
const WINDOWS: [(&str, usize); 2] = [("nlsr", 1), ("gateway", 8)];

/// Times of the propagation, in milliseconds.
const TIMEOUT: u64 = 500;
const RETRY_MAX: u64 = 4000;
const REFRESH: u64 = 8000;

/// Time after which all commands were sent again: NLSR's longest pause, and its longest time of an answer.
const SILENCE: u64 = 3_700_000;

/// Takes what the management sends.
#[derive(Default)]
struct Fake(Vec<Vec<u8>>);

impl Plane for Fake {
    fn request(&mut self, request: Request) {
        if let Request::Interest(packet) = request {
            self.0.push(packet);
        }
    }
}

/// A command without an answer.
struct Sent {
    side: &'static str,
    /// Face of the gateway.
    face: Option<u64>,
    name: OwnedName<Ndn>,
    prefix: String,
    registers: bool,
    since: u64,
}

struct Harness {
    manager: Manager,
    plane: Fake,
    now: Now,
    open: BTreeSet<u64>,
    /// Routes: prefix, face and origin.
    routes: BTreeSet<(String, u64, u64)>,
    identities: BTreeSet<String>,
    sent: Vec<Sent>,
    /// Gateway of the last command.
    gateway: Option<u64>,
    /// Prefixes that each side has accepted; of a gateway by its face.
    accepted: BTreeMap<(&'static str, Option<u64>), BTreeSet<String>>,
}

fn name(uri: &str) -> OwnedName<Ndn> {
    parse_uri(uri.as_bytes()).expect("a name")
}

fn propagation(identities: &BTreeSet<String>) -> Propagation {
    let signer = Signer::DigestSha256;
    let identity = |uri: &String| {
        let name = name(uri);
        Identity::new(name.view(), name.view(), signer.clone())
    };
    Propagation {
        identities: identities.iter().map(identity).collect(),
        cost: 15,
        timeout: TIMEOUT,
        refresh: REFRESH,
        retry_min: 1000,
        retry_max: RETRY_MAX,
    }
}

/// Runs the steps.
pub fn check_advertised(octets: &[u8]) {
    let mut steps = Steps(octets);
    let now = Now { monotonic: 5000, unix: 1_700_000_000_000 };
    let refuse = |_: &hashlane_ndn::mgmt::Command<'_>, _: &[&Certificates], _: Now| {
        Err(Distrust { why: "no key".to_owned(), missing: None })
    };
    let mut bench = Harness {
        manager: Manager::new(Config::default(), Totals::default(), Box::new(refuse), now),
        plane: Fake::default(),
        now,
        open: BTreeSet::new(),
        routes: BTreeSet::new(),
        identities: BTreeSet::new(),
        sent: Vec::new(),
        gateway: None,
        accepted: BTreeMap::new(),
    };
    bench.manager.set_readvertise(true, now);
    // A bound on the work for one input.
    for _ in 0..300 {
        if steps.is_empty() {
            break;
        }
        bench.step(&mut steps);
        bench.turn();
    }
    let end = bench.now.monotonic + SILENCE;
    while bench.now.monotonic < end {
        bench.accept_all();
        // Refreshes of the gateway go on for ever.
        let is_quiet = bench.sent.is_empty();
        bench.pass(if is_quiet { SILENCE / 32 } else { TIMEOUT });
    }
    bench.accept_all();
    bench.check_end();
}

impl Harness {
    fn step(&mut self, steps: &mut Steps<'_>) {
        match steps.octet() % 8 {
            0 | 1 => self.route(steps, true),
            2 => self.route(steps, false),
            3 => {
                let all = [&APPLICATIONS[..], &[NLSR], &GATEWAYS].concat();
                let face = all[usize::from(steps.octet()) % all.len()];
                self.close(face);
            }
            4 => self.pass(u64::from(steps.octet()) * 40),
            5 => {
                let octet = steps.octet();
                if !self.sent.is_empty() {
                    let sent = self.sent.remove(usize::from(octet >> 2) % self.sent.len());
                    self.answer(sent, octet & 3);
                }
            }
            6 => {
                // The destination, from NLSR or a gateway.
                let octet = steps.octet();
                let (prefix, face) = match octet & 3 {
                    0 => ("/localhost/nlsr", NLSR),
                    1 => ("/localhop/nfd", GATEWAYS[0]),
                    2 => ("/localhop/nfd", GATEWAYS[1]),
                    _ => ("/", GATEWAYS[0]),
                };
                self.command(&name(prefix), face, RouteOrigin::APP, octet & 4 == 0);
                if octet & 4 != 0 {
                    self.leave(face);
                }
            }
            _ => {
                let identity = steps.name().to_string();
                if !self.identities.remove(&identity) {
                    self.identities.insert(identity);
                }
                self.manager.set_propagation(propagation(&self.identities), self.now);
            }
        }
    }

    fn route(&mut self, steps: &mut Steps<'_>, registers: bool) {
        let (prefix, octet) = (steps.name(), steps.octet());
        let origin = if octet & 1 == 0 { RouteOrigin::APP } else { RouteOrigin::CLIENT };
        let faces = [APPLICATIONS[0], APPLICATIONS[1], APPLICATIONS[2], GATEWAYS[0]];
        let face = faces[usize::from(octet >> 1) % faces.len()];
        self.command(&prefix, face, origin, registers);
    }

    fn open(&mut self, face: u64) {
        if self.open.insert(face) {
            let scope = if GATEWAYS.contains(&face) { FaceScope::NonLocal } else { FaceScope::Local };
            let remote = format!("udp4://192.0.2.{}:6363", face % 100).parse().expect("a URI");
            self.manager.face_up(FaceInfo { remote, ..management::face_info(face, scope) }, self.now);
        }
    }

    fn close(&mut self, face: u64) {
        if self.open.remove(&face) {
            self.routes.retain(|(_, of, _)| *of != face);
            self.manager.face_down(face, self.now, &mut self.plane);
            self.leave(face);
        }
    }

    /// Forgets what the other side at a face has: its process has ended, or the face leads there no longer,
    /// so that it is not asked to withdraw anything.
    fn leave(&mut self, face: u64) {
        let of = Some(face).filter(|face| *face != NLSR);
        self.accepted.retain(|(_, at), _| *at != of);
        self.sent.retain(|sent| sent.face != of);
    }

    /// Gives a command as root.
    fn command(&mut self, prefix: &OwnedName<Ndn>, face: u64, origin: RouteOrigin, registers: bool) {
        self.open(face);
        let (name, face_id, origin) = (Some(prefix.clone()), Some(face), Some(origin));
        let parameters = ControlParameters { name, face_id, origin, ..ControlParameters::default() };
        let verb: &[u8] = if registers { b"register" } else { b"unregister" };
        let builder = CommandBuilder {
            target: Target { scope: Scope::Localhost, module: b"rib", verb },
            parameters: &parameters,
            nonce: 1,
            lifetime: 1000,
            signature_nonce: [3; 8],
            time: self.now.unix,
        };
        let packet = builder.build().expect("a short name");
        let interest = Interest::parse(&packet).expect("an Interest");
        let peer = Peer::User { uid: 0, over: Over::Unix };
        let from = Origin { face: APPLICATIONS[0], scope: FaceScope::Local, peer };
        let answers = self.manager.interest(&interest, &from, self.now, &mut self.plane);
        let data = hashlane_ndn::wire::Data::parse(&answers[0]).expect("Data");
        if ControlResponse::parse(data.content()).expect("a response").is_ok() {
            let key = (prefix.to_string(), face, origin.expect("set above").0);
            if registers {
                self.routes.insert(key);
            } else {
                self.routes.remove(&key);
            }
        }
    }

    fn pass(&mut self, milliseconds: u64) {
        self.now.monotonic += milliseconds;
        self.now.unix += milliseconds;
        self.turn();
    }

    /// Lets the management send what is due.
    fn turn(&mut self) {
        assert!(self.manager.tick(self.now, &mut self.plane).is_empty());
        for packet in std::mem::take(&mut self.plane.0) {
            let link = LpPacket::parse(&packet).expect("a link packet");
            let interest = Interest::parse(link.fragment).expect("an Interest");
            let parts: Vec<_> = interest.name().components().map(|part| part.value.to_vec()).collect();
            let side = if parts[0] == b"localhop" { "gateway" } else { "nlsr" };
            let prefix =
                ControlParameters::parse(&parts[4]).expect("parameters").name.expect("a name").to_string();
            let face = link.header.next_hop_face;
            assert_eq!(face.is_some(), side == "gateway");
            let destination = face.unwrap_or(NLSR);
            assert!(self.open.contains(&destination), "a face leads there");
            // A gateway that is left keeps what it has until its face ends; nothing is said of it.
            if let Some(face) = face
                && let Some(left) = self.gateway.replace(face)
                && left != face
            {
                self.leave(left);
            }
            let (name, since) = (OwnedName::from(&interest.name()), self.now.monotonic);
            let registers = parts[3] == b"register";
            // An earlier command for the prefix has no effect any longer.
            self.sent.retain(|old| (old.side, old.face, &old.prefix) != (side, face, &prefix));
            self.sent.push(Sent { side, face, name, prefix, registers, since });
        }
        // Commands whose time is over have no answer any longer, and neither have those to other faces.
        let now = self.now.monotonic;
        let longest = |side| if side == "nlsr" { 4000 } else { TIMEOUT };
        let open = &self.open;
        self.sent.retain(|sent| {
            now < sent.since + longest(sent.side) && open.contains(&sent.face.unwrap_or(NLSR))
        });
        for (destination, window) in WINDOWS {
            let counts = self.manager.advertised().find(|(name, _)| *name == destination);
            assert!(counts.is_none_or(|(_, counts)| counts.pending <= window), "{destination}: {counts:?}");
        }
    }

    /// Answers a command.
    fn answer(&mut self, sent: Sent, how: u8) {
        let Sent { side, face, name, prefix, registers, .. } = sent;
        let packet = match how {
            0 | 1 => {
                let accepted = self.accepted.entry((side, face)).or_default();
                if registers {
                    accepted.insert(prefix);
                } else {
                    accepted.remove(&prefix);
                }
                DataBuilder::new(name.view(), &ControlResponse::new(200, "OK").to_bytes()).build()
            }
            2 => DataBuilder::new(name.view(), &ControlResponse::new(403, "no").to_bytes()).build(),
            _ => {
                let interest = hashlane_ndn::wire::InterestBuilder::new(name.view()).build();
                let header = LpHeader { nack: Some(NackReason::NO_ROUTE), ..LpHeader::default() };
                [header.wrapped(interest.len()).as_bytes(), &interest].concat()
            }
        };
        assert!(self.manager.answered(&packet, self.now, &mut self.plane).is_empty());
    }

    fn accept_all(&mut self) {
        for _ in 0..64 {
            self.turn();
            if self.sent.is_empty() {
                break;
            }
            for sent in std::mem::take(&mut self.sent) {
                self.answer(sent, 0);
            }
        }
    }

    /// Compares what both sides have with what the routes imply.
    fn check_end(&self) {
        let has_route =
            |prefix: &str, face| self.routes.iter().any(|(of, to, _)| of == prefix && *to == face);
        let is_global = |prefix: &str| !matches!(prefix.split('/').nth(1), Some("localhost" | "localhop"));
        let accepted = |side, face| self.accepted.get(&(side, face)).cloned().unwrap_or_default();
        let client = RouteOrigin::CLIENT.0;
        let clients = self.routes.iter().filter(|(_, _, origin)| *origin == client);
        let clients = clients.map(|(prefix, ..)| prefix).filter(|prefix| is_global(prefix));
        let expected: BTreeSet<String> = clients.cloned().collect();
        if has_route("/localhost/nlsr", NLSR) {
            assert_eq!(accepted("nlsr", None), expected, "of NLSR");
        }
        let longest = GATEWAYS.into_iter().find(|face| has_route("/localhop/nfd", *face));
        let gateway = longest.or_else(|| Some(GATEWAYS[0]).filter(|face| has_route("/", *face)));
        let locals = self.routes.iter().filter(|(prefix, face, _)| *face < GATEWAYS[0] && is_global(prefix));
        let shortest = |prefix: &String| {
            let is_prefix = |identity: &&String| {
                prefix
                    .strip_prefix(identity.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            self.identities.iter().filter(is_prefix).min_by_key(|identity| identity.len()).cloned()
        };
        let expected: BTreeSet<String> = locals.filter_map(|(prefix, ..)| shortest(prefix)).collect();
        if let Some(face) = gateway {
            assert_eq!(accepted("gateway", Some(face)), expected, "of the gateway {face}");
        }
        for (destination, counts) in self.manager.advertised() {
            assert_eq!((counts.left_out, counts.pending), (0, 0), "{destination}");
        }
    }
}
