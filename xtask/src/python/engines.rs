//! Tests of the engines of `hashlane.distributed`: Ray, Daft, Spark and Dask.

use super::paths;
use super::venv::Venv;
use crate::need;
use crate::run::Outcome;
use std::path::Path;

/// Tests the wheel on all engines, with the interpreter of the other tests. Spark needs Java.
pub(super) fn test(folder: &Path, wheel: &Path, command: &Path) -> Outcome {
    match need::meet(&[need::JAVA]) {
        Ok(()) => pytest(folder, wheel, command).into(),
        Err(outcome) => outcome,
    }
}

/// The environment with the engines.
pub(super) fn environment(folder: &Path) -> Result<Venv, String> {
    let requirements = paths::package().join("requirements-engines.txt");
    Venv::locked(&folder.join("engines"), super::USUAL, &requirements)
}

fn pytest(folder: &Path, wheel: &Path, command: &Path) -> Result<(), String> {
    let venv = environment(folder)?;
    venv.reinstall(wheel)?;
    let tests = paths::package().join("tests");
    venv.pytest(&[&tests.join("engines")], &tests, &[("HASHLANE", command)], false)
}
