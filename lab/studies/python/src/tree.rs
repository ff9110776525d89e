//! A process and its descendants, from `/proc`.

use nix::sys::signal::{Signal, kill};
use nix::time::ClockId;
use nix::unistd::Pid;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Bytes of a process that are read from a file of `/proc`.
fn read(pid: i32, file: &str) -> Option<String> {
    let bytes = fs::read(Path::new("/proc").join(pid.to_string()).join(file)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) pid: i32,
    /// Its name, of which the kernel keeps 15 bytes.
    pub(crate) name: String,
    parent: i32,
    /// CPU time in user space and in the kernel since it began.
    pub(crate) cpu: Duration,
    /// Time of its start: another process with the same id has another.
    start: u64,
}

impl Entry {
    /// Reads the text of `/proc/PID/stat`. The name may have spaces and parentheses.
    fn of(pid: i32, stat: &str) -> Option<Self> {
        let (before, after) = stat.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        // From field 3 of proc(5) on: the state.
        let fields: Vec<&str> = after.split_whitespace().collect();
        // Ended, and not waited for.
        if matches!(fields.first(), Some(&"Z" | &"X")) {
            return None;
        }
        let parent = fields.get(1)?.parse().ok()?;
        let start = fields.get(19)?.parse().ok()?;
        Some(Self { pid, name: name.to_owned(), parent, cpu: Duration::ZERO, start })
    }

    /// The process with an id; `None` if there is none.
    pub(crate) fn now(pid: i32) -> Option<Self> {
        let entry = Self::of(pid, &read(pid, "stat")?)?;
        // The kernel keeps it in nanoseconds; `stat` has steps of 10 ms.
        let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(pid)).and_then(ClockId::now).ok()?;
        Some(Self { cpu: clock.into(), ..entry })
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
        kilobytes(&read(self.pid, "status")?, "VmHWM")
    }

    /// Most bytes of private memory that it may map; `None` if it has ended, or there is no limit.
    pub(crate) fn data_limit(&self) -> Option<u64> {
        let text = read(self.pid, "limits")?;
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

/// Bytes of a field in the text of `/proc/PID/status`, which are given in kB.
fn kilobytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

/// A process and all its descendants, of which it is the first.
pub(crate) fn tree(root: i32) -> Vec<Entry> {
    let mut all = Vec::new();
    // A folder that cannot be read has no processes.
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        all.extend(pid.and_then(Entry::now));
    }
    descendants(root, all)
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
    fn reads_a_process_of_any_name() {
        let stat = "7 (ray::a (b)) S 3 42 42 0 -1 4194560 1 0 0 0 120 30 5 5 20 0 25 0 9876 1000 50";
        let entry = Entry::of(7, stat).unwrap();
        assert_eq!((entry.name.as_str(), entry.parent, entry.start), ("ray::a (b)", 3, 9876));
        for broken in [
            "",
            "7 (a",
            "7 (a) S",
            "7 (a) S x 2",
            "7 (a) S 3 42 42 0 -1 4194560 1 0 0 0 120 30 5 5 20 0 25 0",
        ] {
            assert_eq!(Entry::of(7, broken), None, "{broken}");
        }
    }

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
        assert_eq!(kilobytes("VmHWM:\t  12 kB\nThreads:\t3\n", "VmHWM"), Some(12 << 10));
        assert_eq!(kilobytes("VmHWM: 99999999999999999999 kB", "VmHWM"), None);
    }
}
