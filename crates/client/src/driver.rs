//! The task that owns the connection.
//!
//! It alone reads and writes the socket, and holds the Interests that wait for Data and the prefixes that Interests are wanted for. Whoever
//! has a [`Client`](crate::Client) sends it [`Command`]s over a bounded channel; it takes none while too much waits.

use crate::by_name::ByName;
use crate::client::Incoming;
use crate::link::Link;
use crate::packet::{ExpressError, OwnedData};
use crate::reassembly::Reassembly;
use crate::transport::{ConnectError, Transport};
use hashlane_name::walk::{Encoding, Walk};
use hashlane_ndn::tlv;
use hashlane_ndn::wire::lp::{DigestField, INTEREST_DIGEST};
use hashlane_ndn::wire::{Data, DigestFunction, Interest, LpHeader, LpPacket, NackReason};
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// Interests that wait for Data at the same time.
const MOST_PENDING: usize = 32_768;

/// Octets that wait to be written, over which no command is taken.
const MOST_QUEUED: usize = 1 << 20;

/// Commands that are taken at once.
const BATCH: usize = 64;

/// The first pause before a new attempt to connect, and the longest.
const PAUSE: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(3)];

/// How long an attempt to connect may take.
const CONNECT: Duration = Duration::from_secs(10);

/// Where the answer to an Interest goes.
pub(crate) enum Reply {
    One(oneshot::Sender<Outcome>),
    /// To one who has expressed many, with the number that this one was given.
    Numbered(u64, mpsc::UnboundedSender<(u64, Outcome)>),
}

pub(crate) type Outcome = Result<OwnedData, ExpressError>;

impl Reply {
    fn send(self, outcome: Outcome) {
        // Who does not wait any more has no use for it.
        match self {
            Self::One(sender) => drop(sender.send(outcome)),
            Self::Numbered(number, sender) => drop(sender.send((number, outcome))),
        }
    }
}

pub(crate) enum Command {
    /// An Interest that was checked, and how long to wait for its Data.
    Express { packet: Vec<u8>, wait: Duration, reply: Reply },
    /// A link packet.
    Send(Vec<u8>),
    /// Interests with names under a prefix (the value of its element) are wanted. The answer is whether none wanted them before.
    Listen { prefix: Vec<u8>, sink: mpsc::Sender<Incoming>, reply: oneshot::Sender<bool> },
    /// They are not wanted any more.
    Ignore { prefix: Vec<u8> },
    /// Interests have a digest from now on, in a header field of this type.
    Digest { function: DigestFunction, typ: u32 },
}

/// What stands between us and the forwarder.
enum State {
    Connected(Box<Link>),
    Connecting(Pin<Box<dyn Future<Output = Result<Link, ConnectError>> + Send>>),
}

/// What the client is told of the connection: how many there have been, and whether the forwarder is on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Connection {
    pub(crate) number: u64,
    pub(crate) is_local: bool,
}

pub(crate) struct Driver {
    transport: Transport,
    commands: mpsc::Receiver<Command>,
    connection: watch::Sender<Connection>,
    tables: Tables,
}

impl Driver {
    pub(crate) fn new(
        transport: Transport,
        commands: mpsc::Receiver<Command>,
        sender: mpsc::WeakSender<Command>,
        connection: watch::Sender<Connection>,
    ) -> Self {
        Self { transport, commands, connection, tables: Tables::new(sender) }
    }

    /// Runs until no client is left and all is written.
    pub(crate) async fn run(mut self, link: Link) {
        let mut state = State::Connected(Box::new(link));
        let mut pause = PAUSE[0];
        let mut open = true;
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            let now = Instant::now();
            self.tables.expire(now);
            let first = self.tables.first_deadline();
            let queued = match &state {
                State::Connected(link) => link.queued(),
                State::Connecting(_) => 0,
            };
            if !open && queued == 0 {
                return;
            }
            let room = open && queued < MOST_QUEUED && self.tables.pending.len() < MOST_PENDING;
            tokio::select! {
                taken = self.commands.recv_many(&mut batch, BATCH), if room => {
                    open = taken > 0;
                    batch.drain(..).for_each(|command| self.take(command, &mut state));
                }
                () = sleep_until(first.unwrap_or(now)), if first.is_some() => {}
                turned = turn(&mut state) => match turned {
                    Ok(None) => match &mut state {
                        State::Connected(link) => {
                            if self.tables.receive_all(link).is_err() {
                                state = self.connect(pause);
                                pause = (pause * 2).min(PAUSE[1]);
                            } else {
                                pause = PAUSE[0];
                            }
                        }
                        State::Connecting(_) => {}
                    },
                    Ok(Some(mut link)) => {
                        self.tables.express_again(&mut link);
                        self.connection.send_modify(|connection| {
                            connection.number += 1;
                            connection.is_local = link.is_local;
                        });
                        state = State::Connected(Box::new(link));
                    }
                    Err(_) if !open => return,
                    Err(_) => {
                        state = self.connect(pause);
                        pause = (pause * 2).min(PAUSE[1]);
                    }
                },
            }
        }
    }

    /// A connection after a pause.
    fn connect(&self, pause: Duration) -> State {
        let transport = self.transport.clone();
        State::Connecting(Box::pin(async move {
            sleep(pause).await;
            match timeout(CONNECT, Link::open(&transport)).await {
                Ok(opened) => opened,
                Err(_) => Err(ConnectError { transport, error: io::ErrorKind::TimedOut.into() }),
            }
        }))
    }

    fn take(&mut self, command: Command, state: &mut State) {
        let link = match state {
            State::Connected(link) => Some(link),
            State::Connecting(_) => None,
        };
        match command {
            Command::Express { packet, wait, reply } => {
                // Without a connection it is sent when there is one again.
                if let Some(link) = link {
                    self.tables.push(link, &packet);
                }
                self.tables.insert(packet, Instant::now() + wait, reply);
            }
            Command::Send(packet) => {
                if let Some(link) = link {
                    link.push(&[&packet]);
                }
            }
            Command::Digest { function, typ } => self.tables.digest = Some((function, typ)),
            Command::Listen { prefix, sink, reply } => {
                // Who has given up waiting has dropped the sink too.
                let _ = reply.send(self.tables.listen(prefix, sink));
            }
            Command::Ignore { prefix } => self.tables.sinks.remove(&prefix),
        }
    }
}

/// Waits for something to happen to the connection: packets may have come, or it is made.
async fn turn(state: &mut State) -> Result<Option<Link>, ConnectionLost> {
    match state {
        State::Connected(link) => link.turn().await.map(|()| None).map_err(|_| ConnectionLost),
        State::Connecting(opening) => opening.await.map(Some).map_err(|_| ConnectionLost),
    }
}

/// The connection is to be made again, whatever the reason.
struct ConnectionLost;

/// Interests that wait, and prefixes that Interests are wanted for.
struct Tables {
    sender: mpsc::WeakSender<Command>,
    reassembly: Reassembly,
    next_id: u64,
    pending: HashMap<u64, Pending>,
    /// The ids of the pending Interests, by the value of their name.
    by_name: ByName<BTreeSet<u64>>,
    deadlines: BTreeSet<(Instant, u64)>,
    /// Pending Interests whose name ends with an implicit digest.
    with_digest: usize,
    sinks: ByName<mpsc::Sender<Incoming>>,
    /// What Interests are digested with, and the type of the field.
    digest: Option<(DigestFunction, u32)>,
}

struct Pending {
    packet: Vec<u8>,
    name: Vec<u8>,
    can_be_prefix: bool,
    has_digest: bool,
    since: Instant,
    deadline: Instant,
    reply: Reply,
}

impl Tables {
    fn new(sender: mpsc::WeakSender<Command>) -> Self {
        Self {
            sender,
            reassembly: Reassembly::default(),
            next_id: 0,
            pending: HashMap::new(),
            by_name: ByName::new(),
            deadlines: BTreeSet::new(),
            with_digest: 0,
            sinks: ByName::new(),
            digest: None,
        }
    }

    fn insert(&mut self, packet: Vec<u8>, deadline: Instant, reply: Reply) {
        let interest = match Interest::parse(&packet) {
            Ok(interest) => interest,
            Err(error) => return reply.send(Err(ExpressError::Interest(error))),
        };
        let name = name_value(interest.name_bytes()).to_vec();
        let has_digest = ends_with_digest(&name);
        let can_be_prefix = interest.can_be_prefix();
        let id = self.next_id;
        self.next_id += 1;
        self.with_digest += usize::from(has_digest);
        match self.by_name.get_mut(&name) {
            Some(ids) => {
                ids.insert(id);
            }
            None => self.by_name.insert(name.clone(), BTreeSet::from([id])),
        }
        self.deadlines.insert((deadline, id));
        let since = Instant::now();
        self.pending.insert(id, Pending { packet, name, can_be_prefix, has_digest, since, deadline, reply });
    }

    fn remove(&mut self, id: u64) -> Option<Pending> {
        let pending = self.pending.remove(&id)?;
        self.deadlines.remove(&(pending.deadline, id));
        self.with_digest -= usize::from(pending.has_digest);
        if let Some(ids) = self.by_name.get_mut(&pending.name) {
            ids.remove(&id);
            if ids.is_empty() {
                self.by_name.remove(&pending.name);
            }
        }
        Some(pending)
    }

    fn first_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    fn expire(&mut self, now: Instant) {
        while let Some(&(deadline, id)) = self.deadlines.first()
            && deadline <= now
        {
            if let Some(pending) = self.remove(id) {
                let waited = deadline - pending.since;
                pending.reply.send(Err(ExpressError::Timeout { waited, sent: 1 }));
            }
        }
    }

    /// Sends all that waits over a new connection, with new Nonces.
    fn express_again(&mut self, link: &mut Link) {
        for pending in self.pending.values_mut() {
            renew_nonce(&mut pending.packet);
        }
        self.pending.values().for_each(|pending| self.push(link, &pending.packet));
    }

    /// Queues an Interest, with its digest where that is wanted.
    fn push(&self, link: &mut Link, packet: &[u8]) {
        let digest = self.digest.and_then(|(function, typ)| {
            let digest = function.digest(&Interest::parse(packet).ok()?);
            let digest = DigestField::new(typ, digest.as_bytes());
            Some(LpHeader { digest, ..LpHeader::default() }.frame(packet.len()))
        });
        link.push(&[digest.as_ref().map_or(&[], |frame| frame.as_bytes()), packet]);
    }

    fn listen(&mut self, prefix: Vec<u8>, sink: mpsc::Sender<Incoming>) -> bool {
        let is_free = self.sinks.get(&prefix).is_none_or(mpsc::Sender::is_closed);
        if is_free {
            self.sinks.insert(prefix, sink);
        }
        is_free
    }

    fn receive_all(&mut self, link: &mut Link) -> io::Result<()> {
        while let Some(packet) = link.next_packet()? {
            self.receive(packet);
        }
        Ok(())
    }

    /// Takes a link packet. What is broken is dropped: its sender has lost it, and sends it again.
    fn receive(&mut self, octets: &[u8]) {
        let Ok(packet) = LpPacket::parse(octets) else { return };
        if packet.header.is_fragmented() {
            if let Some(whole) = self.reassembly.take(&packet) {
                self.receive_network(&packet.header, &whole);
            }
        } else if !packet.fragment.is_empty() {
            self.receive_network(&packet.header, packet.fragment);
        }
    }

    fn receive_network(&mut self, header: &LpHeader<'_>, octets: &[u8]) {
        if let Ok(data) = Data::parse(octets) {
            self.receive_data(&data, header.congestion_mark > 0);
        } else if let Ok(interest) = Interest::parse(octets) {
            match header.nack {
                Some(reason) => self.receive_nack(&interest, reason),
                None => self.receive_interest(&interest, header),
            }
        }
    }

    fn receive_data(&mut self, data: &Data<'_>, congested: bool) {
        let name = name_value(data.name_bytes());
        let mut satisfied = Vec::new();
        let mut find = |key: &[u8], is_whole: bool| {
            for id in self.by_name.get(key).into_iter().flatten() {
                if is_whole || self.pending.get(id).is_some_and(|pending| pending.can_be_prefix) {
                    satisfied.push(*id);
                }
            }
        };
        find(&[], name.is_empty());
        for_each_prefix(data.name_bytes(), |end| {
            find(name.get(..end).unwrap_or_default(), end == name.len());
        });
        if self.with_digest > 0 {
            let mut full = name.to_vec();
            full.extend([1, 32]);
            full.extend(data.implicit_digest());
            find(&full, true);
        }
        for id in satisfied {
            if let Some(pending) = self.remove(id) {
                pending.reply.send(Ok(OwnedData::checked(data, congested)));
            }
        }
    }

    fn receive_nack(&mut self, interest: &Interest<'_>, reason: NackReason) {
        let ids = self.by_name.get(name_value(interest.name_bytes()));
        // An earlier Interest of the same name that came back late says nothing of this one.
        let same_nonce = |id: &&u64| {
            let pending = self.pending.get(id).and_then(|pending| Interest::parse(&pending.packet).ok());
            pending.is_some_and(|pending| pending.nonce() == interest.nonce())
        };
        let id = ids.into_iter().flatten().find(same_nonce).copied();
        if let Some(pending) = id.and_then(|id| self.remove(id)) {
            pending.reply.send(Err(ExpressError::Nack(reason)));
        }
    }

    /// Gives the Interest to who wants the longest prefix of its name. Where the queue is full it is lost, as it could be on any link.
    fn receive_interest(&mut self, interest: &Interest<'_>, header: &LpHeader<'_>) {
        let name = name_value(interest.name_bytes());
        let mut sink = self.sinks.get(&[][..]);
        for_each_prefix(interest.name_bytes(), |end| {
            sink = self.sinks.get(name.get(..end).unwrap_or_default()).or(sink);
        });
        if let (Some(sink), Some(sender)) = (sink, self.sender.upgrade()) {
            let typ = self.digest.map_or(INTEREST_DIGEST, |(_, typ)| typ);
            let digest = DigestField::new(typ, header.digest.of(typ));
            let header = LpHeader { digest, ..*header };
            drop(sink.try_send(Incoming::new(interest, &header, sender)));
        }
    }
}

/// The components of an encoded name.
pub(crate) fn name_value(name: &[u8]) -> &[u8] {
    tlv::single(name).map_or(&[], |name| name.value)
}

/// Calls `each` with the end of each component in the name's value.
fn for_each_prefix(name: &[u8], mut each: impl FnMut(usize)) {
    if let Ok(mut walk) = hashlane_name::ndn::Ndn::walk(name) {
        while let Ok(Some(end)) = walk.next_end() {
            each(end);
        }
    }
}

/// Whether the last component of a name, given as its value, is an implicit digest.
fn ends_with_digest(name: &[u8]) -> bool {
    let mut elements = tlv::Elements::new(name);
    let mut last = 0;
    while let Ok(Some(element)) = elements.next() {
        last = element.typ;
    }
    last == u32::from(hashlane_name::component::IMPLICIT_SHA256_DIGEST)
}

/// Gives a checked Interest another Nonce.
pub(crate) fn renew_nonce(packet: &mut [u8]) {
    let at = Interest::parse(packet).ok().and_then(|interest| interest.nonce_at());
    if let Some(room) = at.and_then(|at| packet.get_mut(at)) {
        room.copy_from_slice(&random_nonce().to_be_bytes());
    }
}

/// A Nonce.
pub(crate) fn random_nonce() -> u32 {
    // A system without randomness repeats Nonces, and its Interests are taken for loops: that is what can be told of it.
    getrandom::u32().unwrap_or_default()
}
