//! What the management asks for.

use super::message::{Report, Request, Requests};
use super::{Kind, Plane, Port, PortKind, Time};
use crate::management::{CsConfig, FaceOptions, FaceOutcome, Peer, Plane as Asked, StrategyInstance, Ticket};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::values::{
    FACE_CONGESTION_MARKING, FACE_LOCAL_FIELDS, FACE_NO_INTEREST_DIGESTS, FACE_PIT_TOKENS, FacePersistency,
};
use hashlane_ndn::wire::LpPacket;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::pit::Pit;
use hashlane_ndn_fw::strategy::Strategy;
use mio::Interest;
use mio::net::TcpStream;
use std::net::SocketAddr;

/// For how long a TCP connection may take to come about, in milliseconds: as in NFD, so that whoever waits for as long as its tools do is told.
const CONNECT: u64 = 8000;

/// Requests that are done before sockets have their turn.
const REQUESTS: usize = 256;

/// TCP connections that may be on their way at once.
const MAX_CONNECTING: usize = 256;

/// A TCP connection on its way.
pub(super) struct Connecting {
    stream: TcpStream,
    remote: SocketAddr,
    purpose: Purpose,
    since: Time,
}

/// What a connection is made for.
pub(super) enum Purpose {
    /// A face that a command asks for.
    New { ticket: Ticket, options: FaceOptions },
    /// A face that has lost its own.
    Again(FaceId),
}

/// The forwarding thread, as the management sees it.
pub(crate) struct PlaneProxy(pub(crate) Requests);

impl Asked for PlaneProxy {
    fn route(&mut self, prefix: NdnName<'_>, face: u64, cost: u64) {
        self.0.add(Request::Route { prefix: owned(prefix), face, cost });
    }

    fn unroute(&mut self, prefix: NdnName<'_>, face: u64) {
        self.0.add(Request::Unroute { prefix: owned(prefix), face });
    }

    fn strategy(&mut self, prefix: NdnName<'_>, strategy: Option<&StrategyInstance>) -> Result<(), String> {
        let strategy = strategy.map(|strategy| Strategy::from_name(strategy.name.view())).transpose();
        let strategy = strategy.map_err(|error| error.to_string())?;
        self.0.add(Request::Strategy { prefix: owned(prefix), strategy });
        Ok(())
    }

    fn create_face(
        &mut self,
        ticket: Ticket,
        remote: &FaceUri,
        _local: Option<&FaceUri>,
        options: &FaceOptions,
    ) {
        if let FaceUri::Ip { protocol, .. } = remote
            && let Some(address) = remote.socket_address()
        {
            let options = *options;
            self.0.add(Request::CreateFace { ticket, protocol: *protocol, remote: address, options });
        }
    }

    fn update_face(&mut self, face: u64, options: &FaceOptions) {
        self.0.add(Request::UpdateFace { face, options: *options });
    }

    fn destroy_face(&mut self, face: u64) {
        self.0.add(Request::DestroyFace { face });
    }

    fn cs(&mut self, config: CsConfig) {
        self.0.add(Request::Cs(config));
    }

    fn erase(&mut self, prefix: NdnName<'_>, limit: u64, ticket: Ticket) {
        self.0.add(Request::Erase { prefix: owned(prefix), limit, ticket });
    }
}

fn owned(name: NdnName<'_>) -> OwnedName<Ndn> {
    OwnedName::from(&name)
}

/// What a command that makes a face says about it, and what holds where it says nothing.
fn made(options: &FaceOptions) -> FaceOptions {
    let persistency = options.persistency.or(Some(FacePersistency::Persistent));
    FaceOptions { persistency, ..*options }
}

/// The face of this number.
fn face_of(number: u64) -> FaceId {
    u32::try_from(number).map_or(FaceId::NONE, FaceId)
}

impl<P: Pit> Plane<P> {
    /// Does what was asked for, a bounded number of requests; whether there may be more.
    pub(super) fn obey(&mut self) -> bool {
        for _ in 0..REQUESTS {
            let Some(request) = self.requests.next() else { return false };
            match request {
                Request::Route { prefix, face, cost } => {
                    self.forwarder.add_route(&prefix.view(), NextHop { face: face_of(face), cost });
                }
                Request::Unroute { prefix, face } => {
                    self.forwarder.remove_route(&prefix.view(), face_of(face));
                }
                Request::Strategy { prefix, strategy: Some(strategy) } => {
                    self.forwarder.set_strategy(&prefix.view(), strategy);
                }
                Request::Strategy { prefix, strategy: None } => {
                    self.forwarder.unset_strategy(&prefix.view());
                }
                Request::CreateFace { ticket, protocol, remote, options } => {
                    self.create_face(ticket, protocol, remote, options);
                }
                Request::UpdateFace { face, options } => self.update_face(face_of(face), &options),
                Request::DestroyFace { face } => self.close(face_of(face), "destroyed by a command"),
                Request::Cs(config) => {
                    let old = *self.forwarder.cs().config();
                    let packets = usize::try_from(config.capacity).unwrap_or(usize::MAX);
                    let CsConfig { admit, serve, .. } = config;
                    self.forwarder.configure_cs(hashlane_ndn_fw::cs::Config { packets, admit, serve, ..old });
                }
                Request::Erase { prefix, limit, ticket } => {
                    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
                    let count = self.forwarder.erase(&prefix.view(), limit) as u64;
                    let more = count == limit as u64;
                    self.reports.add(Report::Erased { ticket, count, more });
                }
                Request::Data(octets) => {
                    let now = self.ports.now;
                    if let Ok(mut packet) = LpPacket::parse(&octets) {
                        // A list that is kept is an old one.
                        packet.header.cache_policy = Some(hashlane_ndn::wire::lp::NO_CACHE);
                        // Who asked may have gone.
                        let _ = self.forwarder.receive(FaceId::MANAGEMENT, &packet, now, &mut self.ports);
                    }
                }
            }
        }
        true
    }

    fn created(&mut self, ticket: Ticket, outcome: FaceOutcome) {
        self.reports.add(Report::FaceCreated { ticket, outcome });
    }

    fn create_face(&mut self, ticket: Ticket, protocol: Protocol, remote: SocketAddr, options: FaceOptions) {
        let failed = |code, text: &str| FaceOutcome::Failed { code, text: text.into() };
        let outcome = match protocol {
            Protocol::Udp => {
                let sockets = &self.ports.sockets;
                let fits = |udp: &super::Udp| udp.local.is_ipv4() == remote.is_ipv4();
                match sockets.iter().position(fits) {
                    None => failed(504, "no UDP socket of this family is open; listen on one"),
                    Some(number) => match self.peers.find(number, remote) {
                        Some(face) => FaceOutcome::Exists(face.0.into()),
                        None => self.create_udp(number, remote, &options),
                    },
                }
            }
            Protocol::Tcp => return self.dial(remote, Purpose::New { ticket, options }),
            _ => failed(406, "faces are made for udp4, udp6, tcp4 and tcp6"),
        };
        self.created(ticket, outcome);
    }

    fn create_udp(&mut self, number: usize, remote: SocketAddr, options: &FaceOptions) -> FaceOutcome {
        match self.open_udp(number, remote, &made(options)) {
            Some(face) => FaceOutcome::Created(face.0.into()),
            None => FaceOutcome::Failed { code: 504, text: "there are as many faces as there may be".into() },
        }
    }

    /// Begins to connect.
    pub(super) fn dial(&mut self, remote: SocketAddr, purpose: Purpose) {
        if self.connecting.len() >= MAX_CONNECTING {
            return self.undone(purpose, "too many connections are on their way; try again".into());
        }
        let number = self.next_connection;
        self.next_connection = (number + 1) & 0xffff_ffff;
        let token = Kind::Connecting.token(number);
        let stream = TcpStream::connect(remote).and_then(|mut stream| {
            self.poll.registry().register(&mut stream, token, Interest::WRITABLE)?;
            Ok(stream)
        });
        match stream {
            Ok(stream) => {
                let connecting = Connecting { stream, remote, purpose, since: self.ports.now };
                self.connecting.insert(number, connecting);
            }
            Err(error) => self.undone(purpose, format!("cannot connect to {remote}: {error}")),
        }
    }

    /// A connection has not come about.
    fn undone(&mut self, purpose: Purpose, text: String) {
        match purpose {
            Purpose::New { ticket, .. } => self.created(ticket, FaceOutcome::Failed { code: 504, text }),
            Purpose::Again(face) => self.not_again(face, &text),
        }
    }

    /// A connection has come about, or has failed.
    pub(super) fn connected(&mut self, number: usize) {
        let Some(connecting) = self.connecting.remove(&number) else { return };
        let outcome = match connecting.stream.take_error() {
            Ok(None) => match connecting.stream.peer_addr() {
                Ok(_) => return self.take_connection(connecting),
                Err(error) if error.kind() == std::io::ErrorKind::NotConnected => {
                    self.connecting.insert(number, connecting);
                    return;
                }
                Err(error) => error,
            },
            Ok(Some(error)) | Err(error) => error,
        };
        self.undone(connecting.purpose, format!("cannot connect to {}: {outcome}", connecting.remote));
    }

    fn take_connection(&mut self, connecting: Connecting) {
        let Connecting { mut stream, remote, purpose, .. } = connecting;
        // It gets another token with its face.
        let _ = self.poll.registry().deregister(&mut stream);
        let (ticket, options) = match purpose {
            Purpose::New { ticket, options } => (ticket, options),
            Purpose::Again(face) => return self.resume(face, stream),
        };
        // Another command may have asked for the same meanwhile.
        let is_it = |port: &&Port| port.connection.is_some_and(|connection| connection.is_with(remote));
        let there = self.ports.iter().find(is_it).map(|port| port.face);
        if let Some(face) = there {
            return self.created(ticket, FaceOutcome::Exists(face.0.into()));
        }
        let local = stream.local_addr().unwrap_or(remote);
        let outcome = match self.open_tcp(stream, remote, local, &made(&options), Peer::Ip(remote.ip())) {
            Some(face) => FaceOutcome::Created(face.0.into()),
            None => FaceOutcome::Failed { code: 504, text: "there are as many faces as there may be".into() },
        };
        self.created(ticket, outcome);
    }

    /// Gives up connections that take too long.
    pub(super) fn give_up_connecting(&mut self, now: Time) {
        let late = |_: &usize, connecting: &mut Connecting| {
            now.since(connecting.since).as_millis() >= u128::from(CONNECT)
        };
        for (_, Connecting { remote, purpose, .. }) in self.connecting.extract_if(late).collect::<Vec<_>>() {
            self.undone(purpose, format!("{remote} does not answer within {} s", CONNECT / 1000));
        }
    }

    fn update_face(&mut self, face: FaceId, options: &FaceOptions) {
        let meant = |flag| (options.mask & flag != 0).then_some(options.flags & flag != 0);
        if let Some(face) = self.forwarder.face_mut(face) {
            let set = |flag: &mut bool, meant: Option<bool>| *flag = meant.unwrap_or(*flag);
            set(&mut face.local_fields, meant(FACE_LOCAL_FIELDS));
            set(&mut face.pit_tokens, meant(FACE_PIT_TOKENS));
            set(&mut face.interest_digests, meant(FACE_NO_INTEREST_DIGESTS).map(|none| !none));
        }
        let now = self.ports.now;
        let Some(port) = self.ports.find_mut(face) else { return };
        if let Some(marks) = meant(FACE_CONGESTION_MARKING) {
            port.marks = marks;
        }
        if let Some(persistency) = options.persistency.filter(|_| matches!(port.kind, PortKind::Udp { .. })) {
            port.idle = self.config.udp.idle_after(persistency);
            if port.idle.is_some() {
                // It was wanted until now.
                port.used = now;
                self.on_demand.add(face, now);
            } else {
                self.on_demand.remove(face);
            }
        }
        if let Some(interval) = options.marking_interval {
            port.marking.interval = interval / 1_000_000;
        }
        if let Some(threshold) = options.congestion_threshold {
            port.marking.threshold = usize::try_from(threshold).unwrap_or(usize::MAX);
        }
        if let Some(mtu) = options.mtu.filter(|_| port.mtu != usize::MAX) {
            port.mtu = usize::try_from(mtu).unwrap_or(usize::MAX);
        }
        if let Some(persistency) = options.persistency {
            self.persist(face, persistency);
        }
    }
}
