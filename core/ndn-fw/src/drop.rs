//! Reasons for dropping a packet, and their counters.

use crate::face::Counter;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::tlv::WireError;

macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $name:literal,)*) => {
        /// Reason for dropping a packet.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum DropReason {
            $($(#[$doc])* $reason,)*
        }

        impl DropReason {
            /// All reasons.
            pub const ALL: &[Self] = &[$(Self::$reason,)*];

            /// Name of the reason in counters and logs.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$reason => $name,)*
                }
            }
        }
    };
}

reasons! {
    /// Not a well-formed packet.
    Malformed = "malformed",
    /// Packet longer than [`MAX_PACKET`](hashlane_ndn::wire::MAX_PACKET), or link packet longer than a face
    /// reads.
    TooLong = "too-long",
    /// Wrong digest of the parameters in the name.
    ParametersDigest = "parameters-digest",
    /// No face has this id: never opened, or closed since.
    UnknownFace = "unknown-face",
    /// Name outside its scope: `/localhost` from or to another host, or Data of the management from another
    /// face.
    Scope = "scope",
    /// Hop limit reached.
    HopLimit = "hop-limit",
    /// Loop: the Nonce was seen before.
    Loop = "loop",
    /// PIT full, or the face exceeds its share of it.
    PitFull = "pit-full",
    /// Too many records of one entry, or too many entries with forwarding hints of one name.
    TooManyRecords = "too-many-records",
    /// Unknown next hop, as chosen by the application.
    UnknownNextHop = "unknown-next-hop",
    /// Data without a pending Interest at this face.
    Unsolicited = "unsolicited",
    /// Nack that answers no Interest sent to this face.
    UnexpectedNack = "unexpected-nack",
    /// InterestDigest in the link header that is not the digest of the Interest, or not of one that the Data
    /// answers.
    Digest = "digest",
    /// Datagram of a peer that floods its socket, dropped so that those behind it are read soon.
    Flood = "flood",
    /// Fragment that cannot be reassembled.
    Reassembly = "reassembly",
}

impl From<WireError> for DropReason {
    fn from(_: WireError) -> Self {
        Self::Malformed
    }
}

/// Dropped packets for each reason. One thread writes, any thread may read.
#[derive(Debug)]
pub struct DropCounters([Counter; DropReason::ALL.len()]);

impl Default for DropCounters {
    fn default() -> Self {
        Self(core::array::from_fn(|_| Counter::default()))
    }
}

impl DropCounters {
    /// Counts a dropped packet.
    #[inline]
    pub fn count(&self, reason: DropReason) {
        if let Some(counter) = self.of(reason) {
            counter.add(1);
        }
    }

    /// Number of packets dropped for this reason.
    pub fn value(&self, reason: DropReason) -> u64 {
        self.of(reason).map_or(0, Counter::value)
    }

    #[inline(always)]
    fn of(&self, reason: DropReason) -> Option<&Counter> {
        self.0.get(reason as usize).invariant("each reason has a counter")
    }
}
