//! The DuckDB extension: its file and its tests.

mod footer;

use crate::need;
use crate::python::{Venv, paths, wheel};
use crate::run::{self, Outcome};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};

/// Test or write the DuckDB extension
///
/// Builds the extension without optimisation, appends the metadata that DuckDB expects, and runs pytest with
/// the oldest and the newest supported DuckDB, beside the Python package. With --release, writes the
/// optimised extension to dist/ instead.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Duckdb {
    /// Write the extension for users, and run no test
    #[arg(long)]
    release: bool,
    /// DuckDB's name of the platform (`PRAGMA platform`) for --release
    #[arg(long, value_name = "NAME", default_value = PLATFORM, requires = "release")]
    platform: String,
    /// Folder for the file
    #[arg(long, value_name = "DIR", default_value = "dist", requires = "release")]
    out: PathBuf,
}

const EXAMPLES: &str = "\
Needs Python with venv; with CI=true, installs it.

Examples:
  cargo xtask duckdb
  cargo xtask duckdb --release
  cargo xtask duckdb --release --platform linux_amd64_gcc4   for the Python package before DuckDB 1.3";

/// Platform of this machine.
const PLATFORM: &str = match cfg!(target_arch = "aarch64") {
    true => "linux_arm64",
    false => "linux_amd64",
};

/// Name of the file: DuckDB takes the name of the entry point from it.
const FILE: &str = "hashlane.duckdb_extension";

/// Environments of the tests: the oldest and the newest supported DuckDB.
const VERSIONS: [&str; 2] = ["oldest", "newest"];

impl Duckdb {
    /// The tests.
    pub(crate) fn tests() -> Self {
        Self { release: false, platform: PLATFORM.to_owned(), out: "dist".into() }
    }

    /// The extension for users of this machine's platform, in dist/.
    pub(crate) fn for_release() -> Self {
        Self { release: true, ..Self::tests() }
    }

    pub(crate) fn run(&self) -> Outcome {
        if self.release {
            return self.write().into();
        }
        match need::meet(&[need::PYTHON]) {
            Ok(()) => test().into(),
            Err(outcome) => outcome,
        }
    }

    /// Writes the extension for users.
    fn write(&self) -> Result<(), String> {
        let library = build("release")?;
        let path = run::root().join(&self.out).join(FILE);
        let bytes = extend(&library, &path, &self.platform)?;
        println!("{}: {:.1} MB", path.display(), bytes as f64 / 1e6);
        Ok(())
    }
}

/// Builds the library under a profile of cargo. Returns its path.
fn build(profile: &str) -> Result<PathBuf, String> {
    run::cargo(&format!("build --package hashlane-duckdb --profile {profile}"))?;
    let folder = if profile == "dev" { "debug" } else { profile };
    Ok(run::target_dir()?.join(folder).join("libhashlane_duckdb.so"))
}

/// Writes the library with its metadata to `path`. Returns the size of the file.
fn extend(library: &Path, path: &Path, platform: &str) -> Result<usize, String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let bytes = fs::read(library).map_err(|error| failed(library, error))?;
    let file = footer::with_footer(&bytes, platform, env!("CARGO_PKG_VERSION"))?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    }
    // A new file: a process may have loaded the one before.
    let part = path.with_extension("part");
    fs::write(&part, &file).map_err(|error| failed(&part, error))?;
    fs::rename(&part, path).map_err(|error| failed(path, error))?;
    Ok(file.len())
}

/// Builds the extension without optimisation and writes it to `folder`, for the newest supported DuckDB.
/// Returns its path.
///
/// # Errors
/// The build fails, or the file cannot be written.
pub(crate) fn unoptimised(folder: &Path) -> Result<PathBuf, String> {
    let path = folder.join(FILE);
    extend(&build("dev")?, &path, PLATFORM)?;
    Ok(path)
}

/// Tests the extension with each version of DuckDB.
fn test() -> Result<(), String> {
    let library = build("dev")?;
    let package = run::root().join("duckdb");
    let folder = run::target_dir()?.join("duckdb");
    let wheel = wheel::wheel(&paths::folder()?.join("dist"), "dev")?;
    for version in VERSIONS {
        let requirements = package.join(format!("requirements-{version}.txt"));
        let venv = Venv::locked(&folder.join(version), "python3", &requirements)?;
        venv.reinstall(&wheel)?;
        let path = folder.join(format!("extension-{version}")).join(FILE);
        extend(&library, &path, &platform(&venv)?)?;
        let tests = package.join("tests");
        run::show(&mut venv.pytest(&[&tests], &tests, &[("HASHLANE_DUCKDB", &path)], false))?;
    }
    Ok(())
}

/// DuckDB's name of the platform of its Python package, which has been another one before 1.3.
fn platform(venv: &Venv) -> Result<String, String> {
    const ASK: &str = "import duckdb; print(duckdb.execute('PRAGMA platform').fetchone()[0])";
    let output = run::command(&[venv.program("python")]).args(["-c", ASK]).output();
    let output = output.map_err(|error| format!("python: {error}"))?;
    let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && !name.is_empty() {
        return Ok(name);
    }
    Err(format!("DuckDB names no platform: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
