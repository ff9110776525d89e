//! Running other programs.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Outcome of a task or of a step.
#[derive(Debug)]
pub(crate) enum Outcome {
    Passed,
    /// Not run, with the reason.
    Skipped(String),
    /// Failed, with the reason.
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

/// Tests if this is continuous integration, where a missing tool is a failure.
pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// The folder of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The target directory of cargo; this program is in its `debug/`.
///
/// # Errors
/// This program is not in a target directory.
pub(crate) fn target_dir() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| format!("the path of xtask: {error}"))?;
    let dir = program.parent().and_then(Path::parent).ok_or("xtask is not in a target directory")?;
    Ok(dir.to_owned())
}

/// A command in the folder of the repository. In continuous integration each crate is built once, so
/// incremental compilation is off.
///
/// The command has none of the variables by which Cargo describes the package of this program. The build
/// script of `ring` reads them: with other values it would run again, and what depends on it would be
/// compiled again, in each change between `cargo xtask` and `cargo build`.
pub(crate) fn command<S: AsRef<OsStr>>(words: &[S]) -> Command {
    let mut words = words.iter();
    let mut command = Command::new(words.next().map_or(OsStr::new("cargo"), AsRef::as_ref));
    command.args(words).current_dir(root());
    for (name, _) in std::env::vars_os() {
        let of_package = ["CARGO_PKG_", "CARGO_MANIFEST_"].map(str::as_bytes);
        if of_package.iter().any(|start| name.as_encoded_bytes().starts_with(start)) {
            command.env_remove(name);
        }
    }
    if is_ci() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Prints `command` and runs it, with our standard output.
///
/// # Errors
/// The command cannot be started, or fails.
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

/// A command in the background, and the file with its output.
#[derive(Debug)]
pub(crate) struct Begun {
    line: String,
    child: Child,
    log: PathBuf,
}

/// Prints `command` and starts it, with its output in the file `log`.
///
/// # Errors
/// The file cannot be written, or the command cannot be started.
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
    /// Waits for its end, and prints its output.
    ///
    /// # Errors
    /// The command has failed.
    pub(crate) fn end(mut self) -> Result<(), String> {
        let status = self.child.wait();
        let said = fs::read(&self.log).unwrap_or_default();
        println!("$ {}\n{}", self.line, String::from_utf8_lossy(&said).trim_end());
        succeeded(&self.line, status)
    }
}

/// Runs cargo with the words of a line.
///
/// # Errors
/// As [`show`].
pub(crate) fn cargo(words: &str) -> Result<(), String> {
    show(&mut command(&["cargo"].into_iter().chain(words.split(' ')).collect::<Vec<_>>()))
}

/// Names of our commands, which `cargo build` makes.
pub(crate) const COMMANDS: [&str; 5] =
    ["hashlane", "hashlane-dns", "hashlane-ndn", "hashlane-flow", "hashlane-names"];

/// `cargo build` of our commands with more options. With the tests' options, it makes nothing twice.
pub(crate) fn build(options: &[&str]) -> Command {
    let mut build = command(&["cargo", "build"]);
    build.args(options).args(COMMANDS.iter().flat_map(|name| ["--bin", name]));
    build
}

/// Options of builds that share their artifacts with the tests.
pub(crate) const LIKE_TESTS: [&str; 2] = ["--workspace", "--all-features"];

/// Builds our commands for release, unless they are up to date. Returns the path of `hashlane`; the others
/// lie beside it.
///
/// # Errors
/// The build fails.
pub(crate) fn build_release() -> Result<PathBuf, String> {
    show(&mut build(&["--release"]))?;
    Ok(target_dir()?.join("release/hashlane"))
}

/// Tests if a command can be run and succeeds.
pub(crate) fn works(words: &[&str]) -> bool {
    command(words).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The command as one would type it, after the variables that it sets.
pub(crate) fn line(command: &Command) -> String {
    let vars = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={:?}", name.to_string_lossy(), value?.to_string_lossy()))
    });
    let program = command.get_program().to_string_lossy().into_owned();
    let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
    vars.chain([program]).chain(words).collect::<Vec<_>>().join(" ")
}
