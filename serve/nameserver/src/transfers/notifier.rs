//! The thread that tells secondaries of new versions (NOTIFY, RFC 1996), and repeats it until they answer.

use super::peers::Peer;
use super::random::random_id;
use crate::clock::unix_seconds;
use hashlane_dns::wire::{Flags, Message, Opcode, Rcode};
use hashlane_name::dns::NameBuf;
use hashlane_transfer::notify::{TRIES, patience, request};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Interval at which responses are looked for while some are awaited.
const TICK: Duration = Duration::from_millis(50);

/// Messages that are awaited at most: news beyond it wait in the queue of the thread.
const AWAITED: usize = 10_000;

/// A new version of a zone.
#[derive(Debug)]
pub(crate) struct News {
    pub(crate) apex: NameBuf,
    pub(crate) serial: u32,
    /// TTL and data of the SOA record.
    pub(crate) soa: (u32, Vec<u8>),
    pub(crate) peers: Vec<Peer>,
    /// Receives the answers.
    pub(crate) answers: Option<Sender<Answer>>,
}

/// The answer of a server that was told: its response code, or none to the last message.
pub(crate) type Answer = (SocketAddr, Option<Rcode>);

/// A NOTIFY without an answer.
struct Awaited {
    apex: NameBuf,
    serial: u32,
    soa: (u32, Vec<u8>),
    peer: Peer,
    id: u16,
    tried: u32,
    again: Instant,
    answers: Option<Sender<Answer>>,
}

/// Sockets by the addresses that they send from, which a reload may change.
#[derive(Default)]
struct Sockets(HashMap<IpAddr, UdpSocket>);

impl Sockets {
    /// The socket for a peer.
    ///
    /// # Errors
    /// The host has no such address, or no descriptor is left.
    fn of(&mut self, peer: &Peer) -> io::Result<&UdpSocket> {
        let source = peer.source.unwrap_or(match peer.address.is_ipv4() {
            true => Ipv4Addr::UNSPECIFIED.into(),
            false => Ipv6Addr::UNSPECIFIED.into(),
        });
        match self.0.entry(source) {
            Entry::Occupied(socket) => Ok(socket.into_mut()),
            Entry::Vacant(place) => {
                let socket = UdpSocket::bind((source, 0))?;
                socket.set_nonblocking(true)?;
                Ok(place.insert(socket))
            }
        }
    }
}

/// The thread.
pub(crate) struct Notifier {
    news: Receiver<News>,
    sockets: Sockets,
    awaited: Vec<Awaited>,
}

impl Notifier {
    pub(crate) fn new(news: Receiver<News>) -> Self {
        Self { news, sockets: Sockets::default(), awaited: Vec::new() }
    }

    /// Tells of news until the server ends.
    pub(crate) fn run(mut self) {
        loop {
            let news = match self.awaited.len() {
                0 => self.news.recv().map_err(|_| RecvTimeoutError::Disconnected),
                AWAITED.. => Err(RecvTimeoutError::Timeout),
                _ => self.news.recv_timeout(TICK),
            };
            match news {
                Ok(news) => self.begin(news),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) if self.awaited.len() >= AWAITED => std::thread::sleep(TICK),
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.receive();
            self.repeat();
        }
    }

    fn begin(&mut self, News { apex, serial, soa, peers, answers }: News) {
        // An older version is no news any more.
        self.awaited.retain(|awaited| !awaited.apex.view().eq_ignore_case(apex.view()));
        for peer in peers {
            let id = random_id().unwrap_or_default();
            let again = Instant::now();
            let (soa, answers) = (soa.clone(), answers.clone());
            self.awaited.push(Awaited { apex, serial, soa, peer, id, tried: 0, again, answers });
        }
    }

    /// Sends what is due.
    fn repeat(&mut self) {
        let now = Instant::now();
        let Self { sockets, awaited, .. } = self;
        awaited.retain_mut(|awaited| {
            if awaited.again > now {
                return true;
            }
            if awaited.tried == TRIES {
                let (zone, peer, serial) = (&awaited.apex, awaited.peer.address, awaited.serial);
                tracing::warn!(%zone, %peer, serial, "no answer to NOTIFY");
                awaited.answered(None);
                return false;
            }
            if let Err(error) = awaited.send(sockets) {
                tracing::debug!(peer = %awaited.peer.address, %error, "NOTIFY");
            }
            awaited.again = now + Duration::from_secs(patience(awaited.tried));
            awaited.tried += 1;
            true
        });
    }

    /// Takes the responses that have come.
    fn receive(&mut self) {
        let Self { sockets, awaited, .. } = self;
        let mut buffer = [0; 512];
        for socket in sockets.0.values() {
            while let Ok((len, from)) = socket.recv_from(&mut buffer) {
                let Some(message) = buffer.get(..len).and_then(|bytes| Message::parse(bytes).ok()) else {
                    continue;
                };
                let header = message.header();
                if !header.flags.contains(Flags::RESPONSE) || header.flags.opcode() != Opcode::NOTIFY {
                    continue;
                }
                // A forged response ends the repetition, no more: secondaries ask at the refresh.
                let is = |awaited: &Awaited| awaited.id == header.id && awaited.peer.address == from;
                if let Some(at) = awaited.iter().position(is) {
                    let answered = awaited.swap_remove(at);
                    let (zone, serial, rcode) = (&answered.apex, answered.serial, header.flags.rcode());
                    tracing::info!(%zone, peer = %from, serial, %rcode, "NOTIFY answered");
                    answered.answered(Some(rcode));
                }
            }
        }
    }
}

impl Awaited {
    /// Hands the answer to the client that waits for it.
    fn answered(&self, rcode: Option<Rcode>) {
        if let Some(answers) = &self.answers {
            // The client may have gone.
            let _ = answers.send((self.peer.address, rcode));
        }
    }

    fn send(&self, sockets: &mut Sockets) -> io::Result<()> {
        let socket = sockets.of(&self.peer)?;
        let mut message = request(self.apex.view(), self.id, Some((self.soa.0, &self.soa.1)));
        if let Some(key) = &self.peer.key {
            // The response is not verified: see `receive`.
            let _ = key.sign(&mut message, unix_seconds());
        }
        socket.send_to(&message, self.peer.address).map(drop)
    }
}
