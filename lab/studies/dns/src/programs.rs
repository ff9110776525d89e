//! Programs of the renderers in other languages, found by variables of the environment.

use crate::driver::{Driver, DriverError};
use hashlane_rig::program;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Ids of the renderers.
pub(crate) const IDS: [&str; 2] = ["dnspython", "miekg"];

const DNSPYTHON: &str = include_str!("../drivers/dnspython.py");

/// Start of a renderer's driver, or the reason that it has none with the next step.
///
/// # Errors
/// There is no such program, or it does not start.
pub(crate) fn start(id: &str) -> Result<Driver, DriverError> {
    Driver::start(|folder| command(id, |name| env::var(name).ok(), folder), None)
}

/// The version of a renderer, or the reason that it cannot be measured with the next step. The driver is
/// started for that once in a process.
///
/// # Errors
/// The driver does not start, or its library is missing.
pub(crate) fn version(id: &str) -> &'static Result<String, String> {
    static VERSIONS: [OnceLock<Result<String, String>>; IDS.len()] = [const { OnceLock::new() }; IDS.len()];
    static UNKNOWN: Result<String, String> = Err(String::new());
    let known = IDS.iter().position(|known| *known == id).and_then(|at| VERSIONS.get(at));
    let version = || start(id).and_then(|mut driver| driver.version()).map_err(|error| reason(id, &error));
    known.map_or(&UNKNOWN, |known| known.get_or_init(version))
}

/// The reason in one line.
fn reason(id: &str, error: &DriverError) -> String {
    let next = match (id, error) {
        ("dnspython", DriverError::Refused(_)) => {
            "; set HASHLANE_PYTHON to the path of a Python with `pip install dnspython==2.9.2`"
        }
        _ => "",
    };
    format!("{id} was not measured: {error}{next}")
}

/// The command that runs a driver, with its script in `folder`.
fn command(id: &str, variable: impl Fn(&str) -> Option<String>, folder: &Path) -> Result<Command, String> {
    let named = |name| variable(name).filter(|path| !path.is_empty());
    match id {
        "dnspython" => {
            let python = named("HASHLANE_PYTHON").unwrap_or_else(|| "python3".into());
            let next = "set HASHLANE_PYTHON to the path of a Python with dnspython";
            let script = folder.join("driver.py");
            fs::write(&script, DNSPYTHON).map_err(|error| format!("cannot write its script: {error}"))?;
            let mut command = Command::new(found(&python, next)?);
            command.arg(script).env("PYTHONDONTWRITEBYTECODE", "1");
            Ok(command)
        }
        "miekg" => {
            let next = "build lab/studies/dns/drivers/miekg with `go build`, and set HASHLANE_MIEKG to the \
                        path of the program";
            let program =
                named("HASHLANE_MIEKG").ok_or_else(|| format!("HASHLANE_MIEKG is not set; {next}"))?;
            Ok(Command::new(found(&program, next)?))
        }
        _ => Err(format!("there is no driver of {id}")),
    }
}

fn found(program: &str, next: &str) -> Result<PathBuf, String> {
    program::find(program).ok_or_else(|| format!("{program}: no such program; {next}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(id: &str, variable: Option<&str>) -> String {
        let folder = tempfile::tempdir().unwrap();
        command(id, |_| variable.map(str::to_owned), folder.path()).unwrap_err()
    }

    #[test]
    fn a_missing_program_has_a_reason_with_the_next_step() {
        assert_eq!(
            why("dnspython", Some("/none/python")),
            "/none/python: no such program; set HASHLANE_PYTHON to the path of a Python with dnspython"
        );
        for (variable, start) in
            [(None, "HASHLANE_MIEKG is not set; build "), (Some("/none"), "/none: no such")]
        {
            let why = why("miekg", variable);
            assert!(why.starts_with(start) && why.contains("set HASHLANE_MIEKG to the path"), "{why}");
        }
        assert_eq!(version("unbound"), &Err(String::new()));
        let refused = DriverError::Refused("ModuleNotFoundError: No module named 'dns'".into());
        let reason = reason("dnspython", &refused);
        assert!(reason.starts_with("dnspython was not measured: ModuleNotFoundError"), "{reason}");
        assert!(reason.ends_with("`pip install dnspython==2.9.2`"), "{reason}");
    }

    #[test]
    fn an_empty_variable_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(why("miekg", Some("")).starts_with("HASHLANE_MIEKG is not set"));
        // A path is taken as it is.
        let program = folder.path().join("python");
        fs::write(&program, "").unwrap();
        let command = command("dnspython", |_| program.to_str().map(str::to_owned), folder.path()).unwrap();
        assert_eq!(command.get_program(), program);
        assert!(fs::read_to_string(folder.path().join("driver.py")).unwrap().starts_with("\"\"\"Driver of"));
    }
}
