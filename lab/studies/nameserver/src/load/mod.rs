//! Load of one thread over UDP: queries in batches, a bounded number of them unanswered, answers checked.

mod flight;
mod full;
mod paced;

pub(crate) use full::full;
pub(crate) use paced::{Pace, Paced, paced};

use crate::check::{Manner, Wrong};
use crate::error::ServeError;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
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
    pub(crate) fn check(&self) -> Result<(), ServeError> {
        match self.first_wrong {
            Some(wrong) => {
                let of = self.wrong + self.answers;
                let text = format!("{} of {of} answers are wrong, the first: {wrong}", self.wrong);
                Err(ServeError::Program(text))
            }
            None => Ok(()),
        }
    }
}

/// Cores for the server and for the load: the first and the last one available to this thread.
pub(crate) fn cores() -> Result<(usize, usize), ServeError> {
    let set = sched_getaffinity(Pid::from_raw(0)).map_err(ServeError::errno("cannot read the cores"))?;
    let mut available = (0..CpuSet::count()).filter(|core| set.is_set(*core).unwrap_or(false));
    let first = available.next().unwrap_or(0);
    Ok((first, available.next_back().unwrap_or(first)))
}

/// Runs `work` in a new thread on a core.
pub(crate) fn on_core<T: Send>(
    core: usize,
    work: impl FnOnce() -> Result<T, ServeError> + Send,
) -> Result<T, ServeError> {
    let bound = || {
        let mut set = CpuSet::new();
        let bound = set.set(core).and_then(|()| sched_setaffinity(Pid::from_raw(0), &set));
        bound.map_err(ServeError::errno("cannot bind the load to a core"))?;
        work()
    };
    std::thread::scope(|scope| scope.spawn(bound).join())
        .unwrap_or_else(|_| Err(ServeError::Program("the thread of the load panicked".to_owned())))
}

#[cfg(test)]
mod tests;
