//! The thread that tells secondaries of new versions (NOTIFY, RFC 1996), and repeats it until they answer.

use super::counts::Counts;
use super::peers::Peer;
use super::random::random_id;
use super::receipt::{Outcome, Receipt};
use crate::clock::unix_seconds;
use hashlane_dns::wire::{Flags, Message, Opcode, Rcode};
use hashlane_name::dns::NameBuf;
use hashlane_transfer::notify::{TRIES, patience, request};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Interval at which responses are looked for while some are awaited.
const TICK: Duration = Duration::from_millis(50);

/// Messages that are awaited at most: news beyond it wait in the queue of the thread.
const AWAITED: usize = 10_000;

/// Datagrams that are taken from a socket before messages are sent: anyone can send them.
const TAKEN: usize = if cfg!(test) { 64 } else { 1024 };

/// A new version of a zone.
#[derive(Debug)]
pub(crate) struct News {
    pub(crate) apex: NameBuf,
    pub(crate) serial: u32,
    /// TTL and data of the SOA record.
    pub(crate) soa: (u32, Vec<u8>),
    /// Servers to tell, and where their outcomes are noted.
    pub(crate) peers: Vec<(Peer, Arc<Receipt>)>,
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
    receipt: Arc<Receipt>,
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
    counts: Arc<Counts>,
}

impl Notifier {
    pub(crate) fn new(news: Receiver<News>, counts: Arc<Counts>) -> Self {
        Self { news, sockets: Sockets::default(), awaited: Vec::new(), counts }
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
        for (peer, receipt) in peers {
            let id = random_id().unwrap_or_default();
            let again = Instant::now();
            let (soa, answers) = (soa.clone(), answers.clone());
            self.awaited.push(Awaited { apex, serial, soa, peer, id, tried: 0, again, answers, receipt });
        }
    }

    /// Sends what is due.
    fn repeat(&mut self) {
        let now = Instant::now();
        let Self { sockets, awaited, counts, .. } = self;
        awaited.retain_mut(|awaited| {
            if awaited.again > now {
                return true;
            }
            if awaited.tried == TRIES {
                let (zone, peer, serial) = (&awaited.apex, awaited.peer.address, awaited.serial);
                tracing::warn!(%zone, %peer, serial, "no answer to NOTIFY");
                awaited.end(None, counts);
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
        let Self { sockets, awaited, counts, .. } = self;
        let mut buffer = [0; 512];
        for socket in sockets.0.values() {
            for _ in 0..TAKEN {
                let Ok((len, from)) = socket.recv_from(&mut buffer) else { break };
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
                    answered.end(Some(rcode), counts);
                }
            }
        }
    }
}

impl Awaited {
    /// Notes the outcome, and hands it to the client that waits for it.
    fn end(&self, rcode: Option<Rcode>, counts: &Counts) {
        counts.notified(rcode);
        self.receipt.set(Outcome { serial: self.serial, rcode });
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]
mod tests {
    use super::*;
    use hashlane_name::dns::text;
    use std::sync::mpsc::channel;

    #[test]
    fn a_secondary_that_never_answers_is_noted_after_the_last_try() {
        let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
        let peer = Peer { address: silent.local_addr().unwrap(), source: None, tls: None, key: None };
        let (receipt, counts) = (Arc::<Receipt>::default(), Arc::<Counts>::default());
        let mut notifier = Notifier::new(channel().1, Arc::clone(&counts));
        let apex = text::parse(b"example").unwrap();
        let peers = vec![(peer, Arc::clone(&receipt))];
        notifier.begin(News { apex, serial: 7, soa: (0, vec![0; 22]), peers, answers: None });
        for tried in 1..=TRIES {
            notifier.repeat();
            silent.recv_from(&mut [0; 512]).unwrap();
            assert_eq!((notifier.awaited[0].tried, receipt.get()), (tried, None));
            // As if the time for an answer had passed.
            notifier.awaited[0].again = Instant::now();
        }
        notifier.repeat();
        assert!(notifier.awaited.is_empty());
        assert_eq!(receipt.get(), Some(Outcome { serial: 7, rcode: None }));
        assert_eq!((counts.sums().notify_unanswered, counts.sums().notify_taken), (1, 0));
    }

    #[test]
    fn a_flood_of_responses_leaves_time_for_messages() {
        let peer = Peer { address: ([127, 0, 0, 1], 53).into(), source: None, tls: None, key: None };
        let mut notifier = Notifier::new(channel().1, Arc::default());
        let port = notifier.sockets.of(&peer).unwrap().local_addr().unwrap().port();
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        for _ in 0..TAKEN + 1 {
            stranger.send_to(b"no response", ("127.0.0.1", port)).unwrap();
        }
        notifier.receive();
        let socket = notifier.sockets.of(&peer).unwrap();
        assert!(socket.recv_from(&mut [0; 512]).is_ok(), "one more waits");
        assert!(socket.recv_from(&mut [0; 512]).is_err());
    }
}
