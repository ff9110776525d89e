//! The Python that is measured, and its packages.

use hashlane_lab::study::TurnError;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Variable with the path of the interpreter.
const VARIABLE: &str = "HASHLANE_PYTHON";

/// Interpreter without the variable, found on the `PATH`.
const USUAL: &str = "python3";

/// Command that installs all packages of the studies.
pub(crate) const INSTALL: &str = "cargo xtask wheel && pip install dist/*.whl ray==2.60.0 pyarrow polars \
                                  polars-hash xxhash mmh3 pandas siphashc duckdb dpkt scapy";

/// Program of the interpreter.
///
/// # Errors
/// There is no such program.
pub(crate) fn program() -> Result<OsString, TurnError> {
    found(env::var_os(VARIABLE), env::var_os("PATH").as_deref())
}

fn found(named: Option<OsString>, path: Option<&OsStr>) -> Result<OsString, TurnError> {
    let program = named.filter(|name| !name.is_empty()).unwrap_or_else(|| USUAL.into());
    let is_path = Path::new(&program).components().count() > 1;
    let mut folders = path.into_iter().flat_map(env::split_paths);
    let exists = if is_path {
        Path::new(&program).is_file()
    } else {
        folders.any(|folder| folder.join(&program).is_file())
    };
    if exists {
        return Ok(program);
    }
    let what = if is_path { "no such file" } else { "no such program on the PATH" };
    let next =
        format!("set {VARIABLE} to the path of a Python 3.9 or newer with these packages: `{INSTALL}`");
    Err(TurnError::Failed(format!("{}: {what}; {next}", program.display())))
}

/// Error of packages that an interpreter does not have.
pub(crate) fn missing(program: &OsStr, packages: &[String]) -> TurnError {
    TurnError::Failed(format!(
        "{} has no package {}; install them with `{INSTALL}`, or set {VARIABLE} to the path of a Python that \
         has them",
        program.display(),
        packages.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_names_the_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("python3"), "").unwrap();
        let path = Some(folder.path().as_os_str());
        assert_eq!(found(None, path).unwrap(), "python3");
        assert_eq!(found(Some("".into()), path).unwrap(), "python3");
        let named = folder.path().join("python3").into_os_string();
        assert_eq!(found(Some(named.clone()), None).unwrap(), named);
    }

    #[test]
    fn a_missing_interpreter_or_package_says_what_to_install() {
        let error = found(None, None).unwrap_err().to_string();
        assert!(error.starts_with("python3: no such program on the PATH; set HASHLANE_PYTHON"), "{error}");
        let error = found(Some("/none/python".into()), None).unwrap_err().to_string();
        assert!(error.starts_with("/none/python: no such file") && error.contains(INSTALL), "{error}");
        let error = missing("python3".as_ref(), &["hashlane".into(), "mmh3".into()]).to_string();
        assert!(error.starts_with("python3 has no package hashlane, mmh3; install"), "{error}");
        assert!(error.contains("pip install dist/*.whl ray==2.60.0"), "{error}");
    }
}
