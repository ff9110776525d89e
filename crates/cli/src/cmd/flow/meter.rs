//! `hashlane flow meter`

use super::metrics::Metrics;
use super::outputs::{Exporters, Targets};
use super::settings::{Settings, time};
use super::summary::missing;
use crate::cmd::STOPPED;
use crate::output;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use hashlane_hash::scheme::Key;
use hashlane_meter::{
    ExportError, FlowRecord, Live, MeterStats, Output, RunError, RunOptions, Summary, meter_captures,
    meter_interface,
};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Meter the flows of captures or of an interface, and export them
///
/// A flow is both directions of the packets between two ends of a protocol. It ends after the idle timeout,
/// after the active timeout, with its TCP connection, or when the meter ends. Ctrl-C exports the flows that
/// are open, and completes all files; a second one ends at once.
#[derive(Debug, Args)]
#[command(after_help = "\
Captures are pcap or pcapng, also compressed by gzip or Zstandard; - reads standard input.
An interface needs the capability CAP_NET_RAW. The kernel shares its packets out to the workers by a hash of
addresses and ports, and each worker has a ring of 64 MiB for them. Packets that the ring has no room for and
flows that outputs are too slow for are counted. An interface that goes down ends the run.
A summary goes to standard error: packets, flows, and what was dropped, by cause.

Exit code: 0; 1 after an error, or if a capture ended early; 130 after Ctrl-C.

Examples:
  hashlane flow meter trace.pcap --ipfix flows.ipfix
  hashlane flow meter day-*.pcap.gz --parquet flows.parquet --threads 2
  hashlane flow meter trace.pcapng --json -
  hashlane flow meter trace.pcap --ipfix udp:192.0.2.1:4739 --csv flows.csv --idle 30s
  hashlane flow meter --interface eth0 --ipfix udp:192.0.2.1:4739 --metrics 127.0.0.1:9100
  hashlane flow meter --interface eth0 --duration 1h --parquet hour.parquet
  tcpdump -i eth0 -w - | hashlane flow meter - --netflow9 udp:192.0.2.1:2055")]
pub(super) struct Meter {
    /// Captures, metered one after the other as if they were one; - for standard input
    #[arg(value_name = "CAPTURE", required_unless_present = "interface", conflicts_with = "interface")]
    captures: Vec<PathBuf>,
    /// Meter the packets that this interface receives and sends
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// End after this time: 500ms, 60s, 5min, 1h
    #[arg(long, value_name = "TIME", value_parser = time, requires = "interface",
        conflicts_with = "captures")]
    duration: Option<Duration>,
    /// Meter also packets to other hosts, as behind a mirror port
    #[arg(long, requires = "interface", conflicts_with = "captures")]
    promiscuous: bool,
    /// Serve the counters for Prometheus at http://ADDRESS/metrics
    #[arg(long, value_name = "IP:PORT")]
    metrics: Option<SocketAddr>,
    #[command(flatten)]
    targets: Targets,
    #[command(flatten)]
    settings: Settings,
}

impl Meter {
    pub(super) fn run(self) -> Result<ExitCode> {
        if self.targets.is_empty() {
            bail!(
                "no output: add --ipfix, --netflow9, --json, --csv or --parquet with a file, or --json -; \
                 `hashlane flow show CAPTURE` shows who talked to whom"
            );
        }
        let start = Instant::now();
        let stop = stop_on_signal()?;
        let key = Key::random().context("cannot draw a key")?;
        let ingress = self.interface.as_deref().map(index).transpose()?;
        let meter = self.settings.meter(ingress.as_ref().map_or(0, |(index, _)| *index));
        let interfaces: Vec<_> = ingress.into_iter().collect();
        let exporters = self.targets.open(&interfaces, &meter)?;
        let metrics = self.metrics.map(|address| Metrics::serve(address, meter.domain)).transpose()?;
        let mut outputs = Outputs { exporters, metrics };
        let options = RunOptions { meter, workers: self.settings.threads, key: &key, stop: &stop };
        let ran = match &self.interface {
            Some(interface) => {
                let live = Live { interface, duration: self.duration, promiscuous: self.promiscuous };
                meter_interface(&live, &options, &mut outputs)
            }
            None => meter_captures(&self.captures, &options, &mut outputs),
        };
        let exporters = outputs.exporters;
        let summary = match ran {
            Ok(summary) => summary,
            Err(error) => {
                // The other files are completed; the first error is the one to report.
                let _ = exporters.finish(now());
                return closed(error);
            }
        };
        let lost = exporters.lost();
        let totals = match exporters.finish(now()) {
            Ok(totals) => totals,
            Err(error) => return closed(error.into()),
        };
        output::tell(&describe(&summary, start.elapsed().as_secs_f64()));
        for (name, totals) in totals {
            let lost =
                if totals.flows_lost > 0 { format!(", {} lost", totals.flows_lost) } else { String::new() };
            output::tell(&format!("{name}: {} flows, {} bytes{lost}", totals.flows, totals.bytes));
        }
        for (path, problem) in &summary.problems {
            output::tell(&format!("{}: {problem}", path.display()));
        }
        let failed = lost > 0 || summary.total().flows_lost > 0 || !summary.problems.is_empty();
        Ok(match stop.load(Ordering::Relaxed) {
            true => ExitCode::from(STOPPED),
            false if failed => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        })
    }
}

/// Success if the reader of standard output has closed it (`--json - | head`), else the error.
fn closed(error: RunError) -> Result<ExitCode> {
    match error {
        RunError::Output(ExportError::Write(_, error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(ExitCode::SUCCESS)
        }
        RunError::Output(error) => bail!("{error}"),
        error => Err(error.into()),
    }
}

/// Index and name of an interface.
fn index(interface: &str) -> Result<(u32, String)> {
    let index = nix::net::if_::if_nametoindex(interface)
        .with_context(|| format!("no interface {interface}; `ip link` lists those of this host"))?;
    Ok((index, interface.to_owned()))
}

/// Receivers of the flows of a run.
struct Outputs {
    exporters: Exporters,
    metrics: Option<Metrics>,
}

impl Output for Outputs {
    fn flows(&mut self, flows: &[FlowRecord], now: u64) -> Result<(), ExportError> {
        self.exporters.flows(flows, now)
    }

    fn tick(&mut self, workers: &[MeterStats], now: u64) -> Result<(), ExportError> {
        if let Some(metrics) = &mut self.metrics {
            metrics.tick(workers, now)?;
        }
        self.exporters.tick(workers, now)
    }
}

/// A flag that Ctrl-C and SIGTERM set; the second one ends the process.
pub(super) fn stop_on_signal() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(STOPPED));
        }
    })
    .context("cannot handle Ctrl-C")?;
    Ok(stop)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// The summary of a run in a few lines.
fn describe(summary: &Summary, seconds: f64) -> String {
    let MeterStats { packets, bytes, flows_exported, .. } = summary.total();
    let rate = packets as f64 / seconds.max(1e-9) / 1e6;
    let first = format!(
        "{packets} packets, {bytes} bytes, {flows_exported} flows in {seconds:.2} s ({rate:.2} M packets/s)"
    );
    std::iter::once(first).chain(missing(summary)).collect::<Vec<_>>().join("\n")
}
