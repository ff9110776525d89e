//! Processes of a cluster by their parts in it, and their CPU time.

use crate::tree::Entry;
use std::collections::HashMap;
use std::time::Duration;

/// Part of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The program that calls `hashlane.distributed`; the threads of the engine `local` are in it.
    Driver,
    /// A process that runs tasks.
    Worker,
    /// The scheduler of a machine, with its store of objects.
    Raylet,
    /// The server of the cluster's state.
    Gcs,
    /// Agents and monitors.
    Other,
}

impl Role {
    /// All roles, with the metric of their CPU time.
    pub(super) const ALL: [(Self, &'static str); 5] = [
        (Self::Worker, "worker_cpu_ns"),
        (Self::Driver, "driver_cpu_ns"),
        (Self::Raylet, "raylet_cpu_ns"),
        (Self::Gcs, "gcs_cpu_ns"),
        (Self::Other, "other_cpu_ns"),
    ];

    /// Role of a process of the tree below `driver`. Ray names its processes.
    pub(super) fn of(entry: &Entry, driver: i32) -> Self {
        match entry.name.as_str() {
            _ if entry.pid == driver => Self::Driver,
            "raylet" => Self::Raylet,
            "gcs_server" => Self::Gcs,
            // Of names the kernel keeps 15 bytes: ray::DashboardAgent, ray::RuntimeEnvAgent.
            name if name.starts_with("ray::Dashboard") || name.starts_with("ray::RuntimeEnv") => Self::Other,
            name if name.starts_with("ray::") => Self::Worker,
            _ => Self::Other,
        }
    }

    /// `true` of a worker that runs a task.
    pub(super) fn is_busy(entry: &Entry, driver: i32) -> bool {
        Self::of(entry, driver) == Self::Worker && entry.name != "ray::IDLE"
    }
}

/// CPU time of each role between two looks at the processes. Processes that ended in between are left out.
pub(super) fn spent(driver: i32, before: &[Entry], after: &[Entry]) -> [(Role, Duration); 5] {
    let known: HashMap<i32, Duration> = before.iter().map(|entry| (entry.pid, entry.cpu)).collect();
    let more = |entry: &Entry| entry.cpu.saturating_sub(known.get(&entry.pid).copied().unwrap_or_default());
    Role::ALL.map(|(role, _)| {
        let of = after.iter().filter(|entry| Role::of(entry, driver) == role);
        (role, of.map(more).sum())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(pid: i32, name: &str, ms: u64) -> Entry {
        Entry::sample(pid, name, Duration::from_millis(ms))
    }

    #[test]
    fn processes_of_ray_have_roles() {
        let role = |name| Role::of(&entry(2, name, 0), 1);
        assert_eq!(["ray::IDLE", "ray::_work", "ray::f()"].map(role), [Role::Worker; 3]);
        assert_eq!(["raylet", "gcs_server"].map(role), [Role::Raylet, Role::Gcs]);
        assert_eq!(["ray::DashboardA", "ray::RuntimeEnv", "python"].map(role), [Role::Other; 3]);
        assert_eq!(Role::of(&entry(1, "python", 0), 1), Role::Driver);
        let is_busy = |name| Role::is_busy(&entry(2, name, 0), 1);
        assert_eq!(["ray::_work", "ray::IDLE", "raylet"].map(is_busy), [true, false, false]);
    }

    #[test]
    fn adds_up_the_time_of_each_role() {
        let before = [entry(1, "python", 100), entry(2, "ray::IDLE", 10), entry(3, "ray::IDLE", 10)];
        let after = [entry(1, "python", 101), entry(2, "ray::IDLE", 40), entry(4, "ray::IDLE", 5)];
        let spent = spent(1, &before, &after);
        assert_eq!(spent[0], (Role::Worker, Duration::from_millis(35)));
        assert_eq!(spent[1], (Role::Driver, Duration::from_millis(1)));
        assert_eq!(spent[2], (Role::Raylet, Duration::ZERO));
    }
}
