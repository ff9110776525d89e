//! Two neighbours.

use super::lab::Lab;
use super::network::Link;
use super::node::{Forwarder, Namespace, Node, Setup};

/// Two nodes, `a` and `b`, and the link between them.
pub(super) struct Pair<'l> {
    pub(super) a: Node<'l>,
    pub(super) b: Node<'l>,
    pub(super) link: Link,
}

impl<'l> Pair<'l> {
    /// Starts both. There are no faces between them.
    ///
    /// # Errors
    /// A step failed.
    pub(super) fn start(lab: &'l Lab, forwarders: [Forwarder; 2]) -> Result<Self, String> {
        Self::start_with(lab, forwarders, &Setup::default())
    }

    /// As [`Pair::start`], with other nodes than the testbed's.
    ///
    /// # Errors
    /// A step failed.
    pub(super) fn start_with(
        lab: &'l Lab,
        forwarders: [Forwarder; 2],
        setup: &Setup,
    ) -> Result<Self, String> {
        let namespaces = (Namespace::new("a")?, Namespace::new("b")?);
        let link = Link::new(0, ["a", "b"])?;
        let a = Node::start(lab, namespaces.0, forwarders[0], setup)?;
        let b = Node::start(lab, namespaces.1, forwarders[1], setup)?;
        Ok(Self { a, b, link })
    }

    /// Creates a permanent face from each node to the other, as the testbed does, and a route from `a` to `b`
    /// for `prefix`.
    ///
    /// # Errors
    /// A command failed.
    pub(super) fn connect(&self, prefix: &str, reliability: &str) -> Result<(), String> {
        let [a, b] = [&self.link.ends[0].1, &self.link.ends[1].1];
        for (node, peer) in [(&self.a, b), (&self.b, a)] {
            let uri = format!("udp4://{peer}:6363");
            let words = ["nfdc", "face", "create", &uri, "persistency", "permanent", "mtu", "1450"];
            node.output(&[&words[..], &["reliability", reliability]].concat())?;
        }
        self.a.output(&["nfdc", "route", "add", prefix, &format!("udp4://{b}:6363")]).map(drop)
    }

    /// Stops both forwarders.
    ///
    /// # Errors
    /// One has ended before, or does not stop.
    pub(super) fn stop(self) -> Result<(), String> {
        let Self { a, b, .. } = self;
        a.stop().and(b.stop())
    }
}
