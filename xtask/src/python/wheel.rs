//! `cargo xtask wheel`

use super::paths::{find, folder, package, remove};
use super::portable::{self, Portable};
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
    /// Build with zig for every Linux with glibc 2.17 or newer (repeatable)
    #[arg(long, value_name = "TARGET", value_parser = portable::TARGETS)]
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
  cargo xtask wheel --portable x86_64-unknown-linux-gnu --portable aarch64-unknown-linux-gnu";

/// Largest wheel, in bytes.
const LARGEST: u64 = 12_000_000;

/// Newest glibc that a wheel may need, 2.x: docs/python.md promises it.
const GLIBC: u32 = 34;

impl Wheel {
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
        let asked =
            portable::TARGETS.iter().filter(|target| self.portable.iter().any(|asked| asked == *target));
        let found = asked.map(|target| Portable::find(target)).collect::<Result<Vec<_>, _>>()?;
        build_portable(&found, &out)
    }
}

/// Writes the source distribution and the wheels of a release to `out`: the portable ones, or the wheel of
/// this machine if no portable one can be built. Returns a line for each wheel that cannot be built here.
///
/// # Errors
/// A build fails.
pub(crate) fn write_release(out: &Path) -> Result<Vec<String>, String> {
    println!("{}", sdist(out)?.display());
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for target in portable::TARGETS {
        match Portable::find(target) {
            Ok(tools) => found.push(tools),
            Err(why) => missing.push(format!("wheel for {target}: {why}")),
        }
    }
    match found.as_slice() {
        [] => check(&wheel(out, "release")?, GLIBC)?,
        found => build_portable(found, out)?,
    }
    Ok(missing)
}

fn build_portable(found: &[Portable], out: &Path) -> Result<(), String> {
    remove(out, ".whl")?;
    found.iter().try_for_each(|tools| check(&tools.build(out, "release")?, portable::GLIBC))
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

/// Features that other packages of the workspace ask for, and that change nothing of the wheel. With them,
/// the wheel of the tests has the sketches that the other tests have built: half a minute of two cores.
const LIKE_TESTS: &str = "hashlane-dns/domain-server,hashlane-flow/getrandom,hashlane-sketch/default";

/// Builds the wheel under a profile of cargo, and returns its path in `out`.
///
/// # Errors
/// The build fails.
pub(crate) fn wheel(out: &Path, profile: &str) -> Result<PathBuf, String> {
    let mut maturin = maturin("build")?;
    // Symbols that a debugger reads stay in a wheel for tests.
    let options = match profile {
        "release" => ["--compatibility", "pypi"].as_slice(),
        _ => &["--compatibility", "linux", "--features", LIKE_TESTS],
    };
    remove(out, ".whl")?;
    run::show(maturin.args(["--locked", "--profile", profile]).args(options).arg("--out").arg(out))?;
    find(out, ".whl")
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
