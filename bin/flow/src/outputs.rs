//! Flags that say where flows go.

mod places;

use super::exporters::Exporters;
use super::settings::time;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use hashlane_command::number;
use hashlane_meter::{
    CsvExporter, ExportError, FileOptions, IpfixExporter, IpfixOptions, JsonExporter, MeterOptions,
    Netflow9Exporter, Netflow9Options, ParquetExporter, Rotation, Sink, Times,
};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Formats and their targets.
#[derive(Debug, Args)]
pub(super) struct Targets {
    /// IPFIX (RFC 7011, biflows by RFC 5103) to a file, udp:HOST:PORT or tcp:HOST:PORT
    #[arg(long, value_name = "TARGET")]
    ipfix: Vec<Target>,
    /// NetFlow v9 (RFC 3954) to a file or udp:HOST:PORT; each direction is a flow
    #[arg(long, value_name = "TARGET")]
    netflow9: Vec<Target>,
    /// One JSON object in a line, to a file or - for standard output
    #[arg(long, value_name = "FILE")]
    json: Vec<PathBuf>,
    /// Comma-separated values, to a file or - for standard output
    #[arg(long, value_name = "FILE")]
    csv: Vec<PathBuf>,
    /// Apache Parquet, to a file
    #[arg(long, value_name = "FILE")]
    parquet: Vec<PathBuf>,
    /// Times in IPFIX to the nanosecond; without this, to the millisecond, which every collector reads
    #[arg(long, requires = "ipfix")]
    nanoseconds: bool,
    /// Overwrite files that exist
    #[arg(long)]
    force: bool,
    /// Begin a new file after this time; files get numbers
    #[arg(long, value_name = "TIME", value_parser = time)]
    rotate_every: Option<Duration>,
    /// Begin a new file after this many MiB; files get numbers
    #[arg(long, value_name = "MIB", value_parser = number::within(1_u64, 1 << 20))]
    rotate_mib: Option<u64>,
}

/// A file or a collector.
#[derive(Clone, Debug)]
enum Target {
    File(PathBuf),
    Udp(SocketAddr),
    Tcp(SocketAddr),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let address = |text: &str| {
            let mut found = text.to_socket_addrs().map_err(|error| {
                format!("{error}; expected HOST:PORT after udp: or tcp:, as in udp:192.0.2.1:4739")
            })?;
            found.next().ok_or_else(|| format!("{text} has no address"))
        };
        match text.split_once(':') {
            Some(("udp", rest)) => address(rest).map(Self::Udp),
            Some(("tcp", rest)) => address(rest).map(Self::Tcp),
            _ => Ok(Self::File(text.into())),
        }
    }
}

impl Targets {
    /// Tests if no target was named.
    pub(super) fn is_empty(&self) -> bool {
        self.ipfix.is_empty()
            && self.netflow9.is_empty()
            && self.json.is_empty()
            && self.csv.is_empty()
            && self.parquet.is_empty()
    }

    /// Tests if a target is standard output.
    pub(super) fn has_standard_output(&self) -> bool {
        self.json.iter().chain(&self.csv).any(|path| path.as_os_str() == "-")
    }

    /// All files, each with its option.
    fn files(&self) -> Vec<(&'static str, &Path)> {
        let messages = [("--ipfix", &self.ipfix), ("--netflow9", &self.netflow9)];
        let messages = messages.into_iter().flat_map(|(option, targets)| {
            targets.iter().filter_map(move |target| match target {
                Target::File(path) => Some((option, path.as_path())),
                Target::Udp(_) | Target::Tcp(_) => None,
            })
        });
        let others = [("--json", &self.json), ("--csv", &self.csv), ("--parquet", &self.parquet)];
        let others = others
            .into_iter()
            .flat_map(|(option, paths)| paths.iter().map(move |path| (option, path.as_path())));
        messages.chain(others).collect()
    }

    /// Tests if files get numbers.
    const fn rotates(&self) -> bool {
        self.rotate_every.is_some() || self.rotate_mib.is_some()
    }

    /// Opens all targets. `interfaces` are those that packets come from, `meter` the settings of the run.
    pub(super) fn open(&self, interfaces: &[(u32, String)], meter: &MeterOptions) -> Result<Exporters> {
        let mut all = Exporters::new(meter.domain);
        let times = if self.nanoseconds { Times::Nanoseconds } else { Times::Milliseconds };
        for target in &self.ipfix {
            let options = IpfixOptions {
                times,
                interfaces: interfaces.to_vec(),
                sampling: meter.sampling,
                ..IpfixOptions::default()
            };
            all.add(target.to_string(), Box::new(IpfixExporter::new(self.sink(target)?, options)));
        }
        for target in &self.netflow9 {
            if matches!(target, Target::Tcp(_)) {
                bail!("NetFlow v9 has no form over TCP; use --ipfix {target}, or udp:HOST:PORT");
            }
            let options = Netflow9Options::default();
            all.add_directions(
                target.to_string(),
                Box::new(Netflow9Exporter::new(self.sink(target)?, options)),
            );
        }
        for path in &self.json {
            all.add(named(path), Box::new(JsonExporter::new(self.lines(path)?)));
        }
        for path in &self.csv {
            all.add(named(path), Box::new(CsvExporter::new(self.lines(path)?)));
        }
        for path in &self.parquet {
            let exporter = ParquetExporter::create(self.file(path.clone())).map_err(cannot_open)?;
            all.add(path.display().to_string(), Box::new(exporter));
        }
        Ok(all)
    }

    fn sink(&self, target: &Target) -> Result<Sink> {
        Ok(match target {
            Target::File(path) => Sink::file(self.file(path.clone())).map_err(cannot_open)?,
            Target::Udp(address) => Sink::udp(*address).map_err(cannot_open)?,
            Target::Tcp(address) => Sink::tcp(*address),
        })
    }

    fn lines(&self, path: &Path) -> Result<Sink> {
        if path.as_os_str() == "-" {
            return Ok(Sink::writer("standard output", Box::new(io::stdout())));
        }
        Sink::file(self.file(path.into())).map_err(cannot_open)
    }

    fn file(&self, path: PathBuf) -> FileOptions {
        let rotation = self.rotates().then(|| Rotation {
            bytes: self.rotate_mib.map_or(0, |mib| mib << 20),
            seconds: self.rotate_every.map_or(0, |time| time.as_secs().max(1)),
        });
        FileOptions { path, overwrite: self.force, rotation }
    }
}

/// Name of a file for people.
fn named(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard output".to_owned() } else { path.display().to_string() }
}

/// The error of an output that does not open, with the next step. Its text has its cause.
fn cannot_open(error: ExportError) -> anyhow::Error {
    match error {
        ExportError::Exists(path) => {
            anyhow!("{} exists: choose another name, or add --force to overwrite it", path.display())
        }
        error => anyhow!("{error}"),
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Udp(address) => write!(f, "udp:{address}"),
            Self::Tcp(address) => write!(f, "tcp:{address}"),
        }
    }
}
