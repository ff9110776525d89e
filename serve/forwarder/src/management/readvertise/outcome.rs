//! Outcomes of commands, and their numbers.

/// Outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Done.
    Accepted,
    /// Refused, with this code and text.
    Refused { code: u64, text: String },
    /// A Nack, or no answer in time.
    Unanswered,
}

/// Numbers of prefixes and commands of one destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Prefixes that the destination has accepted.
    pub advertised: usize,
    /// Prefixes to be advertised or withdrawn.
    pub waiting: usize,
    /// Commands without an answer yet.
    pub pending: usize,
    /// Prefixes without room, since the start.
    pub left_out: u64,
    /// Commands that were refused, since the start.
    pub refused: u64,
    /// Commands that had no answer, since the start.
    pub unanswered: u64,
}
