//! `hashlane ndn status`

use super::connection::Connection;
use super::rows::{Row, print_one};
use anyhow::{Context, Result};
use clap::Args;
use hashlane_ndn::mgmt::Record;
use hashlane_ndn::mgmt::dataset::ForwarderStatus;
use hashlane_ndn::tlv::Elements;
use std::process::ExitCode;

/// Show counters and table sizes of a forwarder.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane ndn status
  hashlane ndn status --json | jq .pit
  hashlane ndn status --connect unix:///tmp/nfd.sock")]
pub(super) struct Status {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Status {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let client = self.connection.open().await?;
        let octets = client.dataset("status", "general", None).await?;
        let status = ForwarderStatus::parse_fields(Elements::new(&octets));
        let status = status.context("cannot read the forwarder's dataset status/general")?;
        let row = Row::new()
            .text("version", &status.version)
            .number("uptime-ms", status.current.saturating_sub(status.start))
            .number("fib", status.fib_entries)
            .number("pit", status.pit_entries)
            .number("cs", status.cs_entries)
            .number("name-tree", status.name_tree_entries)
            .number("measurements", status.measurements_entries)
            .number("in-interests", status.in_interests)
            .number("in-data", status.in_data)
            .number("in-nacks", status.in_nacks)
            .number("out-interests", status.out_interests)
            .number("out-data", status.out_data)
            .number("out-nacks", status.out_nacks)
            .maybe("satisfied", status.satisfied)
            .maybe("unsatisfied", status.unsatisfied);
        print_one(&row, self.json)?;
        Ok(ExitCode::SUCCESS)
    }
}
