//! Processes in `/proc`.

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::time::ClockId;
use nix::unistd::{Pid, getppid};
use std::fs;
use std::io;
use std::time::Duration;

/// Fields of `/proc/PID/stat` (proc(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Name of the program; the kernel keeps its first 15 bytes.
    pub name: String,
    /// State, such as `S`; `Z` after the end, until the parent waits for it.
    pub state: char,
    /// Id of the parent.
    pub parent: i32,
    /// Id of the process group.
    pub group: i32,
    /// Time of the start, in clock ticks since the boot. Another process with the same id has another one.
    pub start: u64,
}

impl Stat {
    /// Parses the text of the file. The name may have spaces and parentheses.
    pub fn parse(text: &str) -> Option<Self> {
        let (before, after) = text.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        // From field 3 on.
        let mut fields = after.split_whitespace();
        let state = fields.next()?.chars().next()?;
        let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let start = fields.nth(16)?.parse().ok()?;
        Some(Self { name: name.to_owned(), state, parent, group, start })
    }

    /// Fields of a process; `None` if no process has this id.
    pub fn read(pid: i32) -> Option<Self> {
        Self::parse(&read(pid, "stat").ok()?)
    }

    /// True if the process has ended, and was not waited for.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

/// A file of a process, in which bytes that are not UTF-8 are replaced.
///
/// # Errors
/// There is no such process, or it is another user's.
pub fn read(pid: i32, file: &str) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/{file}"))?).into_owned())
}

/// Ids of all processes.
///
/// # Errors
/// `/proc` cannot be read.
pub fn all() -> io::Result<Vec<i32>> {
    // A process may end meanwhile.
    let entries = fs::read_dir("/proc")?.flatten();
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// Ids of the processes of a group.
///
/// # Errors
/// `/proc` cannot be read.
pub fn members(group: i32) -> io::Result<Vec<i32>> {
    let mut pids = all()?;
    pids.retain(|pid| Stat::read(*pid).is_some_and(|stat| stat.group == group));
    Ok(pids)
}

/// True if a process has ended.
pub fn has_ended(pid: i32) -> bool {
    Stat::read(pid).is_none_or(|stat| stat.has_ended())
}

/// A field of a text such as `/proc/PID/status`: the rest of the line after `NAME:`.
pub fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    Some(text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?.trim())
}

/// A field of `/proc/PID/status`, `/proc/PID/smaps_rollup` or `/proc/meminfo` that is given in kB, in bytes.
pub fn kilobytes(text: &str, name: &str) -> Option<u64> {
    field(text, name)?.strip_suffix("kB")?.trim_end().parse::<u64>().ok()?.checked_mul(1024)
}

/// Resident memory in bytes; `None` if the process has ended.
pub fn resident(pid: i32) -> Option<u64> {
    kilobytes(&read(pid, "status").ok()?, "VmRSS")
}

/// Peak of the resident memory in bytes; `None` if the process has ended.
pub fn peak(pid: i32) -> Option<u64> {
    kilobytes(&read(pid, "status").ok()?, "VmHWM")
}

/// Memory that the system can still give, in bytes; `None` if it does not state it.
pub fn available() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable")
}

/// Number of open file descriptors; `None` if the process has ended.
pub fn descriptors(pid: i32) -> Option<u64> {
    Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count() as u64)
}

/// CPU time of all threads of a process, in user space and in the kernel, since it began.
///
/// # Errors
/// The process has ended.
pub fn cpu(pid: i32) -> io::Result<Duration> {
    // In nanoseconds; `/proc/PID/stat` has steps of 10 ms.
    Ok(ClockId::pid_cpu_clock_id(Pid::from_raw(pid))?.now()?.into())
}

/// Has the kernel send a signal to this process when the thread of `parent` that started it ends.
///
/// # Errors
/// The system refuses it, or that process is gone already.
pub fn end_with(parent: i32, signal: Signal) -> io::Result<()> {
    set_pdeathsig(signal)?;
    if getppid().as_raw() != parent {
        return Err(io::Error::other("the process that started this one is gone"));
    }
    Ok(())
}

/// Binds this thread to a core.
///
/// # Errors
/// It may not run there.
pub fn bind(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

/// True if this process ignores a signal, as under `nohup`.
///
/// # Errors
/// `/proc` cannot be read.
pub fn ignores(signal: i32) -> io::Result<bool> {
    let status = fs::read_to_string("/proc/thread-self/status")?;
    let mask = field(&status, "SigIgn").and_then(|mask| u64::from_str_radix(mask, 16).ok());
    mask.map(|mask| mask >> (signal - 1) & 1 == 1).ok_or_else(|| io::Error::other("no SigIgn in status"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "7 (ray::a (b)) S 3 42 43 0 -1 4194560 1 0 0 0 120 30 5 5 20 0 25 0 9876 1000 50";

    fn own() -> i32 {
        i32::try_from(std::process::id()).unwrap()
    }

    #[test]
    fn reads_a_process_of_any_name() {
        let stat = Stat::parse(STAT).unwrap();
        assert_eq!((stat.name.as_str(), stat.state, stat.parent), ("ray::a (b)", 'S', 3));
        assert_eq!((stat.group, stat.start, stat.has_ended()), (42, 9876, false));
        assert!(Stat::parse(&STAT.replace(") S", ") Z")).unwrap().has_ended());
        let short = STAT.split(" 9876").next().unwrap();
        for broken in ["", "7 (a", "7 (a) S", "7 (a) S x 2", &STAT.replace("42", "x"), short] {
            assert_eq!(Stat::parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn reads_amounts_in_kilobytes() {
        let text = "Rss:      9000 kB\nPss_Anon:  1 kB\nPss:      8192 kB\nVmHWM:\t  12 kB\nThreads:\t3\n";
        assert_eq!(kilobytes(text, "Pss"), Some(8192 << 10));
        assert_eq!(kilobytes(text, "VmHWM"), Some(12 << 10));
        assert_eq!((kilobytes(text, "Threads"), kilobytes(text, "VmRSS")), (None, None));
        assert_eq!(kilobytes("Pss: 99999999999999999999 kB", "Pss"), None);
    }

    #[test]
    fn this_process_uses_resources() {
        let (resident, peak) = (resident(own()).unwrap(), peak(own()).unwrap());
        // The kernel sums up what each CPU counts now and then: the peak may be some pages behind.
        assert!(resident > 0 && resident <= peak + (1 << 20), "{resident} {peak}");
        assert!(
            available().unwrap() > 0
                && descriptors(own()).unwrap() > 2
                && cpu(own()).unwrap() > Duration::ZERO
        );
        assert!(members(nix::unistd::getpgrp().as_raw()).unwrap().contains(&own()));
        assert!(!has_ended(own()) && has_ended(i32::MAX));
        assert!(!ignores(nix::libc::SIGCHLD).unwrap());
    }
}
