//! `hashlane ndn ping-server`

use super::connection::{Connection, millis, name, stopped};
use super::ping::timestamp;
use anyhow::{Context, Result};
use clap::Args;
use hashlane_command::number::{positive, within};
use hashlane_daemon::log::{LAST_LINES, Log};
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::wire::DataBuilder;
use std::process::ExitCode;
use std::time::Duration;

/// Answer pings: every Interest below PREFIX/ping.
#[derive(Debug, Args)]
#[command(after_help = "\
Options as in ndnpingserver.

Examples:
  hashlane ndn ping-server /example
  hashlane ndn ping-server /example -x 0 -s 1000
  hashlane ndn ping-server /example -p 100 -q        stops after 100 answers")]
pub(super) struct PingServer {
    /// Prefix to answer under
    #[arg(value_parser = name)]
    prefix: OwnedName<Ndn>,
    /// Freshness of answers, in milliseconds
    #[arg(short = 'x', long, value_name = "MS", default_value = "1000", value_parser = millis)]
    freshness: Duration,
    /// Stop after this number of answers
    #[arg(short = 'p', long, value_name = "N", value_parser = positive)]
    satisfy: Option<u64>,
    /// Size of the content of an answer, in bytes
    #[arg(short, long, value_name = "BYTES", default_value_t = 0, value_parser = within(0_u64, 8000))]
    size: u64,
    /// Print only the summary
    #[arg(short, long)]
    quiet: bool,
    /// Print the time before each line, in seconds since 1970
    #[arg(short = 't', long)]
    timestamp: bool,
    #[command(flatten)]
    connection: Connection,
}

impl PingServer {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let client = self.connection.open().await?;
        let components = self.prefix.view().components().chain([Component::generic(b"ping")]);
        let prefix = OwnedName::<Ndn>::from_components(components)?;
        let registered = client.register(prefix.view()).await;
        let mut registration = registered.with_context(|| format!("cannot register {prefix}"))?;
        let lines = Log::stdout()?;
        lines.add(&format!("PING SERVER {}", self.prefix));
        let content = vec![b'a'; self.size as usize];
        let mut answered = 0;
        let stop = stopped();
        tokio::pin!(stop);
        while self.satisfy.is_none_or(|most| answered < most) {
            let incoming = tokio::select! {
                () = &mut stop => break,
                incoming = registration.next() => incoming,
            };
            let Some(incoming) = incoming else { break };
            let name = incoming.interest().name();
            let freshness = Some(self.freshness.as_millis() as u64);
            let data = DataBuilder { freshness, ..DataBuilder::new(name, &content) };
            incoming.reply(&data.build()).await?;
            answered += 1;
            if !self.quiet {
                let time = self.timestamp.then(timestamp).unwrap_or_default();
                let last = name.components().last().map(|last| last.to_string()).unwrap_or_default();
                lines.add(&format!("{time}interest received: seq={last}"));
            }
        }
        registration.close().await;
        lines.add(&format!("\n--- ping server {} ---\n{answered} packets processed", self.prefix));
        lines.flush(LAST_LINES);
        Ok(ExitCode::SUCCESS)
    }
}
