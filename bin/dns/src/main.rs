//! `hashlane-dns`, which `hashlane dns` runs.
#![forbid(unsafe_code)]

mod compressor;
mod control;
mod explain;
mod hex;
mod import;
mod input;
mod pcap;
mod piece;
mod render;
mod serve;

use anyhow::Result;
use clap::{Parser, Subcommand};
use hashlane_command::CheckConfig;
use hashlane_link::memory::Allocator;
use hashlane_nameserver::Config;
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
  hashlane dns import /etc/nsd/nsd.conf > dns.toml
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
    /// Check or print the configuration of a name server
    ///
    /// Refuses all that `serve --config` refuses, and loads every zone as the user that runs it. Warns of
    /// faults with which a zone is served, such as expired signatures and missing glue, of a TLS certificate
    /// that ends soon, of secrets that every user can read, and of groups that no catalog names. It binds no
    /// port, so the server may be running; addresses must belong to this machine. Zones and the user may be
    /// missing, as `serve` takes them as arguments, too: a line says so.
    #[command(after_help = "\
Examples:
  hashlane dns check-config dns.toml
  hashlane dns check-config --print              every key with its default value
  hashlane dns check-config --print dns.toml")]
    CheckConfig(CheckConfig),
    CheckZone(serve::CheckZone),
    Import(import::Import),
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
            Command::CheckConfig(command) => command.run(Config::read, Config::to_toml, serve::check),
            Command::Import(command) => command.run(),
            Command::CheckZone(command) => command.run(),
            Command::Render(command) => command.run(),
        }
    }
}
