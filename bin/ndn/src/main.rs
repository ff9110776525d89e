//! `hashlane-ndn`, which `hashlane ndn` runs.
#![forbid(unsafe_code)]

mod connection;
mod cs;
mod dump;
mod face;
mod get;
mod import_nfd_conf;
mod peek;
mod ping;
mod ping_server;
mod put;
mod route;
mod rows;
mod run;
mod serve;
mod status;
mod strategy;
mod top;
mod trace;
mod trust;

use anyhow::Result;
use clap::{Parser, Subcommand};
use hashlane_command::CheckConfig;
use hashlane_forwarder::{Config, Server};
use hashlane_link::memory::Allocator;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Run, use and manage a forwarder of Named Data Networking.
#[derive(Debug, Parser)]
#[command(
    name = "hashlane ndn",
    version,
    max_term_width = 100,
    after_help = "\
All commands except run, check-config, import-nfd-conf and dump need a running forwarder: the one
that --connect names, else the variable NDN_CLIENT_TRANSPORT, else the forwarder of this user,
else the one at /run/nfd/nfd.sock.

Examples:
  hashlane ndn run &
  hashlane ndn ping-server /example &
  hashlane ndn ping /example -c 4
  hashlane ndn put /example/notes notes.txt &
  hashlane ndn get /example/notes
  hashlane ndn route add /example udp4://router.example
  hashlane ndn dump --interface lo"
)]
struct Ndn {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Run),
    /// Check or print the configuration of a forwarder
    ///
    /// Refuses all that `run --config` refuses: it also reads the files that the configuration names, and
    /// checks the folders of sockets and the addresses to listen on. It listens nowhere, so the forwarder may
    /// be running.
    #[command(after_help = "\
Examples:
  hashlane ndn check-config forwarder.toml
  hashlane ndn check-config --print              every key with its default value
  hashlane ndn check-config --print forwarder.toml")]
    CheckConfig(CheckConfig),
    ImportNfdConf(import_nfd_conf::ImportNfdConf),
    Ping(ping::Ping),
    PingServer(ping_server::PingServer),
    Dump(dump::Dump),
    Peek(peek::Peek),
    Put(put::Put),
    Get(get::Get),
    Serve(serve::Serve),
    Status(status::Status),
    Top(top::Top),
    Trace(trace::Trace),
    Face(face::Face),
    Route(route::Route),
    Strategy(strategy::Strategy),
    Cs(cs::Cs),
}

fn main() -> ExitCode {
    hashlane_command::main(Some("ndn"), Ndn::run)
}

impl Ndn {
    fn run(self) -> Result<ExitCode> {
        let command = match self.command {
            Command::Run(command) => return command.run(),
            Command::CheckConfig(command) => {
                let check = |config: &Config| {
                    let warnings = Server::check(config)?;
                    Ok(warnings.iter().map(|warning| format!("warning: {warning}\n")).collect())
                };
                return command.run(Config::read, Config::to_toml, check);
            }
            Command::Dump(command) => return command.run(),
            Command::ImportNfdConf(command) => return command.run(),
            command => command,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            match command {
                Command::Ping(command) => command.run().await,
                Command::PingServer(command) => command.run().await,
                Command::Peek(command) => command.run().await,
                Command::Put(command) => command.run().await,
                Command::Get(command) => command.run().await,
                Command::Serve(command) => command.run().await,
                Command::Status(command) => command.run().await,
                Command::Top(command) => command.run().await,
                Command::Trace(command) => command.run().await,
                Command::Face(command) => command.run().await,
                Command::Route(command) => command.run().await,
                Command::Strategy(command) => command.run().await,
                Command::Cs(command) => command.run().await,
                Command::Run(_) | Command::CheckConfig(_) | Command::Dump(_) | Command::ImportNfdConf(_) => {
                    unreachable!("these have run")
                }
            }
        })
    }
}
