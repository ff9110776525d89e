//! Nodes for all sites of a topology, with faces between neighbours.

use super::fib::{self, Fib};
use super::lab::Lab;
use super::network::{self, Link};
use super::node::{Forwarder, Namespace, Node, Setup};
use super::topology::Topology;
use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

/// Interval between two lists of faces.
const INTERVAL: Duration = Duration::from_millis(100);

/// A running topology.
pub(super) struct Mesh<'l> {
    pub(super) nodes: Vec<Node<'l>>,
    /// Links in the order of [`Topology::links`].
    pub(super) links: Vec<Link>,
}

impl<'l> Mesh<'l> {
    /// Starts all forwarders, and makes all links. There are no faces between the nodes.
    ///
    /// # Errors
    /// A step failed.
    pub(super) fn start(lab: &'l Lab, topology: &Topology, forwarder: Forwarder) -> Result<Self, String> {
        Self::start_with(lab, topology, forwarder, &Setup::default())
    }

    /// As [`Mesh::start`], with other nodes than the testbed's.
    ///
    /// # Errors
    /// A step failed.
    pub(super) fn start_with(
        lab: &'l Lab,
        topology: &Topology,
        forwarder: Forwarder,
        setup: &Setup,
    ) -> Result<Self, String> {
        let namespaces: Vec<Namespace> =
            topology.sites.iter().map(|site| Namespace::new(&site.id)).collect::<Result<_, _>>()?;
        let link = |(number, [a, b]): (usize, [usize; 2])| {
            let number = u16::try_from(number).map_err(|_| "too many links")?;
            Link::new(number, [a, b].map(|index| topology.sites[index].id.as_str()))
        };
        let links = topology.links().into_iter().enumerate().map(link).collect::<Result<_, _>>()?;
        let start = |namespace| Node::start(lab, namespace, forwarder, setup);
        let nodes = namespaces.into_iter().map(start).collect::<Result<_, _>>()?;
        Ok(Self { nodes, links })
    }

    /// Creates faces between neighbours, as the testbed's nodes do.
    ///
    /// # Errors
    /// A command failed.
    pub(super) fn connect(&self, topology: &Topology) -> Result<(), String> {
        for (index, node) in self.nodes.iter().enumerate() {
            for (other, _) in &topology.sites[index].neighbours {
                let uri = self.uri(topology, index, *other)?;
                let words = ["nfdc", "face", "create", &uri, "persistency", "permanent", "mtu", "1450"];
                node.output(&[&words[..], &["reliability", "on"]].concat())?;
            }
        }
        Ok(())
    }

    /// Waits until every node has faces to all its neighbours: routers that create them do so some time
    /// after their start.
    ///
    /// # Errors
    /// nfdc failed, or a face is missing after `limit`.
    pub(super) fn await_faces(&self, topology: &Topology, limit: Duration) -> Result<(), String> {
        let start = Instant::now();
        for (index, node) in self.nodes.iter().enumerate() {
            let neighbours = topology.sites[index].neighbours.iter();
            let wanted: BTreeSet<String> =
                neighbours.map(|(other, _)| self.uri(topology, index, *other)).collect::<Result<_, _>>()?;
            loop {
                let remotes = fib::read_remotes(node)?;
                let missing: Vec<&str> = wanted.difference(&remotes).map(String::as_str).collect();
                if missing.is_empty() {
                    break;
                }
                if start.elapsed() > limit {
                    let (missing, limit) = (missing.join(", "), limit.as_secs());
                    return Err(format!("{} has no face to {missing} after {limit} s", node.name));
                }
                thread::sleep(INTERVAL);
            }
        }
        Ok(())
    }

    /// URI of a site at its neighbour `from`.
    ///
    /// # Errors
    /// They have no link.
    pub(super) fn uri(&self, topology: &Topology, from: usize, to: usize) -> Result<String, String> {
        let ends = [from.min(to), from.max(to)];
        let link = topology.links().iter().position(|link| *link == ends).ok_or("no link")?;
        let end = usize::from(to > from);
        Ok(format!("udp4://{}:6363", self.links[link].ends[end].1))
    }

    /// Takes a link down, or up again.
    ///
    /// # Errors
    /// `ip` failed.
    pub(super) fn set_link(&self, link: usize, state: &str) -> Result<(), String> {
        let link = &self.links[link];
        network::ip(&["-n", &link.ends[0].0, "link", "set", &link.interface, state])
    }

    /// Mean and largest CPU time of a forwarder so far, in seconds.
    ///
    /// # Errors
    /// A forwarder has ended.
    pub(super) fn cpu(&self) -> Result<(f64, f64), String> {
        let times: Vec<f64> = self.nodes.iter().map(Node::cpu).collect::<Result<_, _>>()?;
        let largest = times.iter().copied().fold(0.0, f64::max);
        Ok((times.iter().sum::<f64>() / times.len().max(1) as f64, largest))
    }

    /// Stops all forwarders.
    ///
    /// # Errors
    /// One has ended before, or does not stop.
    pub(super) fn stop(self) -> Result<(), String> {
        self.nodes.into_iter().try_for_each(Node::stop)
    }
}

/// Fails if a node has no route to one of these prefixes, its own excepted.
///
/// # Errors
/// The first node and prefix that is missing.
pub(super) fn reach(topology: &Topology, fibs: &[Fib], prefixes: &[Vec<String>]) -> Result<(), String> {
    for (index, fib) in fibs.iter().enumerate() {
        let others = prefixes.iter().enumerate().filter(|(other, _)| *other != index);
        if let Some(prefix) =
            others.flat_map(|(_, prefixes)| prefixes).find(|prefix| !fib.contains_key(*prefix))
        {
            return Err(format!("{} has no route for {prefix}", topology.sites[index].id));
        }
    }
    Ok(())
}
