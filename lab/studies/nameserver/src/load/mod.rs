//! Load of one thread over UDP: queries in batches, a bounded number of them unanswered, answers checked.

mod flight;
mod full;
mod paced;

pub(crate) use full::{Loaded, full};
pub(crate) use paced::{Pace, Paced, paced};

use crate::check::{Manner, Wrong};
use hashlane_lab::study::TurnError;
use std::net::{Ipv4Addr, SocketAddr};

/// Datagrams of one system call.
const BATCH: usize = 64;

/// A server under load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    /// Address of the load.
    pub(crate) from: Ipv4Addr,
    pub(crate) manner: Manner,
}

/// Counts of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// Right answers.
    pub(crate) answers: u64,
    /// Queries without an answer.
    pub(crate) lost: u64,
    /// Answers that differ from those to expect.
    pub(crate) wrong: u64,
    /// The first of them.
    pub(crate) first_wrong: Option<Wrong>,
}

impl Counts {
    /// Fails unless all answers were right.
    pub(crate) fn check(&self) -> Result<(), TurnError> {
        match self.first_wrong {
            Some(wrong) => {
                let of = self.wrong + self.answers;
                let text = format!("{} of {of} answers are wrong, the first: {wrong}", self.wrong);
                Err(TurnError::Failed(text))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
