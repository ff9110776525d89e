//! The test programs of the workspace, two of them at a time: half of their time is waiting for processes.

use crate::run;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// Programs whose time is printed at the end: the slowest.
const SLOWEST: usize = 10;

/// A test program that Cargo has built.
#[derive(Debug)]
struct Program {
    /// Folder of the package, and the target if it is an integration test: `lab/lab`, `bin/flow command`.
    name: String,
    executable: PathBuf,
    /// The folder of its package.
    package: PathBuf,
    /// Starts other programs and waits for them, as integration tests do.
    is_waiting: bool,
}

/// End of a program.
struct Ran {
    name: String,
    seconds: f64,
    failure: Option<String>,
}

/// Builds the tests and runs them, all of them also after a failure. `is_long` runs them in their long form.
///
/// # Errors
/// The build or a test fails.
pub(crate) fn run(is_long: bool) -> Result<(), String> {
    let logs = run::target_dir()?.join("test-logs");
    fs::create_dir_all(&logs).map_err(|error| format!("{}: {error}", logs.display()))?;
    let mut programs = build()?;
    // One worker takes those that wait, from the front, the largest first, as they take longest; the other
    // takes those that compute, from the back.
    programs.sort_by_cached_key(|program| (!program.is_waiting, Reverse(program.size())));
    let (all, queue) = (programs.len(), Mutex::new(VecDeque::from(programs)));
    let ran: Mutex<Vec<Ran>> = Mutex::default();
    let work = |take: fn(&mut VecDeque<Program>) -> Option<Program>| {
        // The queue is released before the program starts.
        let next = || take(&mut queue.lock().unwrap_or_else(PoisonError::into_inner));
        while let Some(program) = next() {
            let one = program.run(&logs, is_long);
            let mut ran = ran.lock().unwrap_or_else(PoisonError::into_inner);
            let mark = if one.failure.is_some() { "FAILED" } else { "ok" };
            println!("{:>4}/{all}  {mark:<6}  {:>6.1} s  {}", ran.len() + 1, one.seconds, one.name);
            if let Some(failure) = &one.failure {
                println!("{failure}");
            }
            ran.push(one);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| work(VecDeque::pop_back));
        work(VecDeque::pop_front);
    });
    summary(ran.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn summary(mut ran: Vec<Ran>) -> Result<(), String> {
    ran.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    println!("\nthe slowest:");
    for one in ran.iter().take(SLOWEST) {
        println!("  {:>6.1} s  {}", one.seconds, one.name);
    }
    let failed: Vec<&str> =
        ran.iter().filter(|one| one.failure.is_some()).map(|one| one.name.as_str()).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("tests of {} fail", failed.join(", "))) }
}

impl Program {
    /// Bytes of the file.
    fn size(&self) -> u64 {
        fs::metadata(&self.executable).map_or(0, |file| file.len())
    }

    fn run(&self, logs: &Path, is_long: bool) -> Ran {
        let start = Instant::now();
        let log = logs.join(format!("{}.log", self.name.replace(['/', ' '], "-")));
        let failure = self.succeed(&log, is_long).err().map(|why| {
            let said = fs::read(&log).unwrap_or_default();
            format!("{}\n{}: {why}", String::from_utf8_lossy(&said).trim_end(), self.executable.display())
        });
        Ran { name: self.name.clone(), seconds: start.elapsed().as_secs_f64(), failure }
    }

    /// Output goes to a file: a pipe would stay open as long as a process that a test left behind.
    fn succeed(&self, log: &Path, is_long: bool) -> Result<(), String> {
        let failed = |error| format!("{}: {error}", log.display());
        let output = File::create(log).map_err(failed)?;
        let mut command = Command::new(&self.executable);
        command
            .current_dir(&self.package)
            .env("CARGO_MANIFEST_DIR", &self.package)
            .env("RUST_TEST_THREADS", cores().to_string())
            .stdin(Stdio::null())
            .stdout(output.try_clone().map_err(failed)?)
            .stderr(output);
        // A check before a merge says the same of the same code; the nightly one looks for what it has not seen.
        let (name, default) = if is_long { ("PROPTEST_CASES", "2048") } else { ("PROPTEST_RNG_SEED", "1") };
        if env::var_os(name).is_none() {
            command.env(name, default);
        }
        if is_long {
            command.env("HASHLANE_LONG", "1");
        }
        let status = command.status().map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(status.to_string()) }
    }
}

/// Tests of a program at a time. With two programs there are two a core, as many of them wait.
fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// A message of `cargo --message-format=json`: of the fields, those that we use.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    profile: Option<Profile>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// Builds the test programs, and what they start.
fn build() -> Result<Vec<Program>, String> {
    let mut cargo = run::command(&["cargo", "test", "--workspace", "--all-features", "--tests", "--no-run"]);
    cargo.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    println!("$ {}", run::line(&cargo));
    let mut child = cargo.spawn().map_err(|error| format!("cargo: {error}"))?;
    let messages = child.stdout.take().ok_or("cargo has no output")?;
    let mut programs = Vec::new();
    for line in BufReader::new(messages).lines() {
        let line = line.map_err(|error| format!("messages of cargo: {error}"))?;
        programs.extend(program(&line)?);
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(programs),
        Ok(status) => Err(format!("the tests do not build: {status}")),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// The test program of a message, if it is about one.
fn program(line: &str) -> Result<Option<Program>, String> {
    let message: Message =
        serde_json::from_str(line).map_err(|error| format!("a message of cargo: {error}: {line}"))?;
    let (Some(executable), Some(manifest), Some(profile), Some(target)) =
        (message.executable, message.manifest_path, message.profile, message.target)
    else {
        return Ok(None);
    };
    if !profile.test {
        return Ok(None);
    }
    let package = manifest.parent().ok_or("a manifest without a folder")?.to_owned();
    let folder = package.strip_prefix(run::root()).unwrap_or(&package).display().to_string();
    let is_waiting = target.kind.iter().any(|kind| kind == "test");
    let of_target = match target.kind.first().map(String::as_str) {
        Some("test") => format!(" {}", target.name),
        Some("bin") => " (command)".to_owned(),
        _ => String::new(),
    };
    Ok(Some(Program { name: format!("{folder}{of_target}"), executable, package, is_waiting }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_named_by_its_folder_and_target() {
        let message = |kind: &str, test: bool| {
            let manifest = run::root().join("lab/lab/Cargo.toml");
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":{manifest:?},"target":{{"kind":["{kind}"],
                "name":"page"}},"profile":{{"test":{test}}},"executable":"/x"}}"#
            )
        };
        let integration = program(&message("test", true)).unwrap().unwrap();
        assert_eq!((integration.name.as_str(), integration.is_waiting), ("lab/lab page", true));
        let unit = program(&message("lib", true)).unwrap().unwrap();
        assert_eq!((unit.name.as_str(), unit.is_waiting), ("lab/lab", false));
        assert!(program(&message("bin", false)).unwrap().is_none());
        assert!(program(r#"{"reason":"build-finished","success":true}"#).unwrap().is_none());
        assert!(program("{").is_err());
    }

    #[test]
    fn the_output_of_a_program_that_fails_is_shown() {
        let folder = run::target_dir().unwrap().join("test-logs");
        fs::create_dir_all(&folder).unwrap();
        let failing = Program {
            name: "a failing one".to_owned(),
            executable: "/bin/ls".into(),
            package: run::root().join("xtask"),
            is_waiting: false,
        };
        // `ls` of the package's folder succeeds.
        assert!(failing.run(&folder, false).failure.is_none());
        let missing = Program { executable: "/bin/false".into(), ..failing };
        let failure = missing.run(&folder, false).failure.unwrap();
        assert!(failure.contains("/bin/false: exit status: 1"), "{failure}");
    }
}
