//! Wheels for every Linux with an old glibc, built with zig.

use super::paths::{find, folder, package};
use super::venv::Venv;
use crate::run;
use std::fs;
use std::path::{Path, PathBuf};

/// Targets of portable wheels.
pub(super) const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// Newest glibc that a portable wheel may need, 2.x.
pub(super) const GLIBC: u32 = 17;

/// The tools that build the wheel of a target.
#[derive(Debug)]
pub(super) struct Portable {
    target: &'static str,
    /// An environment with maturin and zig.
    venv: Venv,
}

impl Portable {
    /// Finds the tools for a target; installs maturin and zig into target/python.
    ///
    /// # Errors
    /// A tool is missing; the text has the command that installs it.
    pub(super) fn find(target: &'static str) -> Result<Self, String> {
        if !has_std(target) {
            return Err(format!("Rust has no standard library for {target}: rustup target add {target}"));
        }
        let requirements = package().join("requirements-portable.txt");
        let venv = Venv::locked(&folder()?.join("portable"), "python3", &requirements)?;
        Ok(Self { target, venv })
    }

    /// Builds the wheel, and returns its path in `out`.
    ///
    /// # Errors
    /// The build fails.
    pub(super) fn build(&self, out: &Path, profile: &str) -> Result<PathBuf, String> {
        let mut maturin = run::command(&[self.venv.program("maturin")]);
        maturin.args(["build", "--manifest-path"]).arg(package().join("Cargo.toml"));
        maturin.args(["--locked", "--profile", profile, "--zig", "--target", self.target]);
        maturin.args(["--compatibility", &format!("manylinux_2_{GLIBC}")]).arg("--out").arg(out);
        maturin.arg("--interpreter").arg(self.venv.program("python"));
        // maturin finds zig as a module of the Python that it finds first.
        run::show(maturin.env("PATH", super::with_programs(&self.venv)?))?;
        let architecture = self.target.split('-').next().unwrap_or_default();
        find(out, &format!("_{architecture}.whl"))
    }
}

/// True if the compiler has the standard library of a target.
fn has_std(target: &str) -> bool {
    let said = run::command(&["rustc", "--print", "target-libdir", "--target", target]).output();
    let folder = said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned());
    let files = folder.ok().and_then(|folder| fs::read_dir(folder).ok());
    files.is_some_and(|files| {
        files.flatten().any(|file| file.file_name().to_string_lossy().starts_with("libstd-"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_without_a_standard_library_is_named_with_the_command_that_adds_it() {
        let target = "s390x-no-such-target";
        let error = Portable::find(target).unwrap_err();
        assert!(error.ends_with(&format!("rustup target add {target}")), "{error}");
    }
}
