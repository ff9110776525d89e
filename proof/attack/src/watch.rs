//! Memory and file descriptors of a process, read while it is under attack.

use crate::innocents::Clock;
use crate::verdict::{Phase, Use};
use hashlane_rig::proc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Interval between two readings.
const TICK: Duration = Duration::from_millis(50);

/// Reads resources of a process until the last phase ends.
pub(crate) struct Watch(JoinHandle<[Use; 2]>);

impl Watch {
    pub(crate) fn start(pid: i32, clock: Clock) -> Self {
        Self(thread::spawn(move || {
            let mut uses = [Use::default(); 2];
            loop {
                let phase = clock.phase();
                let read = [proc::resident(pid), proc::descriptors(pid)];
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
