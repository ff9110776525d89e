//! What an entry records of the faces it came from and went to.

use crate::face::{FaceId, Scope};
use alloc::boxed::Box;
use alloc::vec::Vec;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::PitToken;
use smallvec::SmallVec;

/// An Interest that came from a face.
#[derive(Clone, Debug)]
pub struct InRecord {
    /// The face.
    pub face: FaceId,
    /// The scope of the face, which it keeps when the face is gone.
    pub scope: Scope,
    /// The Nonce it had, the last time.
    pub nonce: u32,
    /// When its lifetime ends.
    pub expires: Time,
    /// What the face wants back.
    pub token: PitToken,
    /// The Interest as it came, where it had a forwarding hint that has arrived, and the entry's has none: a Nack must state what the face sent.
    pub hinted: Option<Box<Vec<u8>>>,
}

/// An Interest that went to a face.
#[derive(Clone, Copy, Debug)]
pub struct OutRecord {
    /// The face.
    pub face: FaceId,
    /// The Nonce it had, the last time.
    pub nonce: u32,
    /// When it went, the last time.
    pub sent: Time,
    /// When its lifetime ends.
    pub expires: Time,
    /// That it came back, and why.
    pub nack: Option<hashlane_ndn::wire::NackReason>,
    /// For how long a retransmission is held back, in milliseconds; for the strategy.
    pub suppression: u32,
}

/// The records of an entry.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// Faces it came from.
    pub ins: SmallVec<[InRecord; 1]>,
    /// Faces it went to.
    pub outs: SmallVec<[OutRecord; 1]>,
    /// When the entry ends.
    pub expires: Time,
    /// For how long a retransmission is held back, in milliseconds; for the strategy.
    pub suppression: u32,
}

impl Records {
    /// The record of this face, if it came from there.
    #[inline]
    pub fn in_record(&self, face: FaceId) -> Option<&InRecord> {
        self.ins.iter().find(|record| record.face == face)
    }

    /// The record of this face, if it went there.
    #[inline]
    pub fn out_record(&self, face: FaceId) -> Option<&OutRecord> {
        self.outs.iter().find(|record| record.face == face)
    }

    /// Bytes of memory that the records take besides their place in the table.
    pub(super) fn memory(&self) -> usize {
        let ins = if self.ins.spilled() { self.ins.capacity() * size_of::<InRecord>() } else { 0 };
        let outs = if self.outs.spilled() { self.outs.capacity() * size_of::<OutRecord>() } else { 0 };
        let hinted = self.ins.iter().filter_map(|record| record.hinted.as_ref());
        ins + outs + hinted.map(|packet| size_of::<Vec<u8>>() + packet.capacity()).sum::<usize>()
    }

    /// Whether it waits for an answer from somewhere: a record that has neither ended nor come back.
    #[inline]
    pub fn is_pending(&self, now: Time) -> bool {
        self.outs.iter().any(|record| record.expires > now && record.nack.is_none())
    }
}

/// Faces that an entry records, in either direction, at the most.
pub const MAX_RECORDS: usize = 1024;

/// Entries of one name that have a forwarding hint, at the most: all of them stand under one hash.
pub const MAX_HINTED: usize = 16;
