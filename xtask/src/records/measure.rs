//! Runs of the commands, and their records.

use super::machine::{Facts, minimal};
use super::runs::Run;
use crate::interop::testbed;
use crate::run;
use jiff::Timestamp;
use serde_json::Value;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Seconds to wait for a quiet machine before a run.
const WAIT_QUIET: &str = "900";

/// Files of a run that the repository keeps.
const KEPT: [&str; 2] = ["records.csv", "machine.toml"];

/// Makes these runs for a machine. Returns a line for each that failed; the others are kept.
///
/// # Errors
/// Code is not committed, or the commands cannot be built.
pub(super) fn all(due: &[&Run], machine: &str) -> Result<Vec<String>, String> {
    if due.is_empty() {
        return Ok(Vec::new());
    }
    let commit = commit()?;
    let command = run::build_release()?;
    let minutes: u32 = due.iter().map(|run| run.minutes).sum();
    println!("{} runs, about {minutes} minutes, at commit {commit}", due.len());
    let mut failed = Vec::new();
    for run in due {
        let begun = Instant::now();
        println!("{}: {} ({} min)", run.folder, line(run), run.minutes);
        match one(run, machine, &command, &commit) {
            Ok(()) => println!("{}: {:.0} s", run.folder, begun.elapsed().as_secs_f64()),
            Err(why) => {
                println!("{}: FAILED: {why}", run.folder);
                failed.push(format!("{}: {why}", run.folder));
            }
        }
    }
    Ok(failed)
}

/// The commit of the code, which must be all committed: records are of a commit.
fn commit() -> Result<String, String> {
    let git = |words: &[&str]| -> Result<String, String> {
        let output = run::command(&["git"]).args(words).output().map_err(|error| format!("git: {error}"))?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let dirty = git(&[
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--",
        "*.rs",
        "*.toml",
        "*.c",
        "*.cpp",
        ":(exclude)records",
    ])?;
    match dirty.is_empty() {
        true => git(&["rev-parse", "--short=12", "HEAD"]),
        false => Err(format!(
            "code is not committed, and records are of a commit: git commit, or git stash\n{dirty}"
        )),
    }
}

/// Makes a run in a new folder and moves its records into the repository, if it is whole.
fn one(run: &Run, machine: &str, command: &Path, commit: &str) -> Result<(), String> {
    let folder = run::target_dir()?.join("records").join(&run.folder);
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    let results = folder.join("hashlane-report");
    let kept = if let Some(name) = &run.stdout {
        fs::create_dir(&results).map_err(failed)?;
        let output = File::create(results.join(name)).map_err(failed)?;
        let mut audit = hashlane(command, run, &folder);
        // Exit code 1 is a verdict.
        match audit.stdout(output).status().map_err(failed)?.code() {
            Some(0 | 1) => {}
            code => return Err(format!("`{}`: exit code {code:?}", run::line(&audit))),
        }
        let machine = minimal(commit, &Timestamp::now().to_string(), &line(run));
        fs::write(results.join("machine.toml"), machine).map_err(failed)?;
        [name, "machine.toml"]
    } else if let Some(name) = &run.task {
        fs::create_dir(&results).map_err(failed)?;
        let report = results.join(name);
        run_task(run, command, &report)?;
        let machine = minimal(commit, &Timestamp::now().to_string(), &line(run));
        fs::write(results.join("machine.toml"), machine).map_err(failed)?;
        [name, "machine.toml"]
    } else {
        let status = hashlane(command, run, &folder).args(["--wait-quiet", WAIT_QUIET]).status();
        match status.map_err(|error| format!("hashlane: {error}"))? {
            status if status.success() => {}
            status => return Err(format!("`hashlane {}`: {status}", run.command)),
        }
        KEPT
    };
    let text = fs::read_to_string(results.join("machine.toml")).map_err(failed)?;
    let facts = Facts::parse(&text)?;
    if facts.run.partial {
        return Err(format!("partial: {}", facts.run.partial_reason.unwrap_or_default()));
    }
    if facts.build.commit != commit {
        return Err(format!("the build is of commit {}, not {commit}", facts.build.commit));
    }
    if run.stdout.is_none() && run.task.is_none() {
        quiet_enough(command, &results)?;
    }
    let into = run::root().join("records").join(machine).join(&run.folder);
    let failed = |error: std::io::Error| format!("{}: {error}", into.display());
    if into.exists() {
        fs::remove_dir_all(&into).map_err(failed)?;
    }
    fs::create_dir_all(&into).map_err(failed)?;
    for name in kept {
        fs::copy(results.join(name), into.join(name)).map_err(failed)?;
    }
    Ok(())
}

/// Command line of a run.
fn line(run: &Run) -> String {
    let program = if run.task.is_some() { "cargo xtask" } else { "hashlane" };
    format!("{program} {}", run.command)
}

/// Runs a task with the release build of our forwarder. Failed checks are in its report, and are kept, as
/// long as the run is whole.
fn run_task(run: &Run, command: &Path, report: &Path) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| format!("the path of xtask: {error}"))?;
    let mut task = Command::new(program);
    task.args(run.command.split(' ')).arg("--out").arg(report);
    task.arg("--hashlane").arg(command.with_file_name("hashlane-ndn")).stdin(Stdio::null());
    let status = task.status().map_err(|error| format!("`{}`: {error}", run::line(&task)))?;
    match fs::read_to_string(report) {
        Ok(text) if testbed::is_whole(&text) => Ok(()),
        _ => Err(format!("`{}`: {status}; needs {}", line(run), run.needs)),
    }
}

/// Fails if noise withholds more than half of the answers of a run: such records say less than older ones.
fn quiet_enough(command: &Path, results: &Path) -> Result<(), String> {
    let mut report = Command::new(command);
    let output = report.arg("report").arg(results).args(["--export", "json"]).output();
    let output = output.map_err(|error| format!("`{}`: {error}", run::line(&report)))?;
    let studies: Vec<Value> = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("`{}`: {error}", run::line(&report)))?;
    match withheld(&studies) {
        noisy if 2 * noisy > studies.len() => Err(format!(
            "noise of the machine withholds {noisy} of {} answers: not kept; run it again on a quieter one",
            studies.len()
        )),
        _ => Ok(()),
    }
}

/// Number of answers that noise withholds.
fn withheld(studies: &[Value]) -> usize {
    studies.iter().filter(|study| study["answer"]["is_noise"] == true).count()
}

/// The command as its reader would type it: by its name, in a folder of results.
fn hashlane(command: &Path, run: &Run, folder: &Path) -> Command {
    let mut path = OsString::from(command.parent().unwrap_or(Path::new(".")));
    if let Some(rest) = std::env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    let mut hashlane = Command::new("hashlane");
    hashlane.args(run.command.split(' ')).current_dir(folder).env("PATH", path).stdin(Stdio::null());
    hashlane
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_answers_that_noise_withholds() {
        let text = r#"[{"answer": {"text": "x", "is_noise": false}}, {"answer": {"is_noise": true}}, {"answer": null}]"#;
        assert_eq!(withheld(&serde_json::from_str::<Vec<Value>>(text).unwrap()), 1);
    }
}
