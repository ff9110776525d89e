//! TCP connections that the forwarder makes: for faces/create, and for permanent faces that lost theirs.

use super::faces::{Faces, scope_of};
use super::port::{Port, PortKind};
use super::reader::stream_ends;
use super::socket::{self, Stream};
use super::token::SocketKind;
use crate::management::{FaceOptions, FaceOutcome, Peer, Report, Ticket};
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn::mgmt::values::FacePersistency;
use hashlane_ndn::time::Time;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::pit::Pit;
use mio::net::TcpStream;
use mio::{Interest, Registry};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;

/// Time limit of a connection attempt, in milliseconds: as in NFD, whose tools wait that long for the answer.
const TIME_LIMIT: u64 = 8000;

/// Attempts that may be open at once.
const MAX_CONNECTING: usize = 256;

/// Open connection attempts, by the number of their token.
pub(super) struct Dialer {
    connecting: HashMap<usize, Connecting>,
    next: usize,
    registry: Registry,
}

/// A connection attempt.
struct Connecting {
    stream: TcpStream,
    remote: SocketAddr,
    purpose: Purpose,
    since: Time,
}

/// Purpose of a connection attempt.
enum Purpose {
    /// A face for a faces/create command.
    Create { ticket: Ticket, options: FaceOptions },
    /// A new connection for a permanent face.
    Reconnect(FaceId),
}

impl Dialer {
    /// No attempts yet. Their events are registered with `registry`.
    pub(super) fn new(registry: Registry) -> Self {
        Self { connecting: HashMap::new(), next: 0, registry }
    }

    /// Begins to connect for a faces/create command. The face is reported when the attempt has ended.
    pub(super) fn create_face<P: Pit>(
        &mut self,
        ticket: Ticket,
        remote: SocketAddr,
        options: FaceOptions,
        faces: &mut Faces<P>,
    ) {
        self.dial(remote, Purpose::Create { ticket, options }, faces);
    }

    /// Begins to connect the permanent faces whose next attempt is due.
    pub(super) fn reconnect<P: Pit>(&mut self, faces: &mut Faces<P>) {
        let ports = &faces.pipeline.ports;
        let due = |port: &Port| {
            let connection = port.connection.filter(|connection| connection.is_due(ports.now))?;
            Some((port.face, connection.remote))
        };
        let due: Vec<_> = ports.iter().filter_map(due).collect();
        for (face, remote) in due {
            if let Some(port) = faces.pipeline.ports.find_mut(face)
                && let Some(connection) = &mut port.connection
            {
                connection.started();
            }
            self.dial(remote, Purpose::Reconnect(face), faces);
        }
    }

    fn dial<P: Pit>(&mut self, remote: SocketAddr, purpose: Purpose, faces: &mut Faces<P>) {
        if self.connecting.len() >= MAX_CONNECTING {
            let text = format!("{MAX_CONNECTING} connection attempts are open already; try again");
            return fail(purpose, text, faces);
        }
        let number = self.next;
        self.next = (number + 1) & SocketKind::MAX_NUMBER;
        let stream = TcpStream::connect(remote).and_then(|mut stream| {
            self.registry.register(&mut stream, SocketKind::Connecting.token(number), Interest::WRITABLE)?;
            Ok(stream)
        });
        match stream {
            Ok(stream) => {
                let since = faces.pipeline.ports.now;
                self.connecting.insert(number, Connecting { stream, remote, purpose, since });
            }
            Err(error) => fail(purpose, format!("cannot connect to {remote}: {error}"), faces),
        }
    }

    /// Handles an event of an attempt: the connection is open, or the attempt has failed.
    pub(super) fn handle_event<P: Pit>(&mut self, number: usize, faces: &mut Faces<P>) {
        // The attempt may have ended after the event.
        let Some(connecting) = self.connecting.remove(&number) else { return };
        let error = match connecting.stream.take_error() {
            Ok(None) => match connecting.stream.peer_addr() {
                Ok(_) => return self.connected(connecting, faces),
                Err(error) if error.kind() == io::ErrorKind::NotConnected => {
                    self.connecting.insert(number, connecting);
                    return;
                }
                Err(error) => error,
            },
            Ok(Some(error)) | Err(error) => error,
        };
        let text = format!("cannot connect to {}: {error}", connecting.remote);
        fail(connecting.purpose, text, faces);
    }

    fn connected<P: Pit>(&mut self, connecting: Connecting, faces: &mut Faces<P>) {
        let Connecting { mut stream, remote, purpose, .. } = connecting;
        // The connection gets the token of its face below; that registration reports a failure.
        let _ = self.registry.deregister(&mut stream);
        let local = match stream.local_addr() {
            Ok(local) => local,
            Err(error) => return fail(purpose, format!("cannot connect to {remote}: {error}"), faces),
        };
        match purpose {
            Purpose::Create { ticket, options } => {
                let outcome = created(stream, [local, remote], &options, faces);
                faces.reports.add(Report::FaceCreated { ticket, outcome });
            }
            Purpose::Reconnect(face) => resume(face, stream, local, faces),
        }
    }

    /// Ends the attempts that take too long.
    pub(super) fn expire<P: Pit>(&mut self, faces: &mut Faces<P>) {
        let now = faces.pipeline.ports.now;
        let late = |_: &usize, connecting: &mut Connecting| {
            now.since(connecting.since).as_millis() >= u128::from(TIME_LIMIT)
        };
        for (_, Connecting { remote, purpose, .. }) in self.connecting.extract_if(late).collect::<Vec<_>>() {
            let text = format!("{remote} has not answered within {} s", TIME_LIMIT / 1000);
            fail(purpose, text, faces);
        }
    }
}

/// Handles a failed attempt: reports it, or schedules the next one.
fn fail<P: Pit>(purpose: Purpose, text: String, faces: &mut Faces<P>) {
    match purpose {
        Purpose::Create { ticket, .. } => {
            let outcome = FaceOutcome::Failed { code: 504, text };
            faces.reports.add(Report::FaceCreated { ticket, outcome });
        }
        Purpose::Reconnect(face) => {
            let ports = &mut faces.pipeline.ports;
            let now = ports.now;
            // The face may have been destroyed meanwhile.
            if let Some(connection) = ports.find_mut(face).and_then(|port| port.connection.as_mut()) {
                let pause = connection.retry_later(now);
                tracing::debug!(face = face.0, why = text, retry_ms = pause, "cannot reconnect");
            }
        }
    }
}

/// Opens the face of a faces/create command.
fn created<P: Pit>(
    stream: TcpStream,
    [local, remote]: [SocketAddr; 2],
    options: &FaceOptions,
    faces: &mut Faces<P>,
) -> FaceOutcome {
    // Another command for the same peer may have been faster.
    let has_it = |port: &&Port| port.connection.is_some_and(|connection| connection.remote == remote);
    let existing = faces.pipeline.ports.iter().find(has_it).map(|port| port.face);
    if let Some(face) = existing {
        return FaceOutcome::Exists(face.0.into());
    }
    let options = with_persistency(options);
    match faces.open_tcp(stream, remote, local, scope_of(remote), &options, Peer::Ip(remote.ip())) {
        Some(face) => FaceOutcome::Created(face.0.into()),
        None => FaceOutcome::limit_reached(),
    }
}

/// Options of a faces/create command: a face is persistent unless the command says otherwise.
pub(super) fn with_persistency(options: &FaceOptions) -> FaceOptions {
    let persistency = options.persistency.or(Some(FacePersistency::Persistent));
    FaceOptions { persistency, ..*options }
}

/// Gives a permanent face its new connection.
fn resume<P: Pit>(face: FaceId, stream: TcpStream, local: SocketAddr, faces: &mut Faces<P>) {
    let ports = &mut faces.pipeline.ports;
    let now = ports.now;
    // The face may have been destroyed meanwhile.
    let Some(port) = ports.find_mut(face) else { return };
    let Some(connection) = &mut port.connection else {
        debug_assert!(false, "a face that is reconnected has a connection");
        return;
    };
    connection.resumed(now);
    socket::prepare(&stream);
    tracing::info!(face = face.0, remote = %connection.remote, "connected again");
    let (kind, reader, descriptor) = stream_ends(Stream::Tcp(stream));
    port.connect(kind);
    let local = Some(FaceUri::from_address(Protocol::Tcp, local));
    faces.reports.add(Report::FaceLink { face: face.0.into(), local });
    faces.start_reading(face, descriptor, reader);
}

/// Changes the persistency of a TCP face. A face without a connection stays open only if it is permanent.
pub(super) fn set_persistency<P: Pit>(face: FaceId, persistency: FacePersistency, faces: &mut Faces<P>) {
    // The face may have been destroyed meanwhile.
    let Some(port) = faces.pipeline.ports.find_mut(face) else { return };
    let is_down = matches!(port.kind, PortKind::Down);
    // Only TCP faces have one.
    let Some(connection) = &mut port.connection else { return };
    connection.is_permanent = persistency == FacePersistency::Permanent;
    if is_down && !connection.is_permanent {
        faces.close(face, "not connected, and no longer permanent");
    }
}
