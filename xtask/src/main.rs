//! The tasks of this repository: `cargo xtask --help`.
#![forbid(unsafe_code)]

mod asm;
mod fuzz;
mod interop;
mod need;
mod nightly;
mod run;
mod steps;
mod test;
mod test_aarch64;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The tasks of this repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask test                  everything that a change must pass
  cargo xtask test --skip asm       all but the release build
  cargo xtask nightly               what takes long: models of shared memory, fuzzing, the whole interop
  cargo xtask test-aarch64          the Armv8 code, emulated
  cargo xtask interop ndn           our NDN forwarder under programs of others
  cargo xtask asm                   whether the instructions that we count on stand in the release binary
  cargo xtask fuzz --seconds 60     every fuzz target, a minute each";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run everything that a change must pass
    Test(test::Test),
    /// Run the checks that take long
    Nightly(nightly::Nightly),
    /// Run our programs with programs of others
    Interop(interop::Interop),
    /// Run the tests of the hashes and the names for AArch64, emulated
    TestAarch64(test_aarch64::TestAarch64),
    /// Check the instructions of the functions that are timed
    Asm(asm::Asm),
    /// Run the fuzz targets for a while
    Fuzz(fuzz::Fuzz),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Test(command) => command.run(),
        Command::Nightly(command) => command.run(),
        Command::Interop(command) => command.run(),
        Command::TestAarch64(command) => command.run(),
        Command::Asm(command) => command.run(),
        Command::Fuzz(command) => command.run(),
    };
    match outcome {
        run::Outcome::Passed => ExitCode::SUCCESS,
        run::Outcome::Skipped(why) => {
            println!("skipped: {why}");
            ExitCode::SUCCESS
        }
        run::Outcome::Failed(why) => {
            eprintln!("failed: {why}");
            ExitCode::FAILURE
        }
    }
}
