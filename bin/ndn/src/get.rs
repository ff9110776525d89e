//! `hashlane ndn get`

use super::connection::{Connection, millis, name, stopped};
use super::trust::Trust;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use hashlane_client::{Discovery, Fetch, FetchOptions};
use hashlane_command::number::{number, positive, within};
use hashlane_command::terminal;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// Fetch a segmented object and write it to standard output, or to a file.
#[derive(Debug, Args)]
#[command(after_help = "\
A name that ends with a version (/v=1) means that version; a name that ends with a segment (/seg=0)
means only that segment. Otherwise --discover finds the version: by the object's metadata, or by
any fresh Data below the name.

A file appears once it is complete; after an error or Ctrl-C there is no file.

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
    /// Largest object in bytes; a larger one is an error, and leaves no file
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30, value_parser = positive)]
    max_size: u64,
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
            // Signals are handled before there is a file that they would leave.
            biased;
            () = stopped() => {
                terminal::tell("hashlane: stopped; the object is incomplete");
                return Ok(ExitCode::from(STOPPED));
            }
            fetched = fetched => fetched.with_context(|| self.name.to_string())?,
        };
        if !self.quiet {
            let progress = fetch.progress();
            let seconds = begun.elapsed().as_secs_f64();
            terminal::tell(&format!(
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
        let mut target = self.output.as_deref().map(Target::open).transpose()?;
        let mut written = 0;
        while let Some(data) = fetch.next().await? {
            let content = data.view().content();
            written += content.len() as u64;
            // A producer that never names the last segment would otherwise fill the disk.
            if written > self.max_size {
                bail!("the object is larger than {} bytes; --max-size sets the limit", self.max_size);
            }
            match &mut target {
                Some(target) => target.write(content)?,
                None => terminal::write(content)?,
            }
        }
        target.map_or(Ok(()), Target::finish)
    }
}

/// The file that is written. One that is complete replaces an earlier one; otherwise nothing is left.
enum Target {
    /// A new file beside the path, removed when dropped.
    New(PathBuf, NamedTempFile),
    /// A file that cannot be replaced: a pipe or a device.
    Open(PathBuf, File),
}

impl Target {
    fn open(path: &Path) -> Result<Self> {
        let open = || -> io::Result<Self> {
            // Less the umask, like any new file.
            let usual = Permissions::from_mode(0o666);
            let (path, permissions) = match fs::metadata(path) {
                Ok(found) if !found.is_file() => return Ok(Self::Open(path.into(), File::create(path)?)),
                // A file that may not be written may not be replaced, either. A link stays one.
                Ok(found) => {
                    OpenOptions::new().write(true).open(path)?;
                    (fs::canonicalize(path)?, Some(found.permissions()))
                }
                Err(_) => (path.to_owned(), None),
            };
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let mut builder = tempfile::Builder::new();
            builder.prefix(".hashlane-get-").permissions(usual);
            let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
            permissions.map_or(Ok(()), |permissions| file.as_file().set_permissions(permissions))?;
            Ok(Self::New(path, file))
        };
        open().with_context(|| format!("cannot write {}", path.display()))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let (path, written) = match self {
            Self::New(path, file) => (path, file.write_all(bytes)),
            Self::Open(path, file) => (path, file.write_all(bytes)),
        };
        written.with_context(|| format!("cannot write {}", path.display()))
    }

    fn finish(self) -> Result<()> {
        let Self::New(path, file) = self else { return Ok(()) };
        let persisted = file.persist(&path).map_err(|error| error.error);
        persisted.map(drop).with_context(|| format!("cannot write {}", path.display()))
    }
}
