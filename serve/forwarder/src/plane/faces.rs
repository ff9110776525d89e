//! The faces of the forwarding thread: opened, changed and closed, with all that belongs to each.

use super::connection::Connection;
use super::evict;
use super::link_service::LinkOptions;
use super::message::Settings;
use super::peers::{self, Peers};
use super::pipeline::Pipeline;
use super::port::{Port, PortKind};
use super::ports::MAX_UDP;
use super::rate_limit::RateLimit;
use super::reader::{Reader, stream_ends};
use super::reports::Reports;
use super::shares::{FaceClass, Shares};
use super::socket::{self, Stream};
use super::token::SocketKind;
use crate::config::Faces as FaceConfig;
use crate::management::{FaceInfo, FaceOptions, Over, Peer, Report};
use hashlane_flow::tuple::Tuple;
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::values::{
    FACE_CONGESTION_MARKING, FACE_LOCAL_FIELDS, FACE_LP_RELIABILITY, FACE_PIT_TOKENS, FacePersistency,
    FaceScope, LinkType as FaceLinkType,
};
use hashlane_ndn::time::Time;
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, MAX_FACES, Scope};
use hashlane_ndn_fw::pit::Pit;
use hashlane_ndn_fw::strategy::Rng;
use hashlane_table::share::{Holder, Holders, Owner};
use hashlane_tls::Identity;
use mio::net::TcpStream;
use mio::unix::SourceFd;
use mio::{Interest, Registry};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::RawFd;
use std::sync::Arc;

/// Time for which a connection that its peer has ended stays open to send what waits, in milliseconds.
const LINGER: u64 = 1000;

/// Time in which a connection of another host has to bring its first packet, in milliseconds.
const FIRST_PACKET: u64 = 60_000;

/// The faces, and the pipeline that their packets go through.
pub(super) struct Faces<P> {
    pub(super) pipeline: Pipeline<P>,
    /// Receiving ends of connections, by the slot of their face.
    readers: Vec<Option<Reader>>,
    /// Parties at the other ends of faces and handshakes.
    pub(super) holders: Holders,
    /// Faces of UDP and Ethernet peers, by address.
    pub(super) peers: Peers,
    /// Places for faces.
    pub(super) shares: Shares,
    pub(super) config: FaceConfig,
    /// True once the configuration was read again, until closed faces of groups are opened anew.
    pub(super) reopens_groups: bool,
    /// Certificate and key for WebSockets with TLS.
    pub(super) tls: Option<Identity>,
    pub(super) reports: Reports,
    pub(super) log: FaceLog,
    registry: Registry,
    /// Source of the sequence number of each face's first fragment.
    rng: Rng,
}

/// Log lines about faces, limited so that remote parties cannot fill the log.
#[derive(Debug)]
pub(super) struct FaceLog {
    /// True once this second's line about too many faces is written.
    full: bool,
    /// Lines about faces and handshakes that remote parties have caused in this second.
    pub(super) lines: RateLimit,
}

impl FaceLog {
    fn new() -> Self {
        Self { full: false, lines: RateLimit::for_lines() }
    }

    /// Begins another second. Returns the number of lines suppressed in the last one.
    pub(super) fn next_second(&mut self) -> u64 {
        self.full = false;
        let suppressed = self.lines.next_second();
        if suppressed > 0 {
            tracing::info!(lines = suppressed, "suppressed log lines about faces in the last second");
        }
        suppressed
    }
}

impl<P: Pit> Faces<P> {
    /// No faces yet, and empty tables of parties and of UDP peers.
    pub(super) fn new(
        pipeline: Pipeline<P>,
        holders: Holders,
        peers: Peers,
        config: FaceConfig,
        reports: Reports,
        registry: Registry,
        rng: Rng,
    ) -> Self {
        Self {
            pipeline,
            readers: Vec::new(),
            holders,
            peers,
            shares: Shares::new(config.udp.max_on_demand),
            config,
            reopens_groups: false,
            tls: None,
            reports,
            log: FaceLog::new(),
            registry,
            rng,
        }
    }

    /// Source of random numbers that nobody outside may know.
    pub(super) fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// Replaces the settings. Open faces keep theirs, except the idle timeout of on-demand ones.
    pub(super) fn configure(&mut self, settings: Settings) {
        let Settings { faces, tables, tls } = settings;
        self.tls = tls.or(self.tls.take());
        let tables = match &mut self.pipeline.crew {
            Some(crew) => crew.configure(&tables),
            None => tables,
        };
        self.pipeline.forwarder.configure(tables);
        self.shares.configure(faces.udp.max_on_demand);
        self.pipeline.ports.configure(&faces.memory);
        self.config = faces;
        self.reopens_groups = true;
        let idle = self.config.udp.idle_after(FacePersistency::OnDemand);
        for port in self.pipeline.ports.iter_mut().filter(|port| port.idle.is_some()) {
            port.idle = idle;
        }
    }

    /// FaceInfo of a face that has no id yet, with the options of the configuration.
    pub(super) fn info(&self, remote: FaceUri, local: FaceUri, scope: FaceScope) -> FaceInfo {
        let marking = &self.config.congestion;
        FaceInfo {
            id: 0,
            remote,
            local,
            scope,
            persistency: FacePersistency::OnDemand,
            link_type: FaceLinkType::PointToPoint,
            flags: if marking.mark { FACE_CONGESTION_MARKING } else { 0 },
            marking_interval: marking.interval_ms.saturating_mul(1_000_000),
            congestion_threshold: marking.threshold,
            mtu: None,
            idle: None,
            counters: Arc::default(),
        }
    }

    /// Opens a face and reports it. Returns `None` if there are too many.
    pub(super) fn open(&mut self, kind: PortKind, mut info: FaceInfo, peer: Peer) -> Option<FaceId> {
        let remote = info.remote.to_string();
        if self.config.pit_tokens.contains(&remote) {
            info.flags |= FACE_PIT_TOKENS;
        }
        let is_peer = matches!(kind, PortKind::Udp { .. }) && info.link_type == FaceLinkType::PointToPoint;
        if is_peer && self.config.reliability.contains(&remote) {
            info.flags |= FACE_LP_RELIABILITY;
        }
        let scope = match info.scope {
            FaceScope::Local => Scope::Local,
            FaceScope::NonLocal => Scope::NonLocal,
        };
        let link = match info.link_type {
            FaceLinkType::PointToPoint => LinkType::PointToPoint,
            FaceLinkType::MultiAccess => LinkType::MultiAccess,
            FaceLinkType::AdHoc => LinkType::AdHoc,
        };
        let mut face = Face::new(scope, link);
        face.local_fields = info.flags & FACE_LOCAL_FIELDS != 0;
        face.pit_tokens = info.flags & FACE_PIT_TOKENS != 0;
        let shards = self.pipeline.crew.as_ref().map_or(1, |crew| crew.shards());
        info.counters = (0..shards).map(|_| Arc::default()).collect();
        if let Some(first) = info.counters.first() {
            face.counters = first.clone();
        }
        let owner = owner_of(info.scope, info.remote.socket_address(), &peer);
        let holder = self.holders.acquire(owner);
        face.holder = holder;
        let (counters, of_crew) = (face.counters.clone(), self.pipeline.crew.is_some().then(|| face.clone()));
        let place = match (&kind, info.persistency) {
            (PortKind::Udp { .. }, FacePersistency::OnDemand) => Some(FaceClass::Peer),
            (PortKind::Ether { .. }, FacePersistency::OnDemand) => Some(FaceClass::Host),
            (_, FacePersistency::OnDemand) => Some(FaceClass::Connection),
            _ => None,
        };
        if !place.is_none_or(|place| self.make_room(place, owner, holder)) {
            self.pipeline.forwarder.counters().refused_faces.add(1);
            self.holders.release(holder);
            return None;
        }
        let Some(id) = self.pipeline.forwarder.add_face(face) else {
            if !std::mem::replace(&mut self.log.full, true) {
                tracing::warn!(remote = %info.remote, limit = MAX_FACES, "cannot open a face: limit reached");
            }
            self.holders.release(holder);
            return None;
        };
        let ports = &mut self.pipeline.ports;
        let mut port = Port::new(id, kind, counters, self.rng.next_u64(), ports.now);
        port.local = scope == Scope::Local;
        port.is_group = link != LinkType::PointToPoint;
        (port.owner, port.holder) = (owner, holder);
        port.idle = info.idle;
        port.set_options(LinkOptions {
            mtu: info.mtu.map_or(usize::MAX, |mtu| mtu as usize),
            marks: info.flags & FACE_CONGESTION_MARKING != 0,
            threshold: info.congestion_threshold as usize,
            interval: info.marking_interval / 1_000_000,
            reliability: info.flags & FACE_LP_RELIABILITY != 0,
        });
        if let (Some(crew), Some(face)) = (&mut self.pipeline.crew, of_crew) {
            port.shards = info.counters.clone();
            crew.add_face(id, &face, &info.counters, port.udp_peer(&mut self.rng));
        }
        if place.is_some() {
            self.shares.add(&mut port);
        }
        ports.add(port);
        info.id = id.0.into();
        let (remote, local) = (&info.remote, &info.local);
        // Applications come and go; a neighbour is worth a line.
        match scope {
            Scope::Local => tracing::debug!(face = id.0, %remote, %local, "face up"),
            Scope::NonLocal if !self.log.lines.admits(owner) => {}
            Scope::NonLocal => tracing::info!(face = id.0, %remote, %local, "face up"),
        }
        self.reports.add(Report::FaceUp { info: Box::new(info), peer });
        Some(id)
    }

    /// Makes room for another on-demand face of a party, if need be in place of a face of another one.
    /// Returns false if the party is refused.
    fn make_room(&mut self, kind: FaceClass, owner: Owner, holder: Holder) -> bool {
        let item = self.shares.of(kind).reserve(holder);
        let mut made = true;
        while made && let Some(oldest) = self.shares.of(kind).ledger.excess() {
            // The management hears of each face: not at the rate of packets.
            let places = self.shares.of(kind);
            let face = if places.replaced.admits(owner) {
                evict::replaceable(places, holder, FaceId(oldest.value), &mut self.pipeline)
            } else {
                None
            };
            made = face.is_some();
            if let Some(face) = face {
                let counters = self.pipeline.forwarder.counters();
                match kind {
                    FaceClass::Peer | FaceClass::Host => counters.evicted_faces.add(1),
                    FaceClass::Connection => counters.evicted_connections.add(1),
                }
                self.close(face, "replaced by the face of a new peer");
            }
        }
        self.shares.of(kind).ledger.remove(item);
        made
    }

    /// Opens the face of a UDP peer. Returns `None` if there are too many faces.
    pub(super) fn open_udp(
        &mut self,
        socket: usize,
        peer: SocketAddr,
        options: &FaceOptions,
    ) -> Option<FaceId> {
        let Some(local) = self.pipeline.ports.sockets.get(socket).map(|udp| udp.local_to(peer)) else {
            debug_assert!(false, "the caller names an open socket");
            return None;
        };
        let uri = |address| FaceUri::from_address(Protocol::Udp, address);
        let mut info = self.info(uri(peer), uri(local), FaceScope::NonLocal);
        info.mtu = Some(self.config.udp.mtu as u64);
        info.idle = self.config.udp.idle_after(FacePersistency::OnDemand);
        // Apply options before FaceUp is reported, so the report shows the final settings.
        info.apply(options, info.idle);
        info.mtu = info.mtu.map(|mtu| mtu.min(MAX_UDP as u64));
        let face = self.open(PortKind::Udp { socket, peer }, info, Peer::Ip(peer.ip()))?;
        self.remember(face, peers::tuple(socket, peer))
    }

    /// Opens the face of a host on the Ethernet of this number. Returns `None` if there are too many faces.
    pub(super) fn open_ether(
        &mut self,
        number: usize,
        remote: [u8; 6],
        options: &FaceOptions,
    ) -> Option<FaceId> {
        let Some(ether) = self.pipeline.ports.ethers.get(number) else {
            debug_assert!(false, "the caller names an open Ethernet");
            return None;
        };
        let (uri, local, mtu) = (FaceUri::Ether(remote), FaceUri::Dev(ether.interface.clone()), ether.mtu);
        let ends = format!("{uri} on {local}").into();
        let mut info = self.info(uri, local, FaceScope::NonLocal);
        info.mtu = Some(mtu as u64);
        info.idle = self.config.udp.idle_after(FacePersistency::OnDemand);
        info.apply(options, info.idle);
        info.mtu = info.mtu.map(|set| set.min(mtu as u64));
        let peer = Peer::Link { ends, owner: Owner::of_ethernet(remote) };
        let face = self.open(PortKind::Ether { number, peer: remote }, info, peer)?;
        self.remember(face, peers::tuple_of_ether(number, remote))
    }

    /// Adds the face of a datagram peer to the table of peers. Closes the face, and returns `None`, if that
    /// is full.
    fn remember(&mut self, face: FaceId, peer: Tuple) -> Option<FaceId> {
        if !self.peers.insert(peer, face) {
            self.close(face, "there are too many peers");
            return None;
        }
        Some(face)
    }

    /// Opens the face of a TCP connection with `user` at its other end. Returns `None` if there are too many
    /// faces.
    pub(super) fn open_tcp(
        &mut self,
        stream: TcpStream,
        remote: SocketAddr,
        local: SocketAddr,
        scope: FaceScope,
        options: &FaceOptions,
        user: Peer,
    ) -> Option<FaceId> {
        socket::prepare(&stream);
        let uri = |address| FaceUri::from_address(Protocol::Tcp, address);
        let mut info = self.info(uri(remote), uri(local), scope);
        // Apply options before FaceUp is reported, so the report shows the final settings.
        info.apply(options, None);
        let persistency = info.persistency;
        let face = self.open_stream(Stream::Tcp(stream), info, user)?;
        if let Some(port) = self.pipeline.ports.find_mut(face) {
            port.connection = Some(Connection::new(remote, persistency, port.used));
        }
        Some(face)
    }

    /// Opens the face of a stream. Returns `None` if there are too many faces, or the connection has failed.
    pub(super) fn open_stream(&mut self, stream: Stream, info: FaceInfo, peer: Peer) -> Option<FaceId> {
        let (kind, reader, descriptor) = stream_ends(stream);
        let face = self.open(kind, info, peer)?;
        self.start_reading(face, descriptor, reader)
    }

    /// Registers the events of a connection with its face. An event reports the bytes that are there already,
    /// except for messages that a WebSocket handshake has read. Returns `None` if the connection has failed.
    pub(super) fn start_reading(
        &mut self,
        face: FaceId,
        descriptor: RawFd,
        reader: Reader,
    ) -> Option<FaceId> {
        let Some(slot) = face.slot() else {
            debug_assert!(false, "the forwarder gives out faces that have a slot");
            return None;
        };
        // Writable matters only while a queue waits: `Ports::flush_slot` asks for it then.
        let token = SocketKind::Face.token(slot);
        if let Err(error) = self.registry.register(&mut SourceFd(&descriptor), token, Interest::READABLE) {
            self.fail(face, &error.to_string());
            return None;
        }
        if slot >= self.readers.len() {
            self.readers.resize_with(slot + 1, || None);
        }
        if let Some(place) = self.readers.get_mut(slot) {
            *place = Some(reader);
        }
        Some(face)
    }

    fn stop_reading(&mut self, face: FaceId) {
        if let Some(reader) = face.slot().and_then(|slot| self.readers.get_mut(slot)) {
            *reader = None;
        }
    }

    /// Reads from the connection of the face in a slot for one turn. Returns true if there may be more.
    pub(super) fn receive(&mut self, slot: usize) -> bool {
        // The face may have been closed after the event.
        let Some(Some(reader)) = self.readers.get_mut(slot) else { return false };
        let Some(face) = self.pipeline.ports.face_in(slot) else {
            debug_assert!(false, "a face is closed together with its reader");
            return false;
        };
        match reader.receive(face, &mut self.pipeline) {
            Ok(more) => more,
            Err(why) => {
                self.end(face, slot, &why);
                false
            }
        }
    }

    /// Notes that an event has reported the end of the connection of the face in a slot.
    pub(super) fn note_end(&mut self, slot: usize) {
        if let Some(Some(reader)) = self.readers.get_mut(slot) {
            reader.note_end();
        }
    }

    /// Ends a face whose peer has ended the connection. Packets that wait for the peer are sent before.
    fn end(&mut self, face: FaceId, slot: usize, why: &str) {
        self.flush_slot(slot);
        let now = self.pipeline.ports.now;
        match self.pipeline.ports.find_mut(face) {
            Some(port) if port.blocked && port.item.is_some() => {
                port.lingers = Some(now.after_millis(LINGER));
                self.stop_reading(face);
            }
            Some(_) => self.fail(face, why),
            None => {}
        }
    }

    /// Flushes the port in a slot, whose connection is writable again.
    pub(super) fn flush_slot(&mut self, slot: usize) {
        if let Some((face, why)) = self.pipeline.ports.flush_slot(slot) {
            self.fail(face, &why);
        } else if let Some(face) = self.pipeline.ports.face_in(slot)
            && self.pipeline.ports.find(face).is_some_and(|port| port.lingers.is_some() && !port.blocked)
        {
            self.close(face, "closed by the peer");
        }
        self.close_exhausted();
    }

    /// Closes the connections whose queues are too much for all together.
    fn close_exhausted(&mut self) {
        for face in self.pipeline.ports.take_exhausted() {
            self.pipeline.forwarder.counters().evicted_connections.add(1);
            self.fail(face, "the peer does not read, and all send queues together are full");
        }
    }

    /// Flushes the ports that packets were sent to.
    pub(super) fn flush(&mut self) {
        let mut failed = Vec::new();
        self.pipeline.ports.flush(|face, why| failed.push((face, why)));
        for (face, why) in failed {
            self.fail(face, &why);
        }
        self.close_exhausted();
    }

    /// Handles the failure of a connection. A permanent face stays and is connected again; others are closed.
    pub(super) fn fail(&mut self, face: FaceId, why: &str) {
        let now = self.pipeline.ports.now;
        // A face may fail twice in a round: when it is read, and when it is flushed.
        let Some(port) = self.pipeline.ports.find_mut(face) else { return };
        let Some(connection) = port.connection.as_mut().filter(|connection| connection.is_permanent) else {
            return self.close(face, why);
        };
        if matches!(port.kind, PortKind::Down) {
            return;
        }
        port.kind = PortKind::Down;
        port.blocked = false;
        connection.lost(now);
        tracing::info!(face = face.0, remote = %connection.remote, why, "connection lost; reconnecting");
        self.pipeline.ports.release(face);
        self.stop_reading(face);
        self.reports.add(Report::FaceLink { face: face.0.into(), local: None });
    }

    /// Closes a face, and reports that.
    pub(super) fn close(&mut self, face: FaceId, why: &str) {
        // A command may name a face that has just been closed.
        let Some(mut port) = self.pipeline.ports.remove(face) else { return };
        self.shares.remove(&mut port);
        self.forget_peer(&port);
        self.stop_reading(face);
        let removed = self.pipeline.forwarder.remove_face(face);
        if let Some(crew) = &mut self.pipeline.crew {
            crew.remove_face(face);
        }
        debug_assert!(removed.is_some(), "a port is removed together with its face");
        log_reliability(&port);
        self.holders.release(port.holder);
        match removed.map(|face| face.scope) {
            Some(Scope::NonLocal) if !self.log.lines.admits(port.owner) => {}
            Some(Scope::NonLocal) => tracing::info!(face = face.0, why, "face down"),
            Some(Scope::Local) | None => tracing::debug!(face = face.0, why, "face down"),
        }
        self.reports.add(Report::FaceDown { face: face.0.into() });
    }

    /// Removes a port from the table of peers, or from the socket of its group.
    fn forget_peer(&mut self, port: &Port) {
        let Self { peers, pipeline, .. } = self;
        match port.kind {
            PortKind::Udp { socket, .. } if port.is_group => {
                if let Some(udp) = pipeline.ports.sockets.get_mut(socket) {
                    udp.group = None;
                }
            }
            PortKind::Ether { number, .. } if port.is_group => {
                if let Some(ether) = pipeline.ports.ethers.get_mut(number) {
                    ether.group = None;
                }
            }
            PortKind::Udp { socket, peer } => peers.remove(&peers::tuple(socket, peer)),
            PortKind::Ether { number, peer } => peers.remove(&peers::tuple_of_ether(number, peer)),
            PortKind::Stream { .. } | PortKind::WebSocket(_) | PortKind::Down => {}
        }
    }

    /// Forgets the parties that have left, and hold nothing.
    pub(super) fn forget_parties(&mut self) {
        let Self { holders, pipeline, shares, .. } = self;
        let Pipeline { forwarder, crew, .. } = pipeline;
        let Some(crew) = crew else {
            return holders.collect(|holder| forwarder.is_idle(holder) && shares.is_idle(holder));
        };
        let mut left = Vec::new();
        holders.collect(|holder| {
            let is_idle = forwarder.is_idle(holder) && shares.is_idle(holder);
            if is_idle && !crew.is_idle(holder) {
                left.push(holder);
            }
            is_idle && crew.is_idle(holder)
        });
        crew.ask_idle(&left);
    }

    /// Closes the faces that have been idle for too long, the connections of other hosts that have not
    /// brought a whole packet in time, and those whose peer does not read.
    pub(super) fn close_idle(&mut self) {
        if self.pipeline.crew.is_some() {
            let now = self.pipeline.ports.now;
            let used =
                self.pipeline.ports.iter_mut().filter_map(|port| port.was_used_by_others().then_some(port));
            used.for_each(|port| port.used = now);
        }
        let ports = &self.pipeline.ports;
        let silent_for = |since: Time, millis: u64| ports.now.since(since).as_millis() >= u128::from(millis);
        let is_mute = |port: &Port| {
            !port.local
                && !port.is_datagram()
                && port.item.is_some()
                && port.link.counters.in_bytes.value() == 0
                && silent_for(port.opened, FIRST_PACKET)
                && self.pipeline.forwarder.faces().find(port.face).is_some_and(|face| face.routes() == 0)
        };
        let reason = |port: &Port| match port.idle {
            Some(idle) if silent_for(port.used, idle) => Some((port.face, "idle")),
            _ if is_mute(port) => Some((port.face, "the peer has sent no packet")),
            _ if port.waiting.is_some() && silent_for(port.taken, socket::STALLED) => {
                Some((port.face, "the peer does not read"))
            }
            _ if port.lingers.is_some_and(|end| ports.now >= end) => Some((port.face, "closed by the peer")),
            _ => None,
        };
        let silent: Vec<_> = ports.iter().filter_map(reason).collect();
        for (face, why) in silent {
            self.fail(face, why);
        }
    }
}

/// Logs what became of the link packets of a face with reliability.
fn log_reliability(port: &Port) {
    if port.link.is_reliable() {
        let of = &port.link.counters.reliability;
        tracing::info!(
            face = port.face.0,
            acknowledged = of.acknowledged.value(),
            retransmitted = of.retransmitted.value(),
            lost = of.lost.value(),
            unprotected = of.unprotected.value(),
            duplicates = of.duplicates.value(),
            "link packets of a reliable face"
        );
    }
}

/// Party that holds the shares of a face. Local faces have local parties, and only they do.
pub(super) fn owner_of(scope: FaceScope, remote: Option<SocketAddr>, peer: &Peer) -> Owner {
    match (scope, remote, peer) {
        (_, _, Peer::Link { owner, .. }) => *owner,
        (FaceScope::NonLocal, Some(address), _) => Owner::of(address.ip()),
        (FaceScope::Local, _, Peer::User { uid, over: Over::Unix }) => Owner::User(*uid),
        (FaceScope::Local, _, Peer::User { uid, over: Over::Loopback }) => Owner::Loopback(*uid),
        (FaceScope::Local, _, _) => Owner::Local,
        (FaceScope::NonLocal, None, _) => {
            debug_assert!(false, "the URI of a remote peer has its address");
            Owner::of(Ipv4Addr::UNSPECIFIED.into())
        }
    }
}

/// Scope of a connection with a peer at this address.
pub(super) fn scope_of(peer: SocketAddr) -> FaceScope {
    if peer.ip().to_canonical().is_loopback() { FaceScope::Local } else { FaceScope::NonLocal }
}
