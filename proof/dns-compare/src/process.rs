//! Other programs.

use hashlane_rig::program::Program;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Timeout for a server to stop after a signal.
const STOP: Duration = Duration::from_secs(20);

/// Runs a program to its end.
///
/// # Errors
/// It cannot be started, or fails; with its output.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !output.status.success() {
        let arguments: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let said = text(&output.stdout) + &text(&output.stderr);
        return Err(format!("{name} {}: {}\n{said}", arguments.join(" "), output.status));
    }
    Ok(text(&output.stdout))
}

/// A server, stopped when dropped.
pub(crate) struct Server {
    name: &'static str,
    process: Program,
}

impl Server {
    /// Starts a server whose output goes to the file `log`.
    pub(crate) fn start(name: &'static str, command: &mut Command, log: &Path) -> Result<Self, String> {
        let failed = |error| format!("{name}: {error}");
        let output = File::create(log).map_err(failed)?;
        command.stdin(Stdio::null()).stdout(output.try_clone().map_err(failed)?).stderr(output);
        // NSD has child processes to end.
        let process = Program::start(command).map_err(failed)?.with_grace(STOP);
        Ok(Self { name, process })
    }

    /// Error if the server has ended.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        match self.process.ended() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(format!("{} has ended: {status}", self.name)),
            Err(error) => Err(format!("{}: {error}", self.name)),
        }
    }
}
