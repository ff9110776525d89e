//! State of the way to a collector.

use crate::export::SECOND;
use std::io;

/// Time without an error after which a collector that takes data is reachable again. Refusals of datagrams
/// come late, and no faster than one a second.
const QUIET: u64 = 5 * SECOND;

/// Errors on the way to a collector.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// Latest error.
    error: Option<io::Error>,
    is_unreachable: bool,
    /// Time at which the collector is reachable again, unless an error comes before.
    quiet_at: Option<u64>,
}

impl Health {
    pub(super) const fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    pub(super) const fn is_unreachable(&self) -> bool {
        self.is_unreachable
    }

    pub(super) fn fail(&mut self, error: io::Error) {
        *self = Self { error: Some(error), is_unreachable: true, quiet_at: None };
    }

    /// Notes that the socket has taken data, or is connected.
    pub(super) fn succeed(&mut self, now: u64) {
        if self.is_unreachable {
            self.quiet_at.get_or_insert(now + QUIET);
        }
    }

    /// Ends the outage once its time has come, also if the clock was set back.
    pub(super) fn tick(&mut self, now: u64) {
        if self.quiet_at.is_some_and(|at| now >= at || at - now > QUIET) {
            (self.is_unreachable, self.quiet_at) = (false, None);
        }
    }
}
