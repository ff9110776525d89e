//! Connections that come.

use super::origin::{NoteOrigin, Origins};
use super::port::STREAM_QUEUE;
use super::receive::{Reader, Source};
use super::reconnect::Connection;
use super::socket::{Metered, Stream, WebSocket, limits};
use super::{Kind, Plane, PortKind, unix_uri};
use crate::management::{FaceInfo, FaceOptions, Over, Peer};
use hashlane_link::stream::{StreamReader, StreamWriter};
use hashlane_link::unix::peer_credentials;
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::values::{FacePersistency, FaceScope};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::MAX_LINK_PACKET;
use hashlane_ndn_fw::face::{FaceId, Scope};
use hashlane_ndn_fw::pit::Pit;
use mio::Interest;
use mio::net::TcpStream;
use mio::unix::SourceFd;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::rc::Rc;
use tungstenite::handshake::{HandshakeError, MidHandshake, server::ServerHandshake};

/// Connections that are taken of one listener before others have their turn.
const ACCEPTS: usize = 64;

/// WebSocket connections that may be in their handshake at once, and for how long, in milliseconds.
const MAX_HANDSHAKES: usize = 256;
const HANDSHAKE: u64 = 10_000;

type Shaking = ServerHandshake<Metered, NoteOrigin>;

/// WebSocket connections in their handshake.
#[derive(Default)]
pub(super) struct Handshakes {
    open: HashMap<usize, (MidHandshake<Shaking>, Visitor)>,
    next: usize,
}

/// Other end of a WebSocket connection.
struct Visitor {
    peer: SocketAddr,
    /// The user there when the connection was accepted.
    user: Peer,
    local: SocketAddr,
    since: Time,
    /// Of the page that it comes from, once its request has been read.
    origins: Origins,
}

impl Handshakes {
    /// Forgets those that take too long.
    pub(super) fn sweep(&mut self, now: Time) {
        self.open.retain(|_, (_, visitor)| now.since(visitor.since).as_millis() < u128::from(HANDSHAKE));
    }
}

impl<P: Pit> Plane<P> {
    /// Says once why a connection could not be taken; it is tried again with the next sweep.
    fn refused(&mut self, listener: &str, error: &io::Error) -> bool {
        if !std::mem::replace(&mut self.told.refused, true) {
            tracing::warn!(listener, %error, "a connection cannot be taken; it is tried again every second");
        }
        self.refused = true;
        false
    }

    /// Takes connections that wait at a Unix socket, a bounded number; whether there may be more.
    pub(super) fn accept_unix(&mut self, number: usize) -> bool {
        for _ in 0..ACCEPTS {
            let Some((listener, path)) = self.unix.get(number) else { return false };
            let path = path.clone();
            match listener.accept() {
                Ok(Some(stream)) => {
                    let Ok(credentials) = peer_credentials(&stream) else { continue };
                    let info = self.info(
                        FaceUri::Fd(stream.as_raw_fd() as u32),
                        unix_uri(&path),
                        FaceScope::Local,
                        FacePersistency::OnDemand,
                    );
                    let peer = Peer::User { uid: credentials.uid, over: Over::Unix };
                    self.open_stream(Stream::Unix(stream), Scope::Local, info, peer);
                }
                Ok(None) => return false,
                Err(error) => return self.refused(&path.to_string_lossy(), &error),
            }
        }
        true
    }

    /// As [`accept_unix`](Self::accept_unix), at a TCP port.
    pub(super) fn accept_tcp(&mut self, number: usize) -> bool {
        for _ in 0..ACCEPTS {
            let Some(listener) = self.tcp.get(number) else { return false };
            match listener.accept() {
                Ok((stream, peer)) => {
                    let Ok(local) = stream.local_addr() else { continue };
                    let persistency = Some(FacePersistency::OnDemand);
                    let options = FaceOptions { persistency, ..FaceOptions::default() };
                    let user = user_at(&stream, local, peer);
                    self.open_tcp(stream, peer, local, &options, user);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(error) if is_of_one(&error) => {}
                Err(error) => return self.refused("TCP", &error),
            }
        }
        true
    }

    /// Makes the face of a TCP connection with `user` at its other end.
    pub(super) fn open_tcp(
        &mut self,
        stream: TcpStream,
        peer: SocketAddr,
        local: SocketAddr,
        options: &FaceOptions,
        user: Peer,
    ) -> Option<FaceId> {
        // Small packets wait for nothing; where that cannot be had they may be late.
        let _ = stream.set_nodelay(true);
        let uri = |address| FaceUri::from_address(Protocol::Tcp, address);
        let (scope, told) = scope_of(peer);
        let mut info = self.info(uri(peer), uri(local), told, FacePersistency::OnDemand);
        // Before it is told of, so that what is told is what holds.
        info.apply(options, None);
        let persistency = info.persistency;
        let face = self.open_stream(Stream::Tcp(stream), scope, info, user)?;
        if let Some(port) = self.ports.find_mut(face) {
            port.connection = Some(Connection::new(peer, persistency, port.used));
        }
        Some(face)
    }

    /// Makes the face of a connection of octets.
    fn open_stream(&mut self, stream: Stream, scope: Scope, info: FaceInfo, peer: Peer) -> Option<FaceId> {
        let (kind, reader, descriptor) = ends(stream);
        let face = self.open(kind, scope, info, peer)?;
        self.wait_for(face, descriptor, reader)
    }

    /// Lets events of a connection be told as those of its face; the face, unless the connection has failed.
    pub(super) fn wait_for(&mut self, face: FaceId, descriptor: RawFd, reader: Reader) -> Option<FaceId> {
        // Writable matters only while a queue waits: `Ports::flush_slot` asks for it then.
        let token = Kind::Face.token(face.slot()?);
        match self.poll.registry().register(&mut SourceFd(&descriptor), token, Interest::READABLE) {
            Ok(()) => {
                self.listen_to(face, reader);
                Some(face)
            }
            Err(error) => {
                self.fail(face, &error.to_string());
                None
            }
        }
    }

    /// As [`accept_unix`](Self::accept_unix), at a WebSocket port.
    pub(super) fn accept_websocket(&mut self, number: usize) -> bool {
        for _ in 0..ACCEPTS {
            let Some(listener) = self.websocket.get(number) else { return false };
            match listener.accept() {
                Ok((mut stream, peer)) => {
                    let Ok(local) = stream.local_addr() else { continue };
                    if self.handshakes.open.len() >= MAX_HANDSHAKES {
                        continue;
                    }
                    let _ = stream.set_nodelay(true);
                    let number = self.handshakes.next;
                    self.handshakes.next = (number + 1) & 0xffff_ffff;
                    let token = Kind::Handshake.token(number);
                    let interests = Interest::READABLE | Interest::WRITABLE;
                    if self.poll.registry().register(&mut stream, token, interests).is_err() {
                        continue;
                    }
                    let user = user_at(&stream, local, peer);
                    let (since, origins) = (self.ports.now, Origins::default());
                    let visitor = Visitor { peer, user, local, since, origins };
                    let stream = Metered::unbounded(stream);
                    let note = visitor.origins.note();
                    let handshake = tungstenite::accept_hdr_with_config(stream, note, Some(limits()));
                    self.handshaken(number, visitor, handshake);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(error) if is_of_one(&error) => {}
                Err(error) => return self.refused("WebSocket", &error),
            }
        }
        true
    }

    /// Goes on with a handshake.
    pub(super) fn shake(&mut self, number: usize) {
        if let Some((handshake, visitor)) = self.handshakes.open.remove(&number) {
            let handshake = handshake.handshake();
            self.handshaken(number, visitor, handshake);
        }
    }

    fn handshaken(
        &mut self,
        number: usize,
        visitor: Visitor,
        outcome: Result<tungstenite::WebSocket<Metered>, HandshakeError<Shaking>>,
    ) {
        match outcome {
            Ok(socket) => self.open_websocket(socket, &visitor),
            Err(HandshakeError::Interrupted(handshake)) => {
                self.handshakes.open.insert(number, (handshake, visitor));
            }
            Err(HandshakeError::Failure(error)) if self.told.lines.admits(visitor.peer.ip()) => {
                tracing::info!(peer = %visitor.peer, %error, "no WebSocket connection");
            }
            Err(HandshakeError::Failure(_)) => {}
        }
    }

    fn open_websocket(&mut self, socket: tungstenite::WebSocket<Metered>, visitor: &Visitor) {
        let (peer, local) = (visitor.peer, visitor.local);
        let descriptor = socket.get_ref().stream.as_raw_fd();
        // It gets another token with its face.
        let _ = self.poll.registry().deregister(&mut SourceFd(&descriptor));
        let (scope, told) = scope_of(peer);
        let remote = FaceUri::from_address(Protocol::WebSocketClient, peer);
        let local = FaceUri::from_address(Protocol::WebSocket, local);
        let info = self.info(remote, local, told, FacePersistency::OnDemand);
        let socket = Rc::new(RefCell::new(WebSocket(socket)));
        let kind = PortKind::WebSocket(socket.clone());
        let peer = match visitor.origins.stranger(&self.config.websocket.origins) {
            Some(origin) => Peer::Page { address: peer.ip(), origin },
            None => visitor.user.clone(),
        };
        if let Some(face) = self.open(kind, scope, info, peer) {
            self.wait_for(face, descriptor, Source::WebSocket(socket).into());
        }
    }
}

/// The sending and the receiving end of a connection, and its descriptor.
pub(super) fn ends(stream: Stream) -> (PortKind, Reader, RawFd) {
    let stream = Rc::new(stream);
    let descriptor = stream.as_raw_fd();
    let kind = PortKind::Stream { stream: stream.clone(), writer: StreamWriter::new(STREAM_QUEUE) };
    (kind, Source::Stream { stream, reader: StreamReader::new(MAX_LINK_PACKET) }.into(), descriptor)
}

/// The user who made a connection from a loopback address; from others, the address.
fn user_at(stream: &TcpStream, local: SocketAddr, peer: SocketAddr) -> Peer {
    let address = peer.ip();
    if !address.to_canonical().is_loopback() {
        return Peer::Ip(address);
    }
    match hashlane_link::tcp::loopback_user(stream, local, peer) {
        Ok(uid) => Peer::User { uid, over: Over::Loopback },
        Err(error) => Peer::Unidentified { address, why: error.to_string().into() },
    }
}

/// The scope of a connection with a peer at this address.
fn scope_of(peer: SocketAddr) -> (Scope, FaceScope) {
    if peer.ip().to_canonical().is_loopback() {
        (Scope::Local, FaceScope::Local)
    } else {
        (Scope::NonLocal, FaceScope::NonLocal)
    }
}

/// Whether the error is that of one connection, which is gone, and not of the listener.
fn is_of_one(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted
    )
}
