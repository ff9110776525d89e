//! `cargo xtask wheel`

use super::venv::Venv;
use crate::need;
use crate::run::{self, Outcome};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};

/// Write the Python wheel
///
/// Builds the Python package hashlane for this machine, for every CPython from 3.9 on, and writes it to
/// dist/. maturin is installed into target/python, in the version of python/requirements-build.txt.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Wheel {
    /// Write the source distribution, too
    #[arg(long)]
    sdist: bool,
    /// Build with zig for every Linux on x86-64 with glibc 2.17 or newer: x86_64-unknown-linux-gnu
    #[arg(long, value_name = "TARGET", value_parser = PORTABLE)]
    portable: Vec<String>,
    /// Folder for the files
    #[arg(long, value_name = "DIR", default_value = "dist")]
    out: PathBuf,
}

const EXAMPLES: &str = "\
Needs Python with venv; with CI=true, installs it.

Examples:
  cargo xtask wheel && pip install dist/*.whl
  cargo xtask wheel --sdist
  cargo xtask wheel --portable x86_64-unknown-linux-gnu";

/// Targets of portable wheels.
const PORTABLE: [&str; 1] = ["x86_64-unknown-linux-gnu"];

/// Newest glibc that a portable wheel may need, 2.x.
const OLD_GLIBC: u32 = 17;

/// Largest wheel, in bytes.
const LARGEST: u64 = 12_000_000;

/// Newest glibc that a wheel may need, 2.x: docs/python.md promises it.
const GLIBC: u32 = 34;

impl Wheel {
    /// Both files, in dist/.
    pub(crate) fn with_sdist() -> Self {
        Self { sdist: true, portable: Vec::new(), out: "dist".into() }
    }

    pub(crate) fn run(&self) -> Outcome {
        if let Err(outcome) = need::meet(&[need::PYTHON]) {
            return outcome;
        }
        self.build().into()
    }

    fn build(&self) -> Result<(), String> {
        // The commands run in the folder of the repository.
        let out = run::root().join(&self.out);
        if self.sdist {
            let path = sdist(&out)?;
            println!("{}", path.display());
        }
        if self.portable.is_empty() {
            return check(&wheel(&out, "release")?, GLIBC);
        }
        remove(&out, ".whl")?;
        self.portable.iter().try_for_each(|target| check(&portable(&out, target, "release")?, OLD_GLIBC))
    }
}

/// Prints the size of a wheel, and checks it and the glibc that the wheel needs.
///
/// # Errors
/// The wheel is too large, or needs a newer glibc.
fn check(wheel: &Path, newest: u32) -> Result<(), String> {
    let bytes = fs::metadata(wheel).map_err(|error| format!("{}: {error}", wheel.display()))?.len();
    println!("{}: {:.1} MB", wheel.display(), bytes as f64 / 1e6);
    match glibc(wheel) {
        _ if bytes > LARGEST => Err(format!("the wheel has {bytes} bytes, more than {LARGEST}")),
        version if version > newest => Err(format!(
            "the wheel needs glibc 2.{version}, newer than 2.{newest}: find the function with objdump -T"
        )),
        _ => Ok(()),
    }
}

/// The glibc 2.x that a wheel needs, by the tag in its name; 0 if the tag has none.
fn glibc(wheel: &Path) -> u32 {
    let name = wheel.to_string_lossy();
    let (_, version) = name.rsplit_once("manylinux_2_").unwrap_or_default();
    version.split('_').next().and_then(|version| version.parse().ok()).unwrap_or(0)
}

/// The folder of the package.
pub(super) fn package() -> PathBuf {
    run::root().join("python")
}

/// Folder of the virtual environments.
///
/// # Errors
/// As [`run::target_dir`].
pub(crate) fn folder() -> Result<PathBuf, String> {
    Ok(run::target_dir()?.join("python"))
}

/// Builds the wheel under a profile of cargo, and returns its path in `out`.
///
/// # Errors
/// The build fails.
pub(crate) fn wheel(out: &Path, profile: &str) -> Result<PathBuf, String> {
    let mut maturin = maturin("build")?;
    // Symbols that a debugger reads stay in a wheel for tests.
    let release: &[&str] =
        if profile == "release" { &["--compatibility", "pypi"] } else { &["--compatibility", "linux"] };
    remove(out, ".whl")?;
    run::show(maturin.args(["--locked", "--profile", profile]).args(release).arg("--out").arg(out))?;
    find(out, ".whl")
}

/// Builds the wheel of a target of [`PORTABLE`] with zig, and returns its path in `out`.
///
/// # Errors
/// The build fails.
fn portable(out: &Path, target: &str, profile: &str) -> Result<PathBuf, String> {
    let requirements = package().join("requirements-portable.txt");
    let venv = Venv::locked(&folder()?.join("portable"), "python3", &requirements)?;
    let mut maturin = run::command(&[venv.program("maturin")]);
    maturin.args(["build", "--manifest-path"]).arg(package().join("Cargo.toml"));
    maturin.args(["--locked", "--profile", profile, "--zig", "--target", target]);
    maturin.args(["--compatibility", &format!("manylinux_2_{OLD_GLIBC}")]).arg("--out").arg(out);
    maturin.arg("--interpreter").arg(venv.program("python"));
    // maturin finds zig as a module of the Python that it finds first.
    run::show(maturin.env("PATH", super::with_programs(&venv)?))?;
    let architecture = target.split('-').next().unwrap_or_default();
    find(out, &format!("_{architecture}.whl"))
}

/// Packs the source distribution, and returns its path in `out`.
///
/// # Errors
/// The packing fails.
pub(super) fn sdist(out: &Path) -> Result<PathBuf, String> {
    remove(out, ".tar.gz")?;
    run::show(maturin("sdist")?.arg("--out").arg(out))?;
    find(out, ".tar.gz")
}

fn maturin(task: &str) -> Result<std::process::Command, String> {
    let venv = Venv::locked(&folder()?.join("build"), "python3", &package().join("requirements-build.txt"))?;
    let mut command = run::command(&[venv.program("maturin")]);
    command.args([task, "--manifest-path"]).arg(package().join("Cargo.toml"));
    // The wheel is for every Python; the one of the environment builds it.
    if task == "build" {
        command.arg("--interpreter").arg(venv.program("python"));
    }
    Ok(command)
}

fn files(out: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(out).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.to_string_lossy().ends_with(end)).collect()
}

/// Removes the files of earlier versions, which `pip install dist/*.whl` would install, too.
fn remove(out: &Path, end: &str) -> Result<(), String> {
    files(out, end)
        .iter()
        .try_for_each(|path| fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display())))
}

fn find(out: &Path, end: &str) -> Result<PathBuf, String> {
    files(out, end).pop().ok_or_else(|| format!("maturin has written no file *{end} to {}", out.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_of_a_wheel_has_the_glibc_that_it_needs() {
        for (name, version) in [
            ("dist/hashlane-0.1.0-cp39-abi3-manylinux_2_34_x86_64.whl", 34),
            ("hashlane-0.1.0-cp39-abi3-manylinux_2_17_x86_64.manylinux_2_5_x86_64.whl", 5),
            ("hashlane-0.1.0-cp39-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", 17),
            ("hashlane-0.1.0-cp39-abi3-linux_x86_64.whl", 0),
        ] {
            assert_eq!(glibc(Path::new(name)), version, "{name}");
        }
    }
}
