//! Why packets are dropped.

use crate::face::Counter;
use hashlane_ndn::tlv::WireError;

macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $name:literal,)*) => {
        /// Why a packet was dropped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum DropReason {
            $($(#[$doc])* $reason,)*
        }

        impl DropReason {
            /// All reasons.
            pub const ALL: &[Self] = &[$(Self::$reason,)*];

            /// Its name in counters and logs.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$reason => $name,)*
                }
            }
        }
    };
}

reasons! {
    /// The bytes are no packet.
    Malformed = "malformed",
    /// The packet has more bytes than a forwarder takes.
    TooLong = "too-long",
    /// The digest of parameters in the name is not theirs.
    ParametersDigest = "parameters-digest",
    /// The face is none.
    UnknownFace = "unknown-face",
    /// Packets of this name must not cross the border between this host and others, or come from the management alone.
    Scope = "scope",
    /// The Interest has come as far as it may.
    HopLimit = "hop-limit",
    /// The Interest came round.
    Loop = "loop",
    /// The PIT is full, or the face has more than its share of it.
    PitFull = "pit-full",
    /// The entry has as many records as it may have, or its name as many entries with hints.
    TooManyRecords = "too-many-records",
    /// The face that the Interest was to go to is none.
    UnknownNextHop = "unknown-next-hop",
    /// Nobody asked this face for the Data.
    Unsolicited = "unsolicited",
    /// The Nack is no answer to what was sent to this face.
    UnexpectedNack = "unexpected-nack",
    /// The InterestDigest of the link header is not that of the Interest, or not of one that the Data answers.
    Digest = "digest",
    /// A fragment that cannot be put together with others.
    Reassembly = "reassembly",
}

impl From<WireError> for DropReason {
    fn from(_: WireError) -> Self {
        Self::Malformed
    }
}

/// How many packets were dropped for each reason. One thread writes, any may read.
#[derive(Debug)]
pub struct DropCounters([Counter; DropReason::ALL.len()]);

impl Default for DropCounters {
    fn default() -> Self {
        Self(core::array::from_fn(|_| Counter::default()))
    }
}

impl DropCounters {
    /// Counts one.
    #[inline]
    pub fn count(&self, reason: DropReason) {
        if let Some(counter) = self.0.get(reason as usize) {
            counter.add(1);
        }
    }

    /// How many.
    pub fn value(&self, reason: DropReason) -> u64 {
        self.0.get(reason as usize).map_or(0, Counter::value)
    }
}
