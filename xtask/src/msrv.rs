//! `cargo xtask msrv`

use crate::need::{self, Need};
use crate::run::{self, Outcome};
use clap::Args;

/// Check that the oldest supported Rust compiles the workspace
///
/// The version is `rust-version` in Cargo.toml. There is no rust-toolchain file: it would make rustup fetch a
/// toolchain on machines that have a newer one.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Msrv {}

const EXAMPLES: &str = "\
Needs that toolchain; with CI=true, installs it.

Examples:
  cargo xtask msrv";

/// The `rust-version` of the workspace.
const VERSION: &str = env!("CARGO_PKG_RUST_VERSION");

const NEEDS: [Need; 1] = [Need {
    name: concat!("Rust ", env!("CARGO_PKG_RUST_VERSION")),
    probe: &["rustup", "run", VERSION, "cargo", "--version"],
    install: concat!("rustup toolchain install ", env!("CARGO_PKG_RUST_VERSION"), " --profile minimal"),
}];

impl Msrv {
    pub(crate) fn run(&self) -> Outcome {
        match need::meet(&NEEDS) {
            Ok(()) => check().into(),
            Err(outcome) => outcome,
        }
    }
}

/// Checks libraries and programs, not tests: users compile no tests. It uses a separate target directory, as
/// two compilers in one would rebuild each other's crates.
fn check() -> Result<(), String> {
    let words = [
        "rustup",
        "run",
        VERSION,
        "cargo",
        "check",
        "--workspace",
        "--all-features",
        "--locked",
        "--target-dir",
    ];
    run::show(run::command(&words).arg(run::target_dir()?.join("msrv")))
}
