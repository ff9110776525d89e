//! In-records and out-records of a PIT entry.

use crate::face::FaceId;
use alloc::boxed::Box;
use alloc::vec::Vec;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::PitToken;
use hashlane_table::share::ItemId;
use smallvec::SmallVec;

/// In-record: an Interest received from a downstream.
#[derive(Clone, Debug)]
pub struct InRecord {
    /// Downstream face.
    pub face: FaceId,
    /// Number of the record in the account book of the PIT; [`ItemId::NONE`] outside a forwarder.
    pub item: ItemId,
    /// Nonce of the last Interest.
    pub nonce: u32,
    /// Time at which the lifetime of the last Interest ends.
    pub expires: Time,
    /// PIT token to return to the downstream.
    pub token: PitToken,
    /// True if the last Interest must not be flooded: its NonDiscovery field.
    pub non_discovery: bool,
    /// Interest as received, if its forwarding hint was removed because it reached the producer's region: a
    /// Nack contains the Interest that the downstream sent.
    pub hinted: Option<Box<Vec<u8>>>,
}

/// Out-record: an Interest sent to an upstream.
#[derive(Clone, Copy, Debug)]
pub struct OutRecord {
    /// Upstream face.
    pub face: FaceId,
    /// Nonce of the last Interest.
    pub nonce: u32,
    /// Time at which the last Interest was sent.
    pub sent: Time,
    /// Time at which the lifetime of the last Interest ends.
    pub expires: Time,
    /// Reason of the Nack from this upstream, if it sent one.
    pub nack: Option<hashlane_ndn::wire::NackReason>,
    /// Suppression interval of the strategy, in milliseconds.
    pub suppression: u32,
    /// True if the last Interest was sent along routes and must not be flooded: its NonDiscovery field,
    /// which local faces do not get.
    pub non_discovery: bool,
}

/// Records of an entry.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// In-records.
    pub ins: SmallVec<[InRecord; 1]>,
    /// Out-records.
    pub outs: SmallVec<[OutRecord; 1]>,
    /// Time at which the entry expires.
    pub expires: Time,
    /// Suppression interval of the strategy, in milliseconds.
    pub suppression: u32,
}

impl Records {
    /// In-record of a face.
    #[inline]
    pub fn in_record(&self, face: FaceId) -> Option<&InRecord> {
        self.ins.iter().find(|record| record.face == face)
    }

    /// Out-record of a face.
    #[inline]
    pub fn out_record(&self, face: FaceId) -> Option<&OutRecord> {
        self.outs.iter().find(|record| record.face == face)
    }

    /// Memory of the records in bytes, without their place in the table.
    pub(super) fn memory(&self) -> usize {
        let ins = if self.ins.spilled() { self.ins.capacity() * size_of::<InRecord>() } else { 0 };
        let outs = if self.outs.spilled() { self.outs.capacity() * size_of::<OutRecord>() } else { 0 };
        let hinted = self.ins.iter().filter_map(|record| record.hinted.as_ref());
        ins + outs + hinted.map(|packet| size_of::<Vec<u8>>() + packet.capacity()).sum::<usize>()
    }

    /// True if an out-record has neither expired nor received a Nack.
    #[inline]
    pub fn is_pending(&self, now: Time) -> bool {
        self.outs.iter().any(|record| record.expires > now && record.nack.is_none())
    }
}

/// Most in-records, and most out-records, of an entry.
pub const MAX_RECORDS: usize = 1024;

/// Most entries with forwarding hints of one name, as they share one hash.
pub const MAX_HINTED: usize = 16;
