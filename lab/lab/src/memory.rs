//! Memory that a study may take: limits of the process, of its control group, and of the machine.
//!
//! An allocation beyond a limit ends the process, records and all. So a study that needs much states how much
//! before it starts, and is refused with the next step.

use std::fmt;
use std::fs;

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};

/// Memory left under a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes left.
    pub bytes: u64,
    /// The limit, and the way to raise it.
    pub limit: Limit,
}

/// Limits beyond which an allocation fails or the process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `RLIMIT_AS`.
    AddressSpace,
    /// `RLIMIT_DATA`.
    Data,
    /// Limit of the control group.
    Group,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AddressSpace => "the limit on address space (ulimit -v)",
            Self::Data => "the limit on data (ulimit -d)",
            Self::Group => "the memory limit of the control group",
        })
    }
}

/// Address space that a process takes without filling it: heaps and stacks of its threads, in bytes.
const RESERVED: u64 = 96 << 20;

/// Memory left under the tightest limit of this process; `None` without a limit.
pub fn room() -> Option<Room> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let limited = |resource, used: &str, reserved: u64, limit| {
        let (most, _) = getrlimit(resource).ok().filter(|(soft, _)| *soft != RLIM_INFINITY)?;
        let used = field(&status, used).unwrap_or_default().saturating_add(reserved);
        Some(Room { bytes: most.saturating_sub(used), limit })
    };
    let group = group_room().map(|bytes| Room { bytes, limit: Limit::Group });
    [
        limited(Resource::RLIMIT_AS, "VmSize:", RESERVED, Limit::AddressSpace),
        limited(Resource::RLIMIT_DATA, "VmData:", 0, Limit::Data),
        group,
    ]
    .into_iter()
    .flatten()
    .min_by_key(|room| room.bytes)
}

/// A study that needs more memory than a limit leaves.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{study} was not started: it takes up to {} MiB of memory, and {} leaves {} MiB; raise the limit, or \
     {smaller}",
    .needed.div_ceil(1 << 20),
    .room.limit,
    .room.bytes >> 20
)]
pub struct TooLittle {
    study: String,
    needed: u64,
    room: Room,
    smaller: String,
}

/// Checks that a study which takes up to `needed` bytes has them; `smaller` says how to measure less.
///
/// # Errors
/// A limit leaves less.
pub fn check(study: &str, needed: u64, smaller: &str) -> Result<(), TooLittle> {
    match room() {
        Some(room) if needed > room.bytes => {
            Err(TooLittle { study: study.to_owned(), needed, room, smaller: smaller.to_owned() })
        }
        _ => Ok(()),
    }
}

/// A field of `/proc/self/status` or `/proc/meminfo`, in bytes.
pub(crate) fn field(text: &str, name: &str) -> Option<u64> {
    let amount = text.lines().find_map(|line| line.strip_prefix(name))?;
    amount.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib.saturating_mul(1024))
}

/// Memory left in the control group, and in those around it; of either version.
fn group_room() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let number = |path: String| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let rooms = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let files = match controllers {
            "" => Some(("/sys/fs/cgroup", "memory.max", "memory.current")),
            all if all.split(',').any(|one| one == "memory") => {
                Some(("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"))
            }
            _ => None,
        };
        files.into_iter().flat_map(move |(mount, most, used)| {
            ancestors(path).filter_map(move |path| {
                let folder = format!("{mount}{path}");
                let (most, used) = (number(format!("{folder}/{most}"))?, number(format!("{folder}/{used}"))?);
                // Pages of files count as used, and are dropped when memory is short.
                let stat = fs::read_to_string(format!("{folder}/memory.stat")).unwrap_or_default();
                Some(most.saturating_sub(used.saturating_sub(files_of(&stat))))
            })
        })
    });
    rooms.min()
}

/// Bytes of files that a control group may drop.
fn files_of(stat: &str) -> u64 {
    let inactive = |name: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse::<u64>().ok()
    };
    inactive("total_inactive_file").or_else(|| inactive("inactive_file")).unwrap_or_default()
}

/// A path and those around it: `/a/b`, `/a`, and the empty one.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path.trim_end_matches('/')), |path| path.rsplit_once('/').map(|(up, _)| up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fields_and_groups() {
        assert_eq!(field("Name:\tx\nVmSize:\t    2048 kB\n", "VmSize:"), Some(2 << 20));
        assert_eq!(field("VmSize: lots\n", "VmSize:"), None);
        assert_eq!(files_of("cache 5\ninactive_file 7\n"), 7);
        assert_eq!(files_of("inactive_file 7\ntotal_inactive_file 9\n"), 9);
        assert_eq!(ancestors("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", ""]);
        assert_eq!(ancestors("/").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn says_how_much_is_missing_and_what_to_do() {
        let room = Room { bytes: 300 << 20, limit: Limit::AddressSpace };
        let smaller = "measure fewer flows".to_owned();
        let error = TooLittle { study: "flow-table".to_owned(), needed: 1 << 30, room, smaller };
        assert_eq!(
            error.to_string(),
            "flow-table was not started: it takes up to 1024 MiB of memory, and the limit on address space \
             (ulimit -v) leaves 300 MiB; raise the limit, or measure fewer flows"
        );
        assert!(check("tiny", 0, "").is_ok());
    }
}
