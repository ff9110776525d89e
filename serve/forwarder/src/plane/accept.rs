//! Listeners: Unix, TCP and WebSocket connections that applications and neighbours make.

use super::faces::{Faces, scope_of};
use super::handshake::Handshakes;
use super::listen::unix_uri;
use super::ready::{Class, Ready};
use super::socket::Stream;
use super::token::SocketKind;
use crate::management::{FaceOptions, Over, Peer};
use hashlane_link::unix::{self, peer_credentials};
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::values::{FacePersistency, FaceScope};
use hashlane_ndn_fw::pit::Pit;
use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Registry};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// Connections that one listener accepts in one turn.
const ACCEPTS: usize = 64;

/// Connections with TLS that one listener accepts in one turn: a handshake takes up to a millisecond.
const TLS_ACCEPTS: usize = 4;

/// The listening sockets, by the numbers of their tokens.
pub(super) struct Listeners {
    unix: Vec<(unix::Listener, PathBuf)>,
    tcp: Vec<TcpListener>,
    websocket: Vec<(TcpListener, Protocol)>,
    /// True if connections wait that could not be accepted, for example for want of file descriptors.
    failed: bool,
    /// True once the failure is logged.
    logged: bool,
}

impl Listeners {
    /// Registers the events of all listeners.
    ///
    /// # Errors
    /// The error of the first one that cannot be registered.
    pub(super) fn new(
        registry: &Registry,
        mut unix: Vec<(unix::Listener, PathBuf)>,
        mut tcp: Vec<TcpListener>,
        mut websocket: Vec<(TcpListener, Protocol)>,
    ) -> io::Result<Self> {
        for (number, (listener, _)) in unix.iter_mut().enumerate() {
            registry.register(listener, SocketKind::Unix.token(number), Interest::READABLE)?;
        }
        for (number, listener) in tcp.iter_mut().enumerate() {
            registry.register(listener, SocketKind::Tcp.token(number), Interest::READABLE)?;
        }
        for (number, (listener, _)) in websocket.iter_mut().enumerate() {
            registry.register(listener, SocketKind::WebSocket.token(number), Interest::READABLE)?;
        }
        Ok(Self { unix, tcp, websocket, failed: false, logged: false })
    }

    /// Closes all listeners.
    pub(super) fn close(&mut self) {
        self.unix.clear();
        self.tcp.clear();
        self.websocket.clear();
    }

    /// Schedules all listeners again if one has failed: no event reports its connections a second time.
    pub(super) fn retry(&mut self, ready: &mut Ready) {
        if std::mem::take(&mut self.failed) {
            let mut again = |kind: SocketKind, class, sockets: usize| {
                (0..sockets).for_each(|number| ready.push(kind.token(number), class));
            };
            again(SocketKind::Unix, Class::First, self.unix.len());
            again(SocketKind::Tcp, Class::Quiet, self.tcp.len());
            again(SocketKind::WebSocket, Class::Quiet, self.websocket.len());
        } else if std::mem::take(&mut self.logged) {
            tracing::info!("accepting connections again");
        }
    }

    /// Accepts connections of a Unix socket for one turn. Returns true if there may be more.
    pub(super) fn accept_unix<P: Pit>(&mut self, number: usize, faces: &mut Faces<P>) -> bool {
        // Listeners are closed when the thread is about to end; an event may have come before.
        let Some((listener, path)) = self.unix.get(number) else { return false };
        for _ in 0..ACCEPTS {
            match listener.accept() {
                Ok(Some(stream)) => {
                    // The peer has closed the connection already.
                    let Ok(credentials) = peer_credentials(&stream) else { continue };
                    let remote = FaceUri::Fd(stream.as_raw_fd() as u32);
                    let info = faces.info(remote, unix_uri(path), FaceScope::Local);
                    let peer = Peer::User { uid: credentials.uid, over: Over::Unix };
                    faces.open_stream(Stream::Unix(stream), info, peer);
                }
                Ok(None) => return false,
                Err(error) => {
                    let path = path.to_string_lossy().into_owned();
                    return self.fail(&path, &error);
                }
            }
        }
        true
    }

    /// Accepts connections of a TCP port for one turn. Returns true if there may be more.
    pub(super) fn accept_tcp<P: Pit>(&mut self, number: usize, faces: &mut Faces<P>) -> bool {
        // As in `accept_unix`.
        let Some(listener) = self.tcp.get(number) else { return false };
        for _ in 0..ACCEPTS {
            match listener.accept() {
                Ok((stream, peer)) => {
                    // The peer has closed the connection already.
                    let Ok(local) = stream.local_addr() else { continue };
                    let persistency = Some(FacePersistency::OnDemand);
                    let options = FaceOptions { persistency, ..FaceOptions::default() };
                    let (scope, user) = party_at(&stream, local, peer, faces.config.tcp.loopback);
                    faces.open_tcp(stream, peer, local, scope, &options, user);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(error) if is_of_connection(&error) => {}
                Err(error) => return self.fail("TCP", &error),
            }
        }
        true
    }

    /// Accepts connections of a WebSocket port for one turn. Returns true if there may be more.
    pub(super) fn accept_websocket<P: Pit>(
        &mut self,
        number: usize,
        handshakes: &mut Handshakes,
        faces: &mut Faces<P>,
        ready: &mut Ready,
    ) -> bool {
        // As in `accept_unix`.
        let Some((listener, protocol)) = self.websocket.get(number) else { return false };
        let accepts = if *protocol == Protocol::WebSocketTls { TLS_ACCEPTS } else { ACCEPTS };
        for _ in 0..accepts {
            match listener.accept() {
                Ok((stream, peer)) => {
                    // The peer has closed the connection already.
                    let Ok(local) = stream.local_addr() else { continue };
                    let party = party_at(&stream, local, peer, faces.config.websocket.loopback);
                    // A connection whose events cannot be registered is closed.
                    let ends = (FaceUri::from_address(*protocol, local), peer);
                    let _ = handshakes.begin(stream, ends, party, faces, ready);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(error) if is_of_connection(&error) => {}
                Err(error) => return self.fail("WebSocket", &error),
            }
        }
        true
    }

    /// Logs once that a connection could not be accepted. The next sweep tries again.
    fn fail(&mut self, listener: &str, error: &io::Error) -> bool {
        if !std::mem::replace(&mut self.logged, true) {
            tracing::warn!(listener, %error, "cannot accept connections; retrying every second");
        }
        self.failed = true;
        false
    }
}

/// Scope of an accepted connection, and the party at its other end: the user, if it is of this host. Without
/// `loopback`, a connection from a loopback address counts as one of another host.
fn party_at(stream: &TcpStream, local: SocketAddr, peer: SocketAddr, loopback: bool) -> (FaceScope, Peer) {
    let address = peer.ip();
    if !loopback || scope_of(peer) == FaceScope::NonLocal {
        return (FaceScope::NonLocal, Peer::Ip(address));
    }
    let user = match hashlane_link::tcp::loopback_user(stream, local, peer) {
        Ok(uid) => Peer::User { uid, over: Over::Loopback },
        Err(error) => Peer::Unidentified { address, why: error.to_string().into() },
    };
    (FaceScope::Local, user)
}

/// True for the error of one connection, which is gone; false for an error of the listener.
fn is_of_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted
    )
}
