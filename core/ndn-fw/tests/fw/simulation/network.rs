//! A network that runs: one queue of events, one clock, no threads.

use super::applications::{Consumer, Request, answer, data, draw};
use super::chance::Chance;
use super::node::{Index, Node, Peer};
use super::topology::{Topology, TopologyKind};
use crate::support::{Sent, uri};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::lp::{DigestField, INTEREST_DIGEST};
use hashlane_ndn::wire::{Interest, LpHeader, LpPacket};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A packet comes to a node over a link.
    Arrives {
        node: usize,
        link: usize,
        bytes: Vec<u8>,
    },
    /// A producer's answer comes to its node.
    Answered {
        producer: usize,
        token: Vec<u8>,
        digest: Vec<u8>,
        bytes: Vec<u8>,
    },
    /// A consumer asks; this is the number of its request.
    Asks {
        consumer: usize,
        request: usize,
    },
    /// A producer sends Data that nobody may have asked for.
    Pushes {
        producer: usize,
    },
    Turns {
        node: usize,
    },
    /// A node reads what waits.
    Reads {
        node: usize,
    },
    Restarts {
        node: usize,
    },
    Flaps {
        node: usize,
    },
}

pub struct Network<P> {
    pub topology: Topology,
    pub nodes: Vec<Node<P>>,
    pub consumers: Vec<Consumer>,
    queue: BinaryHeap<Reverse<(Time, u64, Event)>>,
    events: u64,
    pub now: Time,
    chance: Chance,
    /// Lets nodes read what has come in bursts, a while after the first packet came.
    bursts: bool,
    pub nonces: u32,
    /// Interests that were sent over links, those that were lost there included.
    pub link_interests: usize,
}

/// Microseconds over which consumers ask.
const ASKING: usize = 10_000_000;

/// Milliseconds after its first packet that a node reads a burst.
const READS: u64 = 10;

/// Times that a consumer asks again when an Interest comes back.
const TRIES: usize = 20;

impl<P: Index> Network<P> {
    pub fn new(
        kind: TopologyKind,
        seed: u64,
        bursts: bool,
        shards: usize,
        strategy: Option<&'static str>,
    ) -> Self {
        let mut chance = Chance::new(seed);
        let mut topology = Topology::draw(kind, &mut chance);
        if let Some(strategy) = strategy {
            topology.strategies.fill(strategy);
            topology.second_strategy = None;
        }
        let node = |node| Node::new(&topology, node, shards, chance.number());
        let nodes = (0..topology.nodes).map(node).collect();
        let mut network = Self {
            nodes,
            consumers: topology.consumers.iter().map(|_| Consumer { requests: Vec::new() }).collect(),
            topology,
            queue: BinaryHeap::new(),
            events: 0,
            now: Time::from_millis(1000),
            chance,
            bursts,
            nonces: 0,
            link_interests: 0,
        };
        network.plan(shards > 1);
        network
    }

    /// Microseconds after the beginning.
    fn somewhen(&mut self) -> Time {
        Time::from_millis(1000) + std::time::Duration::from_micros(self.chance.below(ASKING) as u64)
    }

    fn push(&mut self, at: Time, event: Event) {
        self.events += 1;
        self.queue.push(Reverse((at, self.events, event)));
    }

    fn plan(&mut self, short: bool) {
        for consumer in 0..self.consumers.len() {
            for _ in 0..self.topology.asks {
                self.nonces += 1;
                let ask = draw(&self.topology, self.nonces, short, &mut self.chance);
                // Short ones, so that some are the same; and often none.
                let token = self.chance.number().to_le_bytes()[..self.chance.below(3)].to_vec();
                let until = Time::default();
                let at = self.somewhen();
                let requests = &mut self.consumers[consumer].requests;
                requests.push(Request { ask, token, until, tries: 0, answered: false });
                let request = requests.len() - 1;
                self.push(at, Event::Asks { consumer, request });
                // The very same packet again.
                if self.topology.repeats() && self.chance.happens(100) {
                    let after = self.chance.below(300) as u64;
                    self.push(at.after_millis(after), Event::Asks { consumer, request });
                }
            }
        }
        for _ in 0..self.topology.restarts {
            let (at, node) = (self.somewhen(), self.chance.below(self.topology.nodes));
            self.push(at, Event::Restarts { node });
        }
        for _ in 0..self.topology.flaps {
            let (at, node) = (self.somewhen(), self.chance.below(self.topology.nodes));
            self.push(at, Event::Flaps { node });
        }
        for _ in 0..5 {
            let (at, producer) = (self.somewhen(), self.chance.below(self.topology.producers.len()));
            self.push(at, Event::Pushes { producer });
        }
    }

    /// Runs until nothing happens any more, and a while longer.
    pub fn run(&mut self) {
        // Each Interest takes few events at each node; a network that takes more does not come to rest.
        let most = 2000 * u64::from(self.nonces) * self.topology.nodes as u64;
        while let Some(Reverse((at, _, event))) = self.queue.pop() {
            assert!(self.events < most, "the network does not come to rest");
            self.now = self.now.max(at);
            self.happens(event);
        }
        self.now = self.now.after_millis(30_000);
        for node in &mut self.nodes {
            assert_eq!(node.handle_timeout(self.now), []);
        }
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Arrives { node, link, bytes } => {
                let port = self.port(node, Peer::Link(link));
                if self.bursts {
                    return self.wait(node, port, bytes);
                }
                let sent = self.nodes[node].receive(port, &bytes, self.now);
                self.send(node, sent);
            }
            Event::Answered { producer, token, digest, bytes } => {
                let digest = DigestField::new(INTEREST_DIGEST, &digest);
                let header = LpHeader { pit_token: &token, digest, ..LpHeader::default() };
                let node = self.topology.producers[producer].node;
                self.give(node, Peer::Producer(producer), &LpPacket { header, fragment: &bytes });
            }
            Event::Asks { consumer, request } => self.ask(consumer, request),
            Event::Pushes { producer } => {
                let name = format!("{}/n{}", self.topology.producers[producer].prefix, self.chance.below(3));
                let bytes = data(&uri(&name));
                let packet = LpPacket { header: LpHeader::default(), fragment: &bytes };
                let node = self.topology.producers[producer].node;
                self.give(node, Peer::Producer(producer), &packet);
            }
            Event::Turns { node } if self.nodes[node].turn_at == Some(self.now) => {
                self.nodes[node].turn_at = None;
                let sent = self.nodes[node].handle_timeout(self.now);
                self.send(node, sent);
            }
            Event::Reads { node } => {
                let packets = std::mem::take(&mut self.nodes[node].waiting);
                let sent = self.nodes[node].receive_together(&packets, self.now);
                self.send(node, sent);
            }
            // The node has planned another one since.
            Event::Turns { .. } => {}
            Event::Restarts { node } => {
                let seed = self.chance.number();
                self.nodes[node].restart(&self.topology, seed);
            }
            Event::Flaps { node } => {
                let port = self.chance.below(self.nodes[node].ports.len());
                let sent = self.nodes[node].flap(&self.topology, port, self.now);
                self.send(node, sent);
            }
        }
    }

    fn ask(&mut self, consumer: usize, request: usize) {
        let Request { ask, token, until, .. } = &mut self.consumers[consumer].requests[request];
        // Its lifetime begins when the node reads it.
        let read = self.now.after_millis(if self.bursts { READS } else { 0 });
        *until = (*until).max(read.after_millis(ask.lifetime));
        let (bytes, token) = (ask.build(), token.clone());
        let header = LpHeader { pit_token: &token, ..LpHeader::default() };
        let node = self.topology.consumers[consumer];
        self.give(node, Peer::Consumer(consumer), &LpPacket { header, fragment: &bytes });
    }

    fn port(&self, node: usize, peer: Peer) -> usize {
        let mut ports = self.nodes[node].ports.iter();
        ports.position(|port| port.peer == peer).expect("a port of each peer")
    }

    /// Hands a packet of an application to its node.
    fn give(&mut self, node: usize, peer: Peer, packet: &LpPacket<'_>) {
        let port = self.port(node, peer);
        if self.bursts {
            let head = packet.header.wrapped(packet.fragment.len());
            return self.wait(node, port, [head.as_bytes(), packet.fragment].concat());
        }
        let sent = self.nodes[node].take(port, packet, self.now);
        self.send(node, sent);
    }

    /// Lets a link packet wait with others that come soon after it.
    fn wait(&mut self, node: usize, port: usize, bytes: Vec<u8>) {
        let waiting = &mut self.nodes[node].waiting;
        waiting.push((port, bytes));
        if waiting.len() == 1 {
            self.push(self.now.after_millis(READS), Event::Reads { node });
        }
    }

    fn plan_turn(&mut self, node: usize) {
        let Some(next) = self.nodes[node].forwarder.poll_timeout() else { return };
        let next = next.max(self.now.after_millis(1));
        if self.nodes[node].turn_at.is_none_or(|planned| planned > next) {
            self.nodes[node].turn_at = Some(next);
            self.push(next, Event::Turns { node });
        }
    }

    /// Sends what a node sends.
    fn send(&mut self, node: usize, sent: Vec<Sent>) {
        for sent in sent {
            let port = self.nodes[node].ports.iter().position(|port| port.face == sent.face);
            let port = port.expect("a port of each face");
            match self.nodes[node].ports[port].peer {
                Peer::Link(link) => self.over(node, port, link, &sent),
                Peer::Producer(producer) => self.produce(producer, &sent),
                Peer::Consumer(consumer) => self.consume(consumer, &sent),
            }
        }
        self.plan_turn(node);
    }

    /// Sends a packet over a link, in pieces where they must be.
    fn over(&mut self, node: usize, port: usize, number: usize, sent: &Sent) {
        let link = self.topology.links[number];
        let to = link.ends[usize::from(link.ends[0] == node)];
        self.link_interests += usize::from(sent.brief().1 == "interest");
        let mut pieces = Vec::new();
        let fragmenter = &mut self.nodes[node].ports[port].fragmenter;
        let done = fragmenter.send(&sent.header(), &sent.packet, link.mtu, |head, piece| {
            pieces.push([head, piece].concat());
        });
        assert!(done && pieces.iter().all(|piece| piece.len() <= link.mtu));
        for bytes in pieces {
            if self.chance.happens(link.loss) {
                continue;
            }
            for _ in 0..1 + usize::from(self.chance.happens(link.twice)) {
                let micros = link.delay + self.chance.below(link.jitter as usize + 1) as u64;
                let at = self.now + std::time::Duration::from_micros(micros);
                self.push(at, Event::Arrives { node: to, link: number, bytes: bytes.clone() });
            }
        }
    }

    fn produce(&mut self, producer: usize, sent: &Sent) {
        if sent.brief().1 != "interest" {
            return;
        }
        // A producer may be slow, or may have nothing.
        let sound = self.topology.kind == TopologyKind::Sound;
        if !sound && self.chance.happens(100) {
            return;
        }
        let wait = self.chance.below(if sound { 50_000 } else { 300_000 }) as u64;
        let at = self.now + std::time::Duration::from_micros(wait);
        // Not all producers know of either field.
        let knows = producer % 3 != 2;
        let [token, digest] = [&sent.token, &sent.digest].map(|field| field.repeat(knows.into()));
        self.push(at, Event::Answered { producer, token, digest, bytes: answer(&sent.interest()) });
    }

    fn consume(&mut self, consumer: usize, sent: &Sent) {
        if sent.brief().1 == "data" {
            return self.consumers[consumer].gets(&sent.packet, &sent.token, self.now);
        }
        assert!(sent.nack.is_some(), "an Interest that a consumer got");
        self.asks_again(consumer, &sent.interest());
    }

    /// Retransmits an Interest after a Nack.
    fn asks_again(&mut self, consumer: usize, interest: &Interest<'_>) {
        let requests = &mut self.consumers[consumer].requests;
        let request = requests.iter().position(|request| request.ask.nonce == interest.nonce());
        let request = request.expect("an Interest that came back was sent");
        let Request { ask, tries, answered, .. } = &mut requests[request];
        if *answered || *tries == TRIES || self.topology.kind != TopologyKind::Sound {
            return;
        }
        *tries += 1;
        self.nonces += 1;
        ask.nonce = Some(self.nonces);
        let after = self.chance.between(20, 200) as u64;
        self.push(self.now.after_millis(after), Event::Asks { consumer, request });
    }
}
