//! Descriptions of responses.

use crate::wire::{Rcode, RecordType};

/// The kind of a response, as limits of rates and counters tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResponseKind {
    /// Records of the name, or of its alias.
    Positive,
    /// Records made of a wildcard.
    Wildcard,
    /// The name has no records of the type.
    NoData,
    /// No such name.
    NxDomain,
    /// Servers of a zone below.
    Referral,
    /// An error.
    Error,
    /// None: the datagram is dropped.
    Drop,
}

/// Description of a response that was written.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    /// Bytes of the message. 0: send nothing.
    pub len: usize,
    /// Result of the query.
    pub rcode: Rcode,
    /// Kind of the response.
    pub kind: ResponseKind,
    /// Labels of the question's name before the name that the records belong to: 0 if both names are equal;
    /// else a wildcard's parent, a delegation, the owner of a DNAME, or the closest encloser.
    pub below: usize,
    /// Number of the zone among the [entries](super::Zones::entries), if there is one.
    pub zone: Option<usize>,
    /// Type of the question, if it was read.
    pub rtype: Option<RecordType>,
    /// TC is set: records that belong to the response had no room.
    pub truncated: bool,
    /// The query has a valid cookie of this server: its source address is not forged.
    pub is_known: bool,
    /// The message is a NOTIFY, a query for a transfer, or signed (TSIG): a server that has transfers or keys
    /// replaces the response, which refuses the first two, and ignores the signature.
    pub is_special: bool,
}

impl Reply {
    pub(super) const DROP: Self = Self {
        len: 0,
        rcode: Rcode::NO_ERROR,
        kind: ResponseKind::Drop,
        below: 0,
        zone: None,
        rtype: None,
        truncated: false,
        is_known: false,
        is_special: false,
    };
}
