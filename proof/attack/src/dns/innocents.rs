//! Clients that ask at a steady rate throughout an attack: over UDP, over a connection, and over new ones,
//! with and without TLS.

use super::messages::{self, framed};
use super::server::NAMES;
use crate::attacker;
use crate::innocents::Clock;
use crate::stats::Tally;
use crate::verdict::{Phase, Service};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Address of the innocents: another /24 network than any of the attacker's.
const INNOCENT: Ipv4Addr = Ipv4Addr::new(127, 68, 0, 2);

/// UDP ports, so that innocents meet each worker of the server.
const PORTS: usize = 4;

/// Time after which a query without a response is lost.
const PATIENCE: Duration = Duration::from_secs(1);

/// Queries a second of one port, and of the connection.
const RATE: u32 = 50;

/// New connections a second.
const NEW: u32 = 20;

/// Waits of less become this: a timeout of 0 would be none.
const TICK: Duration = Duration::from_millis(1);

/// Opens a port or a connection.
type Open = Arc<dyn Fn() -> io::Result<Wire> + Send + Sync>;

/// DNS over TLS at a server.
#[derive(Clone)]
pub(super) struct Dot {
    pub(super) address: SocketAddr,
    pub(super) name: ServerName<'static>,
    pub(super) config: Arc<ClientConfig>,
}

/// Innocents at work, until the clock says that it is over.
pub(super) struct Innocents(Vec<JoinHandle<Service>>);

impl Innocents {
    /// Starts to ask a server over UDP, and over TCP and TLS on request.
    pub(super) fn start(server: SocketAddr, over_tcp: bool, dot: Option<Dot>, clock: &Clock) -> Self {
        let mut threads = Vec::new();
        let mut add = |who: &'static str, work: fn(Open, &'static str, &Clock) -> Service, open: Open| {
            let clock = clock.clone();
            threads.push(thread::spawn(move || work(open, who, &clock)));
        };
        let client = |open: Open, who: &'static str, clock: &Clock| Client::new(open).run(who, clock);
        (0..PORTS).for_each(|_| add("UDP", client, Arc::new(move || Wire::udp(server))));
        if over_tcp {
            add("TCP", client, Arc::new(move || Wire::tcp(server)));
            add("new TCP", newcomers, Arc::new(move || Wire::tcp(server)));
        }
        if let Some(dot) = dot {
            let again = dot.clone();
            add("TLS", client, Arc::new(move || Wire::tls(&dot)));
            add("new TLS", newcomers, Arc::new(move || Wire::tls(&again)));
        }
        Self(threads)
    }

    /// Waits for the last responses. Returns one service of all UDP ports, and those over TCP.
    ///
    /// # Errors
    /// A thread has panicked.
    pub(super) fn finish(self) -> Result<Vec<Service>, String> {
        let mut services: Vec<Service> = Vec::new();
        for thread in self.0 {
            let service = thread.join().map_err(|_| "an innocent has panicked".to_owned())?;
            match services.iter_mut().find(|known| known.who == service.who) {
                Some(known) => known.add(service),
                None => services.push(service),
            }
        }
        Ok(services)
    }
}

/// A UDP port or a connection.
enum Wire {
    Udp(UdpSocket),
    /// With what was received of the next response.
    Tcp(TcpStream, Vec<u8>),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>, Vec<u8>),
}

impl Wire {
    fn udp(server: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind((INNOCENT, 0))?;
        socket.connect(server)?;
        Ok(Self::Udp(socket))
    }

    fn tcp(server: SocketAddr) -> io::Result<Self> {
        let stream = attacker::connect(INNOCENT, server)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self::Tcp(stream, Vec::new()))
    }

    /// Finishes a handshake.
    fn tls(Dot { address, name, config }: &Dot) -> io::Result<Self> {
        let mut stream = attacker::connect(INNOCENT, *address)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let session = ClientConnection::new(Arc::clone(config), name.clone());
        let mut session = session.map_err(io::Error::other)?;
        while session.is_handshaking() {
            session.complete_io(&mut stream)?;
        }
        Ok(Self::Tls(Box::new(StreamOwned::new(session, stream)), Vec::new()))
    }

    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        match self {
            Self::Udp(socket) => socket.send(message).map(|_| ()),
            Self::Tcp(stream, _) => stream.write_all(&framed(message)),
            Self::Tls(stream, _) => stream.write_all(&framed(message)).and_then(|()| stream.flush()),
        }
    }

    /// The next message, if one comes within `wait`.
    fn receive(&mut self, wait: Duration) -> io::Result<Option<Vec<u8>>> {
        let mut buffer = [0; 4096];
        let wait = Some(wait.max(TICK));
        let read = match self {
            Self::Udp(socket) => socket.set_read_timeout(wait).and_then(|()| socket.recv(&mut buffer)),
            Self::Tcp(stream, rest) => {
                if let Some(message) = take_message(rest) {
                    return Ok(Some(message));
                }
                stream.set_read_timeout(wait).and_then(|()| stream.read(&mut buffer))
            }
            Self::Tls(stream, rest) => {
                if let Some(message) = take_message(rest) {
                    return Ok(Some(message));
                }
                stream.sock.set_read_timeout(wait).and_then(|()| stream.read(&mut buffer))
            }
        };
        let bytes = match read {
            Ok(length) => buffer.get(..length).unwrap_or_default(),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        match self {
            Self::Udp(_) => Ok(Some(bytes.to_vec())),
            _ if bytes.is_empty() => Err(ErrorKind::UnexpectedEof.into()),
            Self::Tcp(_, rest) | Self::Tls(_, rest) => {
                rest.extend_from_slice(bytes);
                Ok(take_message(rest))
            }
        }
    }
}

/// Removes the first message of received bytes, if it is complete.
fn take_message(bytes: &mut Vec<u8>) -> Option<Vec<u8>> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    let message = rest.get(..usize::from(u16::from_be_bytes(*length)))?.to_vec();
    bytes.drain(..2 + message.len());
    Some(message)
}

/// A query without a response so far.
struct Pending {
    id: u16,
    phase: Phase,
    sent: Instant,
}

/// One port or connection, and its queries.
struct Client {
    open: Open,
    wire: Option<Wire>,
    pending: Vec<Pending>,
    tallies: [Tally; Phase::COUNT],
    asked: u32,
}

impl Client {
    fn new(open: Open) -> Self {
        let (pending, tallies) = (Vec::new(), Default::default());
        Self { open, wire: None, pending, tallies, asked: 0 }
    }

    /// Asks until the last phase ends, and the last responses have come or are overdue.
    fn run(mut self, who: &'static str, clock: &Clock) -> Service {
        let pause = Duration::from_secs(1) / RATE;
        let mut next = Instant::now();
        loop {
            let (phase, now) = (clock.phase(), Instant::now());
            self.pending.retain(|pending| now.duration_since(pending.sent) < PATIENCE);
            if phase == Phase::End && self.pending.is_empty() {
                return Service { who, tallies: self.tallies };
            }
            if phase != Phase::End && now >= next {
                self.ask(phase);
                // After a standstill of this process, queries are not made up for all at once.
                next = (next + pause).max(now.checked_sub(10 * pause).unwrap_or(now));
            }
            self.listen(next.saturating_duration_since(now).min(pause).max(TICK));
        }
    }

    fn ask(&mut self, phase: Phase) {
        let (id, query) = next_query(&mut self.asked);
        if let Some(tally) = self.tallies.get_mut(phase as usize) {
            tally.sent += 1;
        }
        self.pending.push(Pending { id, phase, sent: Instant::now() });
        if self.wire.is_none() {
            self.wire = (self.open)().ok();
        }
        // Without a way to the server, every query is lost.
        if self.wire.as_mut().is_some_and(|wire| wire.send(&query).is_err()) {
            self.wire = None;
        }
    }

    fn listen(&mut self, wait: Duration) {
        let Some(wire) = &mut self.wire else { return thread::sleep(wait) };
        match wire.receive(wait) {
            Ok(Some(message)) => self.take(&message),
            Ok(None) => {}
            Err(_) => self.wire = None,
        }
    }

    fn take(&mut self, message: &[u8]) {
        let Some(id) = messages::id(message).filter(|_| messages::is_answer(message)) else { return };
        let Some(at) = self.pending.iter().position(|pending| pending.id == id) else { return };
        let pending = self.pending.remove(at);
        let took = pending.sent.elapsed();
        if let Some(tally) = self.tallies.get_mut(pending.phase as usize)
            && took < PATIENCE
        {
            tally.add_answer(took);
        }
    }
}

/// Asks over a new connection each time, the time of its handshake included.
fn newcomers(open: Open, who: &'static str, clock: &Clock) -> Service {
    let mut tallies: [Tally; Phase::COUNT] = Default::default();
    let mut asked = 0;
    let begun = Instant::now();
    while clock.phase() != Phase::End {
        let (phase, sent) = (clock.phase(), Instant::now());
        let (id, query) = next_query(&mut asked);
        let is_answered = ask_once(&open, id, &query).is_ok_and(|answered| answered);
        if let Some(tally) = tallies.get_mut(phase as usize) {
            tally.sent += 1;
            if is_answered && sent.elapsed() < PATIENCE {
                tally.add_answer(sent.elapsed());
            }
        }
        attacker::pace(begun, asked as usize, NEW);
    }
    Service { who, tallies }
}

/// Asks over a new connection. Returns true if the response is an answer.
fn ask_once(open: &Open, expected: u16, query: &[u8]) -> io::Result<bool> {
    let begun = Instant::now();
    let mut wire = open()?;
    wire.send(query)?;
    while begun.elapsed() < PATIENCE {
        if let Some(message) = wire.receive(PATIENCE.saturating_sub(begun.elapsed()))? {
            return Ok(messages::id(&message) == Some(expected) && messages::is_answer(&message));
        }
    }
    Ok(false)
}

/// The next query and its id.
fn next_query(asked: &mut u32) -> (u16, Vec<u8>) {
    let (id, name) = (*asked as u16, format!("www{}", *asked % NAMES));
    *asked += 1;
    (id, messages::query(id, &[&name], messages::A))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_a_stream_are_taken_when_they_are_complete() {
        let mut bytes = b"\0\x03abc\0\x02d".to_vec();
        assert_eq!(take_message(&mut bytes), Some(b"abc".to_vec()));
        assert_eq!(take_message(&mut bytes), None);
        bytes.push(b'e');
        assert_eq!(take_message(&mut bytes), Some(b"de".to_vec()));
        assert!(bytes.is_empty());
    }
}
