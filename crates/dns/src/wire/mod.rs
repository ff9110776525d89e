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

/// A part of a message, in the order in which they stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// What is asked.
    Question,
    /// The answer.
    Answer,
    /// The servers that have authority, or the proof that there is no answer.
    Authority,
    /// What helps with the above.
    Additional,
}

impl Section {
    /// All of them, in their order.
    pub const ALL: [Self; 4] = [Self::Question, Self::Answer, Self::Authority, Self::Additional];

    /// Its place, 0 to 3.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self as usize
    }
}
