//! Tests of the engines of `hashlane.distributed`: Ray, Daft, Spark and Dask.

use super::paths;
use super::venv::Venv;
use crate::need;
use crate::run::{self, Begun, Outcome};
use std::path::Path;

/// Starts the tests of the wheel on all engines, with the interpreter of the other tests, which run beside
/// them: clusters are waited for. Spark needs Java.
///
/// # Errors
/// The outcome if the tests cannot be started.
pub(super) fn begin(folder: &Path, wheel: &Path, command: &Path) -> Result<Begun, Outcome> {
    need::meet(&[need::JAVA])?;
    pytest(folder, wheel, command).map_err(Outcome::Failed)
}

/// The environment with the engines.
pub(super) fn environment(folder: &Path) -> Result<Venv, String> {
    let requirements = paths::package().join("requirements-engines.txt");
    Venv::locked(&folder.join("engines"), super::USUAL, &requirements)
}

fn pytest(folder: &Path, wheel: &Path, command: &Path) -> Result<Begun, String> {
    let venv = environment(folder)?;
    venv.reinstall(wheel)?;
    let tests = paths::package().join("tests");
    let mut pytest = venv.pytest(&[&tests.join("engines")], &tests, &[("HASHLANE", command)], false);
    run::begin(&mut pytest, &folder.join("engines.log"))
}
