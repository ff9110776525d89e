//! One connection to a forwarder, for any number of consumers and producers.

use crate::driver::{Connection, Driver};
use crate::link::Link;
use crate::message::{Command, Incoming, Outcome, Reply, SendError, send};
use crate::nonce::{random_nonce, renew_nonce};
use crate::packet::{ExpressError, OwnedData, Validate, intact};
use crate::transport::{ConnectError, Transport};
use hashlane_ndn::wire::MAX_PACKET;
use hashlane_ndn::wire::{Data, DigestFunction, Interest, InterestBuilder, LpHeader};
use std::fmt;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot, watch};

/// Most commands that wait for the connection's task. Senders of further ones wait.
const COMMANDS: usize = 256;

/// A connection to a forwarder. Clones share it. It ends when the last clone is dropped and everything is
/// written.
///
/// When the connection is lost, it is made again, with increasing pauses. Pending Interests are then sent
/// again, and prefixes registered again.
#[derive(Clone)]
pub struct Client {
    commands: mpsc::Sender<Command>,
    connection: watch::Receiver<Connection>,
    transport: Transport,
}

/// Options of an Interest.
pub struct Express<'a> {
    /// Retransmissions, each with a new Nonce, if no answer comes.
    pub retries: u32,
    /// Time to wait for an answer each time; by default the lifetime of the Interest.
    pub wait: Option<Duration>,
    /// Validator of the Data; by default [`intact`].
    pub validate: &'a Validate<'a>,
}

impl Default for Express<'_> {
    fn default() -> Self {
        Self { retries: 0, wait: None, validate: &intact }
    }
}

impl Client {
    /// Connects. The connection belongs to a task of the runtime that this is called in.
    ///
    /// # Errors
    /// The connection cannot be made.
    pub async fn connect(transport: &Transport) -> Result<Self, ConnectError> {
        Ok(Self::start(Link::open(transport).await?, transport))
    }

    /// Takes a byte stream that is connected for the connection to a forwarder of this host. If it is lost,
    /// the connection is made again by `transport`.
    pub fn over(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, transport: &Transport) -> Self {
        Self::start(Link::over(stream), transport)
    }

    fn start(link: Link, transport: &Transport) -> Self {
        let (commands, receiver) = mpsc::channel(COMMANDS);
        let (sender, connection) = watch::channel(Connection { number: 1, is_local: link.is_local });
        let driver = Driver::new(transport.clone(), receiver, commands.downgrade(), sender);
        tokio::spawn(driver.run(link));
        Self { commands, connection, transport: transport.clone() }
    }

    /// Address of the forwarder.
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// True if the forwarder takes this for a connection from its own host: over a Unix socket, or over TCP
    /// to a loopback address. UDP is never local.
    pub fn is_local(&self) -> bool {
        self.connection.borrow().is_local
    }

    /// State of the connection, for tasks that wait for a new one.
    pub(crate) fn connections(&self) -> watch::Receiver<Connection> {
        self.connection.clone()
    }

    /// Expresses an Interest and waits for its Data. Adds a Nonce if it has none.
    ///
    /// # Errors
    /// No Data came, or it was refused.
    pub async fn express(
        &self,
        interest: &InterestBuilder<'_>,
        how: &Express<'_>,
    ) -> Result<OwnedData, ExpressError> {
        let interest =
            InterestBuilder { nonce: interest.nonce.or_else(|| Some(random_nonce())), ..interest.clone() };
        self.express_packet(interest.build(), how).await
    }

    /// Expresses an encoded Interest, such as a signed one, like [`express`](Self::express).
    ///
    /// # Errors
    /// No Data came, or it was refused.
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

    /// Expresses an Interest. Its answer is sent to `sink` with `number`.
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

    /// Sends a Data packet without an Interest. To answer one, use [`Incoming::reply`].
    ///
    /// # Errors
    /// The packet is too long, or the connection was closed.
    pub async fn put(&self, data: &Data<'_>) -> Result<(), SendError> {
        send(&self.commands, data.as_bytes(), LpHeader::default()).await
    }

    /// Adds an InterestDigest of this type to the link header of each Interest from now on, for forwarders
    /// whose PIT is indexed by it. Without it the forwarder computes the digest.
    ///
    /// # Errors
    /// The connection was closed.
    pub async fn digest_interests(&self, function: DigestFunction, typ: u32) -> Result<(), SendError> {
        self.commands.send(Command::Digest { function, typ }).await.map_err(|_| SendError::Closed)
    }

    /// Receives Interests below `prefix`, the value of an encoded name. Returns `None` if the prefix has a
    /// receiver already.
    pub(crate) async fn listen(&self, prefix: &[u8], queue: usize) -> Option<mpsc::Receiver<Incoming>> {
        let (sink, incoming) = mpsc::channel(queue);
        let (reply, is_new) = oneshot::channel();
        self.commands.send(Command::Listen { prefix: prefix.to_vec(), sink, reply }).await.ok()?;
        is_new.await.ok()?.then_some(incoming)
    }

    /// Ends [`listen`](Self::listen).
    pub(crate) async fn ignore(&self, prefix: &[u8]) {
        // A closed connection delivers none.
        drop(self.commands.send(Command::Ignore { prefix: prefix.to_vec() }).await);
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.transport)
    }
}

/// Lifetime of the Interest in `packet`, in milliseconds.
fn lifetime(packet: &[u8]) -> Result<u64, ExpressError> {
    if packet.len() > MAX_PACKET {
        return Err(ExpressError::TooLong { len: packet.len() });
    }
    Ok(Interest::parse(packet).map_err(ExpressError::Interest)?.lifetime())
}
