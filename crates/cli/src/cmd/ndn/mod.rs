//! `hashlane ndn`

mod connection;
mod cs;
mod dump;
mod face;
mod get;
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
mod trust;

use anyhow::Result;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Run, use and manage a forwarder of Named Data Networking.
#[derive(Debug, Args)]
#[command(after_help = "\
All commands except run, check-config and dump need a running forwarder: the one that --connect names, else the
variable NDN_CLIENT_TRANSPORT, else the forwarder of this user, else the one at /run/nfd/nfd.sock.

Examples:
  hashlane ndn run &
  hashlane ndn ping-server /example &
  hashlane ndn ping /example -c 4
  hashlane ndn put /example/notes notes.txt &
  hashlane ndn get /example/notes
  hashlane ndn route add /example udp4://router.example
  hashlane ndn dump --interface lo")]
pub(crate) struct Ndn {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a forwarder
    Run(run::Run),
    /// Check or print the configuration of a forwarder
    CheckConfig(run::CheckConfig),
    /// Measure the round trip to a ping server
    Ping(ping::Ping),
    /// Answer pings under a prefix
    PingServer(ping_server::PingServer),
    /// Print the NDN packets of a capture or an interface
    Dump(dump::Dump),
    /// Send one Interest and print the content of the Data
    Peek(peek::Peek),
    /// Publish a file, or standard input, as a segmented object
    Put(put::Put),
    /// Fetch a segmented object
    Get(get::Get),
    /// Publish the files of a folder
    Serve(serve::Serve),
    /// Show counters and table sizes of a forwarder
    Status(status::Status),
    /// List, create, update and destroy faces
    Face(face::Face),
    /// List, add and remove routes
    Route(route::Route),
    /// List, set and unset the strategies of prefixes
    Strategy(strategy::Strategy),
    /// Show, configure and erase the content store
    Cs(cs::Cs),
}

impl Ndn {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let command = match self.command {
            Command::Run(command) => return command.run(),
            Command::CheckConfig(command) => return command.run(),
            Command::Dump(command) => return command.run(),
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
                Command::Face(command) => command.run().await,
                Command::Route(command) => command.run().await,
                Command::Strategy(command) => command.run().await,
                Command::Cs(command) => command.run().await,
                Command::Run(_) | Command::CheckConfig(_) | Command::Dump(_) => {
                    unreachable!("these have run")
                }
            }
        })
    }
}
