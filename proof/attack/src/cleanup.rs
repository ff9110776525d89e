//! Processes and folders that must not outlive this program, also after Ctrl-C.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;
use tempfile::TempDir;

static PROCESSES: Mutex<Vec<i32>> = Mutex::new(Vec::new());
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Ends everything on Ctrl-C or SIGTERM, and then the program.
///
/// # Errors
/// The handler cannot be installed.
pub(crate) fn on_signals() -> Result<(), String> {
    let mut signals =
        Signals::new([SIGINT, SIGTERM]).map_err(|error| format!("no handler for Ctrl-C: {error}"))?;
    let end_all = move || {
        signals.forever().next();
        for pid in PROCESSES.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            end(pid);
        }
        for folder in FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // A leftover is a folder among temporary files.
            let _ = fs::remove_dir_all(folder);
        }
        eprintln!("hashlane-attack: stopped; the server and its folder are removed");
        std::process::exit(130);
    };
    thread::spawn(end_all);
    Ok(())
}

fn end(pid: i32) {
    // Fails if it has ended already.
    let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
}

/// Registers a process, until [`forget_process`].
pub(crate) fn add_process(pid: i32) {
    PROCESSES.lock().unwrap_or_else(PoisonError::into_inner).push(pid);
}

/// Removes a process that is about to be waited for: its number may belong to another one soon.
pub(crate) fn forget_process(pid: i32) {
    PROCESSES.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| *known != pid);
}

/// Creates a folder among the temporary ones, which other users may read.
///
/// # Errors
/// It cannot be created.
pub(crate) fn folder() -> Result<TempDir, String> {
    let mode = fs::Permissions::from_mode(0o755);
    let made = tempfile::Builder::new().prefix("hashlane-attack-").permissions(mode).tempdir();
    let folder = made.map_err(|error| format!("no temporary folder: {error}"))?;
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).push(folder.path().to_owned());
    Ok(folder)
}
