//! CPU time and memory of a group of processes that end at different times.

use hashlane_rig::proc;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Time between two looks at all processes. So much of the CPU time of one that ends is not seen.
const PAUSE: Duration = Duration::from_millis(5);

/// Resources that a group of processes has used.
#[derive(Debug, Default)]
pub(super) struct Usage {
    processes: HashMap<i32, Process>,
    last: Option<Instant>,
}

/// The last figures of a process; memory in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Process {
    cpu: Duration,
    peak: u64,
    resident: u64,
}

impl Usage {
    /// Looks at the processes of a group, unless it did so a moment ago.
    pub(super) fn watch(&mut self, group: i32) {
        if self.last.is_none_or(|last| last.elapsed() >= PAUSE) {
            self.look(group);
            self.last = Some(Instant::now());
        }
    }

    /// Looks at the processes of a group.
    pub(super) fn look(&mut self, group: i32) {
        for process in proc::members(group).unwrap_or_default() {
            let figures = (proc::cpu(process), proc::peak(process), proc::resident(process));
            // One that ends meanwhile keeps its last figures.
            if let (Ok(cpu), Some(peak), Some(resident)) = figures {
                self.processes.insert(process, Process { cpu, peak, resident });
            }
        }
    }

    /// CPU time of all processes that were seen.
    pub(super) fn cpu(&self) -> Duration {
        self.processes.values().map(|process| process.cpu).sum()
    }

    /// Largest peak of the resident memory of one process, and the memory of that process at its last look,
    /// in bytes.
    pub(super) fn peak(&self) -> (u64, u64) {
        let largest = self.processes.values().max_by_key(|process| process.peak);
        largest.map_or((0, 0), |process| (process.peak, process.resident))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_rig::program::Program;
    use std::process::{Command, Stdio};

    #[test]
    fn processes_that_have_ended_count() {
        let script = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; read line";
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped());
        let program = Program::start_group(&mut command).unwrap();
        let mut usage = Usage::default();
        let both = hashlane_rig::wait::until(Duration::from_secs(60), || {
            usage.look(program.id());
            usage.processes.len() > 1 && proc::members(program.id()).unwrap().len() == 1
        });
        assert!(both, "{usage:?}");
        let left = proc::cpu(program.id()).unwrap();
        let (peak, resident) = usage.peak();
        assert!(usage.cpu() > left && peak >= resident && resident > 0, "{usage:?}, {left:?}");
    }
}
