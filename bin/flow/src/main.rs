//! `hashlane-flow`, which `hashlane flow` runs.
#![forbid(unsafe_code)]

mod meter;
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
#[command(name = "hashlane flow", version, max_term_width = 100)]
struct Flow {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Meter(Box<meter::Meter>),
    Show(show::Show),
}

fn main() -> ExitCode {
    hashlane_command::main(Some("flow"), Flow::run)
}

impl Flow {
    fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Meter(command) => command.run(),
            Command::Show(command) => command.run(),
        }
    }
}
