//! Running other programs, and what came of it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

/// What came of a task or of a step of it.
#[derive(Debug)]
pub(crate) enum Outcome {
    Passed,
    /// Not run, and why.
    Skipped(String),
    /// What is wrong.
    Failed(String),
}

impl From<Result<(), String>> for Outcome {
    fn from(result: Result<(), String>) -> Self {
        match result {
            Ok(()) => Self::Passed,
            Err(why) => Self::Failed(why),
        }
    }
}

/// Whether this is continuous integration, where a missing piece is a failure.
pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// The folder of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The folder that cargo builds into: this program stands in `debug/` of it.
///
/// # Errors
/// Where this program stands elsewhere.
pub(crate) fn target_dir() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| format!("the path of xtask: {error}"))?;
    let dir = program.parent().and_then(Path::parent).ok_or("xtask stands in no target directory")?;
    Ok(dir.to_owned())
}

/// A command in the folder of the repository. In continuous integration nothing is built twice, so cargo keeps nothing
/// for a second build.
pub(crate) fn command<S: AsRef<OsStr>>(words: &[S]) -> Command {
    let mut words = words.iter();
    let mut command = Command::new(words.next().map_or(OsStr::new("cargo"), AsRef::as_ref));
    command.args(words).current_dir(root());
    if is_ci() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Prints `command` and runs it; its output goes to ours.
///
/// # Errors
/// Where it cannot be started or does not succeed.
pub(crate) fn show(command: &mut Command) -> Result<(), String> {
    let line = line(command);
    println!("$ {line}");
    succeeded(&line, command.status())
}

fn succeeded(line: &str, status: io::Result<ExitStatus>) -> Result<(), String> {
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{line}`: {status}")),
        Err(error) => Err(format!("`{line}`: {error}")),
    }
}

/// A command that runs beside others, and the file that its output goes to.
#[derive(Debug)]
pub(crate) struct Begun {
    line: String,
    child: Child,
    log: PathBuf,
}

/// Prints `command` and starts it; its output goes to the file `log`.
///
/// # Errors
/// Where the file cannot be written, or the command not be started.
pub(crate) fn begin(command: &mut Command, log: &Path) -> Result<Begun, String> {
    let line = line(command);
    println!("$ {line} > {} &", log.display());
    let failed = |error| format!("`{line}`: {error}");
    let output = File::create(log).map_err(failed)?;
    command.stdin(Stdio::null()).stdout(output.try_clone().map_err(failed)?).stderr(output);
    let child = command.spawn().map_err(failed)?;
    Ok(Begun { line, child, log: log.to_owned() })
}

impl Begun {
    /// Waits for its end, and prints what it said.
    ///
    /// # Errors
    /// Where it did not succeed.
    pub(crate) fn end(mut self) -> Result<(), String> {
        let status = self.child.wait();
        let said = fs::read(&self.log).unwrap_or_default();
        println!("$ {}\n{}", self.line, String::from_utf8_lossy(&said).trim_end());
        succeeded(&self.line, status)
    }
}

/// Whether a program is there and runs.
pub(crate) fn works(words: &[&str]) -> bool {
    command(words).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The command as it would be typed, the variables that it sets before it.
fn line(command: &Command) -> String {
    let vars = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={:?}", name.to_string_lossy(), value?.to_string_lossy()))
    });
    let program = command.get_program().to_string_lossy().into_owned();
    let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
    vars.chain([program]).chain(words).collect::<Vec<_>>().join(" ")
}
