//! Shares of the places for faces: what each party holds of them.

use super::port::{Port, PortKind};
use super::rate_limit::RateLimit;
use hashlane_ndn::time::Time;
use hashlane_ndn_fw::face::{FaceId, MAX_FACES};
use hashlane_table::share::{Holder, ItemId, Ledger, Limits};
use nix::sys::resource::{Resource, getrlimit};

/// File descriptors that remain for other things than accepted connections: listeners, handshakes, files.
const OTHER_DESCRIPTORS: u64 = 512;

/// Fewest connections that may be open, however few file descriptors there are.
const LEAST_CONNECTIONS: u64 = 16;

/// Places of UDP peers for each place of Ethernet hosts. These have places of their own, because a host can
/// forge as many Ethernet addresses as it likes.
const PEERS_FOR_A_HOST: u64 = 4;

/// Places for faces, and what each party holds of them.
#[derive(Debug)]
pub(super) struct Shares {
    peers: Places,
    hosts: Places,
    connections: Places,
}

/// Kind of on-demand faces that share places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaceClass {
    /// UDP faces that a packet of their peer has opened.
    Peer,
    /// Ethernet faces that a packet of their host has opened.
    Host,
    /// Accepted connections.
    Connection,
}

impl FaceClass {
    pub(super) fn of(port: &Port) -> Self {
        match port.kind {
            PortKind::Udp { .. } => Self::Peer,
            PortKind::Ether { .. } => Self::Host,
            PortKind::Stream { .. } | PortKind::WebSocket(_) | PortKind::Down => Self::Connection,
        }
    }
}

/// Places for faces of one kind.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) kind: FaceClass,
    /// Faces and connections of each party. The values are face ids.
    pub(super) ledger: Ledger,
    /// Silent faces that the last search has found, the one that has been silent for the longest time last.
    pub(super) silent: Vec<FaceId>,
    /// Time of that search.
    pub(super) searched: Time,
    /// Faces replaced by new peers' faces in this second.
    pub(super) replaced: RateLimit,
}

impl Shares {
    /// Empty shares, with as many connections as there are file descriptors.
    pub(super) fn new(max_on_demand: usize) -> Self {
        let limits = getrlimit(Resource::RLIMIT_NOFILE);
        // A common limit, if the kernel states none.
        Self::with_descriptors(limits.map_or(1024, |(soft, _)| soft), max_on_demand)
    }

    /// Changes the number of places. Faces beyond it give way to the next newcomers.
    pub(super) fn configure(&mut self, max_on_demand: usize) {
        let Self { peers, hosts, connections } = Self::new(max_on_demand);
        self.peers.ledger.set_limits(peers.ledger.limits());
        self.hosts.ledger.set_limits(hosts.ledger.limits());
        self.connections.ledger.set_limits(connections.ledger.limits());
    }

    fn with_descriptors(descriptors: u64, max_on_demand: usize) -> Self {
        let faces = (MAX_FACES - FaceId::FIRST as usize) as u64;
        let peers = (max_on_demand as u64).min(faces / 2);
        let hosts = peers.div_ceil(PEERS_FOR_A_HOST);
        let connections = descriptors.saturating_sub(OTHER_DESCRIPTORS).max(LEAST_CONNECTIONS);
        Self {
            // All these faces are of other hosts: there is nobody to reserve places for.
            peers: Places::new(FaceClass::Peer, Limits { all: peers, remote: peers }),
            hosts: Places::new(FaceClass::Host, Limits { all: hosts, remote: hosts }),
            connections: Places::new(
                FaceClass::Connection,
                Limits::new(connections.min(faces - peers - hosts)),
            ),
        }
    }

    /// The places of a kind.
    pub(super) fn of(&mut self, kind: FaceClass) -> &mut Places {
        match kind {
            FaceClass::Peer => &mut self.peers,
            FaceClass::Host => &mut self.hosts,
            FaceClass::Connection => &mut self.connections,
        }
    }

    /// Gives an open face a place, if it has none.
    pub(super) fn add(&mut self, port: &mut Port) {
        if port.item.is_none() {
            let ledger = &mut self.of(FaceClass::of(port)).ledger;
            port.item = Some(ledger.add(port.holder, 1, port.face.0));
            port.queued = port.used;
        }
    }

    /// Takes the place of a face away, if it has one.
    pub(super) fn remove(&mut self, port: &mut Port) {
        if let Some(item) = port.item.take() {
            self.of(FaceClass::of(port)).ledger.remove(item);
        }
    }

    /// True if a party holds no place.
    pub(super) fn is_idle(&self, holder: Holder) -> bool {
        let all = [&self.peers, &self.hosts, &self.connections];
        all.iter().all(|places| places.ledger.weight_of(holder) == 0)
    }

    /// Begins another second of the limits of replaced faces.
    pub(super) fn next_second(&mut self) {
        for places in [&mut self.peers, &mut self.hosts, &mut self.connections] {
            places.replaced.next_second();
        }
    }
}

impl Places {
    fn new(kind: FaceClass, limits: Limits) -> Self {
        Self {
            kind,
            ledger: Ledger::new(limits),
            silent: Vec::new(),
            searched: Time::default(),
            replaced: RateLimit::for_replaced_faces(),
        }
    }

    /// Reserves a place for a face that is not open yet.
    pub(super) fn reserve(&mut self, holder: Holder) -> ItemId {
        self.ledger.add(holder, 1, FaceId::NONE.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_places_than_faces_and_descriptors() {
        let limits = |descriptors, max_on_demand| {
            let shares = Shares::with_descriptors(descriptors, max_on_demand);
            [shares.peers, shares.hosts, shares.connections].map(|places| places.ledger.limits().all)
        };
        assert_eq!(limits(20_000, 4096), [4096, 1024, 11_008]);
        assert_eq!(limits(20_000, 100_000), [8064, 2016, 6048]);
        assert_eq!(limits(1024, 4096), [4096, 1024, 512]);
        assert_eq!(limits(3, 0), [0, 0, LEAST_CONNECTIONS]);
    }
}
