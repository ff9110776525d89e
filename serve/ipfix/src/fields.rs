//! Fields that a data record has.

use std::fmt;

/// A field of a [`FlowRecord`](crate::FlowRecord) that a data record may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowField {
    /// protocolIdentifier.
    Protocol,
    /// sourceTransportPort.
    SourcePort,
    /// destinationTransportPort.
    DestinationPort,
    /// flowEndReason, with a value of the registry.
    EndReason,
    /// Packets of the forward direction.
    Packets,
    /// Bytes of the forward direction.
    Bytes,
    /// TCP flags of the forward direction.
    TcpFlags,
    /// Time of the first packet of the forward direction.
    First,
    /// Time of the last packet of the forward direction.
    Last,
    /// Packets of the reverse direction.
    ReversePackets,
    /// Bytes of the reverse direction.
    ReverseBytes,
    /// TCP flags of the reverse direction.
    ReverseTcpFlags,
    /// Time of the first packet of the reverse direction.
    ReverseFirst,
    /// Time of the last packet of the reverse direction.
    ReverseLast,
}

/// Set of the fields that a data record has. In its [`FlowRecord`](crate::FlowRecord), other fields are as in
/// [`EMPTY`](crate::FlowRecord::EMPTY).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldSet(u16);

impl FieldSet {
    /// Tests if the record has the field.
    #[must_use]
    pub const fn has(self, field: FlowField) -> bool {
        self.0 & 1 << field as u16 != 0
    }

    pub(crate) const fn insert(&mut self, field: FlowField) {
        self.0 |= 1 << field as u16;
    }
}

/// Reason why data is no flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkipReason {
    /// A set of data records whose template is not known.
    NoTemplate,
    /// A record without a source or a destination address.
    NoAddresses,
    /// A record whose two addresses are of different IP versions.
    MixedVersions,
    /// A record of an options template.
    Options,
}

/// Words that follow a count.
impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoTemplate => "sets without their template",
            Self::NoAddresses => "records without two addresses",
            Self::MixedVersions => "records with addresses of two IP versions",
            Self::Options => "records of options",
        })
    }
}
