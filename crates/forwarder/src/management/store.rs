//! Datasets that were sent a while ago.

use super::clock::Now;
use super::reply::FRESHNESS;
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, SEGMENT, VERSION};
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::segment::{number, segment, with_number};
use std::collections::VecDeque;

/// Most datasets kept.
const MAX_DATASETS: usize = 64;
/// Most bytes of kept datasets. The newest is kept in any case.
const MAX_BYTES: usize = 64 << 20;
/// Time for which a dataset is kept, in milliseconds.
const LIFETIME: u64 = 60_000;

/// The last datasets, oldest first. They are kept so that their later segments can be asked for.
#[derive(Default)]
pub(super) struct Store {
    datasets: VecDeque<Dataset>,
    bytes: usize,
    last_version: u64,
}

struct Dataset {
    /// Name, up to the version.
    name: OwnedName<Ndn>,
    content: Vec<u8>,
    made: u64,
}

impl Store {
    /// Keeps a dataset under a new version. Returns its first segment.
    pub(super) fn keep(&mut self, name: NdnName<'_>, content: Vec<u8>, now: Now) -> Option<Vec<u8>> {
        self.last_version = now.unix.max(self.last_version + 1);
        let name = with_number(name, VERSION, self.last_version).ok()?;
        let first = segment(name.view(), &content, 0, FRESHNESS).ok()??;
        self.bytes += content.len();
        self.datasets.push_back(Dataset { name, content, made: now.monotonic });
        while self.datasets.len() > MAX_DATASETS || (self.bytes > MAX_BYTES && self.datasets.len() > 1) {
            self.drop_oldest();
        }
        Some(first)
    }

    /// Drops the datasets whose lifetime is over.
    pub(super) fn expire(&mut self, now: u64) {
        while self.datasets.front().is_some_and(|dataset| now.saturating_sub(dataset.made) >= LIFETIME) {
            self.drop_oldest();
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.datasets.len()
    }

    fn drop_oldest(&mut self) {
        if let Some(dataset) = self.datasets.pop_front() {
            self.bytes -= dataset.content.len();
        }
    }

    /// The segment with this name; `None` if there is none.
    pub(super) fn find(&self, name: NdnName<'_>) -> Option<Vec<u8>> {
        let (last, versioned) = split(name)?;
        let index = number(last, SEGMENT)?;
        let dataset = self.datasets.iter().find(|dataset| dataset.name == versioned)?;
        segment(dataset.name.view(), &dataset.content, index, FRESHNESS).ok()?
    }
}

/// The last component of a name, and the name before it.
fn split(name: NdnName<'_>) -> Option<(Component<'_>, OwnedName<Ndn>)> {
    let last = name.components().last()?;
    let rest = OwnedName::from_components(name.components().take(name.len() - 1)).ok()?;
    Some((last, rest))
}
