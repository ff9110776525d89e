//! Verdicts of a validating resolver.

use crate::answer::{Answer, Record};
use crate::cases::Expected;
use std::collections::BTreeSet;

/// AD in an answer.
const AD: u16 = 0x0020;

/// Outcome of a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Validated.
    Secure,
    /// Not signed, which is proved.
    Insecure,
    /// SERVFAIL; there is an answer if the query has CD.
    Bogus,
    /// SERVFAIL, also with CD.
    Failed,
    /// No answer.
    Silent,
}

/// A verdict, with the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) state: State,
    pub(crate) rcode: u16,
    /// Records of the answer section, without their TTLs.
    pub(crate) records: BTreeSet<Record>,
}

impl Verdict {
    /// Reads the answer of the resolver, `None` for none.
    ///
    /// # Errors
    /// The answer is malformed.
    pub(crate) fn parse(answer: Option<&[u8]>) -> Result<Self, String> {
        let Some(answer) = answer else {
            return Ok(Self { state: State::Silent, rcode: 0, records: BTreeSet::new() });
        };
        let Answer { rcode, flags, sections: [records, ..], .. } = Answer::parse(answer)?;
        let state = match (rcode, flags & AD > 0) {
            (0 | 3 | 6, true) => State::Secure,
            (0 | 3 | 6, false) => State::Insecure,
            _ => State::Failed,
        };
        let records = records.into_iter().map(|record| Record { ttl: 0, ..record }).collect();
        Ok(Self { state, rcode, records })
    }

    /// True for an answer that the resolver passes on.
    pub(crate) fn is_validated(&self) -> bool {
        matches!(self.state, State::Secure | State::Insecure)
    }

    /// True for a verdict as expected in a zone that opts out or not.
    pub(crate) fn is(&self, expected: Expected, opts_out: bool) -> bool {
        match expected {
            Expected::Secure => self.state == State::Secure,
            Expected::Insecure => self.state == State::Insecure,
            Expected::Proof => self.state == State::Secure || opts_out && self.state == State::Insecure,
            Expected::Failed => self.state == State::Failed,
        }
    }

    /// The verdict in a few words, for statistics.
    pub(crate) fn kind(&self) -> String {
        match self.state {
            State::Secure | State::Insecure => format!("rcode {}, {:?}", self.rcode, self.state),
            state => format!("{state:?}"),
        }
    }
}
