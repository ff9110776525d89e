//! `cargo xtask asm`

mod binary;
mod calls;
mod expectation;

use crate::run::{self, Begun, Outcome};
use binary::Binary;
use clap::Args;
use expectation::{Expectation, Expectations};
use std::env::consts::ARCH;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

/// Check the instructions of the timed functions
///
/// Builds the release binaries, disassembles the functions that xtask/asm.toml names, and checks its
/// expectations: required instructions, forbidden calls, and a data plane that calls the function.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Asm {}

const EXAMPLES: &str = "\
Examples:
  cargo xtask asm     check the expectations of this architecture";

impl Asm {
    pub(crate) fn run(&self) -> Outcome {
        Build::begin().and_then(Build::check).into()
    }
}

/// The release build. It keeps one core busy for most of its time, so other steps run beside it.
#[derive(Debug)]
pub(crate) struct Build {
    expectations: Vec<Expectation>,
    /// `None` if this architecture has no expectations.
    cargo: Option<Begun>,
}

impl Build {
    /// Starts the build.
    ///
    /// # Errors
    /// `xtask/asm.toml` cannot be read, or cargo cannot be started.
    pub(crate) fn begin() -> Result<Self, String> {
        let expectations = expectations()?;
        let cargo = match expectations.is_empty() {
            true => None,
            false => Some(run::begin(&mut run::build(&["--release"]), &run::target_dir()?.join("asm.log"))?),
        };
        Ok(Self { expectations, cargo })
    }

    /// Waits for the build, and checks the binary.
    ///
    /// # Errors
    /// The build fails, or an expectation does not hold.
    pub(crate) fn check(self) -> Result<(), String> {
        match self.cargo {
            None => println!("xtask/asm.toml has no expectations for {ARCH} yet"),
            Some(cargo) => {
                cargo.end()?;
                check(&self.expectations)?;
            }
        }
        Ok(())
    }
}

/// The expectations of this architecture.
fn expectations() -> Result<Vec<Expectation>, String> {
    let path = run::root().join("xtask/asm.toml");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut all: Expectations =
        toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(all.remove(ARCH).unwrap_or_default())
}

fn check(expectations: &[Expectation]) -> Result<(), String> {
    let folder = run::target_dir()?.join("release");
    let paths = run::COMMANDS.map(|name| folder.join(name));
    let failed = |path: &Path, error: &dyn Display| format!("{}: {error}", path.display());
    let read = |path: &PathBuf| fs::read(path).map_err(|error| failed(path, &error));
    let files = paths.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let parse = |(path, octets): (&PathBuf, _)| Binary::parse(octets).map_err(|error| failed(path, &error));
    let binaries =
        paths.iter().zip(files.iter().map(Vec::as_slice)).map(parse).collect::<Result<Vec<_>, _>>()?;

    let mut failed = 0;
    for expectation in expectations {
        match expectation.check(&binaries) {
            Ok(functions) => println!("ok      {} ({functions})", expectation.name),
            Err(report) => {
                failed += 1;
                println!("FAILED  {}\n{report}", expectation.name);
            }
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(format!("{failed} of {} expectations of xtask/asm.toml do not hold", expectations.len())),
    }
}
