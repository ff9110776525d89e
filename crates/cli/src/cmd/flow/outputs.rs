//! Flags that say where flows go, and the exporters behind them.

use super::settings::time;
use crate::cmd::number;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use hashlane_meter::{
    CsvExporter, ExportError, Exporter, FileOptions, FlowRecord, IpfixExporter, IpfixOptions, JsonExporter,
    MeterOptions, MeterStats, Netflow9Exporter, Netflow9Options, Output, ParquetExporter, Rotation, Sink,
    Times, Totals,
};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

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
    #[arg(long)]
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

    /// Opens all targets. `interfaces` are those that packets come from, `meter` the settings of the run.
    pub(super) fn open(&self, interfaces: &[(u32, String)], meter: &MeterOptions) -> Result<Exporters> {
        let mut all: Vec<Named> = Vec::new();
        let mut add = |name: String, exporter: Box<dyn Exporter>| all.push(Named { name, exporter });
        let times = if self.nanoseconds { Times::Nanoseconds } else { Times::Milliseconds };
        for target in &self.ipfix {
            let options = IpfixOptions {
                times,
                interfaces: interfaces.to_vec(),
                sampling: meter.sampling,
                ..IpfixOptions::default()
            };
            add(target.to_string(), Box::new(IpfixExporter::new(self.sink(target)?, options)));
        }
        for target in &self.netflow9 {
            if matches!(target, Target::Tcp(_)) {
                bail!("NetFlow v9 has no form over TCP; use --ipfix {target}, or udp:HOST:PORT");
            }
            let options = Netflow9Options::default();
            add(target.to_string(), Box::new(Netflow9Exporter::new(self.sink(target)?, options)));
        }
        for path in &self.json {
            add(named(path), Box::new(JsonExporter::new(self.lines(path)?)));
        }
        for path in &self.csv {
            add(named(path), Box::new(CsvExporter::new(self.lines(path)?)));
        }
        for path in &self.parquet {
            let exporter = ParquetExporter::create(self.file(path.clone())).with_context(force)?;
            add(path.display().to_string(), Box::new(exporter));
        }
        let next_report = Instant::now() + REPORT;
        Ok(Exporters { all, domain: meter.domain, workers: Vec::new(), next_report })
    }

    fn sink(&self, target: &Target) -> Result<Sink> {
        Ok(match target {
            Target::File(path) => Sink::file(self.file(path.clone())).with_context(force)?,
            Target::Udp(address) => Sink::udp(*address)?,
            Target::Tcp(address) => Sink::tcp(*address),
        })
    }

    fn lines(&self, path: &std::path::Path) -> Result<Sink> {
        if path.as_os_str() == "-" {
            return Ok(Sink::writer("standard output", Box::new(io::stdout())));
        }
        Sink::file(self.file(path.into())).with_context(force)
    }

    fn file(&self, path: PathBuf) -> FileOptions {
        let rotation = (self.rotate_every.is_some() || self.rotate_mib.is_some()).then(|| Rotation {
            bytes: self.rotate_mib.map_or(0, |mib| mib << 20),
            seconds: self.rotate_every.map_or(0, |time| time.as_secs().max(1)),
        });
        FileOptions { path, overwrite: self.force, rotation }
    }
}

/// Name of a file for people.
fn named(path: &std::path::Path) -> String {
    if path.as_os_str() == "-" { "standard output".to_owned() } else { path.display().to_string() }
}

fn force() -> &'static str {
    "no output (--force overwrites files)"
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

struct Named {
    name: String,
    exporter: Box<dyn Exporter>,
}

/// Time between two reports of statistics.
const REPORT: Duration = Duration::from_secs(60);

/// The exporters of a run.
pub(super) struct Exporters {
    all: Vec<Named>,
    /// Observation domain of the first worker.
    domain: u32,
    /// Counters of the workers at the last tick.
    workers: Vec<MeterStats>,
    next_report: Instant,
}

impl Exporters {
    /// Adds the statistics of each worker.
    fn report(&mut self, now: u64) -> Result<(), ExportError> {
        for (domain, stats) in (self.domain..).zip(&self.workers) {
            for Named { exporter, .. } in &mut self.all {
                exporter.report(domain, stats, now)?;
            }
        }
        Ok(())
    }

    /// Completes all files and queues, with the last statistics; the totals of each target, by its name.
    pub(super) fn finish(mut self, now: u64) -> Result<Vec<(String, Totals)>, ExportError> {
        // Each is completed, also if one before it fails.
        let mut failed = self.report(now).err();
        for Named { exporter, .. } in &mut self.all {
            failed = exporter.finish(now).err().or(failed);
        }
        failed.map_or(Ok(()), Err)?;
        Ok(self.all.into_iter().map(|named| (named.name, named.exporter.totals())).collect())
    }

    /// Flows that were lost on the way to a target.
    pub(super) fn lost(&self) -> u64 {
        self.all.iter().map(|named| named.exporter.totals().flows_lost).sum()
    }
}

impl Output for Exporters {
    fn flows(&mut self, flows: &[FlowRecord], now: u64) -> Result<(), ExportError> {
        for Named { exporter, .. } in &mut self.all {
            for flow in flows {
                exporter.write(flow, now)?;
            }
        }
        Ok(())
    }

    fn tick(&mut self, workers: &[MeterStats], now: u64) -> Result<(), ExportError> {
        self.workers.clear();
        self.workers.extend_from_slice(workers);
        if Instant::now() >= self.next_report {
            self.next_report = Instant::now() + REPORT;
            self.report(now)?;
        }
        self.all.iter_mut().try_for_each(|named| named.exporter.tick(now))
    }
}
