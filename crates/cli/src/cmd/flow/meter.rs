//! `hashlane flow meter`

use super::outputs::Targets;
use super::settings::Settings;
use super::summary::missing;
use crate::cmd::STOPPED;
use crate::output;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use hashlane_hash::scheme::Key;
use hashlane_meter::{MeterStats, RunOptions, Summary, meter_captures};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Meter the flows of captures, and export them
///
/// A flow is both directions of the packets between two ends of a protocol. It ends after the idle timeout,
/// after the active timeout, with its TCP connection, or when the meter ends. Ctrl-C exports the flows that
/// are open, and completes all files; a second one ends at once.
#[derive(Debug, Args)]
#[command(after_help = "\
Captures are pcap or pcapng, also compressed by gzip or Zstandard; - reads standard input.
A summary goes to standard error: packets, flows, and what was dropped, by cause.

Exit code: 0; 1 after an error, or if a capture ended early; 130 after Ctrl-C.

Examples:
  hashlane flow meter trace.pcap --ipfix flows.ipfix
  hashlane flow meter day-*.pcap.gz --parquet flows.parquet --threads 2
  hashlane flow meter trace.pcapng --json -
  hashlane flow meter trace.pcap --ipfix udp:192.0.2.1:4739 --csv flows.csv --idle 30s
  tcpdump -i eth0 -w - | hashlane flow meter - --netflow9 udp:192.0.2.1:2055")]
pub(super) struct Meter {
    /// Captures, metered one after the other as if they were one; - for standard input
    #[arg(value_name = "CAPTURE", required = true)]
    captures: Vec<PathBuf>,
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
        let meter = self.settings.meter(0);
        let mut exporters = self.targets.open(&[], meter.sampling)?;
        let options = RunOptions { meter, workers: self.settings.threads, key: &key, stop: &stop };
        let summary = meter_captures(&self.captures, &options, &mut exporters)?;
        let lost = exporters.lost();
        let totals = exporters.finish(now())?;
        output::tell(&describe(&summary, start.elapsed().as_secs_f64()));
        for (name, totals) in totals {
            let lost =
                if totals.flows_lost > 0 { format!(", {} lost", totals.flows_lost) } else { String::new() };
            output::tell(&format!("{name}: {} flows, {} bytes{lost}", totals.flows, totals.bytes));
        }
        for (path, problem) in &summary.problems {
            output::tell(&format!("{}: {problem}", path.display()));
        }
        let failed = lost > 0 || !summary.problems.is_empty();
        Ok(match stop.load(Ordering::Relaxed) {
            true => ExitCode::from(STOPPED),
            false if failed => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        })
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
