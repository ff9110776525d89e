//! `hashlane-flow`, which `hashlane flow` runs.
#![forbid(unsafe_code)]

mod control;
mod explain;
mod meter;
mod service;
mod settings;
mod show;
mod targets;

use anyhow::Result;
use clap::{Parser, Subcommand};
use hashlane_command::CheckConfig;
use hashlane_link::memory::Allocator;
use hashlane_meter::Config;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Meter flows: packets of captures and interfaces in, records of flows out.
#[derive(Debug, Parser)]
#[command(
    name = "hashlane flow",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  hashlane flow show trace.pcap
  hashlane flow meter trace.pcap --ipfix flows.ipfix
  hashlane flow meter --config /etc/hashlane/flow.toml
  hashlane flow check-config flow.toml
  hashlane flow control status"
)]
struct Flow {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Meter(Box<meter::Meter>),
    Show(show::Show),
    /// Check or print the configuration of a meter
    ///
    /// Refuses all that `meter --config` refuses, and looks for the interface, the user, the folders of
    /// files and the hosts of collectors. It opens none of them, so the meter may be running; that
    /// `server.user` may not write to a folder shows at the start. Warns of files that exist, which a meter
    /// does not overwrite.
    #[command(after_help = "\
Examples:
  hashlane flow check-config flow.toml
  hashlane flow check-config --print              every key with its default value
  hashlane flow check-config --print flow.toml")]
    CheckConfig(CheckConfig),
    Control(control::Control),
}

fn main() -> ExitCode {
    hashlane_command::main(Some("flow"), Flow::run)
}

impl Flow {
    fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Meter(command) => command.run(),
            Command::Show(command) => command.run(),
            Command::CheckConfig(command) => command.run(Config::read, Config::to_toml, check),
            Command::Control(command) => command.run(),
        }
    }
}

/// Checks a configuration. Returns a line for each warning.
fn check(config: &Config) -> Result<String> {
    let warnings = hashlane_meter::check(config)?;
    Ok(warnings.iter().map(|warning| format!("warning: {warning}\n")).collect())
}
