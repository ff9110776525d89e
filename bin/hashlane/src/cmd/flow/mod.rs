//! `hashlane flow`

mod exporters;
mod format;
mod meter;
mod metrics;
mod outputs;
mod settings;
mod show;
mod summary;
mod top;

use anyhow::Result;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Meter flows: packets of captures and interfaces in, records of flows out.
#[derive(Debug, Args)]
pub(crate) struct Flow {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Meter(Box<meter::Meter>),
    Show(show::Show),
}

impl Flow {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Meter(command) => command.run(),
            Command::Show(command) => command.run(),
        }
    }
}
