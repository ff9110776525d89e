//! Networks drawn from a seed: forwarders, links, producers and faults.

use super::chance::Chance;
use std::collections::VecDeque;

/// Kind of network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopologyKind {
    /// Nothing is lost, and each way leads nearer to a producer: what is asked for comes.
    Sound,
    /// Links lose, repeat and reorder; forwarders start again; routes may lead round in circles.
    Faulty,
    /// As faulty, with tables so small that they are full.
    Crowded,
}

#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub ends: [usize; 2],
    /// Microseconds that a packet takes.
    pub delay: u64,
    /// Microseconds that it may take besides; where there are any, packets overtake one another.
    pub jitter: u64,
    /// Of a thousand packets, so many are lost.
    pub loss: usize,
    /// Of a thousand packets, so many come twice.
    pub twice: usize,
    pub mtu: usize,
}

/// An application that answers Interests.
#[derive(Clone, Debug)]
pub struct Producer {
    pub node: usize,
    pub prefix: String,
    /// Its prefix has routes at its own node alone, and Interests find that by the hint of its region.
    pub hidden: bool,
}

#[derive(Debug)]
pub struct Topology {
    pub kind: TopologyKind,
    pub nodes: usize,
    pub links: Vec<Link>,
    pub producers: Vec<Producer>,
    /// The node of each consumer.
    pub consumers: Vec<usize>,
    /// The strategy of all names at each node.
    pub strategies: Vec<&'static str>,
    /// A second one, for names below the first producer's prefix.
    pub second_strategy: Option<&'static str>,
    /// Packets of each content store; none where 0.
    pub stores: Vec<usize>,
    pub pit_entries: usize,
    /// Longest lifetime of an Interest that comes over a link, in milliseconds.
    pub remote_lifetime: u64,
    /// True if next hops that lead away from the producer are routes, too, so that Interests may loop.
    pub circular: bool,
    /// Interests of each consumer.
    pub asks: usize,
    /// Number of names requested from each producer.
    pub names: usize,
    /// Restarts of forwarders, and faces that go and come again.
    pub restarts: usize,
    pub flaps: usize,
}

const STRATEGIES: [&str; 6] =
    ["best-route", "multicast", "asf", "random", "asf/probing-interval~1000/max-timeouts~1", "access"];

impl Topology {
    pub fn draw(kind: TopologyKind, chance: &mut Chance) -> Self {
        // Small networks are many, large ones some.
        let most = [6, 12, 30][chance.below(3)];
        let nodes = chance.between(3, most);
        let faulty = kind != TopologyKind::Sound;
        let links = links(nodes, faulty, chance);
        let one = *chance.one_of(&STRATEGIES);
        let mixed = chance.happens(400);
        let strategies = (0..nodes).map(|_| if mixed { *chance.one_of(&STRATEGIES) } else { one }).collect();
        let producers = (0..chance.between(1, 4))
            .map(|number| Producer {
                node: chance.below(nodes),
                // Names of one producer may be below another producer's.
                prefix: if number == 3 { "/p0/below".to_owned() } else { format!("/p{number}") },
                hidden: number == 2 && chance.happens(600),
            })
            .collect();
        let store = |chance: &mut Chance| match kind {
            TopologyKind::Crowded => chance.between(0, 3),
            _ => [0, 65_536][chance.below(2)],
        };
        Self {
            kind,
            nodes,
            links,
            producers,
            consumers: (0..chance.between(1, 5)).map(|_| chance.below(nodes)).collect(),
            strategies,
            second_strategy: chance.happens(300).then(|| *chance.one_of(&STRATEGIES)),
            stores: (0..nodes).map(|_| store(chance)).collect(),
            pit_entries: if kind == TopologyKind::Crowded { chance.between(1, 12) } else { 1 << 16 },
            remote_lifetime: if faulty { [30_000, 700][chance.below(2)] } else { 30_000 },
            circular: faulty && chance.happens(600),
            asks: chance.between(5, 30),
            names: chance.between(1, 12),
            restarts: if faulty { chance.below(4) } else { 0 },
            flaps: if faulty { chance.below(6) } else { 0 },
        }
    }

    /// Neighbours of a node, each with its link.
    pub fn neighbours(&self, node: usize) -> impl Iterator<Item = (usize, usize)> {
        self.links.iter().enumerate().filter_map(move |(number, link)| match link.ends {
            [a, b] if a == node => Some((number, b)),
            [a, b] if b == node => Some((number, a)),
            _ => None,
        })
    }

    /// Distance of each node from `to`, in links.
    pub fn distances(&self, to: usize) -> Vec<usize> {
        let mut distances = vec![usize::MAX; self.nodes];
        distances[to] = 0;
        let mut reached = VecDeque::from([to]);
        while let Some(node) = reached.pop_front() {
            for (_, next) in self.neighbours(node) {
                if distances[next] == usize::MAX {
                    distances[next] = distances[node] + 1;
                    reached.push_back(next);
                }
            }
        }
        distances
    }

    /// The links that lead from `node` to `to`, each with its cost.
    pub fn next_hops(&self, node: usize, to: usize) -> Vec<(usize, u64)> {
        let distances = self.distances(to);
        let here = distances[node];
        self.neighbours(node)
            .filter(|(_, next)| here > 0 && (self.circular || distances[*next] < here))
            .map(|(link, next)| (link, distances[next] as u64 * 10))
            .collect()
    }

    /// True if each packet crosses a link once and in order, and each Interest is sent once.
    pub fn repeats(&self) -> bool {
        self.links.iter().any(|link| link.twice > 0) || self.kind != TopologyKind::Sound
    }
}

/// A tree, and some links more.
fn links(nodes: usize, faulty: bool, chance: &mut Chance) -> Vec<Link> {
    let mut ends: Vec<[usize; 2]> = (1..nodes).map(|node| [chance.below(node), node]).collect();
    for _ in 0..chance.below(nodes + 1) {
        let [a, b] = [chance.below(nodes), chance.below(nodes)];
        if a != b && !ends.contains(&[a, b]) && !ends.contains(&[b, a]) {
            ends.push([a, b]);
        }
    }
    let (loss, twice, jitter) = match faulty {
        true => (chance.below(120), chance.below(80), chance.below(30_000) as u64),
        false => (0, 0, 0),
    };
    ends.into_iter()
        .map(|ends| Link {
            ends,
            delay: chance.between(100, 5000) as u64,
            jitter: if chance.happens(500) { jitter } else { 0 },
            loss: if chance.happens(700) { loss } else { 0 },
            twice: if chance.happens(500) { twice } else { 0 },
            mtu: if chance.happens(300) { chance.between(300, 1500) } else { usize::MAX },
        })
        .collect()
}
