//! One connection to a forwarder, for any number of consumers and producers.

use crate::driver::{Command, Connection, Driver, Outcome, Reply, random_nonce, renew_nonce};
use crate::link::Link;
use crate::packet::{ExpressError, OwnedData, Validate, intact};
use crate::transport::{ConnectError, Transport};
use hashlane_ndn::tlv::WireError;
use hashlane_ndn::wire::lp::DigestField;
use hashlane_ndn::wire::{Data, DigestFunction, Interest, InterestBuilder, LpHeader, MAX_PACKET, NackReason};
use std::error::Error;
use std::fmt;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// Commands to the connection's task that wait at the most; then who sends another one waits.
const COMMANDS: usize = 256;

/// A connection to a forwarder. Clones share it; it ends when the last one is dropped and all is written.
///
/// Where the forwarder goes away, the connection is made again, as often as it takes: Interests that wait are then sent again, and
/// prefixes registered again.
#[derive(Clone)]
pub struct Client {
    commands: mpsc::Sender<Command>,
    connection: watch::Receiver<Connection>,
    transport: Transport,
}

/// How an Interest is expressed.
pub struct Express<'a> {
    /// How often it is sent again, with a new Nonce, where no answer comes.
    pub retries: u32,
    /// How long each is waited for; by default its lifetime.
    pub wait: Option<Duration>,
    /// What Data is accepted; by default [`intact`].
    pub validate: &'a Validate<'a>,
}

impl Default for Express<'_> {
    fn default() -> Self {
        Self { retries: 0, wait: None, validate: &intact }
    }
}

impl Client {
    /// Connects. The connection lives in a task of the runtime that this is called in.
    ///
    /// # Errors
    /// No forwarder answers there.
    pub async fn connect(transport: &Transport) -> Result<Self, ConnectError> {
        let link = Link::open(transport).await?;
        let (commands, receiver) = mpsc::channel(COMMANDS);
        let (sender, connection) = watch::channel(Connection { number: 1, is_local: link.is_local });
        let driver = Driver::new(transport.clone(), receiver, commands.downgrade(), sender);
        tokio::spawn(driver.run(link));
        Ok(Self { commands, connection, transport: transport.clone() })
    }

    /// Where the forwarder is.
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Whether the forwarder takes this for a connection of its own host: a Unix socket, or TCP to a loopback address, and never UDP.
    pub fn is_local(&self) -> bool {
        self.connection.borrow().is_local
    }

    /// How many connections there have been, this one included.
    pub(crate) fn connections(&self) -> watch::Receiver<Connection> {
        self.connection.clone()
    }

    /// Expresses an Interest, with a Nonce where it has none, and waits for its Data.
    ///
    /// # Errors
    /// Why no Data came, or none that was accepted.
    pub async fn express(
        &self,
        interest: &InterestBuilder<'_>,
        how: &Express<'_>,
    ) -> Result<OwnedData, ExpressError> {
        let interest =
            InterestBuilder { nonce: interest.nonce.or_else(|| Some(random_nonce())), ..interest.clone() };
        self.express_packet(interest.build(), how).await
    }

    /// As [`express`](Self::express), for an Interest that is encoded: a signed one.
    ///
    /// # Errors
    /// As `express`.
    pub async fn express_packet(
        &self,
        mut packet: Vec<u8>,
        how: &Express<'_>,
    ) -> Result<OwnedData, ExpressError> {
        let waited = how.wait.unwrap_or(Duration::from_millis(lifetime(&packet)?));
        for sent in 1..=how.retries.saturating_add(1) {
            let (sender, receiver) = oneshot::channel();
            self.send_interest(packet.clone(), waited, Reply::One(sender)).await?;
            match receiver.await.unwrap_or(Err(ExpressError::Closed)) {
                Err(ExpressError::Timeout { .. }) if sent <= how.retries => renew_nonce(&mut packet),
                Err(ExpressError::Timeout { .. }) => return Err(ExpressError::Timeout { waited, sent }),
                Err(error) => return Err(error),
                Ok(data) => {
                    (how.validate)(&data.view()).map_err(ExpressError::Invalid)?;
                    return Ok(data);
                }
            }
        }
        Err(ExpressError::Timeout { waited, sent: 0 })
    }

    /// Expresses an Interest whose answer goes, with `number`, to `sink`.
    pub(crate) async fn express_numbered(
        &self,
        packet: Vec<u8>,
        wait: Duration,
        number: u64,
        sink: &mpsc::UnboundedSender<(u64, Outcome)>,
    ) -> Result<(), ExpressError> {
        lifetime(&packet)?;
        self.send_interest(packet, wait, Reply::Numbered(number, sink.clone())).await
    }

    async fn send_interest(&self, packet: Vec<u8>, wait: Duration, reply: Reply) -> Result<(), ExpressError> {
        let command = Command::Express { packet, wait, reply };
        self.commands.send(command).await.map_err(|_| ExpressError::Closed)
    }

    /// Sends a Data packet that no Interest brought: to answer one, there is [`Incoming::reply`].
    ///
    /// # Errors
    /// It is too long, or the connection was closed.
    pub async fn put(&self, data: &Data<'_>) -> Result<(), SendError> {
        send(&self.commands, data.as_bytes(), LpHeader::default()).await
    }

    /// Lets each Interest that is sent from now on have an InterestDigest in its link header, of this type: for forwarders whose PIT is indexed by it.
    /// Without this the forwarder computes it.
    ///
    /// # Errors
    /// The connection was closed.
    pub async fn digest_interests(&self, function: DigestFunction, typ: u32) -> Result<(), SendError> {
        self.commands.send(Command::Digest { function, typ }).await.map_err(|_| SendError::Closed)
    }

    /// Takes Interests with names under `prefix`, the value of an encoded name; `None` where they are taken already.
    pub(crate) async fn listen(&self, prefix: &[u8], queue: usize) -> Option<mpsc::Receiver<Incoming>> {
        let (sink, incoming) = mpsc::channel(queue);
        let (reply, is_new) = oneshot::channel();
        self.commands.send(Command::Listen { prefix: prefix.to_vec(), sink, reply }).await.ok()?;
        is_new.await.ok()?.then_some(incoming)
    }

    /// Takes them no more.
    pub(crate) async fn ignore(&self, prefix: &[u8]) {
        // A connection that is closed brings none.
        drop(self.commands.send(Command::Ignore { prefix: prefix.to_vec() }).await);
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.transport)
    }
}

/// The lifetime of the Interest that `packet` must be.
fn lifetime(packet: &[u8]) -> Result<u64, ExpressError> {
    if packet.len() > MAX_PACKET {
        return Err(ExpressError::TooLong { len: packet.len() });
    }
    Ok(Interest::parse(packet).map_err(ExpressError::Interest)?.lifetime())
}

/// An Interest that came.
pub struct Incoming {
    octets: Vec<u8>,
    token: Vec<u8>,
    /// The type and the value of the InterestDigest that it had.
    digest: (u32, Vec<u8>),
    commands: mpsc::Sender<Command>,
}

impl Incoming {
    pub(crate) fn new(
        interest: &Interest<'_>,
        header: &LpHeader<'_>,
        commands: mpsc::Sender<Command>,
    ) -> Self {
        let DigestField { typ, value } = header.digest;
        let (octets, token) = (interest.as_bytes().to_vec(), header.pit_token.to_vec());
        Self { octets, token, digest: (typ, value.to_vec()), commands }
    }

    /// The header that goes back with what answers it.
    fn header(&self) -> LpHeader<'_> {
        let digest = DigestField::new(self.digest.0, &self.digest.1);
        LpHeader { pit_token: &self.token, digest, ..LpHeader::default() }
    }

    /// The Interest.
    ///
    /// # Panics
    /// Never: it has been checked.
    pub fn interest(&self) -> Interest<'_> {
        Interest::parse(&self.octets).expect("a packet that was checked")
    }

    /// Sends Data back, with the token that the forwarder wants with it, and the InterestDigest that the Interest had.
    ///
    /// # Errors
    /// It is no Data or too long, or the connection was closed.
    pub async fn reply(&self, data: &[u8]) -> Result<(), SendError> {
        let data = Data::parse(data).map_err(SendError::Data)?;
        send(&self.commands, data.as_bytes(), self.header()).await
    }

    /// Sends the Interest back, with the same: there is no answer, and why.
    ///
    /// # Errors
    /// The connection was closed.
    pub async fn nack(&self, reason: NackReason) -> Result<(), SendError> {
        send(&self.commands, &self.octets, LpHeader { nack: Some(reason), ..self.header() }).await
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Incoming({})", self.interest().name())
    }
}

async fn send(
    commands: &mpsc::Sender<Command>,
    packet: &[u8],
    header: LpHeader<'_>,
) -> Result<(), SendError> {
    if packet.len() > MAX_PACKET {
        return Err(SendError::TooLong { len: packet.len() });
    }
    let framed = [header.frame(packet.len()).as_bytes(), packet].concat();
    commands.send(Command::Send(framed)).await.map_err(|_| SendError::Closed)
}

/// Why Data could not be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// The octets are no Data packet.
    Data(WireError),
    /// It has more octets than a packet may have.
    TooLong {
        /// Its octets.
        len: usize,
    },
    /// The connection was closed.
    Closed,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(error) => write!(f, "this is no Data packet: {error}"),
            Self::TooLong { len } => {
                write!(f, "the Data has {len} octets, and {MAX_PACKET} are the most; divide it into segments")
            }
            Self::Closed => f.write_str("the connection to the forwarder was closed"),
        }
    }
}

impl Error for SendError {}
