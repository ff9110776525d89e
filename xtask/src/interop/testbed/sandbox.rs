//! A process, mount and network namespace for a run, which the kernel removes with all its processes.

use crate::run;
use std::ffi::OsString;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Programs of the system that make namespaces.
const TOOLS: [&str; 5] = ["setpriv", "unshare", "nsenter", "mount", "ip"];

/// Checks that namespaces can be made.
///
/// # Errors
/// This is not root, or a program is missing.
pub(super) fn possible() -> Result<(), String> {
    let id = Command::new("id").arg("-u").output().map_err(|error| format!("id: {error}"))?;
    if id.stdout.trim_ascii() != b"0" {
        return Err("needs root for network namespaces: sudo -E cargo xtask interop testbed …".to_owned());
    }
    for tool in TOOLS {
        let flag = if tool == "ip" { "-V" } else { "--version" };
        if !run::works(&[tool, flag]) {
            return Err(format!("{tool} is missing: apt-get install --yes util-linux iproute2 mount"));
        }
    }
    Ok(())
}

/// Runs this command again with other words, as the first process of new namespaces. The kernel kills that
/// process if this one ends for any reason, and with it every process of its namespace; mounts and network
/// namespaces end with the last process.
///
/// # Errors
/// The run fails, or does not end within `limit`.
pub(super) fn enter(words: &[OsString], limit: Duration) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| format!("the path of xtask: {error}"))?;
    let mut command = run::command(&["setpriv", "--pdeathsig", "KILL"]);
    command.args(["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command.arg(program).args(["interop", "testbed"]).args(words);
    let mut child = command.spawn().map_err(|error| format!("setpriv: {error}"))?;
    let start = Instant::now();
    loop {
        match child.try_wait().map_err(|error| format!("unshare: {error}"))? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("the run inside its namespaces: {status}")),
            None if start.elapsed() > limit => {
                // `--kill-child` ends the rest.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("not done within {} minutes: give --minutes", limit.as_secs() / 60));
            }
            None => thread::sleep(Duration::from_millis(50)),
        }
    }
}
