//! `hashlane`: a lab for the step from packet bytes to key, hash and entry.

#![forbid(unsafe_code)]

mod cmd;
mod output;
mod studies;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Measure what the step from packet bytes to key, hash and entry costs, on this machine and for your traffic.
#[derive(Debug, Parser)]
#[command(name = "hashlane", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  hashlane study run all --quick            every study, in minutes; writes hashlane-report/report.html
  hashlane study run name-encodings --names names.txt
                                            one study, for the names in a file
  hashlane compare before after             two reports, row by row
  hashlane dns render example.com.zone --explain
                                            the zone as messages, and where each name went and why
  hashlane ndn ping /example                is a producer there, and how far?
  hashlane schemes                          the hashes that are registered, and where each is safe";

#[derive(Debug, Subcommand)]
enum Command {
    /// List studies, or run them
    Study(cmd::study::Study),
    /// Draw the report again from the records in a folder
    Report(cmd::report::Report),
    /// Hold the records of two folders against each other
    Compare(cmd::compare::Compare),
    /// Work on messages of the DNS
    Dns(cmd::dns::Dns),
    /// Named Data Networking: use and manage a forwarder
    Ndn(cmd::ndn::Ndn),
    #[command(hide = true)]
    Lab(cmd::lab::Lab),
    /// List the registered hashes: source, width, keying, check value, where each is safe
    Schemes(cmd::schemes::Schemes),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Study(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Compare(command) => command.run(),
        Command::Dns(command) => command.run(),
        Command::Ndn(command) => command.run(),
        Command::Lab(command) => command.run(),
        Command::Schemes(command) => command.run(),
    };
    match result {
        Ok(code) => code,
        // Who reads our output has gone (`hashlane schemes | head`): nothing is wrong.
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::tell(&format!("hashlane: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
