//! A process and its descendants, from `/proc`.

use hashlane_rig::proc::{self, Stat};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::time::Duration;

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) pid: i32,
    /// Its name; the kernel keeps 15 bytes of it.
    pub(crate) name: String,
    parent: i32,
    /// CPU time in user space and in the kernel since it began.
    pub(crate) cpu: Duration,
    /// Time of its start: another process with the same id has another.
    start: u64,
}

impl Entry {
    /// The process with an id; `None` if no process has it, or it has ended.
    pub(crate) fn now(pid: i32) -> Option<Self> {
        let Stat { name, parent, start, .. } = Stat::read(pid).filter(|stat| !stat.has_ended())?;
        Some(Self { pid, name, parent, cpu: proc::cpu(pid).ok()?, start })
    }

    /// `true` if it has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        Self::now(self.pid).is_some_and(|now| now.start == self.start)
    }

    /// Ends it at once; `false` if it has ended already.
    pub(crate) fn kill(&self) -> bool {
        self.is_alive() && kill(Pid::from_raw(self.pid), Signal::SIGKILL).is_ok()
    }

    /// Peak of its resident memory in bytes; `None` if it has ended.
    pub(crate) fn peak(&self) -> Option<u64> {
        proc::peak(self.pid)
    }

    /// Most bytes of private memory that it may map; `None` if it has ended, or there is no limit.
    pub(crate) fn data_limit(&self) -> Option<u64> {
        let text = proc::read(self.pid, "limits").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Max data size"))?;
        line.split_whitespace().next()?.parse().ok()
    }
}

#[cfg(test)]
impl Entry {
    /// A process of the first one.
    pub(crate) fn sample(pid: i32, name: &str, cpu: Duration) -> Self {
        Self { pid, name: name.to_owned(), parent: 1, cpu, start: 0 }
    }
}

/// A process and all its descendants; the process itself comes first.
pub(crate) fn tree(root: i32) -> Vec<Entry> {
    // A folder that cannot be read has no processes.
    let all = proc::all().unwrap_or_default();
    descendants(root, all.into_iter().filter_map(Entry::now).collect())
}

fn descendants(root: i32, all: Vec<Entry>) -> Vec<Entry> {
    let (mut found, mut left): (Vec<_>, Vec<_>) = all.into_iter().partition(|entry| entry.pid == root);
    let mut at = 0;
    while let Some(parent) = found.get(at).map(|entry| entry.pid) {
        let (children, others) = left.into_iter().partition(|entry| entry.parent == parent);
        left = others;
        found.extend::<Vec<_>>(children);
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_those_of_any_depth() {
        let entry = |pid, parent| Entry { parent, ..Entry::sample(pid, "a", Duration::ZERO) };
        let all = vec![entry(9, 4), entry(2, 1), entry(4, 2), entry(1, 0), entry(5, 7), entry(8, 2)];
        let pids = |root| descendants(root, all.clone()).iter().map(|entry| entry.pid).collect::<Vec<_>>();
        assert_eq!((pids(2), pids(5), pids(6)), (vec![2, 4, 8, 9], vec![5], vec![]));
        // Nobody is their own ancestor, whatever the text says.
        assert_eq!(descendants(1, vec![entry(1, 2), entry(2, 1)]).len(), 2);
    }

    #[test]
    fn this_process_is_alive_and_has_memory() {
        let own = i32::try_from(std::process::id()).unwrap();
        let entry = tree(own).into_iter().next().unwrap();
        assert!(entry.pid == own && entry.is_alive() && entry.peak().unwrap() > 0);
        assert!(!Entry { start: entry.start + 1, ..entry }.is_alive());
    }
}
