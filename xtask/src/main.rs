//! The tasks of this repository: `cargo xtask --help`.
#![forbid(unsafe_code)]

mod asm;
mod attack;
mod book;
mod ci;
mod deb;
mod deny;
mod dist;
mod duckdb;
mod fuzz;
mod install;
mod interop;
mod msrv;
mod need;
mod nightly;
mod planted;
mod prose;
mod python;
mod records;
mod release;
mod run;
mod steps;
mod suite;
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
  cargo xtask test                  formatting, lints and all Rust tests
  cargo xtask ci                    these, and every other check that a change must pass
  cargo xtask nightly               long checks: model checking, fuzzing, all of the interop, dependencies
  cargo xtask test-aarch64          the Armv8 code, emulated
  cargo xtask interop ndn           our NDN forwarder with clients and forwarders of other projects
  cargo xtask attack --quick        a forwarder and a name server under attack: everyone else is served
  cargo xtask asm                   instructions of the timed functions in the release binary
  cargo xtask fuzz --seconds 60     every fuzz target, a minute each
  cargo xtask deny                  licenses and known vulnerabilities of the dependencies
  cargo xtask msrv                  the oldest supported Rust
  cargo xtask dist                  the release archives, debugging information apart
  cargo xtask deb --try             Debian packages, installed and purged in a fresh Debian
  cargo xtask python                the Python package under pytest and mypy
  cargo xtask wheel                 the Python wheel, in dist/
  cargo xtask duckdb                the DuckDB extension under pytest; --release writes it to dist/
  cargo xtask release --dry-run     the crates and the wheel as they would be published
  cargo xtask planted               `hashlane compare` finds a planted slow-down, and no other
  cargo xtask records               measure all that the documentation quotes, and write its figures
  cargo xtask book                  the documentation as a book with search, and the reports of all records
  cargo xtask prose --write         the tables of crates in CONTRIBUTING.md and docs/
  cargo xtask style                 comments and Markdown that break the rules of style";

#[derive(Debug, Subcommand)]
enum Command {
    Test(test::Test),
    Ci(ci::Ci),
    Nightly(nightly::Nightly),
    Interop(interop::Interop),
    TestAarch64(test_aarch64::TestAarch64),
    Attack(attack::Attack),
    Asm(asm::Asm),
    Fuzz(fuzz::Fuzz),
    Deny(deny::Deny),
    Msrv(msrv::Msrv),
    Deb(deb::Deb),
    Dist(dist::Dist),
    Python(python::Python),
    Wheel(python::Wheel),
    Duckdb(duckdb::Duckdb),
    Release(release::Release),
    Planted(planted::Planted),
    Records(records::Records),
    Book(book::Book),
    Prose(prose::Prose),
    Style(prose::style::Style),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Test(command) => command.run(),
        Command::Ci(command) => command.run(),
        Command::Nightly(command) => command.run(),
        Command::Interop(command) => command.run(),
        Command::TestAarch64(command) => command.run(),
        Command::Attack(command) => command.run(),
        Command::Asm(command) => command.run(),
        Command::Fuzz(command) => command.run(),
        Command::Deny(command) => command.run(),
        Command::Msrv(command) => command.run(),
        Command::Deb(command) => command.run(),
        Command::Dist(command) => command.run(),
        Command::Python(command) => command.run(),
        Command::Wheel(command) => command.run(),
        Command::Duckdb(command) => command.run(),
        Command::Release(command) => command.run(),
        Command::Planted(command) => command.run(),
        Command::Records(command) => command.run(),
        Command::Book(command) => command.run(),
        Command::Prose(command) => command.run(),
        Command::Style(command) => command.run(),
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
