//! Cores for a process that is measured, and for the load on it.

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

/// Core of the measured process, and core of the load. Without two cores nothing is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cores {
    /// Core of the measured process.
    pub measured: Option<usize>,
    /// Core of the load.
    pub load: Option<usize>,
}

impl Cores {
    /// The first and the last core that this thread may run on.
    pub fn detect() -> Self {
        let set = sched_getaffinity(Pid::from_raw(0)).unwrap_or_else(|_| CpuSet::new());
        let mut cores = (0..CpuSet::count()).filter(|core| set.is_set(*core).unwrap_or(false));
        let measured = cores.next();
        let load = cores.next_back();
        Self { measured: measured.filter(|_| load.is_some()), load }
    }

    /// `true` if there are two different cores.
    pub fn are_apart(self) -> bool {
        self.load.is_some()
    }
}
