//! The parts of a message (RFC 1035 §4), and reading one.

mod content;
mod header;
mod message;
mod rdata;
mod types;

pub use content::{Content, ContentError};
pub use header::{Flags, HEADER_LEN, Header, Opcode, Rcode};
pub use message::{Message, ParseError, Question, Record, Records};
pub use rdata::{Layout, Rdata, RdataError};
pub use types::{Class, RecordType};

/// A section of a message, in the order of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// The questions.
    Question,
    /// The answer.
    Answer,
    /// The authoritative servers, or the proof that there is no answer.
    Authority,
    /// Records that help with the other sections.
    Additional,
}

impl Section {
    /// All of them, in their order.
    pub const ALL: [Self; 4] = [Self::Question, Self::Answer, Self::Authority, Self::Additional];

    /// Its name, as a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Answer => "answer",
            Self::Authority => "authority",
            Self::Additional => "additional",
        }
    }

    /// Its place, 0 to 3.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self as usize
    }
}
