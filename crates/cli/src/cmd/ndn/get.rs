//! `hashlane ndn get`

use super::connection::{Connection, millis, name, stopped};
use super::trust::Trust;
use crate::cmd::number::{number, within};
use crate::output;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use hashlane_client::{Discovery, Fetch, FetchOptions};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Fetch a segmented object and write it to standard output, or to a file.
#[derive(Debug, Args)]
#[command(after_help = "\
A name that ends with a version (/v=1) means that version; a name that ends with a segment (/seg=0)
means only that segment. Otherwise --discover finds the version: by the object's metadata, or by
any fresh Data below the name.

Examples:
  hashlane ndn get /example/notes
  hashlane ndn get /example/folder.tar -o folder.tar
  hashlane ndn get /localhost/nfd/faces/list --discover prefix | xxd")]
pub(super) struct Get {
    /// Name of the object
    #[arg(value_parser = name)]
    name: OwnedName<Ndn>,
    /// File to write; standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Largest number of Interests in flight
    #[arg(short, long, value_name = "N", default_value_t = 512, value_parser = within(1_u32, 2048))]
    pipeline: u32,
    /// Lifetime of Interests in milliseconds
    #[arg(short, long, value_name = "MS", default_value = "4000", value_parser = millis)]
    lifetime: Duration,
    /// Retransmissions of the Interest for a segment before the fetch fails
    #[arg(short, long, value_name = "N", default_value_t = 15, value_parser = number::<u32>)]
    retries: u32,
    /// Method to find the version of the object
    #[arg(long, value_enum, default_value_t = Discover::Auto)]
    discover: Discover,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    trust: Trust,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Discover {
    /// Metadata, or else any Data
    Auto,
    /// Metadata (RDR)
    Metadata,
    /// Any fresh Data below the name
    Prefix,
    /// None: the name is complete
    None,
}

/// Exit code after Ctrl-C, as shells define it: 128 + SIGINT.
const STOPPED: u8 = 130;

impl Get {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let validate = self.trust.validator()?;
        let client = self.connection.open().await?;
        let options = FetchOptions {
            discovery: match self.discover {
                Discover::Auto => Discovery::Auto,
                Discover::Metadata => Discovery::Metadata,
                Discover::Prefix => Discovery::Prefix,
                Discover::None => Discovery::None,
            },
            lifetime: self.lifetime.as_millis() as u64,
            retries: self.retries,
            max_in_flight: self.pipeline as usize,
            validate,
        };
        let begun = Instant::now();
        let fetched = async {
            let mut fetch = client.fetch(self.name.view(), options).await?;
            self.write(&mut fetch).await?;
            anyhow::Ok(fetch)
        };
        let fetch = tokio::select! {
            () = stopped() => {
                output::tell("hashlane: stopped; the object is incomplete");
                return Ok(ExitCode::from(STOPPED));
            }
            fetched = fetched => fetched.with_context(|| self.name.to_string())?,
        };
        if !self.quiet {
            let progress = fetch.progress();
            let seconds = begun.elapsed().as_secs_f64();
            output::tell(&format!(
                "fetched {}: {} bytes, {} segments in {seconds:.3} s ({:.1} Mbit/s), {} retransmitted, \
                 window {}, rtt {:.3} ms",
                fetch.name(),
                progress.bytes,
                progress.segments,
                progress.bytes as f64 * 8e-6 / seconds,
                progress.retransmissions,
                progress.window,
                progress.round_trip.unwrap_or_default().as_secs_f64() * 1e3,
            ));
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn write(&self, fetch: &mut Fetch) -> Result<()> {
        let mut file = match &self.output {
            Some(path) => {
                Some(File::create(path).with_context(|| format!("cannot write {}", path.display()))?)
            }
            None => None,
        };
        while let Some(data) = fetch.next().await? {
            match &mut file {
                Some(file) => file.write_all(data.view().content())?,
                None => output::write(data.view().content())?,
            }
        }
        Ok(())
    }
}
