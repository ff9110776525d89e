//! `cargo xtask asm`

mod binary;
mod calls;
mod expectation;

use crate::run::{self, Begun, Outcome};
use binary::Binary;
use clap::Args;
use expectation::{Expectation, Expectations};
use std::env::consts::ARCH;
use std::fs;

/// Check the instructions of the functions that are timed
///
/// Builds the release binary, disassembles the functions that xtask/asm.toml names, and holds them against
/// what it expects of them: instructions that must stand there, calls that must not, and a data plane that
/// calls them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Asm {}

const EXAMPLES: &str = "\
Examples:
  cargo xtask asm     what xtask/asm.toml expects of this architecture";

impl Asm {
    pub(crate) fn run(&self) -> Outcome {
        Build::begin().and_then(Build::check).into()
    }
}

/// The release build, while other steps run beside it: most of its time it keeps one core busy.
#[derive(Debug)]
pub(crate) struct Build {
    expectations: Vec<Expectation>,
    /// None where nothing is expected.
    cargo: Option<Begun>,
}

impl Build {
    /// Begins it.
    ///
    /// # Errors
    /// Where `xtask/asm.toml` cannot be read, or cargo not be started.
    pub(crate) fn begin() -> Result<Self, String> {
        let expectations = expectations()?;
        let words = ["cargo", "build", "--release", "--package", "hashlane", "--bin", "hashlane"];
        let cargo = match expectations.is_empty() {
            true => None,
            false => Some(run::begin(&mut run::command(&words), &run::target_dir()?.join("asm.log"))?),
        };
        Ok(Self { expectations, cargo })
    }

    /// Waits for its end, and checks what was built.
    ///
    /// # Errors
    /// Where it was not built, or not as expected.
    pub(crate) fn check(self) -> Result<(), String> {
        match self.cargo {
            None => println!("xtask/asm.toml expects nothing of {ARCH} yet"),
            Some(cargo) => {
                cargo.end()?;
                check(&self.expectations)?;
            }
        }
        Ok(())
    }
}

/// What is expected of this architecture.
fn expectations() -> Result<Vec<Expectation>, String> {
    let path = run::root().join("xtask/asm.toml");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut all: Expectations =
        toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(all.remove(ARCH).unwrap_or_default())
}

fn check(expectations: &[Expectation]) -> Result<(), String> {
    let path = run::target_dir()?.join("release").join("hashlane");
    let octets = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let binary = Binary::parse(&octets).map_err(|error| format!("{}: {error}", path.display()))?;

    let mut failed = 0;
    for expectation in expectations {
        match expectation.check(&binary) {
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
