//! Owned Data packets, validators, and errors of Interests.

use hashlane_ndn::tlv::WireError;
use hashlane_ndn::wire::data::APPLICATION_NACK;
use hashlane_ndn::wire::{Data, NackReason, SignatureType};
use sha2::{Digest, Sha256};
use std::fmt;
use std::time::Duration;

/// A Data packet.
#[derive(Clone, PartialEq, Eq)]
pub struct OwnedData {
    bytes: Vec<u8>,
    congested: bool,
}

impl OwnedData {
    /// Parses `bytes`, which must be exactly one Data packet.
    ///
    /// # Errors
    /// The first rule that the bytes break.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, WireError> {
        Data::parse(&bytes)?;
        Ok(Self { bytes, congested: false })
    }

    /// A packet that has been parsed.
    pub(crate) fn checked(data: &Data<'_>, congested: bool) -> Self {
        Self { bytes: data.as_bytes().to_vec(), congested }
    }

    /// The packet as a view.
    ///
    /// # Panics
    /// Never: the packet has been checked.
    pub fn view(&self) -> Data<'_> {
        Data::parse(&self.bytes).expect("a packet that was checked")
    }

    /// The packet.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// True if the packet has a congestion mark.
    pub fn congested(&self) -> bool {
        self.congested
    }
}

impl fmt::Debug for OwnedData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let data = self.view();
        write!(f, "Data({}, {} bytes)", data.name(), data.content().len())
    }
}

/// Error of an Interest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpressError {
    /// No answer came in time.
    #[error(fmt = write_timeout)]
    Timeout {
        /// Time waited for each Interest.
        waited: Duration,
        /// Interests that were sent.
        sent: u32,
    },
    /// The forwarder answered with a Nack.
    #[error(fmt = write_nack)]
    Nack(NackReason),
    /// The validator refused the Data, for this reason.
    #[error("the Data was refused: {0}")]
    Invalid(String),
    /// The bytes are not an Interest.
    #[error("not an Interest: {0}")]
    Interest(WireError),
    /// The Interest is longer than a packet may be.
    #[error("the Interest has {len} bytes, more than the {} of a packet", hashlane_ndn::wire::MAX_PACKET)]
    TooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// The connection was closed.
    #[error("the connection to the forwarder was closed")]
    Closed,
}

fn write_timeout(waited: &Duration, sent: &u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let ms = waited.as_millis();
    match sent {
        1 => write!(f, "no answer within {ms} ms"),
        _ => write!(f, "no answer to {sent} Interests within {ms} ms each"),
    }
}

fn write_nack(reason: &NackReason, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *reason {
        NackReason::NO_ROUTE => {
            f.write_str("the forwarder has no route for this name (Nack: NoRoute); is its producer running?")
        }
        _ => write!(f, "the forwarder rejected the Interest (Nack: {reason})"),
    }
}

/// A validator of Data. The error is the reason of the refusal.
pub type Validate<'a> = dyn Fn(&Data<'_>) -> Result<(), String> + Send + Sync + 'a;

/// Refuses Data with a wrong SHA-256 digest. Accepts all other Data without verifying its signature.
///
/// # Errors
/// The digest is wrong.
pub fn intact(data: &Data<'_>) -> Result<(), String> {
    let is_digest = data.signature_info().signature_type == SignatureType::DIGEST_SHA256;
    if is_digest && Sha256::digest(data.signed_portion()).as_slice() != data.signature_value() {
        return Err("its SHA-256 digest does not match its bytes".into());
    }
    Ok(())
}

/// True if the Data is an application Nack: the producer reports that the name does not exist.
pub fn is_application_nack(data: &Data<'_>) -> bool {
    data.content_type() == APPLICATION_NACK
}
