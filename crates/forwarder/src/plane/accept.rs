//! Connections that come.

use super::port::STREAM_QUEUE;
use super::receive::Reader;
use super::socket::{Stream, WebSocket, limits};
use super::{Kind, MAX_LINK_PACKET, Plane, PortKind, unix_uri};
use crate::management::{FaceInfo, Peer};
use link::stream::{StreamReader, StreamWriter};
use link::unix::peer_credentials;
use mio::Interest;
use mio::net::TcpStream;
use mio::unix::SourceFd;
use ndn::face::{FaceId, Scope};
use ndn::mgmt::FaceUri;
use ndn::mgmt::face_uri::Protocol;
use ndn::mgmt::values::{FacePersistency, FaceScope};
use ndn::pit::Pit;
use ndn::time::Time;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::rc::Rc;
use tungstenite::handshake::server::NoCallback;
use tungstenite::handshake::{HandshakeError, MidHandshake, server::ServerHandshake};

/// WebSocket connections that may be in their handshake at once, and for how long, in milliseconds.
const MAX_HANDSHAKES: usize = 256;
const HANDSHAKE: u64 = 10_000;

type Handshake = MidHandshake<ServerHandshake<TcpStream, NoCallback>>;

/// WebSocket connections in their handshake.
#[derive(Default)]
pub(super) struct Handshakes {
    open: HashMap<usize, (Handshake, SocketAddr, SocketAddr, Time)>,
    next: usize,
}

impl Handshakes {
    /// Forgets those that take too long.
    pub(super) fn sweep(&mut self, now: Time) {
        self.open.retain(|_, (_, _, _, since)| now.since(*since).as_millis() < u128::from(HANDSHAKE));
    }
}

impl<P: Pit> Plane<P> {
    /// Looks at why a connection could not be taken, and says so once.
    fn refused(&mut self, listener: &str, error: &io::Error) {
        if !self.refused {
            tracing::warn!(listener, %error, "a connection cannot be taken; it is tried again every second");
        }
        self.refused = true;
    }

    /// Takes the connections that wait at a Unix socket.
    pub(super) fn accept_unix(&mut self, number: usize) {
        while let Some((listener, path)) = self.unix.get(number) {
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
                    let pid = u32::try_from(credentials.pid).ok();
                    let peer = Peer::Unix { uid: credentials.uid, pid };
                    self.open_stream(Stream::Unix(stream), Scope::Local, info, peer);
                }
                Ok(None) => return,
                Err(error) => return self.refused(&path.to_string_lossy(), &error),
            }
        }
    }

    /// Takes the connections that wait at a TCP port.
    pub(super) fn accept_tcp(&mut self, number: usize) {
        while let Some(listener) = self.tcp.get(number) {
            match listener.accept() {
                Ok((stream, peer)) => {
                    let local = stream.local_addr();
                    let Ok(local) = local else { continue };
                    self.open_tcp(stream, peer, local, FacePersistency::OnDemand);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if is_of_one(&error) => {}
                Err(error) => return self.refused("TCP", &error),
            }
        }
    }

    /// Makes the face of a TCP connection.
    pub(super) fn open_tcp(
        &mut self,
        stream: TcpStream,
        peer: SocketAddr,
        local: SocketAddr,
        persistency: FacePersistency,
    ) -> Option<FaceId> {
        // Small packets wait for nothing; where that cannot be had they may be late.
        let _ = stream.set_nodelay(true);
        let uri = |address| FaceUri::from_address(Protocol::Tcp, address);
        let (scope, told) = scope_of(peer);
        let info = self.info(uri(peer), uri(local), told, persistency);
        self.open_stream(Stream::Tcp(stream), scope, info, Peer::Ip(peer.ip()))
    }

    fn open_stream(&mut self, stream: Stream, scope: Scope, info: FaceInfo, peer: Peer) -> Option<FaceId> {
        let stream = Rc::new(stream);
        let kind = PortKind::Stream { stream: stream.clone(), writer: StreamWriter::new(STREAM_QUEUE) };
        let descriptor = stream.as_raw_fd();
        let face = self.open(kind, scope, info, peer)?;
        let reader = Reader::Stream { stream, reader: StreamReader::new(MAX_LINK_PACKET) };
        self.wait_for(face, descriptor, reader, false)
    }

    /// Lets events of a connection be told as those of its face.
    fn wait_for(&mut self, face: FaceId, descriptor: RawFd, reader: Reader, known: bool) -> Option<FaceId> {
        let (token, interests) = (Kind::Face.token(face.slot()?), Interest::READABLE | Interest::WRITABLE);
        let registry = self.poll.registry();
        let mut source = SourceFd(&descriptor);
        let done = match known {
            true => registry.reregister(&mut source, token, interests),
            false => registry.register(&mut source, token, interests),
        };
        match done {
            Ok(()) => {
                self.listen_to(face, reader);
                Some(face)
            }
            Err(error) => {
                self.close(face, &error.to_string());
                None
            }
        }
    }

    /// Takes the connections that wait at a WebSocket port.
    pub(super) fn accept_websocket(&mut self, number: usize) {
        while let Some(listener) = self.websocket.get(number) {
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
                    let handshake = tungstenite::accept_with_config(stream, Some(limits()));
                    self.handshaken(number, peer, local, self.ports.now, handshake);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if is_of_one(&error) => {}
                Err(error) => return self.refused("WebSocket", &error),
            }
        }
    }

    /// Goes on with a handshake.
    pub(super) fn shake(&mut self, number: usize) {
        if let Some((handshake, peer, local, since)) = self.handshakes.open.remove(&number) {
            let handshake = handshake.handshake();
            self.handshaken(number, peer, local, since, handshake);
        }
    }

    fn handshaken(
        &mut self,
        number: usize,
        peer: SocketAddr,
        local: SocketAddr,
        since: Time,
        outcome: Result<
            tungstenite::WebSocket<TcpStream>,
            HandshakeError<ServerHandshake<TcpStream, NoCallback>>,
        >,
    ) {
        match outcome {
            Ok(socket) => self.open_websocket(socket, peer, local),
            Err(HandshakeError::Interrupted(handshake)) => {
                self.handshakes.open.insert(number, (handshake, peer, local, since));
            }
            Err(HandshakeError::Failure(error)) => tracing::info!(%peer, %error, "no WebSocket connection"),
        }
    }

    fn open_websocket(
        &mut self,
        socket: tungstenite::WebSocket<TcpStream>,
        peer: SocketAddr,
        local: SocketAddr,
    ) {
        let descriptor = socket.get_ref().as_raw_fd();
        let (scope, told) = scope_of(peer);
        let remote = FaceUri::from_address(Protocol::WebSocketClient, peer);
        let local = FaceUri::from_address(Protocol::WebSocket, local);
        let info = self.info(remote, local, told, FacePersistency::OnDemand);
        let socket = Rc::new(RefCell::new(WebSocket(socket)));
        let kind = PortKind::WebSocket(socket.clone());
        if let Some(face) = self.open(kind, scope, info, Peer::Ip(peer.ip())) {
            self.wait_for(face, descriptor, Reader::WebSocket(socket), true);
        }
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
