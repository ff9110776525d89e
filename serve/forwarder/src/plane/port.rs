//! A port: the sending end of a face.

use super::connection::Connection;
use super::link_service::{LinkOptions, LinkService};
use super::slots::Slots;
use super::socket::{Stream, WebSocket};
use super::udp::Udp;
use crate::shards::UdpPeer;
use hashlane_link::stream::StreamWriter;
use hashlane_ndn::endpoints::Reassemblers;
use hashlane_ndn::fragment::Limits;
use hashlane_ndn::time::Time;
use hashlane_ndn_fw::face::{FaceCounters, FaceId};
use hashlane_ndn_fw::strategy::Rng;
use hashlane_table::share::{Holder, ItemId, Owner};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

/// The sending end of a face, and the state of its link.
pub(super) struct Port {
    pub(super) face: FaceId,
    pub(super) kind: PortKind,
    /// Packets that the face sends, and the counters of the first thread.
    pub(super) link: LinkService,
    /// Counters of all shards, if there are several.
    pub(super) shards: Arc<[Arc<FaceCounters>]>,
    /// Bytes that other shards had sent when they were last looked at.
    pub(super) sent_by_others: u64,
    pub(super) reassemblers: Reassemblers,
    /// True for a peer on this host.
    pub(super) local: bool,
    /// True for the face of a multicast group.
    pub(super) is_group: bool,
    /// Milliseconds of silence after which the face is closed; `None` for no limit.
    pub(super) idle: Option<u64>,
    /// Party at the other end.
    pub(super) owner: Owner,
    /// Number of that party, for the accounts of its shares.
    pub(super) holder: Holder,
    /// Place that the face takes of its party's share; `None` for a face that a command has made.
    pub(super) item: Option<ItemId>,
    /// Time of the last packet when the face became the newest one of its party.
    pub(super) queued: Time,
    /// Time at which the face was opened.
    pub(super) opened: Time,
    /// Packets received since the last measurement of a UDP socket.
    pub(super) heard: u32,
    /// Time of the last packet, in or out.
    pub(super) used: Time,
    /// TCP connection of the face; `None` for other faces.
    pub(super) connection: Option<Connection>,
    /// Its bytes in the sum of all send queues, while they wait for the connection.
    pub(super) waiting: Option<ItemId>,
    /// Time at which the connection last took some of them.
    pub(super) taken: Time,
    /// Its bytes in the sum of all fragments that wait for others.
    pub(super) fragments: Option<ItemId>,
    /// Time at which a face whose peer has ended is closed, though something still waits to be sent.
    pub(super) lingers: Option<Time>,
    /// Timer of link reliability, if it is set.
    pub(super) timer: Option<Time>,
    /// True if the port waits to be flushed.
    pub(super) dirty: bool,
    /// True if a queue waits for its connection to be writable, so that events report that.
    pub(super) blocked: bool,
}

/// Transport of a port.
pub(super) enum PortKind {
    /// A Unix or TCP connection.
    Stream { stream: Rc<Stream>, writer: StreamWriter },
    /// A peer of the UDP socket of this number.
    Udp { socket: usize, peer: SocketAddr },
    /// A host on the Ethernet of this number, or its group.
    Ether { number: usize, peer: [u8; 6] },
    /// A WebSocket connection.
    WebSocket(Rc<RefCell<WebSocket>>),
    /// No connection, until it is made again. Packets are dropped.
    Down,
}

impl Port {
    /// A port with default options. `first_fragment` is the sequence number of the first fragment.
    pub(super) fn new(
        face: FaceId,
        kind: PortKind,
        counters: Arc<FaceCounters>,
        first_fragment: u64,
        now: Time,
    ) -> Self {
        Self {
            face,
            kind,
            link: LinkService::new(counters, first_fragment),
            shards: Arc::default(),
            sent_by_others: 0,
            reassemblers: Reassemblers::default(),
            local: false,
            is_group: false,
            idle: None,
            heard: 0,
            item: None,
            waiting: None,
            taken: now,
            fragments: None,
            lingers: None,
            timer: None,
            queued: now,
            opened: now,
            owner: Owner::Local,
            holder: Holder::new(0, false),
            used: now,
            connection: None,
            dirty: false,
            blocked: false,
        }
    }

    /// The peer of a UDP face, for other shards. `rng` draws the sequence number of the first fragment.
    pub(super) fn udp_peer(&self, rng: &mut Rng) -> Option<UdpPeer> {
        let PortKind::Udp { socket, peer: address } = self.kind else { return None };
        if self.is_group {
            // The first thread sends: it has the sockets of groups, which come and go with interfaces.
            return None;
        }
        Some(UdpPeer { socket, address, options: self.link.options(), first_fragment: rng.next_u64() })
    }

    /// Replaces the options of the link. `options` has reliability for UDP faces only.
    pub(super) fn set_options(&mut self, options: LinkOptions) {
        debug_assert!(
            matches!(self.kind, PortKind::Udp { .. }) && !self.is_group || !options.reliability,
            "streams lose nothing"
        );
        self.link.configure(options);
        self.reassemblers.set_limits(match options.reliability {
            true => Limits::RELIABLE,
            false => Limits::default(),
        });
    }

    /// True if other shards have sent packets since the last call.
    pub(super) fn was_used_by_others(&mut self) -> bool {
        let others = self.shards.iter().skip(1);
        let sent = others.map(|counters| counters.out_bytes.value()).sum();
        std::mem::replace(&mut self.sent_by_others, sent) != sent
    }

    /// True for the port of a UDP or Ethernet peer.
    pub(super) fn is_datagram(&self) -> bool {
        matches!(self.kind, PortKind::Udp { .. } | PortKind::Ether { .. })
    }

    /// Replaces the connection. Events of the new one are registered as readable only.
    pub(super) fn connect(&mut self, kind: PortKind) {
        self.kind = kind;
        self.blocked = false;
    }

    /// Bytes that wait to be sent, as far as that is known.
    pub(super) fn queue(&self, sockets: &Slots<Udp>) -> usize {
        match self.kind {
            PortKind::Udp { socket, .. } => sockets.get(socket).map_or(0, Udp::unsent),
            _ => self.stream_queue(),
        }
    }

    /// Bytes that wait for the connection of the face; 0 for faces of datagrams.
    pub(super) fn stream_queue(&self) -> usize {
        match &self.kind {
            PortKind::Stream { writer, .. } => writer.len(),
            PortKind::WebSocket(socket) => socket.borrow().queue(),
            PortKind::Udp { .. } | PortKind::Ether { .. } | PortKind::Down => 0,
        }
    }

    /// Bytes of memory that the send queue of a connection holds.
    pub(super) fn memory(&self) -> usize {
        match &self.kind {
            PortKind::Stream { writer, .. } => writer.memory(),
            PortKind::WebSocket(socket) => socket.borrow().queue(),
            // Queues of UDP and Ethernet faces share the buffer of their socket.
            PortKind::Udp { .. } | PortKind::Ether { .. } | PortKind::Down => 0,
        }
    }
}
