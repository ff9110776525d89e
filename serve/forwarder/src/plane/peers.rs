//! Faces of UDP and Ethernet peers, by the source address of their packets.

use super::ether::ETHERTYPE;
use hashlane_flow::table::{Flows, Limits};
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_ndn_fw::face::{FaceId, MAX_FACES};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

/// Peers of all UDP sockets and Ethernets, hashed under a secret key: remote parties choose addresses and
/// ports.
pub(super) struct Peers {
    flows: Flows<FaceId>,
}

impl Peers {
    /// An empty table, hashed under `key`.
    pub(super) fn new(key: &Key) -> Self {
        // Entries are removed with their face and never expire.
        Self { flows: Flows::new(key, Limits { flows: MAX_FACES, idle: 1 }, 0) }
    }

    /// The face of a peer, by its [`tuple`] or [`tuple_of_ether`].
    pub(super) fn find(&self, peer: &Tuple) -> Option<FaceId> {
        self.flows.find(peer).copied()
    }

    /// Looks up the peers of a batch. Calls `each` with the index of each peer and its face, in order.
    #[inline]
    pub(super) fn find_burst(&self, peers: &[Tuple], mut each: impl FnMut(usize, Option<FaceId>)) {
        self.flows.find_burst(peers, |number, face| each(number, face.copied()));
    }

    /// Adds the face of a peer. Returns false if the table is full.
    pub(super) fn insert(&mut self, peer: Tuple, face: FaceId) -> bool {
        self.flows.insert(peer, face, 0).is_ok()
    }

    /// Removes a peer.
    pub(super) fn remove(&mut self, peer: &Tuple) {
        self.flows.remove(peer);
    }
}

/// The key of a peer: in place of a local address, the number of the socket and the zone of the peer's
/// address (RFC 4007), because link-local addresses of two links may be equal. The flow label is not part of
/// it.
#[inline]
pub(super) fn tuple(socket: usize, peer: SocketAddr) -> Tuple {
    let local = |zone: u32| Ipv6Addr::from_bits(u128::from(zone) << 64 | socket as u128);
    match peer {
        SocketAddr::V4(peer) => Tuple::new(local(0), 0, Ipv4Addr::to_ipv6_mapped(peer.ip()), peer.port()),
        SocketAddr::V6(peer) => Tuple::new(local(peer.scope_id()), 0, *peer.ip(), peer.port()),
    }
}

/// The key of a host on the Ethernet of this number. Its local port is not 0, as UDP peers' is.
#[inline]
pub(super) fn tuple_of_ether(number: usize, peer: [u8; 6]) -> Tuple {
    let [a, b, c, d, e, f] = peer;
    let peer = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
    Tuple::new(Ipv6Addr::from_bits(number as u128), ETHERTYPE, Ipv6Addr::from_bits(peer.into()), 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddrV6;

    #[test]
    fn peers_differ_in_socket_address_port_and_zone_and_not_in_flow_label() {
        let zone =
            |flow, zone| SocketAddr::V6(SocketAddrV6::new("fe80::1".parse().unwrap(), 6363, flow, zone));
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let all = [
            (0, address("192.0.2.1:6363")),
            (1, address("192.0.2.1:6363")),
            (0, address("192.0.2.1:6364")),
            (0, address("192.0.2.2:6363")),
            (0, address("[2001:db8::1]:6363")),
            (0, zone(0, 0)),
            (0, zone(0, 1)),
            (0, zone(0, 2)),
        ];
        let mut peers = Peers::new(&Key::VECTOR);
        for (face, (socket, peer)) in (0..).zip(all) {
            assert_eq!(peers.find(&tuple(socket, peer)), None);
            assert!(peers.insert(tuple(socket, peer), FaceId(face)));
        }
        let mut found = Vec::new();
        peers.find_burst(&all.map(|(socket, peer)| tuple(socket, peer)), |_, face| found.push(face));
        assert!(found.into_iter().eq((0..8).map(|face| Some(FaceId(face)))));
        assert_eq!(peers.find(&tuple(0, zone(7, 1))), Some(FaceId(6)), "another flow label");
        peers.remove(&tuple(0, zone(9, 1)));
        assert_eq!(
            (peers.find(&tuple(0, zone(0, 1))), peers.find(&tuple(0, zone(0, 2)))),
            (None, Some(FaceId(7)))
        );
    }

    #[test]
    fn hosts_of_ethernets_differ_in_interface_and_address() {
        let mut peers = Peers::new(&Key::VECTOR);
        let all = [(0, [2, 0, 0, 0, 0, 1]), (1, [2, 0, 0, 0, 0, 1]), (0, [2, 0, 0, 0, 1, 0])];
        for (face, (number, peer)) in (0..).zip(all) {
            assert_eq!(peers.find(&tuple_of_ether(number, peer)), None);
            assert!(peers.insert(tuple_of_ether(number, peer), FaceId(face)));
        }
        // An address of UDP with the same bits is another peer.
        let same = SocketAddrV6::new(Ipv6Addr::from_bits(0x0200_0000_0001), 0, 0, 0);
        assert_eq!(peers.find(&tuple(0, same.into())), None);
        assert_eq!(peers.find(&tuple_of_ether(1, all[1].1)), Some(FaceId(1)));
    }

    #[test]
    fn there_are_no_more_peers_than_faces() {
        let mut peers = Peers::new(&Key::VECTOR);
        let peer =
            |port: usize| SocketAddr::from((Ipv4Addr::from_bits(port as u32 >> 8), (port & 255) as u16));
        assert!((0..MAX_FACES).all(|port| peers.insert(tuple(0, peer(port)), FaceId(1))));
        assert!(!peers.insert(tuple(0, peer(MAX_FACES)), FaceId(1)));
        assert_eq!(peers.find(&tuple(0, peer(MAX_FACES))), None);
    }
}
