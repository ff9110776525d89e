//! `hashlane ndn status`

use super::connection::Connection;
use super::rows::{Row, print_one};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use hashlane_command::number::within;
use hashlane_ndn::mgmt::Record;
use hashlane_ndn::mgmt::dataset::ForwarderStatus;
use hashlane_ndn::tlv::Elements;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

/// Show counters, table sizes and dropped packets of a forwarder.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane ndn status
  hashlane ndn status --json | jq .pit
  hashlane ndn status --json | jq .dropped       packets by reason
  hashlane ndn status --wait 5                   exit code 0 once the forwarder answers, 1 after 5 s
  hashlane ndn status --connect unix:///tmp/nfd.sock")]
pub(super) struct Status {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Seconds to wait until the forwarder answers, for scripts and supervisors
    #[arg(long, value_name = "SECONDS", value_parser = within(1_u64, 86_400))]
    wait: Option<u64>,
    #[command(flatten)]
    connection: Connection,
}

/// Pause between attempts to reach a forwarder that is not up yet.
const PAUSE: Duration = Duration::from_millis(50);

impl Status {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let octets = match self.wait {
            None => self.dataset().await?,
            Some(seconds) => self.wait_for(Duration::from_secs(seconds)).await?,
        };
        let status = ForwarderStatus::parse_fields(Elements::new(&octets));
        let status = status.context("cannot read the forwarder's dataset status/general")?;
        let dropped: BTreeMap<_, _> =
            status.counts.into_iter().map(|count| (count.name, count.value)).collect();
        let row = Row::new()
            .text("version", &status.version)
            .number("uptime-ms", status.current.saturating_sub(status.start))
            .number("fib", status.fib_entries)
            .number("pit", status.pit_entries)
            .number("cs", status.cs_entries)
            .maybe("cs-oldest-ms", status.cs_oldest)
            .number("name-tree", status.name_tree_entries)
            .number("measurements", status.measurements_entries)
            .number("in-interests", status.in_interests)
            .number("in-data", status.in_data)
            .number("in-nacks", status.in_nacks)
            .number("out-interests", status.out_interests)
            .number("out-data", status.out_data)
            .number("out-nacks", status.out_nacks)
            .maybe("satisfied", status.satisfied)
            .maybe("unsatisfied", status.unsatisfied)
            // Other forwarders do not count them.
            .counts("dropped", Some(dropped).filter(|dropped| !dropped.is_empty()));
        print_one(&row, self.json)?;
        Ok(ExitCode::SUCCESS)
    }

    async fn dataset(&self) -> Result<Vec<u8>> {
        let client = self.connection.open().await?;
        Ok(client.dataset("status", "general", None).await?)
    }

    /// Asks until an answer comes, at most for `longest`.
    async fn wait_for(&self, longest: Duration) -> Result<Vec<u8>> {
        let mut last = anyhow!("no answer");
        let attempts = async {
            loop {
                match self.dataset().await {
                    Ok(octets) => return octets,
                    Err(error) => last = error,
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        let answered = tokio::time::timeout(longest, attempts).await;
        answered
            .map_err(|_| last.context(format!("no forwarder has answered within {} s", longest.as_secs())))
    }
}
