//! Properties of a network at rest, besides those checked at each step.

use super::network::Network;
use super::node::Index;
use super::topology::TopologyKind;
use hashlane_ndn_fw::forward::DropReason;

/// Totals of several runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub forwarders: usize,
    pub asked: usize,
    pub answered: usize,
    pub packets: usize,
    pub loops: u64,
    pub cs_hits: u64,
    pub nacks: u64,
    /// Packets of the largest burst.
    pub largest: usize,
    /// Buckets of names that moved or were split.
    pub changes: usize,
    /// Visits of packets at shards before their last one.
    pub detours: usize,
    /// Interests that the strategy access sent to one of several next hops, and retries.
    pub singles: usize,
    pub retries: usize,
    pub predicted: usize,
}

impl Sum {
    pub fn add<P: Index>(&mut self, network: &Network<P>) {
        self.forwarders += network.nodes.len();
        for request in network.consumers.iter().flat_map(|consumer| &consumer.requests) {
            self.asked += 1;
            self.answered += usize::from(request.answered);
        }
        for node in &network.nodes {
            let forwarder = &node.forwarder;
            self.packets += node.model.packets_in;
            self.largest = self.largest.max(node.largest);
            self.loops +=
                forwarder.sum(|shard| shard.counters().drops.value(DropReason::Loop) as usize) as u64;
            self.changes += forwarder.changes;
            self.detours += forwarder.detours;
            self.singles += node.model.access.singles;
            self.retries += node.model.access.retries;
            self.predicted += node.model.access.predicted;
            self.cs_hits += forwarder.count(|all| &all.cs_hits);
            self.nacks += forwarder.count(|all| &all.in_nacks);
        }
    }
}

/// Holds a network that has come to rest against what must be.
pub fn check<P: Index>(network: &Network<P>) {
    network.nodes.iter().for_each(super::node::Node::must_be_quiet);
    let topology = &network.topology;
    if topology.kind != TopologyKind::Sound {
        return;
    }
    // Without repetitions, each Interest crosses each link at most once in each direction, and so does each
    // probe. A node sends one probe per Interest.
    let probing =
        topology.strategies.iter().chain(&topology.second_strategy).any(|name| name.starts_with("asf"));
    let nonces = network.nonces as usize * if probing { 1 + topology.nodes } else { 1 };
    let most = nonces * 2 * topology.links.len();
    assert!(network.link_interests <= most, "{} Interests on links", network.link_interests);
    // Two copies of an Interest meet only where a strategy sends more than one.
    let mut strategies = topology.strategies.iter().chain(&topology.second_strategy);
    let copies = strategies.any(|name| ["multicast", "access"].contains(name));
    for request in network.consumers.iter().flat_map(|consumer| &consumer.requests) {
        assert!(request.answered, "nobody answered {request:?}");
        assert!(copies || request.tries == 0, "came back: {request:?}");
    }
}
