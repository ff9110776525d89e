//! `hashlane ndn put`

use super::connection::{Connection, millis, name, stopped};
use anyhow::{Context, Result, bail};
use clap::Args;
use hashlane_client::{Library, Publication};
use hashlane_daemon::log::{LAST_LINES, Log};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Publish a file, or standard input, as a segmented object, until stopped.
#[derive(Debug, Args)]
#[command(after_help = "\
The name may end with a version (/v=1). By default the version is the modification time of the
file, or the current time. Consumers find it by the object's metadata, or by any Data below the
name.

Examples:
  hashlane ndn put /example/notes notes.txt
  tar c folder | hashlane ndn put /example/folder.tar/v=1")]
pub(super) struct Put {
    /// Name of the object
    #[arg(value_parser = name)]
    name: OwnedName<Ndn>,
    /// File to publish; standard input by default, or for -
    file: Option<PathBuf>,
    /// Freshness of segments, in milliseconds
    #[arg(short = 'f', long, value_name = "MS", default_value = "10000", value_parser = millis)]
    freshness: Duration,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    connection: Connection,
}

/// Largest standard input, in bytes.
const MOST_OCTETS: u64 = 1 << 30;

impl Put {
    pub(super) async fn run(self) -> Result<ExitCode> {
        if let Some(folder) = self.file.as_deref().filter(|file| file.is_dir()) {
            bail!("{} is a folder; `hashlane ndn serve` publishes the files of one", folder.display());
        }
        let client = self.connection.open().await?;
        let object = match self.file.as_deref().filter(|file| file.as_os_str() != "-") {
            Some(file) => {
                Publication::file(self.name.view(), file).with_context(|| file.display().to_string())?
            }
            None => {
                let mut octets = Vec::new();
                let read = std::io::stdin().lock().take(MOST_OCTETS + 1).read_to_end(&mut octets);
                read.context("cannot read standard input")?;
                if octets.len() as u64 > MOST_OCTETS {
                    bail!(
                        "standard input is larger than {MOST_OCTETS} bytes; publish a file, which is read \
                         in pieces"
                    );
                }
                Publication::new(self.name.view(), octets)?
            }
        };
        let object = object.with_freshness(self.freshness);
        let registered = client.register(object.name()).await;
        let mut registration = registered.with_context(|| format!("cannot register {}", object.name()))?;
        let log = Log::stderr()?;
        if !self.quiet {
            let (name, segments) = (object.versioned_name(), object.segments());
            let s = if segments == 1 { "" } else { "s" };
            log.add(&format!("published {name}: {} bytes, {segments} segment{s}", object.len()));
        }
        let mut library = Library::new();
        library.insert(object);
        tokio::select! {
            () = stopped() => {}
            served = library.serve(&mut registration, |_| {}) => served?,
        }
        registration.close().await;
        log.flush(LAST_LINES);
        Ok(ExitCode::SUCCESS)
    }
}
