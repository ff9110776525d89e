//! Facts about processes in `/proc`.

use crate::error::ServeError;
use std::fs;
use std::path::Path;

/// Process group in the text of `/proc/PID/stat`. The name of the program may have spaces and parentheses.
pub(crate) fn group(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    // State, parent, group.
    rest.split_whitespace().nth(2)?.parse().ok()
}

/// Bytes of a field in the text of `/proc/PID/smaps_rollup` or `/proc/PID/status`, which are given in kB.
pub(crate) fn bytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

/// Processes of a group.
pub(crate) fn members(of: i32) -> Result<Vec<i32>, ServeError> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").map_err(ServeError::io("cannot list processes"))? {
        let Ok(entry) = entry else { continue };
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // A process may end meanwhile.
        let stat = fs::read(entry.path().join("stat")).unwrap_or_default();
        if group(&String::from_utf8_lossy(&stat)) == Some(of) {
            found.push(pid);
        }
    }
    Ok(found)
}

/// Memory of a process: its share of resident memory (a page that several processes map counts in parts), and
/// its peak of resident memory, in bytes.
pub(crate) fn memory(pid: i32) -> Result<(u64, u64), ServeError> {
    let read = |file: &str| {
        let path = Path::new("/proc").join(pid.to_string()).join(file);
        fs::read_to_string(path).map_err(ServeError::io("cannot read the memory of a process"))
    };
    let unknown = || ServeError::Program("the kernel does not state the memory of a process".to_owned());
    let share = bytes(&read("smaps_rollup")?, "Pss").ok_or_else(unknown)?;
    let peak = bytes(&read("status")?, "VmHWM").ok_or_else(unknown)?;
    Ok((share, peak))
}

/// Memory that the system can still give, in bytes; `None` if it does not state it.
pub(crate) fn available() -> Option<u64> {
    bytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_group_behind_any_name() {
        assert_eq!(group("7 (nsd) S 1 42 42 0 -1 4194560"), Some(42));
        assert_eq!(group("7 (a) R 2 (b)) S 1 43 42 0"), Some(43));
        for broken in ["", "7 (nsd", "7 (nsd) S 1", "7 (nsd) S 1 x 2"] {
            assert_eq!(group(broken), None, "{broken}");
        }
    }

    #[test]
    fn reads_amounts_in_kilobytes() {
        let text = "Rss:      9000 kB\nPss_Anon:  1 kB\nPss:      8192 kB\nVmHWM:\t  12 kB\nThreads:\t3\n";
        assert_eq!(bytes(text, "Pss"), Some(8192 << 10));
        assert_eq!(bytes(text, "VmHWM"), Some(12 << 10));
        assert_eq!((bytes(text, "Threads"), bytes(text, "VmRSS")), (None, None));
        assert_eq!(bytes("Pss: 99999999999999999999 kB", "Pss"), None);
    }

    #[test]
    fn this_process_has_memory_and_a_group() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let (share, peak) = memory(pid).unwrap();
        assert!(share > 0 && share <= peak, "{share} {peak}");
        assert!(members(nix::unistd::getpgrp().as_raw()).unwrap().contains(&pid));
        assert!(available().unwrap() > 0);
    }
}
