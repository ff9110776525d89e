//! WebSocket connections in their handshake.

use super::faces::{Faces, owner_of};
use super::origin::{Headers, NoteHeaders};
use super::reader::websocket_ends;
use super::ready::{Class, Ready};
use super::socket::{self, Metered, WebSocket, limits};
use super::token::SocketKind;
use super::wire::Wire;
use crate::management::Peer;
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::values::FaceScope;
use hashlane_ndn::time::Time;
use hashlane_ndn_fw::pit::Pit;
use hashlane_table::share::{Holder, ItemId, Ledger, Limits, Owner};
use mio::net::TcpStream;
use mio::{Interest, Registry};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use tungstenite::handshake::{HandshakeError, MidHandshake, server::ServerHandshake};

/// Handshakes that may be open at once. A quarter of them is for local users.
const MAX_HANDSHAKES: u64 = 256;

/// Time limit of a handshake, in milliseconds.
const TIME_LIMIT: u64 = 10_000;

type Handshake = ServerHandshake<Metered, NoteHeaders>;

/// WebSocket connections in their handshake, by the number of their token.
pub(super) struct Handshakes {
    open: HashMap<usize, (MidHandshake<Handshake>, Visitor)>,
    next: usize,
    /// Open handshakes of each party. The values are numbers of tokens.
    ledger: Ledger,
    /// Items of the ledger, by the number of the token.
    items: HashMap<usize, (ItemId, Holder)>,
    registry: Registry,
}

/// The other end of a connection.
struct Visitor {
    peer: SocketAddr,
    /// Scope of the connection, and the user at its other end, when it was accepted.
    party: (FaceScope, Peer),
    /// URI of the listener.
    local: FaceUri,
    since: Time,
    /// Headers of the request, once it has been read.
    headers: Headers,
}

impl Handshakes {
    /// No handshakes yet. Their events are registered with `registry`.
    pub(super) fn new(registry: Registry) -> Self {
        let ledger = Ledger::new(Limits::new(MAX_HANDSHAKES));
        Self { open: HashMap::new(), next: 0, ledger, items: HashMap::new(), registry }
    }

    /// Makes room for a handshake, if need be in place of the oldest one of the party that has most. Returns
    /// false if that is the newcomer.
    fn admit<P: Pit>(&mut self, number: usize, owner: Owner, faces: &mut Faces<P>) -> bool {
        let holder = faces.holders.acquire(owner);
        let item = self.ledger.add(holder, 1, number as u32);
        self.items.insert(number, (item, holder));
        while let Some(victim) = self.ledger.excess() {
            let victim = victim.value as usize;
            self.open.remove(&victim);
            self.leave(victim, faces);
            let counters = faces.pipeline.forwarder.counters();
            if victim == number {
                counters.refused_faces.add(1);
                return false;
            }
            counters.evicted_connections.add(1);
        }
        true
    }

    /// Gives the place of a handshake back, if it has ended.
    fn leave<P: Pit>(&mut self, number: usize, faces: &mut Faces<P>) {
        if !self.open.contains_key(&number)
            && let Some((item, holder)) = self.items.remove(&number)
        {
            self.ledger.remove(item);
            faces.holders.release(holder);
        }
    }

    /// Begins the handshake of an accepted connection.
    ///
    /// # Errors
    /// The events of the connection cannot be registered.
    pub(super) fn begin<P: Pit>(
        &mut self,
        mut stream: TcpStream,
        (local, peer): (FaceUri, SocketAddr),
        party: (FaceScope, Peer),
        faces: &mut Faces<P>,
        ready: &mut Ready,
    ) -> io::Result<()> {
        socket::prepare(&stream);
        let number = self.next;
        self.next = (number + 1) & SocketKind::MAX_NUMBER;
        let token = SocketKind::Handshake.token(number);
        self.registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        if !self.admit(number, owner_of(party.0, Some(peer), &party.1), faces) {
            return Ok(());
        }
        let (since, headers) = (faces.pipeline.ports.now, Headers::default());
        let note = headers.note();
        let wire = match (&faces.tls, local.scheme()) {
            (Some(tls), "wss") => Wire::tls(stream, tls.config.clone()),
            (None, "wss") => {
                debug_assert!(false, "a listener with TLS has a certificate");
                Err(io::Error::other("no certificate"))
            }
            _ => Ok(Wire::Plain(stream)),
        };
        let visitor = Visitor { peer, party, local, since, headers };
        let stream = match wire {
            Ok(wire) => Metered::unbounded(wire),
            Err(error) => {
                self.leave(number, faces);
                return Err(error);
            }
        };
        let outcome = tungstenite::accept_hdr_with_config(stream, note, Some(limits()));
        self.handle(number, visitor, outcome, faces, ready);
        self.leave(number, faces);
        Ok(())
    }

    /// Continues a handshake whose connection has an event.
    pub(super) fn continue_handshake<P: Pit>(
        &mut self,
        number: usize,
        faces: &mut Faces<P>,
        ready: &mut Ready,
    ) {
        // It may have ended after the event.
        if let Some((handshake, visitor)) = self.open.remove(&number) {
            let outcome = handshake.handshake();
            self.handle(number, visitor, outcome, faces, ready);
            self.leave(number, faces);
        }
    }

    /// Closes the connections whose handshake takes too long.
    pub(super) fn expire<P: Pit>(&mut self, faces: &mut Faces<P>) {
        let now = faces.pipeline.ports.now;
        let is_late = |visitor: &Visitor| now.since(visitor.since).as_millis() >= u128::from(TIME_LIMIT);
        let late: Vec<usize> = self
            .open
            .iter()
            .filter(|(_, (_, visitor))| is_late(visitor))
            .map(|(number, _)| *number)
            .collect();
        for number in late {
            self.open.remove(&number);
            self.leave(number, faces);
        }
    }

    fn handle<P: Pit>(
        &mut self,
        number: usize,
        visitor: Visitor,
        outcome: Result<tungstenite::WebSocket<Metered>, HandshakeError<Handshake>>,
        faces: &mut Faces<P>,
        ready: &mut Ready,
    ) {
        match outcome {
            Ok(socket) => self.open_face(WebSocket(socket), visitor, faces, ready),
            Err(HandshakeError::Interrupted(handshake)) => {
                self.open.insert(number, (handshake, visitor));
            }
            Err(HandshakeError::Failure(error)) if faces.log.lines.admits(Owner::of(visitor.peer.ip())) => {
                tracing::info!(peer = %visitor.peer, %error, "WebSocket handshake failed");
            }
            Err(HandshakeError::Failure(_)) => {}
        }
    }

    fn open_face<P: Pit>(
        &mut self,
        mut socket: WebSocket,
        visitor: Visitor,
        faces: &mut Faces<P>,
        ready: &mut Ready,
    ) {
        let Visitor { peer, party, local, headers, .. } = visitor;
        // The connection gets the token of its face below; that registration reports a failure.
        let _ = self.registry.deregister(socket.connection());
        let remote = FaceUri::from_address(Protocol::WebSocketClient, peer);
        let (scope, user) = match (party, headers.stranger(&faces.config.websocket.origins)) {
            // A proxy of this host connects for somebody else.
            _ if headers.is_forwarded() => (FaceScope::NonLocal, Peer::Ip(peer.ip())),
            ((scope, _), Some(origin)) => (scope, Peer::Page { address: peer.ip(), origin }),
            (party, None) => party,
        };
        let info = faces.info(remote, local, scope);
        let (kind, reader, descriptor) = websocket_ends(socket);
        if let Some(face) = faces.open(kind, info, user)
            && let Some(face) = faces.start_reading(face, descriptor, reader)
            && let Some(slot) = face.slot()
        {
            // The handshake may have read the first messages; no event reports them.
            ready.push(SocketKind::Face.token(slot), Class::Quiet);
        }
    }
}
