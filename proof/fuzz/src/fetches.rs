//! Properties of commands that wait for certificates, whatever neighbours send and producers answer.
//!
//! Each command has one answer in the end, and no second one. A key without a chain to the anchor changes
//! nothing, and no command is done twice. Queues are bounded.

use crate::management;
use crate::steps::Steps;
use hashlane_forwarder::Totals;
use hashlane_forwarder::management::{
    Access, Config, Distrust, FaceInfo, Manager, Now, Origin, Peer, Plane, Request, TableRequest,
};
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::uri::parse_uri;
use hashlane_ndn::mgmt::command::{CommandBuilder, Target};
use hashlane_ndn::mgmt::values::FaceScope;
use hashlane_ndn::mgmt::{Command, ControlParameters, ControlResponse, Record, Scope};
use hashlane_ndn::security::certificate::{Certificate, CertificateBuilder};
use hashlane_ndn::security::{Certificates, Signer};
use hashlane_ndn::wire::{
    Data, DataBuilder, Interest, KeyLocator, LpHeader, NackReason, SignatureInfo, SignatureType,
};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::LazyLock;

/// Numbers of keys. The anchor has number 0; keys below [`LINKED`] have a chain to it.
const KEYS: u8 = 16;
const LINKED: u8 = 8;

/// Longest chain that the check of signatures follows.
const MAX_DEPTH: usize = 8;

/// Time after which nothing waits, in milliseconds.
const MAX_WAIT: u64 = 10_000;

/// Number of the key that has signed the certificate of another one.
fn issuer(key: u8) -> u8 {
    match key {
        0..LINKED => key / 2,
        // A loop, a key that signs itself, and a chain that ends nowhere.
        8 => 9,
        9 => 8,
        10 => 10,
        _ => key + 1,
    }
}

fn key_name(key: u8) -> OwnedName<Ndn> {
    parse_uri(format!("/net/{key}/KEY/1").as_bytes()).expect("a name")
}

/// Certificates of all keys. Their signatures are not verified here.
static CERTIFICATES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let signer = Signer::ed25519(&[7; 32]);
    let public_key = signer.public_key().expect("a public key");
    let certificate = |key: u8| {
        let identity: OwnedName<Ndn> = parse_uri(format!("/net/{key}").as_bytes()).expect("a name");
        let builder = CertificateBuilder {
            identity: identity.view(),
            key: Component::generic(b"1"),
            version: 1,
            valid_from: 0,
            valid_until: 4_000_000_000,
        };
        let (by, issuer) = (key_name(issuer(key)), Component::generic(b"i"));
        builder.issued(&public_key, issuer, by.view(), &signer).expect("a certificate")
    };
    (0..KEYS).map(certificate).collect()
});

/// Follows the certificates from the key of a command to the anchor.
fn verify(command: &Command<'_>, sets: &[&Certificates], _: Now) -> Result<Box<[u8]>, Distrust> {
    let refuse = |why: &str| Distrust { why: why.to_owned(), missing: None };
    let Some(KeyLocator::Name(own)) = command.signature.info.key_locator else {
        return Err(refuse("no name"));
    };
    let mut key: OwnedName<Ndn> = OwnedName::from(&own);
    for _ in 0..MAX_DEPTH {
        if key.view() == key_name(0).view() {
            return match command.signature.value {
                b"good" => Ok(own.as_bytes().into()),
                _ => Err(refuse("wrong signature")),
            };
        }
        let mut found = sets.iter().flat_map(|set| set.located_by(KeyLocator::Name(key.view())));
        let Some((certificate, _)) = found.next() else {
            return Err(Distrust { why: format!("no certificate of {key}"), missing: Some(key) });
        };
        match certificate.data().signature_info().key_locator {
            Some(KeyLocator::Name(name)) => key = OwnedName::from(&name),
            _ => return Err(refuse("no name")),
        }
    }
    Err(refuse("too long"))
}

/// Writes down what the management asks for.
#[derive(Default)]
struct Fake {
    routes: usize,
    interests: Vec<Vec<u8>>,
    answers: Vec<Vec<u8>>,
}

impl Plane for Fake {
    fn request(&mut self, request: Request) {
        match request {
            Request::Table(TableRequest::AddNextHop { .. }) => self.routes += 1,
            Request::Table(TableRequest::RemoveNextHop { .. }) => {}
            Request::Interest(packet) => self.interests.push(packet),
            Request::Data(answer) => self.answers.push(answer),
            other => panic!("not asked for: {other:?}"),
        }
    }
}

struct Harness {
    manager: Manager,
    plane: Fake,
    now: Now,
    open: BTreeSet<u64>,
    /// Names of Interests for certificates that were not answered.
    asked: Vec<Vec<u8>>,
    /// Commands without an answer: their names, with the faces.
    pending: BTreeSet<(Vec<u8>, u64)>,
    /// Keys and times of signing, by the names of commands with a good signature.
    sent: BTreeMap<Vec<u8>, (u8, u64)>,
    done: BTreeSet<(u8, u64)>,
}

/// Runs the steps.
pub fn check_fetches(octets: &[u8]) {
    let mut steps = Steps(octets);
    let access = Access { localhop: true, ..Access::default() };
    let config = Config { access, fetch: true, ..Config::default() };
    let now = Now { monotonic: 5000, unix: 1_700_000_000_000 };
    let mut bench = Harness {
        manager: Manager::new(config, Totals::default(), Box::new(verify), now),
        plane: Fake::default(),
        now,
        open: BTreeSet::new(),
        asked: Vec::new(),
        pending: BTreeSet::new(),
        sent: BTreeMap::new(),
        done: BTreeSet::new(),
    };
    // A bound on the work for one input.
    for _ in 0..400 {
        if steps.is_empty() {
            break;
        }
        bench.step(&mut steps);
        bench.check();
    }
    for _ in 0..=MAX_WAIT / 100 {
        bench.pass(100);
    }
    assert!(bench.pending.is_empty(), "each command has an answer in the end");
    assert_eq!(bench.manager.fetch_counts().waiting, 0);
}

impl Harness {
    fn step(&mut self, steps: &mut Steps<'_>) {
        match steps.octet() % 6 {
            0 => self.command(steps),
            1 => {
                let at = usize::from(steps.octet());
                if self.asked.is_empty() {
                    return;
                }
                let name = self.asked.remove(at % self.asked.len());
                let name = NdnName::parse(&name).expect("a name");
                let is_of =
                    |bytes: &&Vec<u8>| Certificate::parse(bytes).is_ok_and(|it| it.is_located_by(name));
                if let Some(certificate) = CERTIFICATES.iter().find(is_of) {
                    self.receive(certificate);
                }
            }
            2 => {
                let octet = steps.octet();
                let Some(name) = self.asked.get(usize::from(octet >> 1) % self.asked.len().max(1)).cloned()
                else {
                    return;
                };
                let reason = if octet & 1 == 0 { NackReason::NO_ROUTE } else { NackReason::CONGESTION };
                let name = NdnName::parse(&name).expect("a name");
                let interest = hashlane_ndn::wire::InterestBuilder::new(name).build();
                let header = LpHeader { nack: Some(reason), ..LpHeader::default() };
                if reason == NackReason::NO_ROUTE {
                    self.asked.retain(|other| other != name.as_bytes());
                }
                self.receive(&[header.wrapped(interest.len()).as_bytes(), &interest].concat());
            }
            3 => self.pass(u64::from(steps.octet()) * 20),
            4 => {
                // Data that is no certificate, and bytes that are no packet.
                let name = key_name(steps.octet() % KEYS);
                self.asked.retain(|asked| asked != name.as_bytes());
                self.receive(&DataBuilder::new(name.view(), steps.octets(8)).build());
                self.receive(steps.octets(4));
            }
            _ => {
                let face = 300 + u64::from(steps.octet() % 8);
                if self.open.remove(&face) {
                    self.pending.retain(|(_, of)| *of != face);
                    self.manager.face_down(face, self.now, &mut self.plane);
                }
            }
        }
    }

    fn command(&mut self, steps: &mut Steps<'_>) {
        let (host, key, time, lifetime) = (steps.octet(), steps.octet(), steps.octet(), steps.octet());
        let face = 300 + u64::from(host % 8);
        if self.open.insert(face) {
            self.manager.face_up(face_info(face), self.now);
        }
        let time = self.now.unix - self.now.unix % 1000 + u64::from(time);
        let (key, is_good) = (key % KEYS, key < 128);
        let prefix: OwnedName<Ndn> = parse_uri(format!("/app/{host}/{time}").as_bytes()).expect("a name");
        let parameters = ControlParameters { name: Some(prefix), ..ControlParameters::default() };
        let builder = CommandBuilder {
            target: Target { scope: Scope::Localhop, module: b"rib", verb: b"register" },
            parameters: &parameters,
            nonce: 1,
            lifetime: u64::from(lifetime) * 50,
            signature_nonce: [3; 8],
            time,
        };
        let locator = key_name(key);
        let info = SignatureInfo {
            key_locator: Some(KeyLocator::Name(locator.view())),
            ..SignatureInfo::of(SignatureType::ED25519)
        };
        let signature: &[u8] = if is_good { b"good" } else { b"evil" };
        let packet = builder.build_signed(info, |_| signature.to_vec()).expect("a short name");
        let interest = Interest::parse(&packet).expect("an Interest");
        let name = interest.name().as_bytes().to_vec();
        if is_good {
            self.sent.insert(name.clone(), (key, time));
        }
        let is_copy = !self.pending.insert((name.clone(), face));
        let peer = Peer::Ip(IpAddr::V4(Ipv4Addr::new(192, 0, 2, host % 8)));
        let from = Origin { face, scope: FaceScope::NonLocal, peer };
        let answers = self.manager.interest(&interest, &from, self.now, &mut self.plane);
        let is_answered = !answers.is_empty();
        self.answer(answers);
        if is_copy && is_answered {
            // The first copy still waits.
            self.pending.insert((name, face));
        }
    }

    fn receive(&mut self, packet: &[u8]) {
        let answers = self.manager.answered(packet, self.now, &mut self.plane);
        self.answer(answers);
    }

    fn pass(&mut self, milliseconds: u64) {
        self.now.monotonic += milliseconds;
        self.now.unix += milliseconds;
        let answers = self.manager.tick(self.now, &mut self.plane);
        self.answer(answers);
    }

    /// Takes answers to commands, and Interests.
    fn answer(&mut self, answers: Vec<Vec<u8>>) {
        for packet in answers.into_iter().chain(std::mem::take(&mut self.plane.answers)) {
            let data = Data::parse(&packet).expect("Data");
            let name = data.name().as_bytes();
            let waiting = self.pending.iter().find(|(of, _)| of == name).cloned();
            assert!(self.pending.remove(&waiting.expect("one answer for each command")));
            let response = ControlResponse::parse(data.content()).expect("a response");
            if response.is_ok() {
                let (key, time) = self.sent.get(name).copied().expect("a good signature");
                assert!(key < LINKED, "a chain to the anchor");
                assert!(self.done.insert((key, time)), "a command is done once");
            }
        }
        for packet in std::mem::take(&mut self.plane.interests) {
            let interest = Interest::parse(&packet).expect("an Interest");
            assert!(interest.can_be_prefix() && interest.must_be_fresh());
            // A retransmission is for a key that was asked for.
            let name = interest.name().as_bytes().to_vec();
            if !self.asked.contains(&name) {
                self.asked.push(name);
            }
        }
    }

    fn check(&self) {
        let counts = self.manager.fetch_counts();
        assert!(counts.waiting <= 512 && counts.kept <= u64::from(LINKED), "{counts:?}");
        assert!(counts.waiting as usize <= self.pending.len(), "each is without an answer");
        assert!(self.plane.routes <= self.done.len(), "each route has its command");
    }
}

fn face_info(id: u64) -> FaceInfo {
    let remote = format!("udp4://192.0.2.{}:6363", id % 8).parse().expect("a URI");
    FaceInfo { remote, ..management::face_info(id, FaceScope::NonLocal) }
}
