//! Packets that own their octets, and what becomes of an Interest.

use hashlane_ndn::tlv::WireError;
use hashlane_ndn::wire::data::APPLICATION_NACK;
use hashlane_ndn::wire::{Data, NackReason, SignatureType};
use sha2::{Digest, Sha256};
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// A Data packet.
#[derive(Clone, PartialEq, Eq)]
pub struct OwnedData {
    octets: Vec<u8>,
    congested: bool,
}

impl OwnedData {
    /// Checks `octets`, which must be exactly one Data packet.
    ///
    /// # Errors
    /// The first rule that they break.
    pub fn parse(octets: Vec<u8>) -> Result<Self, WireError> {
        Data::parse(&octets)?;
        Ok(Self { octets, congested: false })
    }

    /// A packet that has been parsed.
    pub(crate) fn checked(data: &Data<'_>, congested: bool) -> Self {
        Self { octets: data.as_bytes().to_vec(), congested }
    }

    /// The packet as a view.
    ///
    /// # Panics
    /// Never: it has been checked.
    pub fn view(&self) -> Data<'_> {
        Data::parse(&self.octets).expect("a packet that was checked")
    }

    /// The packet.
    pub fn as_bytes(&self) -> &[u8] {
        &self.octets
    }

    /// Whether it came over a link that was congested.
    pub fn congested(&self) -> bool {
        self.congested
    }
}

impl fmt::Debug for OwnedData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let data = self.view();
        write!(f, "Data({}, {} octets)", data.name(), data.content().len())
    }
}

/// Why an Interest brought no Data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpressError {
    /// No answer came in time.
    Timeout {
        /// How long each Interest was waited for.
        waited: Duration,
        /// How many were sent.
        sent: u32,
    },
    /// The forwarder sent it back.
    Nack(NackReason),
    /// The validator refused the Data, and said why.
    Invalid(String),
    /// The octets are no Interest.
    Interest(WireError),
    /// The Interest has more octets than a packet may have.
    TooLong {
        /// Its octets.
        len: usize,
    },
    /// The connection was closed.
    Closed,
}

impl fmt::Display for ExpressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout { waited, sent: 1 } => write!(f, "no answer within {} ms", waited.as_millis()),
            Self::Timeout { waited, sent } => {
                write!(f, "no answer to {sent} Interests, each waited for {} ms", waited.as_millis())
            }
            Self::Nack(NackReason::NO_ROUTE) => f.write_str(
                "the forwarder has no route for this name (Nack: NoRoute); is its producer running?",
            ),
            Self::Nack(reason) => write!(f, "the forwarder sent the Interest back (Nack: {reason})"),
            Self::Invalid(rule) => write!(f, "the Data was refused: {rule}"),
            Self::Interest(error) => write!(f, "this is no Interest: {error}"),
            Self::TooLong { len } => {
                write!(
                    f,
                    "the Interest has {len} octets, and {} are the most",
                    hashlane_ndn::wire::MAX_PACKET
                )
            }
            Self::Closed => f.write_str("the connection to the forwarder was closed"),
        }
    }
}

impl Error for ExpressError {}

/// Accepts Data or says why not.
pub type Validate<'a> = dyn Fn(&Data<'_>) -> Result<(), String> + Send + Sync + 'a;

/// Refuses Data that is signed with a digest which is not its digest; accepts all other Data without a look at its signature.
///
/// # Errors
/// What is wrong.
pub fn intact(data: &Data<'_>) -> Result<(), String> {
    let is_digest = data.signature_info().signature_type == SignatureType::DIGEST_SHA256;
    if is_digest && Sha256::digest(data.signed_portion()).as_slice() != data.signature_value() {
        return Err("its SHA-256 digest is not that of its octets".into());
    }
    Ok(())
}

/// Whether the producer says by this Data that there is nothing of the name.
pub fn is_application_nack(data: &Data<'_>) -> bool {
    data.content_type() == APPLICATION_NACK
}
