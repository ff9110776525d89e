//! `hashlane-flow`, which `hashlane flow` runs.
#![forbid(unsafe_code)]

mod check_config;
mod control;
mod explain;
mod meter;
mod service;
mod settings;
mod show;
mod targets;

use anyhow::Result;
use clap::{Parser, Subcommand};
use hashlane_link::memory::Allocator;
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
    CheckConfig(check_config::CheckConfig),
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
            Command::CheckConfig(command) => command.run(),
            Command::Control(command) => command.run(),
        }
    }
}
