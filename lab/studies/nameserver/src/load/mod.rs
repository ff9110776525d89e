//! Load of one thread over UDP: queries in batches, a bounded number of them unanswered, answers checked.

mod flight;
mod full;
mod paced;

pub(crate) use full::full;
pub(crate) use paced::{Pace, Paced, paced};

use crate::check::{Manner, Wrong};
use hashlane_lab::study::TurnError;
use hashlane_rig::proc;
use std::net::SocketAddr;

/// Datagrams of one system call.
const BATCH: usize = 64;

/// A server under load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
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

/// Runs `work` in a new thread on a core.
pub(crate) fn on_core<T: Send>(
    core: Option<usize>,
    work: impl FnOnce() -> Result<T, TurnError> + Send,
) -> Result<T, TurnError> {
    let bound = || {
        core.map_or(Ok(()), proc::bind).map_err(TurnError::io("cannot bind the load to a core"))?;
        work()
    };
    std::thread::scope(|scope| scope.spawn(bound).join())
        .unwrap_or_else(|_| Err(TurnError::Failed("the thread of the load panicked".to_owned())))
}

#[cfg(test)]
mod tests;
