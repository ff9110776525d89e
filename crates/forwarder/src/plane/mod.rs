//! The forwarding thread: one loop over all sockets, around one [`Forwarder`].
//!
//! A round waits for events, reads a bounded amount of each socket that has something, forwards it in bursts,
//! and then sends what has gathered: for each socket one system call for many packets on either side, and
//! none that must fail. Streams report that they are readable, and only while a queue waits that they are
//! writable. Time comes with the round; timers are the forwarder's wheel, and cost no system call. The
//! management is another thread. It sends [requests](message::Request), each of which takes a moment.

mod accept;
mod control;
mod line_limit;
pub(crate) mod message;
mod on_demand;
mod origin;
mod peers;
mod port;
mod ready;
mod receive;
mod reconnect;
mod socket;

pub(crate) use control::PlaneProxy;

use accept::Handshakes;
use hashlane_hash::scheme::Key;
use hashlane_link::udp::{RecvBatch, UdpSocket};
use hashlane_link::{tcp, unix};
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::values::{
    FACE_CONGESTION_MARKING, FACE_LOCAL_FIELDS, FACE_PIT_TOKENS, FacePersistency, FaceScope,
    LinkType as ToldLinkType,
};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{LpPacket, MAX_LINK_PACKET};
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::forward::Forwarder;
use hashlane_ndn_fw::pit::Pit;
use line_limit::LineLimit;
use message::{Reports, RequestQueue};
use mio::{Events, Interest, Poll, Token, Waker};
use on_demand::OnDemand;
use peers::Peers;
use port::{Port, PortKind, Ports, Udp};
use ready::Ready;
use receive::Reader;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::Faces as FaceConfig;
use crate::management::{FaceInfo, Peer};

// A datagram holds any link packet.
const _: () = assert!(hashlane_link::udp::LONGEST_DATAGRAM >= MAX_LINK_PACKET);

/// For how long the thread waits where nothing is to be done, in milliseconds: how often it looks for faces that are idle.
const HOUSEKEEPING: u64 = 1000;

/// Time for which the thread goes on answering what is pending once it is asked to end, in milliseconds. With
/// what the process takes to end, it is within a second.
const DRAIN: u64 = 800;

/// What the thread listens on.
pub(crate) struct Sockets {
    pub(crate) unix: Vec<unix::Listener>,
    pub(crate) tcp: Vec<mio::net::TcpListener>,
    pub(crate) websocket: Vec<mio::net::TcpListener>,
    pub(crate) udp: Vec<UdpSocket>,
}

impl Sockets {
    /// Opens all sockets of a configuration.
    ///
    /// # Errors
    /// The first that cannot be had, and why.
    pub(crate) fn open(config: &FaceConfig) -> io::Result<Self> {
        let path = |path: &PathBuf| unix::Listener::bind(path.clone(), config.unix.mode);
        let udp = |address: &SocketAddr| {
            let mut socket = UdpSocket::bind(*address)?;
            socket.set_segmentation(config.udp.offload);
            Ok(socket)
        };
        Ok(Self {
            unix: config.unix.path.iter().map(path).collect::<io::Result<_>>()?,
            tcp: config.tcp.listen.iter().map(|address| tcp::listen(*address)).collect::<io::Result<_>>()?,
            websocket: config
                .websocket
                .listen
                .iter()
                .map(|address| tcp::listen(*address))
                .collect::<io::Result<_>>()?,
            udp: config.udp.listen.iter().map(udp).collect::<io::Result<_>>()?,
        })
    }

    /// What they are, as the management tells of them.
    pub(crate) fn channels(&self, config: &FaceConfig) -> Vec<FaceUri> {
        let mut channels: Vec<FaceUri> =
            config.unix.path.iter().map(|path| FaceUri::Unix(path.to_string_lossy().into_owned())).collect();
        let mut add = |protocol, address: io::Result<SocketAddr>| {
            channels.extend(address.ok().map(|address| FaceUri::from_address(protocol, address)));
        };
        self.tcp.iter().for_each(|listener| add(Protocol::Tcp, listener.local_addr()));
        self.udp.iter().for_each(|socket| add(Protocol::Udp, socket.local_addr()));
        self.websocket.iter().for_each(|listener| add(Protocol::WebSocket, listener.local_addr()));
        channels
    }
}

/// Which socket an event is of: a kind in the upper half of the token, a number in the lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Kind {
    Waker,
    Unix,
    Tcp,
    WebSocket,
    Udp,
    Face,
    Handshake,
    Connecting,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Waker,
        Self::Unix,
        Self::Tcp,
        Self::WebSocket,
        Self::Udp,
        Self::Face,
        Self::Handshake,
        Self::Connecting,
    ];

    fn token(self, number: usize) -> Token {
        Token((self as usize) << 32 | number)
    }

    fn of(token: Token) -> (Self, usize) {
        let kind = Self::ALL.get(token.0 >> 32).copied().unwrap_or(Self::Waker);
        (kind, token.0 & 0xffff_ffff)
    }
}

/// What has been said in the log of what still lasts.
#[derive(Debug, Default)]
struct Told {
    /// That a connection cannot be taken.
    refused: bool,
    /// That a UDP socket cannot be read.
    stuck: bool,
    /// That there are too many faces, in this second.
    crowded: bool,
    /// Lines about faces and handshakes that remote parties have caused in this second.
    lines: LineLimit,
}

/// The thread's state.
pub(crate) struct Plane<P> {
    poll: Poll,
    requests: RequestQueue,
    reports: Reports,
    forwarder: Forwarder<P>,
    ports: Ports,
    /// The receiving ends of connections, by the slot of their face.
    readers: Vec<Option<Reader>>,
    unix: Vec<(unix::Listener, PathBuf)>,
    tcp: Vec<mio::net::TcpListener>,
    websocket: Vec<mio::net::TcpListener>,
    handshakes: Handshakes,
    connecting: HashMap<usize, control::Connecting>,
    next_connection: usize,
    batch: Option<Box<RecvBatch>>,
    ready: Ready,
    /// The faces of UDP peers.
    peers: Peers,
    /// The UDP faces that came by themselves.
    on_demand: OnDemand,
    config: FaceConfig,
    start: Instant,
    swept: Time,
    /// Whether connections wait that could not be taken, as for want of file descriptors.
    refused: bool,
    /// Whether a UDP socket could not be read, though datagrams may wait.
    stuck: bool,
    /// What the log has been told, so that whoever causes it cannot fill it.
    told: Told,
    /// When the thread ends, once it is asked to.
    ends: Option<Time>,
    /// Numbers for the first fragment of each face.
    rng: hashlane_ndn_fw::strategy::Rng,
}

/// Random numbers that nobody outside may know.
pub(crate) struct Secrets {
    /// Key of the table of UDP peers.
    pub(crate) peers: Key,
    /// Seed of the numbers of first fragments.
    pub(crate) seed: u64,
}

/// What the thread waits with, and what wakes it.
pub(crate) fn poll() -> io::Result<(Poll, Arc<Waker>)> {
    let poll = Poll::new()?;
    let waker = Waker::new(poll.registry(), Kind::Waker.token(0))?;
    Ok((poll, Arc::new(waker)))
}

impl<P: Pit> Plane<P> {
    /// The state of a thread, made on it, that is yet to run.
    pub(crate) fn new(
        poll: Poll,
        sockets: Sockets,
        config: FaceConfig,
        forwarder: Forwarder<P>,
        requests: RequestQueue,
        reports: Reports,
        secrets: &Secrets,
    ) -> io::Result<Self> {
        let Sockets { unix, mut tcp, mut websocket, udp } = sockets;
        let mut unix: Vec<_> = unix.into_iter().zip(config.unix.path.iter().cloned()).collect();
        for (number, (listener, _)) in unix.iter_mut().enumerate() {
            poll.registry().register(listener, Kind::Unix.token(number), Interest::READABLE)?;
        }
        for (number, listener) in tcp.iter_mut().enumerate() {
            poll.registry().register(listener, Kind::Tcp.token(number), Interest::READABLE)?;
        }
        for (number, listener) in websocket.iter_mut().enumerate() {
            poll.registry().register(listener, Kind::WebSocket.token(number), Interest::READABLE)?;
        }
        let mut sockets = Vec::new();
        for (number, mut socket) in udp.into_iter().enumerate() {
            poll.registry().register(&mut socket, Kind::Udp.token(number), Interest::READABLE)?;
            let local = socket.local_addr()?;
            sockets.push(Udp::new(socket, local));
        }
        Ok(Self {
            requests,
            ports: Ports::new(sockets, reports.clone(), poll.registry().try_clone()?),
            reports,
            forwarder,
            readers: Vec::new(),
            unix,
            tcp,
            websocket,
            handshakes: Handshakes::default(),
            connecting: HashMap::new(),
            next_connection: 0,
            batch: Some(Box::new(RecvBatch::new(64))),
            ready: Ready::default(),
            peers: Peers::new(&secrets.peers),
            on_demand: OnDemand::default(),
            config,
            start: Instant::now(),
            swept: Time::default(),
            refused: false,
            stuck: false,
            told: Told::default(),
            ends: None,
            rng: hashlane_ndn_fw::strategy::Rng::new(secrets.seed),
            poll,
        })
    }

    /// Runs until it is asked to end.
    ///
    /// # Errors
    /// The sockets can be waited for no longer, and why.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        while !self.round(&mut events, self.poll_timeout())? {}
        Ok(())
    }

    /// Waits for events, at most for `timeout`, and handles them; whether the thread has ended.
    fn round(&mut self, events: &mut Events, timeout: Duration) -> io::Result<bool> {
        match self.poll.poll(events, Some(timeout)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => done?,
        }
        self.refresh_clock();
        self.check_end();
        for event in &*events {
            let (kind, number) = Kind::of(event.token());
            if kind == Kind::Face {
                if event.is_read_closed() || event.is_error() {
                    self.note_end(number);
                }
                if event.is_writable() {
                    self.writable(number);
                }
            }
            self.ready.push(event.token());
        }
        for _ in 0..self.ready.len() {
            let Some(token) = self.ready.pop() else { break };
            if self.serve(token) {
                self.ready.push(token);
            }
            self.send_back();
            // A flood makes rounds long, and there is always another one.
            if self.check_end() {
                break;
            }
        }
        self.flush();
        self.forwarder.turn(self.ports.now);
        if self.ports.now.since(self.swept).as_millis() >= u128::from(HOUSEKEEPING) {
            self.sweep();
        }
        Ok(self.check_end()
            || (self.ends.is_some() && self.forwarder.pit().is_empty() && self.ports.is_idle()))
    }

    /// Begins to drain where the thread is asked to end. Returns whether the time for that is over.
    fn check_end(&mut self) -> bool {
        if self.ends.is_none() && self.requests.drains() {
            self.drain();
        }
        self.ends.is_some_and(|end| self.now() >= end)
    }

    /// Accepts no connections any more, and sets when the thread ends.
    fn drain(&mut self) {
        self.unix.clear();
        self.tcp.clear();
        self.websocket.clear();
        self.ends = Some(self.now().after_millis(DRAIN));
    }

    /// Longest time to wait for events.
    fn poll_timeout(&self) -> Duration {
        if !self.ready.is_empty() {
            return Duration::ZERO;
        }
        let longest =
            if self.ends.is_some() { Duration::from_millis(10) } else { Duration::from_millis(HOUSEKEEPING) };
        let turn = self.forwarder.next_turn().map_or(longest, |turn| turn.since(self.now()));
        // The kernel counts in milliseconds; what is due within one can wait for it.
        turn.max(Duration::from_millis(1)).min(longest)
    }

    fn now(&self) -> Time {
        // The first millisecond is 1: 0 is never.
        Time(1_000_000 + self.start.elapsed().as_nanos() as u64)
    }

    fn refresh_clock(&mut self) {
        self.ports.now = self.now();
    }

    /// Reads of one socket, a bounded amount; whether there may be more.
    fn serve(&mut self, token: Token) -> bool {
        let (kind, number) = Kind::of(token);
        match kind {
            Kind::Waker => return self.obey(),
            Kind::Unix => return self.accept_unix(number),
            Kind::Tcp => return self.accept_tcp(number),
            Kind::WebSocket => return self.accept_websocket(number),
            Kind::Udp => return self.receive_udp(number),
            Kind::Face => return self.receive(number),
            Kind::Handshake => self.shake(number),
            Kind::Connecting => self.connected(number),
        }
        false
    }

    /// Sends back the Interests that the management has no room for.
    fn send_back(&mut self) {
        for octets in std::mem::take(&mut self.ports.refused) {
            if let Ok(packet) = LpPacket::parse(&octets) {
                let now = self.ports.now;
                let _ = self.forwarder.receive(FaceId::MANAGEMENT, &packet, now, &mut self.ports);
            }
        }
    }

    /// The connection of the face in a slot takes octets again.
    fn writable(&mut self, slot: usize) {
        if let Some((face, why)) = self.ports.flush_slot(slot) {
            self.fail(face, &why);
        }
    }

    fn flush(&mut self) {
        let mut failed = Vec::new();
        self.ports.flush(|face, why| failed.push((face, why)));
        for (face, why) in failed {
            self.fail(face, &why);
        }
    }

    /// Closes what has been idle for too long, and tries again what could not be done.
    fn sweep(&mut self) {
        let now = self.ports.now;
        self.swept = now;
        let idle: Vec<FaceId> = self
            .ports
            .iter()
            .filter(|port| port.idle.is_some_and(|idle| now.since(port.used).as_millis() >= u128::from(idle)))
            .map(|port| port.face)
            .collect();
        for face in idle {
            self.close(face, "idle");
        }
        self.ports.forget_pieces(now);
        self.handshakes.sweep(now);
        self.give_up_connecting(now);
        self.connect_again(now);
        self.try_again();
        self.told.crowded = false;
        let left_out = self.told.lines.next_second();
        if left_out > 0 {
            tracing::info!(
                lines = left_out,
                "lines about faces and handshakes were left out in the last second"
            );
        }
        self.ports.sockets.iter_mut().for_each(Udp::tell_lost);
    }

    /// Tries again to take connections and to read sockets, of which no event tells a second time.
    fn try_again(&mut self) {
        let mut again = |kind: Kind, sockets: usize| {
            (0..sockets).for_each(|number| self.ready.push(kind.token(number)));
        };
        let (refused, stuck) = (std::mem::take(&mut self.refused), std::mem::take(&mut self.stuck));
        if refused {
            again(Kind::Unix, self.unix.len());
            again(Kind::Tcp, self.tcp.len());
            again(Kind::WebSocket, self.websocket.len());
        } else if std::mem::take(&mut self.told.refused) {
            tracing::info!("connections are taken again");
        }
        if stuck {
            again(Kind::Udp, self.ports.sockets.len());
        }
        self.told.stuck &= stuck;
    }

    /// Makes a face, and tells of it.
    fn open(&mut self, kind: PortKind, scope: Scope, mut info: FaceInfo, peer: Peer) -> Option<FaceId> {
        if self.config.pit_tokens.contains(&info.remote.to_string()) {
            info.flags |= FACE_PIT_TOKENS;
        }
        let mut face = Face::new(scope, LinkType::PointToPoint);
        face.local_fields = info.flags & FACE_LOCAL_FIELDS != 0;
        face.pit_tokens = info.flags & FACE_PIT_TOKENS != 0;
        face.counters = info.counters.clone();
        let Some(id) = self.forwarder.add_face(face) else {
            if !std::mem::replace(&mut self.told.crowded, true) {
                tracing::warn!(remote = %info.remote, most = hashlane_ndn_fw::face::MAX_FACES, "there are too many faces");
            }
            return None;
        };
        let address = info.remote.socket_address().map(|address| address.ip());
        let mut port = Port::new(id, kind, info.counters.clone(), self.rng.next_u64(), self.ports.now);
        port.local = scope == Scope::Local;
        port.address = address;
        port.mtu = info.mtu.map_or(usize::MAX, |mtu| mtu as usize);
        port.idle = info.idle;
        port.marks = info.flags & FACE_CONGESTION_MARKING != 0;
        port.marking.threshold = info.congestion_threshold as usize;
        port.marking.interval = info.marking_interval / 1_000_000;
        self.ports.add(port);
        info.id = id.0.into();
        let (remote, local) = (&info.remote, &info.local);
        // Applications come and go; neighbours are news.
        match scope {
            Scope::Local => tracing::debug!(face = id.0, %remote, %local, "face up"),
            Scope::NonLocal if address.is_some_and(|address| !self.told.lines.admits(address)) => {}
            Scope::NonLocal => tracing::info!(face = id.0, %remote, %local, "face up"),
        }
        self.reports.add(message::Report::FaceUp { info: Box::new(info), peer });
        Some(id)
    }

    /// Closes a face, and tells of it and why.
    fn close(&mut self, face: FaceId, why: &str) {
        let Some(port) = self.ports.remove(face) else { return };
        self.on_demand.remove(face);
        if let PortKind::Udp { socket, peer } = port.kind {
            self.peers.remove(socket, peer);
        }
        self.stop_reading(face);
        let remote = port.address;
        match self.forwarder.remove_face(face).map(|face| face.scope) {
            Some(Scope::NonLocal) if remote.is_some_and(|address| !self.told.lines.admits(address)) => {}
            Some(Scope::NonLocal) => tracing::info!(face = face.0, why, "face down"),
            _ => tracing::debug!(face = face.0, why, "face down"),
        }
        self.reports.add(message::Report::FaceDown { face: face.0.into() });
    }

    fn stop_reading(&mut self, face: FaceId) {
        if let Some(reader) = face.slot().and_then(|slot| self.readers.get_mut(slot)) {
            *reader = None;
        }
    }

    /// What the management is told of a new face, but its number.
    fn info(
        &self,
        remote: FaceUri,
        local: FaceUri,
        scope: FaceScope,
        persistency: FacePersistency,
    ) -> FaceInfo {
        let marking = &self.config.congestion;
        FaceInfo {
            id: 0,
            remote,
            local,
            scope,
            persistency,
            link_type: ToldLinkType::PointToPoint,
            flags: if marking.mark { FACE_CONGESTION_MARKING } else { 0 },
            marking_interval: marking.interval_ms.saturating_mul(1_000_000),
            congestion_threshold: marking.threshold,
            mtu: None,
            idle: None,
            counters: Arc::default(),
        }
    }
}

/// The path of a socket as a URI.
fn unix_uri(path: &Path) -> FaceUri {
    FaceUri::Unix(path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests;
