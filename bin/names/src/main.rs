//! `hashlane-names`, which `hashlane names` runs.
#![forbid(unsafe_code)]

mod check;
mod compile;
mod compiled;
mod input;
mod lists;
mod loaded;
mod matching;
mod output;
mod progress;
mod reload;
mod search;
mod summary;

use anyhow::Result;
use clap::{Parser, Subcommand};
use hashlane_command::terminal::{is_broken_pipe, tell};
use hashlane_link::memory::Allocator;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Exit code after an error. 1 is for a filter that matched nothing.
const FAILED: u8 = 2;

/// Match domain names against lists: hosts files, domains, Adblock filters, RPZ zones, public suffixes.
#[derive(Debug, Parser)]
#[command(
    name = "hashlane names",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  hashlane names match ads.txt malware.rpz < names.txt
  hashlane names match hosts.txt --names names.txt --json
  hashlane names check *.txt
  hashlane names compile *.txt --output rules.names; hashlane names match rules.names < names.txt"
)]
struct Names {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Match(matching::Match),
    Check(check::Check),
    Compile(compile::Compile),
}

fn main() -> ExitCode {
    hashlane_command::main(Some("names"), Names::run)
}

impl Names {
    #[allow(clippy::unnecessary_wraps, reason = "the other commands fail with exit code 1 by their error")]
    fn run(self) -> Result<ExitCode> {
        Allocator::use_huge_pages();
        let result = match self.command {
            Command::Match(command) => command.run(),
            Command::Check(command) => command.run(),
            Command::Compile(command) => command.run(),
        };
        Ok(result.unwrap_or_else(|error| {
            if is_broken_pipe(&error) {
                return ExitCode::SUCCESS;
            }
            tell(&format!("hashlane: {error:#}"));
            ExitCode::from(FAILED)
        }))
    }
}
