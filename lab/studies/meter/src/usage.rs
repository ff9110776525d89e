//! `hashlane lab usage`: runs a program, and measures what it used.
//!
//! The kernel counts a child's peak of memory from the moment it is started, when it still is a copy of the
//! process that starts it. So a small process starts the program, and not the study with its captures.

use hashlane_lab::study::{Child, TurnError};
use hashlane_rig::{proc, wait};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, killpg};
use nix::sys::time::TimeVal;
use nix::unistd::{getpgrp, getppid};
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two looks at a process.
pub(crate) const LOOK: Duration = Duration::from_millis(5);

/// Resources that a program used, with all children that it waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user space.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// Time from start to end.
    pub wall: Duration,
    /// Peak of resident memory, in bytes.
    pub peak: u64,
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
}

impl Usage {
    /// Fails unless the program succeeded, with the last line of its output.
    pub(crate) fn check(&self, log: &str) -> Result<(), TurnError> {
        if self.code == Some(0) {
            return Ok(());
        }
        let last = log.lines().last().unwrap_or("no output");
        Err(TurnError::Failed(format!("it failed ({:?}): {last}", self.code)))
    }

    /// CPU time in user space and in the kernel.
    pub(crate) fn cpu(&self) -> Duration {
        self.user + self.system
    }
}

/// Waits for the end of a program that `hashlane lab usage` runs, at most for `limit`. Returns its resources
/// and its output.
pub(crate) fn wait(
    mut child: Child,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<(Usage, String), TurnError> {
    let status = wait::try_until(limit, LOOK, || match child.program.ended() {
        Ok(None) if stop.load(Ordering::Relaxed) => Err(TurnError::Stopped),
        status => status.map_err(TurnError::io("cannot wait for a program")),
    })?;
    if status.is_none() {
        return Err(child.failed(&format!("it did not end within {} s", limit.as_secs())));
    }
    let mut said = String::new();
    if let Some(mut output) = child.program.child().stdout.take() {
        output.read_to_string(&mut said).map_err(TurnError::io("cannot read what a program used"))?;
    }
    let usage = said.parse().map_err(|error: String| child.failed(&error))?;
    Ok((usage, child.log()))
}

/// As [`proc::end_with`], by SIGTERM.
///
/// # Errors
/// The system refuses it, or that process is gone already.
pub fn end_with(parent: i32) -> io::Result<()> {
    proc::end_with(parent, Signal::SIGTERM)
}

/// Reacts to a signal to end. The program has got it, too, if it is for the group of processes: this one goes
/// on and reports. If the process `parent` is gone, nobody reads a report: the group is killed.
pub fn on_signal(parent: i32) {
    if getppid().as_raw() != parent {
        // This process is in the group.
        let _ = killpg(getpgrp(), Signal::SIGKILL);
    }
}

/// Runs a program to its end. Its output goes to our standard error.
///
/// # Errors
/// The program does not start, or its resources are not known.
pub fn run(program: &[OsString]) -> io::Result<Usage> {
    let Some((program, arguments)) = program.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program is named"));
    };
    let output = || io::stderr().as_fd().try_clone_to_owned().map(Stdio::from);
    let begun = Instant::now();
    let mut child = Command::new(program).args(arguments).stdout(output()?).stderr(output()?).spawn()?;
    let status = child.wait()?;
    let wall = begun.elapsed();
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    // Linux states it in KiB.
    let peak = u64::try_from(used.max_rss()).map_err(io::Error::other)?.saturating_mul(1024);
    let (user, system) = (duration(used.user_time()), duration(used.system_time()));
    Ok(Usage { user, system, wall, peak, code: status.code() })
}

fn duration(time: TimeVal) -> Duration {
    let part = |number| u64::try_from(number).unwrap_or(0);
    Duration::from_secs(part(time.tv_sec())) + Duration::from_micros(part(time.tv_usec()))
}

/// Microseconds in user space, in the kernel and on the clock; bytes of peak memory; exit code, or -1.
impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, system, wall, peak, code } = self;
        let [user, system, wall] = [user, system, wall].map(Duration::as_micros);
        write!(f, "{user} {system} {wall} {peak} {}", code.unwrap_or(-1))
    }
}

impl FromStr for Usage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<i64>, _> = text.split_whitespace().map(str::parse).collect();
        let Ok([user, system, wall, peak, code]) = numbers.as_deref() else {
            return Err(format!("{text:?} is not five numbers"));
        };
        let [user, system, wall] = [user, system, wall].map(|us| Duration::from_micros(us.unsigned_abs()));
        Ok(Self {
            user,
            system,
            wall,
            peak: peak.unsigned_abs(),
            code: i32::try_from(*code).ok().filter(|code| *code >= 0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let usage = Usage {
            user: Duration::from_micros(1_500_000),
            system: Duration::from_micros(250),
            wall: Duration::from_millis(800),
            peak: 107_180 << 10,
            code: Some(0),
        };
        assert_eq!(usage.to_string().parse(), Ok(usage));
        let killed = Usage { code: None, ..usage };
        assert_eq!(killed.to_string().parse(), Ok(killed));
        assert_eq!(usage.cpu(), Duration::from_micros(1_500_250));
        for broken in ["", "1", "x 1 1 1 0"] {
            assert!(broken.parse::<Usage>().is_err(), "{broken}");
        }
    }

    #[test]
    fn states_the_exit_code_and_refuses_a_missing_program() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(run(&words(&["sh", "-c", "exit 3"])).unwrap().code, Some(3));
        assert_eq!(run(&words(&["sh", "-c", "kill -KILL $$"])).unwrap().code, None);
        assert!(run(&words(&["/nothing/here"])).is_err());
        assert!(run(&[]).is_err());
    }
}
