//! Networks that learn their routes, against a plain model of the strategy self-learning.
//!
//! Producers announce a prefix at their node, and nobody else knows a route. The model of a node has its
//! routes and pending Interests in plain maps, and predicts where each packet goes, with which link fields.
//! Links are sound until one of them fails; what can be reached then must be found again.

use super::chance::Chance;
use crate::support::{Ask, Log, Sent, announcement, data_of, pick, uri};
use hashlane_hash::scheme::Key;
use hashlane_name::ndn::NdnName;
use hashlane_ndn::mgmt::PrefixAnnouncement;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{LpHeader, LpPacket, NackReason};
use hashlane_ndn_fw::cs;
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{Config, Forwarder};
use hashlane_ndn_fw::learning::{Announcement, RouteEvent};
use hashlane_ndn_fw::strategy::Strategy;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

/// Interest that is pending at a node.
#[derive(Clone, Debug, Default)]
struct Pending {
    /// Downstreams, in order of arrival; true for a discovery Interest.
    ins: Vec<(FaceId, bool)>,
    /// Upstreams; true if the Interest was flooded to it.
    outs: BTreeMap<FaceId, bool>,
    nacks: BTreeSet<FaceId>,
    sent: Time,
}

/// A forwarder and its model.
struct Node {
    forwarder: Forwarder,
    app: FaceId,
    /// Faces to neighbours, with the node at the other end.
    links: BTreeMap<FaceId, usize>,
    /// Routes, by prefix.
    routes: BTreeMap<String, BTreeSet<FaceId>>,
    pending: BTreeMap<String, Pending>,
}

/// Prefix of a producer.
fn prefix_of(name: &str) -> String {
    name.rsplit_once('/').expect("a name of two components").0.to_owned()
}

impl Node {
    fn new(seed: u64) -> Self {
        let config = Config { cs: cs::Config { packets: 0, ..cs::Config::default() }, ..Config::default() };
        let mut forwarder = Forwarder::new(config, &Key::VECTOR, seed);
        let app = forwarder.add_face(Face::new(Scope::Local, LinkType::PointToPoint)).expect("a face");
        let name = uri("/localhost/nfd/strategy/self-learning");
        let strategy = Strategy::from_name(name.view()).expect("a strategy");
        forwarder.set_strategy(&uri("/").view(), strategy);
        Self { forwarder, app, links: BTreeMap::new(), routes: BTreeMap::new(), pending: BTreeMap::new() }
    }

    /// Makes a route, as the management does.
    fn add_route(&mut self, packet: &[u8], face: FaceId, is_learned: bool) {
        let prefix = PrefixAnnouncement::parse(packet).expect("an announcement").prefix();
        self.forwarder.add_route(&prefix.view(), NextHop { face, cost: 2048 });
        let announced = Announcement { packet: Arc::from(packet), is_learned };
        self.forwarder.announce(&prefix.view(), face, Some(announced));
        self.routes.entry(prefix.to_string()).or_default().insert(face);
    }

    fn remove_route(&mut self, prefix: &NdnName<'_>, face: FaceId) {
        self.forwarder.remove_route(prefix, face);
        self.forwarder.announce(prefix, face, None);
        if let Some(faces) = self.routes.get_mut(&prefix.to_string()) {
            faces.remove(&face);
        }
    }

    /// Does what the management does with the events of routes; returns the events of learned and of broken
    /// routes.
    fn manage(&mut self) -> [usize; 2] {
        let mut counts = [0; 2];
        for reported in self.forwarder.take_route_events() {
            match reported.event {
                RouteEvent::Announced(packet) => {
                    counts[0] += 1;
                    self.add_route(&packet, reported.face, true);
                }
                RouteEvent::Broken(prefix) => {
                    counts[1] += 1;
                    self.remove_route(&prefix.view(), reported.face);
                }
                RouteEvent::Used(prefix) => {
                    assert!(self.routes[&prefix.to_string()].contains(&reported.face));
                }
            }
        }
        counts
    }

    /// Upstreams that the model names for an Interest: routes, or else all neighbours.
    fn upstreams(&self, name: &str, from: FaceId, discovers: bool) -> Option<(BTreeSet<FaceId>, bool)> {
        let routes = self.routes.get(&prefix_of(name)).into_iter().flatten();
        let hops: BTreeSet<FaceId> = routes.copied().filter(|face| *face != from).collect();
        if !hops.is_empty() {
            return Some((hops, false));
        }
        let others = || self.links.keys().copied().filter(|face| *face != from).collect();
        discovers.then(|| (others(), true))
    }

    fn receive(&mut self, from: FaceId, packet: &LpPacket<'_>, now: Time) -> Vec<Sent> {
        let mut log = Log::default();
        let outcome = self.forwarder.receive(from, packet, now, &mut log);
        let sent = log.0;
        let is_interest = packet.fragment.first() == Some(&5);
        let text = match is_interest {
            true => {
                hashlane_ndn::wire::Interest::parse(packet.fragment).expect("an Interest").name().to_string()
            }
            false => hashlane_ndn::wire::Data::parse(packet.fragment).expect("Data").name().to_string(),
        };
        match (is_interest, packet.header.nack) {
            // A loop, or a late answer.
            _ if outcome.is_err() => assert!(sent.iter().all(|sent| sent.nack.is_some()), "{sent:?}"),
            (true, None) => self.interest(&text, from, packet, &sent, now),
            (true, Some(_)) => self.nack(&text, from, &sent),
            (false, _) => self.data(&text, from, packet, &sent),
        }
        sent
    }

    fn interest(&mut self, name: &str, from: FaceId, packet: &LpPacket<'_>, sent: &[Sent], now: Time) {
        let discovers = !packet.header.non_discovery;
        let expected = self.upstreams(name, from, discovers);
        let pending = self.pending.entry(name.to_owned()).or_default();
        pending.ins.retain(|(face, _)| *face != from);
        pending.ins.push((from, discovers));
        let waits = pending.outs.keys().any(|face| !pending.nacks.contains(face));
        if sent.is_empty() && waits {
            return assert!(now.since(pending.sent).as_millis() < 250, "suppressed for too long");
        }
        let Some((faces, floods)) = expected else {
            let [nack] = sent else { panic!("{sent:?} without a route") };
            assert_eq!((nack.face, nack.nack), (from, Some(NackReason::NO_ROUTE)));
            pending.ins.retain(|(face, _)| *face != from);
            return;
        };
        let went: BTreeSet<FaceId> = sent.iter().map(|sent| sent.face).collect();
        assert_eq!(went, faces, "where {name} from {from:?} goes, flooded: {floods}");
        for sent in sent {
            assert_eq!(sent.non_discovery, !floods && self.links.contains_key(&sent.face), "{sent:?}");
            pending.outs.insert(sent.face, floods);
            pending.nacks.remove(&sent.face);
            pending.sent = now;
        }
    }

    fn nack(&mut self, name: &str, from: FaceId, sent: &[Sent]) {
        let Some(pending) = self.pending.get_mut(name) else { panic!("a Nack for nothing") };
        pending.nacks.insert(from);
        let flooded: Vec<&Sent> = sent.iter().filter(|sent| sent.nack.is_none()).collect();
        if flooded.is_empty() {
            for sent in sent {
                pending.ins.retain(|(face, _)| *face != sent.face);
            }
            if pending.ins.is_empty() {
                self.pending.remove(name);
            }
            return;
        }
        let (ingress, discovers) = pending.ins[0];
        assert!(discovers, "an Interest that must not be flooded was flooded after a Nack");
        let unused = |face: &FaceId| *face != ingress && !pending.outs.contains_key(face);
        let expected: BTreeSet<FaceId> = self.links.keys().copied().filter(unused).collect();
        let went: BTreeSet<FaceId> = flooded.iter().map(|sent| sent.face).collect();
        assert_eq!(went, expected, "where {name} goes after Nacks");
        for sent in flooded {
            assert!(!sent.non_discovery);
            pending.outs.insert(sent.face, true);
        }
    }

    fn data(&mut self, name: &str, from: FaceId, packet: &LpPacket<'_>, sent: &[Sent]) {
        let Some(pending) = self.pending.remove(name) else { panic!("Data for nothing") };
        let was_flooded = pending.outs[&from];
        let announced = self.routes.get(&prefix_of(name)).is_some_and(|faces| faces.contains(&from));
        let expected: &[u8] = match was_flooded {
            true => packet.header.prefix_announcement,
            false if announced => &announcement(&prefix_of(name)),
            false => &[],
        };
        assert_eq!(sent.len(), pending.ins.iter().filter(|(face, _)| *face != from).count());
        for sent in sent {
            let (_, discovers) =
                pending.ins.iter().find(|(face, _)| *face == sent.face).expect("a downstream");
            let wants = *discovers && self.links.contains_key(&sent.face);
            assert_eq!(
                &sent.announcement[..],
                if wants { expected } else { &[] },
                "{name} to {:?}",
                sent.face
            );
        }
    }
}

/// Link packet on its way: time, number, node, the neighbour that sent it, and its bytes.
type Arrival = (Time, u64, usize, usize, Vec<u8>);

struct Network {
    nodes: Vec<Node>,
    queue: BinaryHeap<Reverse<Arrival>>,
    packets: u64,
    now: Time,
    chance: Chance,
    nonce: u32,
    /// Routes learned, and routes that were broken.
    counts: [usize; 2],
    answered: BTreeSet<(usize, String)>,
    nacked: BTreeSet<(usize, String)>,
    /// Interests over links.
    interests: usize,
}

impl Network {
    fn new(seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let nodes = chance.between(2, 8);
        let mut network = Self {
            nodes: (0..nodes as u64).map(Node::new).collect(),
            queue: BinaryHeap::new(),
            packets: 0,
            now: Time::from_millis(1000),
            chance,
            nonce: 0,
            counts: [0; 2],
            answered: BTreeSet::new(),
            nacked: BTreeSet::new(),
            interests: 0,
        };
        let mut joined = BTreeSet::new();
        for node in 1..nodes {
            joined.insert((network.chance.below(node), node));
        }
        for _ in 0..network.chance.below(nodes + 1) {
            let [a, b] = [network.chance.below(nodes), network.chance.below(nodes)];
            joined.extend((a != b).then_some((a.min(b), a.max(b))));
        }
        for (a, b) in joined {
            for (here, there) in [(a, b), (b, a)] {
                let face = Face::new(Scope::NonLocal, LinkType::PointToPoint);
                let face = network.nodes[here].forwarder.add_face(face).expect("a face");
                network.nodes[here].links.insert(face, there);
            }
        }
        for (at, node) in network.nodes.iter_mut().enumerate() {
            node.add_route(&announcement(&format!("/p{at}")), node.app, false);
        }
        network
    }

    /// A node's application asks for a name.
    fn ask(&mut self, node: usize, name: &str) {
        self.nonce += 1;
        let bytes = Ask::of(uri(name), self.nonce).build();
        let app = self.nodes[node].app;
        let packet = LpPacket { header: LpHeader::EMPTY, fragment: &bytes };
        self.take(node, app, &packet);
    }

    fn take(&mut self, node: usize, from: FaceId, packet: &LpPacket<'_>) {
        let sent = self.nodes[node].receive(from, packet, self.now);
        let [learned, broken] = self.nodes[node].manage();
        self.counts[0] += learned;
        self.counts[1] += broken;
        for sent in sent {
            self.send(node, sent);
        }
    }

    fn send(&mut self, node: usize, sent: Sent) {
        if sent.face == self.nodes[node].app {
            return self.application(node, &sent);
        }
        let Some(to) = self.nodes[node].links.get(&sent.face) else { return };
        self.interests += usize::from(sent.brief().1 == "interest");
        let bytes = [sent.header().wrapped(sent.packet.len()).as_bytes(), &sent.packet].concat();
        self.packets += 1;
        let at = self.now.after_millis(1 + self.chance.below(5) as u64);
        self.queue.push(Reverse((at, self.packets, *to, node, bytes)));
    }

    /// An application answers, or gets an answer.
    fn application(&mut self, node: usize, sent: &Sent) {
        let (_, kind, name) = sent.brief();
        match kind {
            "interest" => {
                assert_eq!(prefix_of(&name), format!("/p{node}"), "an Interest of another producer");
                let bytes = data_of(&uri(&name), 0, b"content");
                let app = self.nodes[node].app;
                self.take(node, app, &LpPacket { header: LpHeader::EMPTY, fragment: &bytes });
            }
            "nack" => drop(self.nacked.insert((node, name))),
            _ => drop(self.answered.insert((node, name))),
        }
    }

    /// Runs until no packet is on its way.
    fn run(&mut self) {
        while let Some(Reverse((at, _, node, from, bytes))) = self.queue.pop() {
            self.now = self.now.max(at);
            let links = &self.nodes[node].links;
            let Some(face) = links.iter().find(|(_, other)| **other == from).map(|(face, _)| *face) else {
                continue;
            };
            let packet = LpPacket::parse(&bytes).expect("a link packet");
            self.take(node, face, &packet);
        }
    }

    /// Lets all pending Interests expire.
    fn rest(&mut self) {
        self.run();
        self.now = self.now.after_millis(20_000);
        for node in &mut self.nodes {
            node.forwarder.handle_timeout(self.now);
            node.pending.clear();
            assert_eq!(node.forwarder.pending(), 0);
        }
    }

    /// Removes a link that others can replace. Returns false without such a link.
    fn fail(&mut self) -> bool {
        let all: Vec<(usize, FaceId, usize)> = self
            .nodes
            .iter()
            .enumerate()
            .flat_map(|(at, node)| node.links.iter().map(move |(face, to)| (at, *face, *to)))
            .collect();
        let start = self.chance.below(all.len());
        for turn in 0..all.len() {
            let (a, _, b) = all[(start + turn) % all.len()];
            let without = |x: usize, y: usize| (x, y) != (a, b) && (y, x) != (a, b);
            let mut reached = BTreeSet::from([0]);
            while let Some(next) = all
                .iter()
                .find(|(x, _, y)| without(*x, *y) && reached.contains(x) && !reached.contains(y))
                .map(|(_, _, y)| *y)
            {
                reached.insert(next);
            }
            if reached.len() < self.nodes.len() {
                continue;
            }
            for (here, there) in [(a, b), (b, a)] {
                let node = &mut self.nodes[here];
                let face = *node.links.iter().find(|(_, to)| **to == there).expect("a link").0;
                node.links.remove(&face);
                for prefix in node.routes.keys().cloned().collect::<Vec<_>>() {
                    node.remove_route(&uri(&prefix).view(), face);
                }
                node.forwarder.remove_face(face);
            }
            return true;
        }
        false
    }

    /// Each node asks for a name of each other one, until it is answered; returns the tries of the one with
    /// most.
    fn ask_all(&mut self, label: &str) -> usize {
        let mut most = 0;
        let all = self.nodes.len();
        for (node, producer) in (0..all * all).map(|pair| (pair / all, pair % all)) {
            if node == producer {
                continue;
            }
            let name = |tries| format!("/p{producer}/{label}-{node}-{tries}");
            let tries = (1..10).find(|tries| {
                self.ask(node, &name(*tries));
                self.run();
                // Two nodes may know routes to each other.
                let done = self.answered.contains(&(node, name(*tries)));
                self.rest();
                done
            });
            most = most.max(tries.unwrap_or_else(|| panic!("{} is not found by {node}", name(0))));
        }
        most
    }
}

#[test]
fn networks_learn_routes_and_find_others_when_a_link_fails() {
    let seeds = match std::env::var("HASHLANE_SIM_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None => 0..pick(60, 600),
    };
    let (mut learned, mut broken, mut failures, mut again, mut tries) = (0, 0, 0, 0, 0);
    for seed in seeds {
        let mut network = Network::new(seed);
        assert_eq!(network.ask_all("first"), 1, "the first Interest finds each producer, seed {seed}");
        let flooded = network.interests;
        network.interests = 0;
        assert_eq!(network.ask_all("second"), 1, "seed {seed}");
        assert!(network.interests <= flooded, "learned routes take fewer packets, seed {seed}");
        if network.fail() {
            failures += 1;
            tries = tries.max(network.ask_all("third"));
            assert_eq!(network.ask_all("fourth"), 1, "seed {seed}");
            again += network.counts[0];
        }
        learned += network.counts[0];
        broken += network.counts[1];
    }
    println!("learned {learned}, broken {broken}, failures {failures} ({again}), most tries {tries}");
    assert!(learned > 0);
}
