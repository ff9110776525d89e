//! A forwarder with its faces, and the model that it is held against.

use super::model::{Arrival, Done, Model, Question, parts};
use super::topology::{Topology, TopologyKind};
use crate::support::fleet::Fleet;
use crate::support::{Log, Sent, check, uri};
use hashlane_hash::scheme::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::fragment::{Fragmenter, Reassembler};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{DigestFunction, Interest, LpHeader, LpPacket};
use hashlane_ndn_fw::cs;
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{BURST, Burst, Config, DropReason, Forwarder, Output, Part};
use hashlane_ndn_fw::pit::{ByDigest, ByName, ByToken, Pit, Satisfy};
use hashlane_ndn_fw::strategy::Strategy;

/// Keeps what is sent, and where the packets of each packet of a burst begin.
#[derive(Default)]
struct Parted {
    sent: Log,
    starts: Vec<usize>,
}

impl Output for Parted {
    fn send(&mut self, face: FaceId, header: &LpHeader<'_>, packet: &[u8]) {
        self.sent.send(face, header, packet);
    }

    fn enter(&mut self, part: Part) {
        if part == Part::Face {
            self.starts.push(self.sent.0.len());
        }
    }
}

/// Peer of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A link, by its number.
    Link(usize),
    /// A producer, by its number.
    Producer(usize),
    /// A consumer, by its number.
    Consumer(usize),
}

/// A face, over all its restarts.
pub struct Port {
    pub peer: Peer,
    pub face: FaceId,
    pub fragmenter: Fragmenter,
    pub reassembler: Reassembler,
}

/// A PIT that nodes can have.
pub trait Index: Pit {
    /// An empty one.
    fn empty(key: &Key) -> Self;
}

impl Index for ByName {
    fn empty(_key: &Key) -> Self {
        Self::default()
    }
}

impl Index for ByToken {
    fn empty(key: &Key) -> Self {
        Self::new(key, 1)
    }
}

impl Index for ByDigest {
    fn empty(key: &Key) -> Self {
        Self::new(DigestFunction::Sha1, Satisfy::All, key)
    }
}

pub struct Node<P> {
    number: usize,
    pub forwarder: Fleet<P>,
    pub model: Model,
    pub ports: Vec<Port>,
    /// Time of the forwarder's next timeout.
    pub turn_at: Option<Time>,
    /// Link packets that wait to be read together, with the numbers of their ports.
    pub waiting: Vec<(usize, Vec<u8>)>,
    /// Packets of the largest burst so far.
    pub largest: usize,
}

/// The name of the region of a node.
pub fn region(node: usize) -> OwnedName<Ndn> {
    uri(&format!("/region/{node}"))
}

impl<P: Index> Node<P> {
    pub fn new(topology: &Topology, number: usize, shards: usize, seed: u64) -> Self {
        let links = topology.neighbours(number).map(|(link, _)| Peer::Link(link));
        let producers = topology.producers.iter().enumerate().filter(|(_, producer)| producer.node == number);
        let consumers = topology.consumers.iter().enumerate().filter(|(_, node)| **node == number);
        let peers = links
            .chain(producers.map(|(at, _)| Peer::Producer(at)))
            .chain(consumers.map(|(at, _)| Peer::Consumer(at)));
        let port = |peer| Port {
            peer,
            face: FaceId::NONE,
            fragmenter: Fragmenter::new(seed.rotate_left(7)),
            reassembler: Reassembler::default(),
        };
        let ports = peers.map(port).collect();
        let (forwarder, model) = Self::empty(topology, number, shards, seed);
        let mut node =
            Self { number, forwarder, model, ports, turn_at: None, waiting: Vec::new(), largest: 0 };
        node.set_up(topology);
        node
    }

    /// Loses all tables, and begins anew.
    pub fn restart(&mut self, topology: &Topology, seed: u64) {
        let shards = self.forwarder.shards.len();
        (self.forwarder, self.model) = Self::empty(topology, self.number, shards, seed);
        self.turn_at = None;
        for port in &mut self.ports {
            port.fragmenter = Fragmenter::new(seed.rotate_left(23));
            port.reassembler = Reassembler::default();
        }
        self.set_up(topology);
    }

    fn empty(topology: &Topology, number: usize, shards: usize, seed: u64) -> (Fleet<P>, Model) {
        let regions = vec![region(number)];
        let packets = topology.stores[number];
        let policy = if seed & 1 == 0 { cs::Policy::Lru } else { cs::Policy::PriorityFifo };
        let config = Config {
            pit_entries: topology.pit_entries,
            remote_lifetime: topology.remote_lifetime,
            cs: cs::Config { packets, policy, ..cs::Config::default() },
            regions,
            ..Config::default()
        };
        let mut key = [0; 16];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let key = Key::new(key);
        let model = Model::new(&config, topology.kind == TopologyKind::Crowded);
        (Fleet::new(shards, &config, &key, seed, || P::empty(&key)), model)
    }

    fn set_up(&mut self, topology: &Topology) {
        let strategy = |name: &str| {
            let name = uri(&format!("/localhost/nfd/strategy/{name}"));
            Strategy::from_name(name.view()).expect("a strategy")
        };
        let root = uri("/");
        let first = topology.strategies[self.number];
        self.forwarder.set_strategy(&root.view(), strategy(first));
        self.model.access.shards = self.forwarder.shards.len();
        self.model.access.choose(Vec::new(), first);
        if let Some(second) = topology.second_strategy {
            self.forwarder.set_strategy(&uri("/p0").view(), strategy(second));
            self.model.access.choose(parts(uri("/p0").view()), second);
        }
        for port in 0..self.ports.len() {
            self.open(topology, port);
        }
    }

    /// Makes the face of a port, and the routes over it.
    fn open(&mut self, topology: &Topology, port: usize) {
        let peer = self.ports[port].peer;
        let scope = if matches!(peer, Peer::Link(_)) { Scope::NonLocal } else { Scope::Local };
        let mut face = Face::new(scope, LinkType::PointToPoint);
        // All give back what they got; some get nothing.
        (face.pit_tokens, face.interest_digests) = (port % 4 != 3, port % 4 != 2);
        let face = self.forwarder.add_face(&face);
        self.ports[port].face = face;
        self.model.face_added(face, scope);
        for (prefix, cost) in self.routes(topology, peer) {
            self.forwarder.add_route(&prefix.view(), NextHop { face, cost });
            self.model.access.add_route(parts(prefix.view()), face);
        }
    }

    /// The prefixes that lead to a peer.
    fn routes(&self, topology: &Topology, peer: Peer) -> Vec<(OwnedName<Ndn>, u64)> {
        let mut routes = Vec::new();
        for (number, producer) in topology.producers.iter().enumerate() {
            let prefix = uri(&producer.prefix);
            match peer {
                Peer::Producer(here) if here == number => routes.push((prefix, 0)),
                Peer::Link(link) => {
                    let ways = topology.next_hops(self.number, producer.node);
                    let Some((_, cost)) = ways.into_iter().find(|(way, _)| *way == link) else { continue };
                    routes.push((region(producer.node), cost));
                    if !producer.hidden {
                        routes.push((prefix, cost));
                    }
                }
                _ => {}
            }
        }
        routes
    }

    /// A face goes, with its routes, and another comes in its place; returns what is to be sent.
    pub fn flap(&mut self, topology: &Topology, port: usize, now: Time) -> Vec<Sent> {
        let Port { peer, face, .. } = self.ports[port];
        for (prefix, _) in self.routes(topology, peer) {
            self.forwarder.remove_route(&prefix.view(), face);
            self.model.access.remove_route(parts(prefix.view()), face);
        }
        self.forwarder.remove_face(face);
        self.model.face_removed(face);
        // So few slots take one turn.
        let sent = self.handle_timeout(now);
        assert_ne!(self.forwarder.poll_timeout(), Some(Time::default()), "records of a face that is gone");
        self.open(topology, port);
        sent
    }

    /// Takes bytes from a link; returns what is to be sent.
    pub fn receive(&mut self, port: usize, bytes: &[u8], now: Time) -> Vec<Sent> {
        let packet = LpPacket::parse(bytes).expect("a link packet that a forwarder sent");
        if !packet.header.is_fragmented() {
            return self.take(port, &packet, now);
        }
        let reassembler = &mut self.ports[port].reassembler;
        let whole = reassembler.receive(&packet, bytes, now).expect("a piece that a forwarder sent");
        assert!(reassembler.memory() <= hashlane_ndn::fragment::MAX_MEMORY);
        whole.map(|whole| self.take(port, &whole.packet(), now)).unwrap_or_default()
    }

    /// Takes link packets of the ports with these numbers, in bursts, and holds what is done with each
    /// against the model; returns what is to be sent.
    pub fn receive_together(&mut self, packets: &[(usize, Vec<u8>)], now: Time) -> Vec<Sent> {
        let mut whole = Vec::new();
        for (port, bytes) in packets {
            let packet = LpPacket::parse(bytes).expect("a link packet that a forwarder sent");
            if !packet.header.is_fragmented() {
                whole.push((self.ports[*port].face, bytes.clone()));
                continue;
            }
            let Port { face, reassembler, .. } = &mut self.ports[*port];
            let done = reassembler.receive(&packet, bytes, now).expect("a piece that a forwarder sent");
            whole.extend(done.map(|done| {
                let packet = done.packet();
                let head = packet.header.wrapped(packet.fragment.len());
                (*face, [head.as_bytes(), packet.fragment].concat())
            }));
        }
        let mut sent = Vec::new();
        for packets in whole.chunks(BURST) {
            let (mut burst, mut log) = (Burst::new(), Parted::default());
            for (face, bytes) in packets {
                burst.push(*face, bytes).expect("a link packet");
            }
            self.largest = self.largest.max(burst.len());
            self.forwarder.receive_burst(&mut burst, now, &mut log);
            assert_eq!(log.starts.len(), packets.len(), "each packet begins once");
            log.starts.push(log.sent.0.len());
            for ((range, result), (from, bytes)) in log.starts.windows(2).zip(burst.outcomes()).zip(packets) {
                assert_ne!(result, Err(DropReason::Malformed), "what a forwarder sent is no packet");
                let packet = LpPacket::parse(bytes).expect("a link packet");
                let done = Done { result, sent: &log.sent.0[range[0]..range[1]] };
                self.model.arrived(Arrival { from: *from, packet: &packet, now }, done);
            }
            self.within_limits(now);
            sent.extend(log.sent.0);
        }
        sent
    }

    /// Takes a packet, and holds what is done with it against the model.
    pub fn take(&mut self, port: usize, packet: &LpPacket<'_>, now: Time) -> Vec<Sent> {
        let from = self.ports[port].face;
        let mut log = Log::default();
        let result = self.forwarder.receive(from, packet, now, &mut log);
        assert_ne!(result, Err(DropReason::Malformed), "what a forwarder sent is no packet: {packet:?}");
        self.model.arrived(Arrival { from, packet, now }, Done { result, sent: &log.0 });
        self.within_limits(now);
        log.0
    }

    /// Checks the limits of all tables.
    fn within_limits(&self, now: Time) {
        let forwarder = &self.forwarder;
        assert_eq!(forwarder.sum(|shard| shard.pit().len()), self.model.entries());
        assert_eq!(forwarder.sum(Forwarder::pending), self.model.records());
        for shard in &forwarder.shards {
            let cs = shard.cs();
            assert!(cs.len() <= cs.config().packets && cs.bytes() <= cs.config().bytes);
        }
        let dead = forwarder.sum(Forwarder::dead_nonces);
        assert!(dead <= self.model.dead_nonces(now), "{dead} dead nonces");
    }

    /// Handles timeouts; returns what is to be sent.
    pub fn handle_timeout(&mut self, now: Time) -> Vec<Sent> {
        let mut log = Log::default();
        self.forwarder.handle_retries(now, &mut log);
        self.model.retried(&log.0, now);
        self.forwarder.handle_timeout(now);
        self.ports.iter_mut().for_each(|port| port.reassembler.handle_timeout(now));
        let entries = self.forwarder.shards.iter().flat_map(|shard| shard.pit().iter());
        let left: Vec<Question> = entries
            .map(|(key, _)| {
                Question::of(&Interest::parse(key.packet()).expect("the Interest of an entry"), &[])
            })
            .collect();
        self.model.turned(now, &left);
        self.within_limits(now);
        self.forwarder.shards.iter().for_each(check);
        log.0
    }

    /// Long after the last packet nothing waits.
    pub fn must_be_quiet(&self) {
        let forwarder = &self.forwarder;
        assert_eq!((forwarder.sum(|shard| shard.pit().len()), forwarder.sum(Forwarder::pending)), (0, 0));
        assert_eq!((forwarder.poll_timeout(), forwarder.sum(Forwarder::dead_nonces)), (None, 0));
        for port in &self.ports {
            assert_eq!((port.reassembler.waiting(), port.reassembler.memory()), (0, 0));
        }
        let answers = forwarder.count(|all| &all.out_data) + forwarder.count(|all| &all.out_nacks);
        assert!(answers <= forwarder.count(|all| &all.in_interests), "more answers than questions");
        assert_eq!(forwarder.count(|all| &all.out_interests) as usize, self.model.interests_out);
    }
}
