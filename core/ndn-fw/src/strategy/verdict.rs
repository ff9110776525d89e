//! Decisions about Interests without their faces, for counters and traces.

use super::Decision;
use hashlane_ndn::wire::NackReason;

/// Decision about an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Forwarded to the faces that the strategy named.
    Forward,
    /// Forwarded to one face, and to another one as a probe.
    Probe,
    /// Forwarded to one face first, and to others after a timeout.
    Try,
    /// Not forwarded: the entry waits for an Interest sent before.
    Suppress,
    /// Refused with a Nack.
    Reject(NackReason),
    /// Forwarded to the face that the application chose.
    Chosen,
}

/// Words for decisions, by their [place](Verdict::place).
pub(super) const NAMES: [&str; 6] = ["forward", "probe", "try", "suppress", "reject", "chosen"];

impl Verdict {
    /// Place among the kinds of decisions: first the strategies', then the application's.
    #[inline(always)]
    pub(super) const fn place(self) -> usize {
        match self {
            Self::Forward => 0,
            Self::Probe => 1,
            Self::Try => 2,
            Self::Suppress => 3,
            Self::Reject(_) => 4,
            Self::Chosen => 5,
        }
    }

    /// Word for the decision.
    pub const fn name(self) -> &'static str {
        NAMES[self.place()]
    }
}

impl From<&Decision> for Verdict {
    #[inline(always)]
    fn from(decision: &Decision) -> Self {
        match decision {
            Decision::Forward(_) | Decision::Follow(_) => Self::Forward,
            Decision::Probe { .. } => Self::Probe,
            Decision::Try { .. } => Self::Try,
            Decision::Suppress => Self::Suppress,
            Decision::Reject(reason) => Self::Reject(*reason),
        }
    }
}
