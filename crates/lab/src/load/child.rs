//! What the process of a forwarder does before it becomes one.

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getppid};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Binds this process to a core, lets it end when the process `parent` does, however that ends, and becomes `program`. Returns only
/// where that fails, with why.
pub fn become_program(core: Option<usize>, parent: i32, program: &[OsString]) -> io::Error {
    let Some((program, arguments)) = program.split_first() else {
        return io::Error::new(io::ErrorKind::InvalidInput, "no program is named");
    };
    if let Err(error) = prepare(core, parent) {
        return error;
    }
    Command::new(program).args(arguments).exec()
}

fn prepare(core: Option<usize>, parent: i32) -> io::Result<()> {
    if let Some(core) = core {
        bind(core)?;
    }
    set_pdeathsig(Signal::SIGKILL)?;
    if getppid().as_raw() != parent {
        return Err(io::Error::other("who started this has gone"));
    }
    Ok(())
}

/// Binds this thread to a core.
pub(super) fn bind(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}
