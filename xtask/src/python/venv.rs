//! Virtual environments with locked packages.

use crate::install::once;
use crate::run;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A virtual environment of Python.
#[derive(Debug)]
pub(crate) struct Venv(PathBuf);

impl Venv {
    /// The environment in `folder` with the packages of the file `requirements`, of the interpreter `python`.
    /// It is made once for a content of the file.
    ///
    /// # Errors
    /// The environment cannot be made, or a package cannot be installed.
    pub(crate) fn locked(folder: &Path, python: &str, requirements: &Path) -> Result<Self, String> {
        let packages = fs::read_to_string(requirements)
            .map_err(|error| format!("cannot read {}: {error}", requirements.display()))?;
        once(folder, &format!("{python}\n{packages}"), |folder| {
            let venv = Self::create(folder, python)?;
            // Modules are compiled when they are imported: of those of the engines, one in five is.
            venv.pip(&["install".as_ref(), "--no-compile".as_ref(), "--requirement".as_ref(), requirements])
        })?;
        Ok(Self(folder.to_owned()))
    }

    /// A new environment in `folder`, without packages.
    ///
    /// # Errors
    /// The environment cannot be made.
    pub(crate) fn fresh(folder: &Path, python: &str) -> Result<Self, String> {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        Self::create(folder, python)
    }

    fn create(folder: &Path, python: &str) -> Result<Self, String> {
        run::show(run::command(&[python, "-m", "venv"]).arg(folder))?;
        Ok(Self(folder.to_owned()))
    }

    /// Runs pip.
    ///
    /// # Errors
    /// pip fails.
    pub(crate) fn pip(&self, arguments: &[&Path]) -> Result<(), String> {
        let quiet = ["--disable-pip-version-check", "--no-input", "--quiet"];
        run::show(run::command(&[self.program("python")]).args(["-m", "pip"]).args(quiet).args(arguments))
    }

    /// Installs the wheel alone, in place of an earlier build with the same version.
    ///
    /// # Errors
    /// As [`Self::pip`].
    pub(crate) fn reinstall(&self, wheel: &Path) -> Result<(), String> {
        let words = ["install", "--no-index", "--no-deps", "--force-reinstall"].map(Path::new);
        self.pip(&[words.as_slice(), &[wheel]].concat())
    }

    /// pytest with these arguments in the folder `tests`, with paths as variables of its environment. `long`
    /// asks for the long form of the tests.
    pub(crate) fn pytest(
        &self,
        arguments: &[&Path],
        tests: &Path,
        paths: &[(&str, &Path)],
        long: bool,
    ) -> Command {
        // Not in the folder of the package: Python would import the sources instead of the wheel.
        let mut pytest = run::command(&[self.program("python")]);
        pytest.args(["-m", "pytest", "-p", "no:cacheprovider", "--rootdir"]).arg(tests).args(arguments);
        pytest.env("HASHLANE_REPOSITORY", run::root()).envs(paths.iter().copied());
        if long {
            pytest.env("HASHLANE_LONG", "1");
        }
        // Nor does Python write into the sources.
        pytest.current_dir(tests).env("PYTHONPYCACHEPREFIX", self.0.join("pycache"));
        pytest
    }

    /// Path of a program of the environment.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.0.join("bin").join(name)
    }
}
