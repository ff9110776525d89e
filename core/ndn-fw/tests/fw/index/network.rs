//! Whole networks under each index forward the same packets to the same faces at the same times.
//!
//! A plan is drawn from a seed: forwarders, links, producers, what consumers ask and when. It runs once under
//! each index. What links do to a packet, how long they take and whether they lose it, is drawn from the
//! packet itself, so that a packet meets the same fate in all runs. Tokens and digests are not compared, but
//! those that hosts gave; nor are copies of a packet that differ in nothing else: two entries of one
//! neighbour have two tokens.

use crate::support::{Ask, Log, Sent, check, data_of, pick};
use hashlane_hash::scheme::{BytesHash, Key, Scheme};
use hashlane_hash::siphash::SipHash13;
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, IMPLICIT_SHA256_DIGEST};
use hashlane_name::ndn::Ndn;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::lp::{DigestField, INTEREST_DIGEST};
use hashlane_ndn::wire::{Data, DigestFunction, Interest, LpHeader, LpPacket, NackReason};
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{BURST, Burst, Config, Forwarder};
use hashlane_ndn_fw::pit::{ByDigest, ByName, ByToken, Pit, Satisfy};
use hashlane_ndn_fw::strategy::{Rng, Strategy};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Peer of a face.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// To a face of another forwarder.
    Peer(usize, usize),
    Consumer,
    Producer,
}

/// A face of a plan.
#[derive(Clone, Copy, Debug)]
struct Link {
    end: End,
    tokens: bool,
    digests: bool,
    several: bool,
}

#[derive(Clone, Debug)]
struct Plan {
    salt: u64,
    /// The faces of each forwarder.
    nodes: Vec<Vec<Link>>,
    /// Routes: forwarder, letters of a prefix, face, cost.
    routes: Vec<(usize, Vec<u8>, usize, u64)>,
    strategies: Vec<(usize, Vec<u8>, &'static str)>,
    /// Forwarders whose store neither takes nor gives, and those that a hint leads to.
    storeless: Vec<usize>,
    regions: Vec<usize>,
    /// Requests of consumers: consumer, name, millisecond, token.
    asks: Vec<(u64, usize, usize, Ask, Vec<u8>)>,
}

fn name_of(letters: &[u8]) -> OwnedName<Ndn> {
    let values = [&b"a"[..], b"b", b"h"];
    let components = letters.iter().map(|letter| Component::generic(values[usize::from(*letter)]));
    OwnedName::from_components(components).expect("a short name")
}

fn hashed(salt: u64, parts: &[&[u8]]) -> u64 {
    SipHash13::new(&Key::VECTOR).hash(&[&salt.to_le_bytes(), &parts.concat()[..]].concat())
}

/// The Data of a name, the same wherever it is made.
fn packet_of(salt: u64, name: &OwnedName<Ndn>) -> Vec<u8> {
    let fresh = [0, 0, 50, 2000][(hashed(salt, &[b"fresh", name.as_bytes()]) % 4) as usize];
    data_of(name, fresh, b"x")
}

fn plan(seed: u64) -> Plan {
    let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5555);
    let salt = rng.next_u64();
    let count = 2 + rng.below(5);
    let mut nodes: Vec<Vec<Link>> = vec![Vec::new(); count];
    let join = |nodes: &mut Vec<Vec<Link>>, one: usize, other: usize, rng: &mut Rng| {
        let (at, there) = (nodes[one].len(), nodes[other].len());
        let several = rng.below(8) == 0;
        let mut link = |end| Link { end, tokens: rng.below(4) > 0, digests: rng.below(4) > 0, several };
        let (to, back) = (link(End::Peer(other, there)), link(End::Peer(one, at)));
        nodes[one].push(to);
        nodes[other].push(back);
    };
    for node in 1..count {
        let other = rng.below(node);
        join(&mut nodes, node, other, &mut rng);
    }
    for _ in 0..rng.below(3) {
        let (one, other) = (rng.below(count), rng.below(count));
        if one != other {
            join(&mut nodes, one, other, &mut rng);
        }
    }
    for links in &mut nodes {
        for _ in 0..1 + rng.below(2) {
            links.push(Link { end: End::Consumer, tokens: false, digests: true, several: false });
        }
        if rng.below(2) == 0 {
            links.push(Link { end: End::Producer, tokens: true, digests: true, several: false });
        }
    }
    if nodes.iter().flatten().all(|link| link.end != End::Producer) {
        nodes[0].push(Link { end: End::Producer, tokens: true, digests: true, several: false });
    }
    let letters = |rng: &mut Rng, least: usize, most: usize| -> Vec<u8> {
        (0..least + rng.below(most - least + 1)).map(|_| rng.below(2) as u8).collect()
    };
    let mut routes = Vec::new();
    let mut strategies = Vec::new();
    for (node, links) in nodes.iter().enumerate() {
        for (face, link) in links.iter().enumerate() {
            if link.end != End::Consumer && rng.below(5) > 0 {
                let prefix = if rng.below(2) == 0 { vec![] } else { letters(&mut rng, 1, 2) };
                routes.push((node, prefix, face, rng.below(4) as u64));
            }
        }
        if rng.below(2) == 0 {
            let kind = ["multicast", "asf", "random", "best-route"][rng.below(4)];
            strategies.push((node, letters(&mut rng, 0, 1), kind));
        }
    }
    let storeless = (0..count).filter(|_| rng.below(3) == 0).collect();
    let regions = (0..count).filter(|_| rng.below(4) == 0).collect();
    let consumers: Vec<(usize, usize)> = nodes
        .iter()
        .enumerate()
        .flat_map(|(node, links)| {
            let faces = links.iter().enumerate().filter(|(_, link)| link.end == End::Consumer);
            faces.map(move |(face, _)| (node, face)).collect::<Vec<_>>()
        })
        .collect();
    let mut asks: Vec<(u64, usize, usize, Ask, Vec<u8>)> = Vec::new();
    let mut at = 0;
    for number in 0..30 + rng.below(60) {
        at += [0, 0, 1, 5, 40][rng.below(5)];
        let (node, face) = consumers[rng.below(consumers.len())];
        if number > 0 && rng.below(5) == 0 {
            // The same again, by the same one or another, with the same Nonce or another.
            let (_, old_node, old_face, mut ask, token) = asks[rng.below(asks.len())].clone();
            let (node, face) = if rng.below(2) == 0 { (old_node, old_face) } else { (node, face) };
            if rng.below(3) > 0 {
                ask.nonce = Some(rng.next_u64() as u32);
            }
            asks.push((at, node, face, ask, token));
            continue;
        }
        let mut name = name_of(&letters(&mut rng, 1, 3));
        if rng.below(6) == 0 {
            let digest = Data::parse(&packet_of(salt, &name)).expect("Data").implicit_digest();
            let digest = if rng.below(4) == 0 { [7; 32] } else { digest };
            let last = Component { typ: IMPLICIT_SHA256_DIGEST, value: &digest };
            let longer = OwnedName::from_components(name.view().components().chain([last]));
            name = longer.expect("a short name");
        }
        let mut ask = Ask::of(name, rng.next_u64() as u32).lives([5, 30, 100, 1000][rng.below(4)]);
        ask.can_be_prefix = rng.below(3) == 0;
        ask.must_be_fresh = rng.below(3) == 0;
        if rng.below(8) == 0 {
            ask.hints.push(name_of(&[[2, 0], [2, 1], [0, 0]][rng.below(3)]));
        }
        if rng.below(8) == 0 {
            ask.hop_limit = Some(1 + rng.below(4) as u8);
        }
        if rng.below(10) == 0 {
            ask.nonce = None;
        }
        let token = if rng.below(2) == 0 { vec![] } else { vec![rng.below(3) as u8; 4] };
        asks.push((at, node, face, ask, token));
    }
    Plan { salt, nodes, routes, strategies, storeless, regions, asks }
}

/// A packet in flight: time and place of its arrival, and its bytes. Ordered by arrival; copies stay
/// together.
type Arrival = (u64, usize, usize, Vec<u8>, Option<u64>, Vec<u8>, Vec<u8>);

/// A packet that was sent: time, sender, face, and the fields that are compared.
type Trace = BTreeSet<(u64, usize, usize, Vec<u8>, Option<u64>, u64, Vec<u8>)>;

struct Network<'p, P> {
    plan: &'p Plan,
    /// Hands packets that come to one node at one time over in bursts.
    bursts: bool,
    forwarders: Vec<Forwarder<P>>,
    faces: Vec<Vec<FaceId>>,
    under_way: BTreeSet<Arrival>,
    trace: Trace,
    /// Tokens and digests of forwarders' own that came back.
    hints: usize,
    /// Packets of the largest burst.
    most: usize,
}

impl<'p, P: Pit> Network<'p, P> {
    fn new(plan: &'p Plan, bursts: bool, make: impl Fn(u8) -> P) -> Self {
        let mut forwarders = Vec::new();
        let mut faces = Vec::new();
        for (node, links) in plan.nodes.iter().enumerate() {
            let regions = if plan.regions.contains(&node) { vec![name_of(&[2, 0, 1])] } else { vec![] };
            let mut config = Config { regions, ..Config::default() };
            (config.cs.admit, config.cs.serve) =
                (!plan.storeless.contains(&node), !plan.storeless.contains(&node));
            let mut forwarder = Forwarder::with_pit(config, &Key::VECTOR, node as u64, make(node as u8));
            let numbers = links.iter().map(|link| {
                let scope = if matches!(link.end, End::Peer(..)) { Scope::NonLocal } else { Scope::Local };
                let kind = if link.several { LinkType::MultiAccess } else { LinkType::PointToPoint };
                let mut face = Face::new(scope, kind);
                (face.pit_tokens, face.interest_digests) = (link.tokens, link.digests);
                forwarder.add_face(face).expect("room for a face")
            });
            faces.push(numbers.collect::<Vec<_>>());
            forwarders.push(forwarder);
        }
        for (node, prefix, face, cost) in &plan.routes {
            let hop = NextHop { face: faces[*node][*face], cost: *cost };
            forwarders[*node].add_route(&name_of(prefix).view(), hop);
        }
        for (node, prefix, kind) in &plan.strategies {
            let strategy = crate::support::uri(&format!("/localhost/nfd/strategy/{kind}"));
            let strategy = Strategy::from_name(strategy.view()).expect("a strategy");
            forwarders[*node].set_strategy(&name_of(prefix).view(), strategy);
        }
        let mut network = Self {
            plan,
            bursts,
            forwarders,
            faces,
            under_way: BTreeSet::new(),
            trace: Trace::new(),
            hints: 0,
            most: 0,
        };
        for (at, node, face, ask, token) in &plan.asks {
            let arrival = (at * 1_000_000, *node, *face, ask.build(), None, token.clone(), vec![]);
            network.under_way.insert(arrival);
        }
        network
    }

    /// Runs until nothing is under way; the trace, the hints, and the packets of the largest burst.
    fn run(mut self) -> (Trace, usize, usize) {
        let mut last = 0;
        while let Some(first) = self.under_way.pop_first() {
            let (at, node, ..) = first;
            last = at;
            let mut arrivals = vec![first];
            let goes_on = |(then, there, ..): &Arrival| (*then, *there) == (at, node);
            while self.bursts && arrivals.len() < BURST && self.under_way.first().is_some_and(goes_on) {
                arrivals.extend(self.under_way.pop_first());
            }
            self.arrive(at, node, &arrivals);
        }
        for forwarder in &mut self.forwarders {
            forwarder.handle_timeout(Time(last).after_millis(100_000));
            assert!(forwarder.pit().is_empty());
            check(forwarder);
        }
        (self.trace, self.hints, self.most)
    }

    /// Packets come to a node together.
    fn arrive(&mut self, at: u64, node: usize, arrivals: &[Arrival]) {
        let now = Time(1_000_000 + at);
        let (mut burst, mut log) = (Burst::new(), Log::default());
        for (_, _, face, packet, nack, token, digest) in arrivals {
            let header = LpHeader {
                pit_token: token,
                nack: nack.map(NackReason),
                digest: DigestField::new(INTEREST_DIGEST, digest),
                ..LpHeader::default()
            };
            let answers = nack.is_some() || packet.first() == Some(&6);
            self.hints += usize::from(answers && !(token.is_empty() && digest.is_empty()));
            burst.push_packet(self.faces[node][*face], &LpPacket { header, fragment: packet });
        }
        self.most = self.most.max(burst.len());
        let forwarder = &mut self.forwarders[node];
        forwarder.handle_timeout(now);
        forwarder.receive_burst(&mut burst, now, &mut log);
        check(forwarder);
        for sent in log.0 {
            self.sent(at, node, sent);
        }
    }

    fn sent(&mut self, at: u64, node: usize, sent: Sent) {
        let face = self.faces[node].iter().position(|face| *face == sent.face).expect("a face of it");
        let link = self.plan.nodes[node][face];
        let nack = sent.nack.map(|reason| reason.0);
        // Tokens between forwarders, and those that producers get, are their own.
        let compared = if link.end == End::Consumer { sent.token.clone() } else { vec![] };
        let mark = sent.congestion_mark << 32 | sent.incoming_face.unwrap_or_default();
        self.trace.insert((at, node, face, sent.packet.clone(), nack, mark, compared));
        let place = [&[node as u8, face as u8][..], &at.to_le_bytes()].concat();
        let fate = hashed(self.plan.salt, &[b"fate", &place, &sent.packet]);
        let delay = [100_000, 1_000_000, 3_000_000, 20_000_000][(fate % 4) as usize];
        let lost = (fate >> 8).is_multiple_of(20);
        // Something on the way leaves out what it does not know.
        let stripped = (fate >> 16).is_multiple_of(10);
        match link.end {
            End::Peer(..) if lost => {}
            End::Peer(node, face) => {
                let (token, digest) = if stripped { (vec![], vec![]) } else { (sent.token, sent.digest) };
                self.under_way.insert((at + delay, node, face, sent.packet, nack, token, digest));
            }
            End::Consumer => {}
            End::Producer => self.produce(at + delay, node, face, &sent, fate >> 24),
        }
    }

    /// The answer of a producer to an Interest.
    fn produce(&mut self, at: u64, node: usize, face: usize, sent: &Sent, fate: u64) {
        if sent.packet.first() != Some(&5) || sent.nack.is_some() {
            return;
        }
        let bytes = sent.packet.clone();
        let interest = Interest::parse(&bytes).expect("an Interest");
        let (token, digest) = match (fate >> 8) % 4 {
            0 => (vec![], vec![]),
            1 => (vec![fate as u8; 8], vec![fate as u8; 20]),
            _ => (sent.token.clone(), sent.digest.clone()),
        };
        if fate.is_multiple_of(8) {
            // One without the digest, or with its own: another would cost it the Nack.
            let digest = if (fate >> 8) % 4 == 1 { vec![] } else { digest };
            self.under_way.insert((
                at,
                node,
                face,
                sent.packet.clone(),
                Some(50 + fate % 3 * 50),
                token,
                digest,
            ));
            return;
        }
        let plain = interest.name().components().filter(|component| component.typ != IMPLICIT_SHA256_DIGEST);
        let mut parts: Vec<Component<'_>> = plain.collect();
        if interest.can_be_prefix() && fate.is_multiple_of(3) {
            parts.push(Component::generic(b"b"));
        }
        let name = OwnedName::from_components(parts).expect("a short name");
        let packet = packet_of(self.plan.salt, &name);
        let wanted = interest.name().components().find(|component| component.typ == IMPLICIT_SHA256_DIGEST);
        let own = Data::parse(&packet).expect("Data").implicit_digest();
        // Data that does not answer the Interest must not carry its digest: only the index by digest would
        // drop it.
        let answers = wanted.is_none_or(|wanted| wanted.value == own);
        let digest = if answers { digest } else { vec![] };
        self.under_way.insert((at, node, face, packet, None, token, digest));
    }
}

/// The first packet that only one of the runs has, and whether that is the first of them.
fn first_difference(one: &Trace, other: &Trace) -> Option<(String, bool)> {
    let (at, node, face, packet, nack, ..) = one.symmetric_difference(other).next()?;
    let first = one.difference(other).next() == one.symmetric_difference(other).next();
    let name = Interest::parse(packet).map(|interest| interest.name().to_string());
    let kind = if name.is_ok() { "Interest" } else { "Data" };
    let name = name.or_else(|_| Data::parse(packet).map(|data| data.name().to_string()));
    let name = name.unwrap_or_default();
    Some((format!("at {at} node {node} sends face {face} {kind} {name}, Nack {nack:?}"), first))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: pick(48, 256),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn all_indexes_forward_alike_one_by_one_and_in_bursts(seed in any::<u64>()) {
        let plan = plan(seed);
        let (by_name, ..) = Network::new(&plan, false, |_| ByName::default()).run();
        let (in_bursts, ..) = Network::new(&plan, true, |_| ByName::default()).run();
        prop_assert_eq!(first_difference(&in_bursts, &by_name), None, "by name, in bursts");
        for bursts in [false, true] {
            let (by_token, ..) = Network::new(&plan, bursts, |node| ByToken::new(&Key::VECTOR, node)).run();
            prop_assert_eq!(first_difference(&by_token, &by_name), None, "by token, in bursts: {}", bursts);
            for function in [DigestFunction::Sha1, DigestFunction::Sip64([3; 16])] {
                let make = |_| ByDigest::new(function, Satisfy::All, &Key::VECTOR);
                let (by_digest, ..) = Network::new(&plan, bursts, make).run();
                prop_assert_eq!(first_difference(&by_digest, &by_name), None, "by digest, in bursts: {}", bursts);
            }
        }
    }
}

#[test]
fn the_networks_are_busy_and_hints_come_back() {
    let (mut packets, mut hints, mut largest) = (0, [0; 3], 0);
    for seed in 0..50 {
        let plan = plan(seed);
        let (by_name, none, _) = Network::new(&plan, false, |_| ByName::default()).run();
        let (_, tokens, burst) = Network::new(&plan, true, |node| ByToken::new(&Key::VECTOR, node)).run();
        largest = largest.max(burst);
        let make = |_| ByDigest::new(DigestFunction::Sha1, Satisfy::All, &Key::VECTOR);
        let (_, digests, _) = Network::new(&plan, false, make).run();
        packets += by_name.len();
        [none, tokens, digests].iter().zip(&mut hints).for_each(|(of, sum)| *sum += of);
    }
    assert!(largest > 4, "the largest burst has {largest} packets");
    // Under names only what producers made up.
    assert!(packets > 5000 && hints[1] > 2 * hints[0] && hints[2] > 2 * hints[0], "{packets} {hints:?}");
}
