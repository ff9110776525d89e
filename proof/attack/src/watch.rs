//! Memory and file descriptors of a process, read while it is under attack.

use crate::innocents::Clock;
use crate::verdict::{Phase, Use};
use std::fs;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Interval between two readings.
const TICK: Duration = Duration::from_millis(50);

/// Reads resources of a process until the last phase ends.
pub(crate) struct Watch(JoinHandle<[Use; 2]>);

impl Watch {
    pub(crate) fn start(pid: u32, clock: Clock) -> Self {
        Self(thread::spawn(move || {
            let mut uses = [Use::default(); 2];
            loop {
                let phase = clock.phase();
                let read = [rss(pid), descriptors(pid)];
                for (used, value) in uses.iter_mut().zip(read) {
                    let Some(value) = value else { continue };
                    match phase {
                        Phase::Before => used.before = value,
                        _ => used.peak = used.peak.max(value),
                    }
                    used.after = value;
                }
                if phase == Phase::End {
                    return uses;
                }
                thread::sleep(TICK);
            }
        }))
    }

    /// Resident memory in bytes, and file descriptors.
    ///
    /// # Errors
    /// The thread has panicked.
    pub(crate) fn finish(self) -> Result<[Use; 2], String> {
        self.0.join().map_err(|_| "the watch has panicked".to_owned())
    }
}

/// Resident memory in bytes; `None` if the process has ended.
pub(crate) fn rss(pid: u32) -> Option<u64> {
    vm_rss(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
}

/// Value of `VmRSS` in bytes.
fn vm_rss(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Open file descriptors; `None` if the process has ended.
pub(crate) fn descriptors(pid: u32) -> Option<u64> {
    Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_resident_memory() {
        assert_eq!(vm_rss("Name:\tx\nVmRSS:\t    9412 kB\nThreads:\t3\n"), Some(9412 << 10));
        assert_eq!(vm_rss("Name:\tx\n"), None);
        assert!(rss(std::process::id()).is_some_and(|bytes| bytes > 0));
        assert!(descriptors(std::process::id()).is_some_and(|count| count > 2));
    }
}
