//! `hashlane ndn top`

mod rates;
mod screen;

use super::connection::{Connection, records};
use super::rows;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use console::Term;
use hashlane_client::Client;
use hashlane_command::number::{positive, within};
use hashlane_command::terminal;
use hashlane_ndn::mgmt::Record;
use hashlane_ndn::mgmt::dataset::{FaceStatus, ForwarderStatus};
use hashlane_ndn::tlv::Elements;
use rates::{Rates, Sample};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Show which faces and drops a forwarder is busy with, again and again
///
/// Rates of the forwarder and of its faces since the last time, the busiest faces first. The forwarder makes
/// its list of faces anew at most ten times a second. Ctrl-C ends it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane ndn top
  hashlane ndn top --every 5 --sort bytes
  hashlane ndn top --count 1 --json               rates of one second, for a script
  hashlane ndn top --connect unix:///tmp/nfd.sock")]
pub(super) struct Top {
    /// Seconds between two screens
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = within(1_u64, 3600))]
    every: u64,
    /// Number of screens; without it, until Ctrl-C
    #[arg(long, value_name = "N", value_parser = positive)]
    count: Option<u64>,
    /// Rate by which the faces are ordered
    #[arg(long, value_enum, default_value_t = Sort::Packets)]
    sort: Sort,
    /// Print JSON, an object to a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

/// Rate by which faces are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// Packets in both directions
    Packets,
    /// Bytes in both directions
    Bytes,
    /// Interests received
    Interests,
}

impl Top {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let client = self.connection.open().await?;
        let terminal = Term::stdout();
        let is_screen = terminal.is_term() && !self.json;
        let mut before = sample(&client).await?;
        let mut left = self.count;
        while left != Some(0) {
            tokio::time::sleep(Duration::from_secs(self.every)).await;
            let now = sample(&client).await?;
            let rates = Rates::between(&before, &now, self.sort);
            let text = if self.json {
                rows::to_json(&rates)?
            } else {
                // The last line of a terminal stays free for the cursor.
                let (height, width) =
                    terminal.size_checked().filter(|_| is_screen).unwrap_or((u16::MAX, 200));
                screen::text(&rates, usize::from(height).saturating_sub(1), usize::from(width))
            };
            if is_screen {
                terminal.clear_screen()?;
            }
            terminal::print(&text)?;
            before = now;
            left = left.map(|left| left - 1);
            if !is_screen && !self.json && left != Some(0) {
                terminal::print("\n")?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The counters of a forwarder and of its faces.
async fn sample(client: &Client) -> Result<Sample> {
    let bytes = client.dataset("status", "general", None).await?;
    let status = ForwarderStatus::parse_fields(Elements::new(&bytes));
    let status = status.context("cannot read the forwarder's dataset status/general")?;
    let faces: Vec<FaceStatus> = records(client, "faces", "list").await?;
    Ok(Sample { at: Instant::now(), status, faces })
}
