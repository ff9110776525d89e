//! Preparation of a forwarder's process before it executes the program.

use hashlane_rig::{namespace, proc};
use nix::sys::signal::Signal;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Binds this process to a core, enters the network namespace at a path if one is given, ends with the
/// process `parent`, and executes `program`. Returns only the error of a failure.
pub fn become_program(
    core: Option<usize>,
    namespace: Option<&Path>,
    parent: i32,
    program: &[OsString],
) -> io::Error {
    let Some((program, arguments)) = program.split_first() else {
        return io::Error::new(io::ErrorKind::InvalidInput, "no program is named");
    };
    if let Err(error) = prepare(core, namespace, parent) {
        return error;
    }
    Command::new(program).args(arguments).exec()
}

fn prepare(core: Option<usize>, namespace: Option<&Path>, parent: i32) -> io::Result<()> {
    if let Some(core) = core {
        proc::bind(core)?;
    }
    if let Some(path) = namespace {
        namespace::enter(&File::open(path)?)?;
    }
    proc::end_with(parent, Signal::SIGKILL)
}
