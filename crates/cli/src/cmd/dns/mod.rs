//! `hashlane dns`

mod compressor;
mod explain;
mod hex;
pub(super) mod input;
mod pcap;
mod piece;
mod render;

use anyhow::Result;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Render DNS messages.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane dns render example.com.zone
  hashlane dns render answers.pcap --explain")]
pub(crate) struct Dns {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Render(Box<render::Render>),
}

impl Dns {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Render(command) => command.run(),
        }
    }
}
