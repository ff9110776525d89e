//! Properties of a forwarder whose faces come and go, with any limits of its PIT: its account of the records
//! is right, and a new face is served, whatever the others did before.
//!
//! A face that stays, the producer, has the routes of all names.

use crate::forwarder::{Log, data, interest};
use crate::steps::Steps;
use hashlane_hash::scheme::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{DataBuilder, Interest, InterestBuilder, LpHeader, LpPacket, NackReason};
use hashlane_ndn_fw::cs;
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{Config, Forwarder, MAX_LIFETIME, MIN_PIT_BYTES};
use hashlane_ndn_fw::pit::{ByDigest, ByName, ByToken, Pit, Satisfy};
use hashlane_ndn_fw::strategy::Strategy;
use hashlane_table::share::Holder;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;

/// Holders with a number below this are local.
const LOCAL: u32 = 3;

/// Number of holders, the one of the producer excepted.
const HOLDERS: u32 = 8;

const PRODUCER: Holder = Holder::new(HOLDERS, false);

/// Most faces beside the producer.
const FACES: usize = 12;

/// Interests that the producer has received last.
const ASKED: usize = 16;

struct Harness<P> {
    forwarder: Forwarder<P>,
    config: Config,
    producer: FaceId,
    faces: Vec<FaceId>,
    /// Holders of all faces that there were.
    holders: BTreeMap<FaceId, Holder>,
    asked: VecDeque<Vec<u8>>,
    now: Time,
    /// Number of the next unique name.
    names: u16,
    /// True while the PIT may have more than new limits allow.
    is_cut: bool,
}

/// Runs the steps under an index of the PIT that the first byte chooses.
pub fn check_faces(octets: &[u8]) {
    let mut steps = Steps(octets);
    match steps.octet() & 3 {
        0 | 1 => run(steps, ByName::default()),
        2 => run(steps, ByToken::new(&Key::VECTOR, 5)),
        _ => {
            let function = hashlane_ndn::wire::DigestFunction::Sip64([7; 16]);
            run(steps, ByDigest::new(function, Satisfy::All, &Key::VECTOR));
        }
    }
}

fn name(parts: &[&[u8]]) -> OwnedName<Ndn> {
    let parts: Vec<_> = parts.iter().map(|part| Component::generic(part)).collect();
    OwnedName::from_components(parts).expect("a short name")
}

fn run<P: Pit + Debug>(mut steps: Steps<'_>, pit: P) {
    let cs = cs::Config { packets: 4, bytes: 40_000, ..cs::Config::default() };
    let config = Config { pit_entries: 16, pit_bytes: MIN_PIT_BYTES, cs, ..Config::default() };
    let mut forwarder = Forwarder::with_pit(config.clone(), &Key::VECTOR, 7, pit);
    let mut face = Face::new(Scope::Local, LinkType::PointToPoint);
    // Its answers carry neither.
    (face.holder, face.pit_tokens, face.interest_digests) = (PRODUCER, false, false);
    let producer = forwarder.add_face(face).expect("room for a face");
    forwarder.add_route(&name(&[]).view(), NextHop { face: producer, cost: 1 });
    let mut bench = Harness {
        forwarder,
        config,
        producer,
        faces: Vec::new(),
        holders: BTreeMap::from([(producer, PRODUCER)]),
        asked: VecDeque::new(),
        now: Time::from_millis(1),
        names: 0,
        is_cut: false,
    };
    // A bound on the work for one input.
    for _ in 0..500 {
        if steps.is_empty() {
            break;
        }
        bench.step(&mut steps);
        bench.check();
    }
    bench.ends();
}

impl<P: Pit + Debug> Harness<P> {
    fn add_face(&mut self, number: u32) -> FaceId {
        let holder = Holder::new(number, number >= LOCAL);
        let scope = if holder.is_remote() { Scope::NonLocal } else { Scope::Local };
        let mut face = Face::new(scope, LinkType::PointToPoint);
        face.holder = holder;
        let face = self.forwarder.add_face(face).expect("room for a face");
        self.holders.insert(face, holder);
        face
    }

    fn face(&self, octet: u8) -> Option<FaceId> {
        let at = usize::from(octet).checked_rem(self.faces.len())?;
        self.faces.get(at).copied()
    }

    fn step(&mut self, steps: &mut Steps<'_>) {
        let step = steps.octet();
        match step & 15 {
            0..=4 => {
                let (face, interest) = (steps.octet(), interest(steps));
                if let Some(face) = self.face(face) {
                    self.receive(face, None, &interest);
                }
            }
            5 => {
                // One face asks for many names.
                let (face, count, hour) = (steps.octet(), steps.octet(), steps.octet() & 1 != 0);
                for _ in 0..count & 63 {
                    let Some(face) = self.face(face) else { break };
                    let (_, interest) = self.new_interest(if hour { MAX_LIFETIME } else { 4000 });
                    self.receive(face, None, &interest);
                }
            }
            6 => {
                let data = data(steps);
                let face = self.face(step >> 4).filter(|_| step & 16 != 0).unwrap_or(self.producer);
                self.receive(face, None, &data);
            }
            7 | 8 => {
                // An answer of the producer: Data or a Nack.
                let at = usize::from(steps.octet()).checked_rem(self.asked.len());
                let Some(packet) = at.and_then(|at| self.asked.remove(at)) else { return };
                let interest = Interest::parse(&packet).expect("an Interest that was sent");
                if step & 16 == 0 {
                    let data = DataBuilder::new(interest.name(), b"x").build();
                    self.receive(self.producer, None, &data);
                } else {
                    let reason = NackReason([0, 50, 100, 150][usize::from(step >> 6)]);
                    self.receive(self.producer, Some(reason), &packet);
                }
            }
            9 => {
                let number = u32::from(steps.octet()) % HOLDERS;
                if self.faces.len() < FACES {
                    let face = self.add_face(number);
                    self.faces.push(face);
                }
            }
            10 => {
                if let Some(at) = usize::from(steps.octet()).checked_rem(self.faces.len()) {
                    let face = self.faces.remove(at);
                    assert!(self.forwarder.remove_face(face).is_some());
                    assert!(self.forwarder.remove_face(face).is_none(), "a face is removed once");
                }
            }
            11 => self.passes(steps.octet().into()),
            12 => self.passes(steps.number()),
            13 => {
                // A forwarder is asked to shrink once a second.
                for _ in 0..step >> 4 {
                    self.forwarder.shrink();
                }
            }
            14 => self.configure(steps),
            _ => {
                const NAMES: [&str; 6] =
                    ["best-route", "multicast", "random", "asf", "access", "self-learning"];
                let strategy = NAMES[usize::from(step >> 4) % NAMES.len()].as_bytes();
                let strategy = name(&[b"localhost", b"nfd", b"strategy", strategy]);
                let strategy = Strategy::from_name(strategy.view()).expect("a strategy");
                self.forwarder.set_strategy(&name(&[]).view(), strategy);
                self.serves_newcomers();
            }
        }
    }

    fn configure(&mut self, steps: &mut Steps<'_>) {
        self.config.pit_entries = usize::from(steps.octet() & 63) + 8;
        self.config.pit_bytes = MIN_PIT_BYTES << (steps.octet() & 3);
        self.forwarder.configure(self.config.clone());
        self.is_cut = true;
    }

    fn receive(&mut self, face: FaceId, nack: Option<NackReason>, packet: &[u8]) -> Log {
        let mut log = Log::default();
        let header = LpHeader { nack, ..LpHeader::default() };
        let packet = LpPacket { header, fragment: packet };
        // A drop is counted.
        let _ = self.forwarder.receive(face, &packet, self.now, &mut log);
        self.note(&log);
        log
    }

    /// Notes the packets that were sent.
    fn note(&mut self, log: &Log) {
        for sent in &log.0 {
            assert!(self.forwarder.faces().find(sent.face).is_some(), "a face that is there");
            if sent.face == self.producer && sent.nack.is_none() && Interest::parse(&sent.packet).is_ok() {
                self.asked.truncate(ASKED - 1);
                self.asked.push_front(sent.packet.clone());
            }
        }
    }

    /// An Interest for a name that nobody has asked for, and its name.
    fn new_interest(&mut self, lifetime: u64) -> (OwnedName<Ndn>, Vec<u8>) {
        self.names += 1;
        let name = name(&[b"new", &self.names.to_be_bytes()]);
        let nonce = Some(u32::from(self.names));
        let interest = InterestBuilder { nonce, lifetime, ..InterestBuilder::new(name.view()) }.build();
        (name, interest)
    }

    fn passes(&mut self, millis: u64) {
        self.now = self.now.after_millis(millis);
        let mut log = Log::default();
        self.forwarder.handle_retries(self.now, &mut log);
        self.forwarder.handle_timeout(self.now);
        self.note(&log);
        // One turn visits all entries, as there are few.
        let faces = self.forwarder.faces();
        let mut records = self.forwarder.pit().iter().flat_map(|(_, records)| &records.ins);
        assert!(records.all(|record| faces.find(record.face).is_some()), "records of a face that is gone");
    }

    /// Serves a new face of a local holder, and one of a remote holder, that have nothing: the Interest
    /// is forwarded and its Data comes back.
    fn serves_newcomers(&mut self) {
        for holder in [Holder::new(0, false), Holder::new(LOCAL, true)] {
            if holder.is_remote() && !self.forwarder.is_idle(holder) {
                continue;
            }
            let face = self.add_face(holder.index());
            let (name, interest) = self.new_interest(4000);
            let sent = self.receive(face, None, &interest);
            let is_asked = |sent: &&crate::forwarder::Sent| {
                let asked = Interest::parse(&sent.packet);
                sent.face == self.producer && asked.is_ok_and(|asked| asked.name() == name.view())
            };
            let asked = sent.0.iter().filter(is_asked).count();
            assert_eq!(asked, 1, "the Interest of a newcomer is forwarded: {holder:?}, {:?}", self.config);
            self.is_cut = false;
            let data = DataBuilder::new(name.view(), b"x").build();
            let sent = self.receive(self.producer, None, &data);
            let answers = sent.0.iter().filter(|sent| sent.face == face && sent.packet == data).count();
            assert_eq!(answers, 1, "the Data of a newcomer comes back");
            assert!(self.forwarder.remove_face(face).is_some_and(|face| face.pending() == 0));
        }
    }

    /// Checks the account of the in-records against the PIT.
    fn check(&self) {
        let forwarder = &self.forwarder;
        let (mut of_faces, mut of_holders) = (BTreeMap::<FaceId, usize>::new(), BTreeMap::new());
        let (mut ins, mut remote, mut bytes) = (0, 0, 0);
        for (key, records) in forwarder.pit().iter() {
            assert!(!records.ins.is_empty(), "an entry that nobody waits for");
            bytes += key.packet().len();
            for record in &records.ins {
                let holder = self.holders[&record.face];
                *of_faces.entry(record.face).or_default() += 1;
                *of_holders.entry(holder.index()).or_insert(0) += 1;
                ins += 1;
                remote += usize::from(holder.is_remote());
            }
        }
        assert_eq!(forwarder.pending(), ins);
        for (face, state) in forwarder.faces().iter() {
            assert_eq!(state.pending(), of_faces.get(&face).copied().unwrap_or(0), "records of {face:?}");
        }
        for number in 0..HOLDERS {
            let holder = Holder::new(number, number >= LOCAL);
            assert_eq!(forwarder.is_idle(holder), !of_holders.contains_key(&number), "{holder:?}");
        }
        if !self.is_cut {
            let entries = self.config.pit_entries;
            assert!(ins <= entries, "{ins} records, more than {entries}");
            assert!(remote <= entries - entries / 4, "{remote} remote records leave no reserve of {entries}");
            assert!(bytes <= self.config.pit_bytes, "{bytes} bytes");
        }
    }

    /// Checks that newcomers are served at the end, and that all records go with their time.
    fn ends(mut self) {
        self.serves_newcomers();
        self.check();
        self.passes(MAX_LIFETIME + 1);
        assert!(self.forwarder.pit().is_empty() && self.forwarder.pending() == 0);
        self.serves_newcomers();
        self.check();
    }
}
