//! Messages between clients and the task that owns their connection.

use crate::packet::{ExpressError, OwnedData};
use hashlane_ndn::tlv::WireError;
use hashlane_ndn::wire::MAX_PACKET;
use hashlane_ndn::wire::lp::DigestField;
use hashlane_ndn::wire::{Data, DigestFunction, Interest, LpHeader, NackReason};
use std::fmt;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Receiver of the answer to an Interest.
pub(crate) enum Reply {
    One(oneshot::Sender<Outcome>),
    /// A sender of many Interests, with the number that it has given to this one.
    Numbered(u64, mpsc::UnboundedSender<(u64, Outcome)>),
}

pub(crate) type Outcome = Result<OwnedData, ExpressError>;

impl Reply {
    pub(crate) fn send(self, outcome: Outcome) {
        // The receiver may have stopped waiting.
        match self {
            Self::One(sender) => drop(sender.send(outcome)),
            Self::Numbered(number, sender) => drop(sender.send((number, outcome))),
        }
    }
}

/// A command to the task.
pub(crate) enum Command {
    /// Sends an Interest that has been checked, and waits for its Data.
    Express { packet: Vec<u8>, wait: Duration, reply: Reply },
    /// Sends a link packet.
    Send(Vec<u8>),
    /// Delivers Interests below a prefix, given as the value of its element, to `sink`. The reply is false if
    /// the prefix has a sink already.
    Listen { prefix: Vec<u8>, sink: mpsc::Sender<Incoming>, reply: oneshot::Sender<bool> },
    /// Ends the delivery of Interests below a prefix.
    Ignore { prefix: Vec<u8> },
    /// Adds a digest to each Interest from now on, in a header field of this type.
    Digest { function: DigestFunction, typ: u32 },
}

/// A received Interest.
pub struct Incoming {
    bytes: Vec<u8>,
    token: Vec<u8>,
    /// Type and value of its InterestDigest.
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
        let (bytes, token) = (interest.as_bytes().to_vec(), header.pit_token.to_vec());
        Self { bytes, token, digest: (typ, value.to_vec()), commands }
    }

    /// Link header of an answer.
    pub(crate) fn header(&self) -> LpHeader<'_> {
        let digest = DigestField::new(self.digest.0, &self.digest.1);
        LpHeader { pit_token: &self.token, digest, ..LpHeader::default() }
    }

    /// The Interest.
    ///
    /// # Panics
    /// Never: the packet has been checked.
    pub fn interest(&self) -> Interest<'_> {
        Interest::parse(&self.bytes).expect("a packet that was checked")
    }

    /// Answers with Data. The PIT token and the InterestDigest of the Interest go back with it.
    ///
    /// # Errors
    /// `data` is not a Data packet or is too long, or the connection was closed.
    pub async fn reply(&self, data: &[u8]) -> Result<(), SendError> {
        let data = Data::parse(data).map_err(SendError::Data)?;
        send(&self.commands, data.as_bytes(), self.header()).await
    }

    /// Answers with a Nack.
    ///
    /// # Errors
    /// The connection was closed.
    pub async fn nack(&self, reason: NackReason) -> Result<(), SendError> {
        send(&self.commands, &self.bytes, LpHeader { nack: Some(reason), ..self.header() }).await
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Incoming({})", self.interest().name())
    }
}

pub(crate) async fn send(
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

/// Error of sending Data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The bytes are not a Data packet.
    #[error("not a Data packet: {0}")]
    Data(WireError),
    /// The packet is longer than [`MAX_PACKET`].
    #[error("the Data has {len} bytes, more than the {MAX_PACKET} of a packet; divide it into segments")]
    TooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// The connection was closed.
    #[error("the connection to the forwarder was closed")]
    Closed,
}
