//! `hashlane dns`

mod compressor;
mod control;
mod explain;
mod hex;
pub(super) mod input;
mod pcap;
mod piece;
mod render;
mod serve;

use anyhow::Result;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Serve zones, and render DNS messages.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane dns serve example.com.zone --listen 127.0.0.1:5353
  hashlane dns control status
  hashlane dns render example.com.zone
  hashlane dns render answers.pcap --explain")]
pub(crate) struct Dns {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    Control(control::Control),
    CheckConfig(serve::CheckConfig),
    Render(Box<render::Render>),
}

impl Dns {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Serve(command) => command.run(),
            Command::Control(command) => command.run(),
            Command::CheckConfig(command) => command.run(),
            Command::Render(command) => command.run(),
        }
    }
}
