//! Changes that the first forwarding thread makes known to the others.

use super::datagrams::UdpPeer;
use crate::management::{TableRequest, Ticket};
use crate::plane::link_service::LinkOptions;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn_fw::face::{Face, FaceId};
use hashlane_ndn_fw::forward::Config;

/// A change of the tables of a worker, or a question to it.
#[derive(Debug)]
pub(crate) enum Control {
    /// Adds a face, which gets the id that it has at the first thread. Workers send to UDP peers themselves.
    AddFace(FaceId, Box<Face>, Option<UdpPeer>),
    /// Removes a face.
    RemoveFace(FaceId),
    /// Changes the options of a face.
    UpdateFace {
        face: FaceId,
        local_fields: bool,
        pit_tokens: bool,
        interest_digests: bool,
        link: LinkOptions,
    },
    /// Changes a table.
    Table(TableRequest),
    /// Replaces the limits.
    Configure(Box<Config>),
    /// Erases packets from the content stores, one shard after the other. The last one reports.
    Erasure(Erasure),
    /// Asks for the answer to the question which parties hold nothing.
    FindIdle,
    /// Ends the thread.
    End,
}

/// Erasure of packets from the content stores of several shards.
#[derive(Clone, Debug)]
pub(crate) struct Erasure {
    pub(crate) prefix: OwnedName<Ndn>,
    /// Packets that may still be erased.
    pub(crate) left: usize,
    /// Packets erased so far.
    pub(crate) count: usize,
    pub(crate) ticket: Ticket,
}
