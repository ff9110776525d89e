//! `hashlane-dns`, which `hashlane dns` runs.
#![forbid(unsafe_code)]

mod compressor;
mod control;
mod explain;
mod hex;
mod input;
mod pcap;
mod piece;
mod render;
mod serve;

use anyhow::Result;
use clap::{Parser, Subcommand};
use hashlane_link::memory::Allocator;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Serve zones, and render DNS messages.
#[derive(Debug, Parser)]
#[command(
    name = "hashlane dns",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  hashlane dns serve example.com.zone --listen 127.0.0.1:5353
  hashlane dns control status
  hashlane dns render example.com.zone
  hashlane dns render answers.pcap --explain"
)]
struct Dns {
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

fn main() -> ExitCode {
    hashlane_command::main(Some("dns"), Dns::run)
}

impl Dns {
    fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Serve(command) => command.run(),
            Command::Control(command) => command.run(),
            Command::CheckConfig(command) => command.run(),
            Command::Render(command) => command.run(),
        }
    }
}
