//! The build of the test programs, and of what they start.

use super::Program;
use crate::run;
use serde::Deserialize;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

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

/// Builds what tests start: our commands, and the shared objects that tests of the audit load. Where these
/// are missing, a test builds them with other features, and half of the workspace with them.
///
/// # Errors
/// The build fails.
pub(super) fn started() -> Result<(), String> {
    let libraries = ["--example", "flow_table", "--example", "flow_table_weak"];
    run::show(run::build(&run::LIKE_TESTS).args(libraries))
}

/// Builds the test programs, and passes each to `push` when it is built. Programs that run meanwhile come
/// before the compiler: their deadlines are those of an idle machine.
///
/// # Errors
/// The build fails.
pub(super) fn tests(mut push: impl FnMut(Program)) -> Result<(), String> {
    let mut cargo = run::command(&["nice", "cargo", "test", "--tests", "--no-run"]);
    cargo.args(run::LIKE_TESTS).arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    println!("$ {}", run::line(&cargo));
    let mut child = cargo.spawn().map_err(|error| format!("nice: {error}"))?;
    let messages = child.stdout.take().ok_or("cargo has no output")?;
    for line in BufReader::new(messages).lines() {
        let line = line.map_err(|error| format!("messages of cargo: {error}"))?;
        program(&line)?.into_iter().for_each(&mut push);
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
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
    let is_integration = target.kind.iter().any(|kind| kind == "test");
    // The libraries of `core/` do no input and output, and their tests start no server.
    let is_waiting = is_integration && !folder.starts_with("core/");
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
        let message = |folder: &str, kind: &str, test: bool| {
            let manifest = run::root().join(folder).join("Cargo.toml");
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":{manifest:?},"target":{{"kind":["{kind}"],
                "name":"page"}},"profile":{{"test":{test}}},"executable":"/x"}}"#
            )
        };
        for (folder, kind, name, is_waiting) in [
            ("lab/lab", "test", "lab/lab page", true),
            ("lab/lab", "lib", "lab/lab", false),
            ("core/dns", "test", "core/dns page", false),
            ("bin/dns", "bin", "bin/dns (command)", false),
        ] {
            let program = program(&message(folder, kind, true)).unwrap().unwrap();
            assert_eq!((program.name.as_str(), program.is_waiting), (name, is_waiting));
        }
        assert!(program(&message("lab/lab", "bin", false)).unwrap().is_none());
        assert!(program(r#"{"reason":"build-finished","success":true}"#).unwrap().is_none());
        assert!(program("{").is_err());
    }
}
