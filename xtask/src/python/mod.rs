//! The Python package: its wheel and its tests.

mod engines;
pub(crate) mod paths;
mod portable;
mod venv;
pub(crate) mod wheel;

pub(crate) use venv::Venv;
pub(crate) use wheel::Wheel;

use crate::duckdb;
use crate::need;
use crate::run::{self, Outcome};
use clap::Args;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

/// Test the Python package
///
/// Builds the wheel without optimisation, installs it in a fresh virtual environment and runs a first program
/// there; then runs pytest and mypy in one with the packages of python/requirements-test.txt. With python3 it
/// tests the engines, too, in one with the packages of python/requirements-engines.txt.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Python {
    /// Interpreter to test with (repeatable)
    #[arg(long, value_name = "PROGRAM", default_value = USUAL)]
    pub(crate) python: Vec<String>,
    /// Install the source distribution, too, in a separate virtual environment
    #[arg(long)]
    pub(crate) sdist: bool,
    /// Execute all notebooks, also the one that takes half a minute
    #[arg(long)]
    pub(crate) long: bool,
}

const EXAMPLES: &str = "\
Needs Python with venv and, for Spark, Java; with CI=true, installs them. HASHLANE_KILLS=20 kills 20 workers
of each engine instead of one.

Examples:
  cargo xtask python
  cargo xtask python --python python3.9 --python python3.13
  cargo xtask python --sdist --long         as `cargo xtask nightly` does";

/// The interpreter of the other tests, and the one that tests the engines.
const USUAL: &str = "python3";

/// A program without any other package, as after the installation.
const FIRST: &str = "\
import hashlane
key = bytes(range(16))
print(hashlane.hash(['one', None, 'two'], 'siphash-1-3', key).to_pylist())
assert hashlane.hash([b''], 'siphash-2-4', key).to_pylist() == [0x726fdb47dd0e0e31]
";

impl Python {
    /// The interpreter of the other tests.
    pub(crate) fn usual() -> Self {
        Self { python: vec![USUAL.to_owned()], sdist: false, long: false }
    }

    /// Installs the packages of the tests beside other work: some 700 MB are downloaded and unpacked. The
    /// tests repeat what fails, and report it.
    pub(crate) fn install() -> JoinHandle<()> {
        thread::spawn(|| {
            if run::works(need::PYTHON.probe)
                && let Ok(folder) = paths::folder()
            {
                let _ = environment(USUAL, &folder);
                let _ = engines::environment(&folder);
            }
        })
    }

    /// Every supported interpreter that is installed.
    pub(crate) fn installed() -> Self {
        let all = (9..=13).map(|minor| format!("python3.{minor}"));
        let found = all.filter(|python| run::works(&[python, "-c", "import ensurepip, venv"]));
        Self { python: found.collect(), sdist: true, long: true }
    }

    pub(crate) fn run(&self) -> Outcome {
        if let Err(outcome) = need::meet(&[need::PYTHON]) {
            return outcome;
        }
        if self.python.is_empty() {
            return Outcome::Skipped("no python3.9 to python3.13 is installed".to_owned());
        }
        self.test().unwrap_or_else(Outcome::Failed)
    }

    /// Builds the wheel and what the tests start, and tests the wheel.
    fn test(&self) -> Result<Outcome, String> {
        let folder = paths::folder()?;
        let wheel = wheel::wheel(&folder.join("dist"), "dev")?;
        if self.sdist {
            install_sdist(&folder)?;
        }
        let command = build_command()?;
        // A notebook loads it.
        let extension = duckdb::unoptimised(&folder.join("duckdb"))?;
        let is_usual = self.python.iter().any(|python| python == USUAL);
        let engines = is_usual.then(|| engines::begin(&folder, &wheel, &command));
        let programs = [("HASHLANE", command.as_path()), ("HASHLANE_DUCKDB", &extension)];
        let tested = self.python.iter().try_for_each(|python| self.with(python, &folder, &wheel, &programs));
        let of_engines = match engines {
            Some(Ok(begun)) => begun.end().into(),
            Some(Err(outcome)) => outcome,
            None => Outcome::Passed,
        };
        tested.map(|()| of_engines)
    }

    /// Tests the wheel with an interpreter, and with these paths as variables of its environment.
    fn with(
        &self,
        python: &str,
        folder: &Path,
        wheel: &Path,
        variables: &[(&str, &Path)],
    ) -> Result<(), String> {
        let name = name(python);
        let fresh = Venv::fresh(&folder.join(format!("fresh-{name}")), python)?;
        fresh.pip(&["install".as_ref(), "--no-index".as_ref(), wheel])?;
        run::show(run::command(&[fresh.program("python")]).args(["-c", FIRST]))?;
        let venv = environment(python, folder)?;
        venv.reinstall(wheel)?;
        let tests = paths::package().join("tests");
        let ignored = format!("--ignore={}", tests.join("engines").display());
        run::show(&mut venv.pytest(&[Path::new(&ignored), &tests], &tests, variables, self.long))?;
        let config = paths::package().join("pyproject.toml");
        let mut mypy = run::command(&[venv.program("python")]);
        mypy.args(["-m", "mypy", "--config-file"]).arg(config);
        mypy.arg("--cache-dir").arg(folder.join(format!("mypy-{name}")));
        run::show(mypy.args(["--package", "hashlane"]).current_dir(&tests))
    }
}

/// Installs the source distribution with pip, from an empty folder, and runs a first program.
fn install_sdist(folder: &Path) -> Result<(), String> {
    let sdist = wheel::sdist(&folder.join("sdist"))?;
    let venv = Venv::fresh(&folder.join("from-sdist"), "python3")?;
    let build = paths::package().join("requirements-build.txt");
    venv.pip(&["install".as_ref(), "--requirement".as_ref(), &build])?;
    let empty = folder.join("from-sdist/empty");
    fs::create_dir(&empty).map_err(|error| format!("{}: {error}", empty.display()))?;
    let words = ["-m", "pip", "--disable-pip-version-check", "install", "--no-deps", "--no-build-isolation"];
    let mut pip = run::command(&[venv.program("python")]);
    pip.args(words).arg(&sdist).current_dir(&empty);
    pip.env("PATH", with_programs(&venv)?);
    // A separate target directory, as the sources are others; kept for the next time, and not optimised.
    pip.env("CARGO_TARGET_DIR", folder.join("from-sdist-target"));
    run::show(pip.env("MATURIN_PEP517_ARGS", "--profile dev"))?;
    run::show(run::command(&[venv.program("python")]).args(["-c", FIRST]).current_dir(&empty))
}

/// Builds the command, for the test of studies, with the features that the other tests have built it with.
fn build_command() -> Result<PathBuf, String> {
    run::show(&mut run::build(&run::LIKE_TESTS))?;
    Ok(run::target_dir()?.join("debug/hashlane"))
}

/// The search path with the programs of an environment before it.
fn with_programs(venv: &Venv) -> Result<OsString, String> {
    let mut paths = vec![venv.program("")];
    paths.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
    std::env::join_paths(paths).map_err(|error| format!("PATH: {error}"))
}

/// Name of an interpreter, as used in the names of folders.
fn name(python: &str) -> &str {
    python.rsplit('/').next().unwrap_or(python)
}

/// The environment of an interpreter with the packages of the tests.
fn environment(python: &str, folder: &Path) -> Result<Venv, String> {
    let requirements = paths::package().join("requirements-test.txt");
    Venv::locked(&folder.join(format!("test-{}", name(python))), python, &requirements)
}
