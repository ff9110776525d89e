//! The destinations of a forwarder.

use super::{Counts, Readvertise};
use crate::management::clock::Now;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;

/// Destinations to which prefixes are advertised.
#[derive(Debug, Default)]
pub(in crate::management) struct Advertisers {
    pub(super) all: Vec<Advertiser>,
}

/// One destination.
#[derive(Debug)]
pub(super) struct Advertiser {
    pub(super) readvertise: Readvertise,
    /// Prefixes whose routes lead there, the longest first.
    pub(super) destinations: Vec<OwnedName<Ndn>>,
    /// True if the faces that lead there must be looked up.
    pub(super) is_stale: bool,
}

impl Advertisers {
    /// Time at which [`Manager::tick`] is due for a command.
    pub(in crate::management) fn next_due(&self) -> Option<u64> {
        self.all.iter().filter_map(|one| one.readvertise.next_due()).min()
    }

    /// Handles that a face has closed.
    pub(in crate::management) fn face_down(&mut self, face: u64) {
        for one in self.all.iter_mut().filter(|one| one.readvertise.faces.contains(&face)) {
            one.is_stale = true;
        }
    }

    /// Handles that the connection of a face works again: the neighbour may have restarted.
    pub(in crate::management) fn face_works(&mut self, face: u64, now: Now) {
        for one in self.all.iter_mut().filter(|one| one.readvertise.faces.contains(&face)) {
            one.readvertise.restart(now.monotonic);
        }
    }

    /// Numbers of each destination, by its name.
    pub(in crate::management) fn counts(&self) -> impl Iterator<Item = (&'static str, Counts)> {
        self.all.iter().map(|one| (one.readvertise.policy.name(), one.readvertise.counts()))
    }

    /// Position of the destination of this name.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.all.iter().position(|one| one.readvertise.policy.name() == name)
    }
}
