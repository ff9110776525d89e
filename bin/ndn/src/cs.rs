//! `hashlane ndn cs`

use super::connection::{Connection, name, records};
use super::rows::{Row, print_one};
use anyhow::{Context, Result};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use hashlane_command::number::{number, positive};
use hashlane_command::terminal;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::ControlParameters;
use hashlane_ndn::mgmt::dataset::CsInfo;
use hashlane_ndn::mgmt::values::{CS_ADMIT, CS_SERVE};
use std::process::ExitCode;

/// Show, configure and erase the content store, the forwarder's cache of Data.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane ndn cs info
  hashlane ndn cs config --capacity 100000
  hashlane ndn cs erase /example")]
pub(super) struct Cs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show capacity, entries, hits and misses
    #[command(after_help = "\
Examples:
  hashlane ndn cs info --json")]
    Info(Info),
    /// Change the capacity, or switch admission and serving on or off
    #[command(after_help = "\
Examples:
  hashlane ndn cs config --capacity 100000
  hashlane ndn cs config --admit off --serve off")]
    Config(Config),
    /// Erase Data below a prefix
    #[command(after_help = "\
Examples:
  hashlane ndn cs erase /example
  hashlane ndn cs erase / --count 1000")]
    Erase(Erase),
}

#[derive(Debug, Args)]
struct Info {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true).args(["capacity", "admit", "serve"]))]
struct Config {
    /// Capacity, in packets
    #[arg(long, value_name = "PACKETS", value_parser = number::<u64>)]
    capacity: Option<u64>,
    /// Admission of Data into the store
    #[arg(long, value_enum, value_name = "ON/OFF")]
    admit: Option<Switch>,
    /// Answers to Interests from the store
    #[arg(long, value_enum, value_name = "ON/OFF")]
    serve: Option<Switch>,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Debug, Args)]
struct Erase {
    /// Prefix of the Data to erase
    #[arg(value_parser = name)]
    prefix: OwnedName<Ndn>,
    /// Largest number of packets to erase [default: all]
    #[arg(long, value_name = "PACKETS", value_parser = positive)]
    count: Option<u64>,
    #[command(flatten)]
    connection: Connection,
}

impl Cs {
    pub(super) async fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Info(info) => info.run().await?,
            Command::Config(config) => config.run().await?,
            Command::Erase(erase) => erase.run().await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Info {
    async fn run(self) -> Result<()> {
        let client = self.connection.open().await?;
        let info: Vec<CsInfo> = records(&client, "cs", "info").await?;
        let info = info.first().context("the forwarder's dataset cs/info is empty")?;
        let row = Row::new()
            .number("capacity", info.capacity)
            .flag("admit", info.flags & CS_ADMIT != 0)
            .flag("serve", info.flags & CS_SERVE != 0)
            .number("entries", info.entries)
            .number("hits", info.hits)
            .number("misses", info.misses);
        Ok(print_one(&row, self.json)?)
    }
}

impl Config {
    async fn run(self) -> Result<()> {
        let client = self.connection.open().await?;
        let bit = |switch: Option<Switch>, bit| match switch {
            Some(Switch::On) => (bit, bit),
            Some(Switch::Off) => (0, bit),
            None => (0, 0),
        };
        let ((admit, admits), (serve, serves)) = (bit(self.admit, CS_ADMIT), bit(self.serve, CS_SERVE));
        let is_meant = admits | serves != 0;
        let parameters = ControlParameters {
            capacity: self.capacity,
            flags: is_meant.then_some(admit | serve),
            mask: is_meant.then_some(admits | serves),
            ..Default::default()
        };
        let done = client.command("cs", "config", &parameters).await?;
        let flags = done.flags.unwrap_or_default();
        let row = Row::new()
            .maybe("capacity", done.capacity)
            .flag("admit", flags & CS_ADMIT != 0)
            .flag("serve", flags & CS_SERVE != 0);
        Ok(print_one(&row, false)?)
    }
}

impl Erase {
    async fn run(self) -> Result<()> {
        let client = self.connection.open().await?;
        let mut erased = 0_u64;
        loop {
            let left = self.count.map(|count| count.saturating_sub(erased));
            let parameters =
                ControlParameters { name: Some(self.prefix.clone()), count: left, ..Default::default() };
            let done = client.command("cs", "erase", &parameters).await?;
            let count = done.count.unwrap_or_default();
            erased = erased.saturating_add(count);
            // A forwarder with a limit for one command states how many it has erased.
            if done.capacity.is_none() || count == 0 || self.count.is_some_and(|most| erased >= most) {
                break;
            }
        }
        Ok(terminal::print(&format!("cs-erased prefix={} count={erased}\n", self.prefix))?)
    }
}
