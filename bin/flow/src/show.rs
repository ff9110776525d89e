//! `hashlane flow show`

mod json;
mod text;

use super::explain::explained;
use super::meter::stop_on_signal;
use anyhow::{Context as _, Result};
use clap::Args;
use hashlane_command::terminal;
use hashlane_command::{STOPPED, number};
use hashlane_hash::scheme::Key;
use hashlane_meter::config::Io;
use hashlane_meter::format::whole;
use hashlane_meter::time;
use hashlane_meter::{
    Capture, IpfixReader, Live, MeterOptions, MeterStats, Overview, Progress, RunOptions, RunState, Summary,
    meter_captures,
};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::File;
use std::io::{self, BufReader, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Show who talked to whom: top hosts, conversations, services and protocols, and the sizes of flows
///
/// Bytes are counted from IP packets, headers included, in both directions. A service is the port that a TCP
/// connection was opened to; without its SYN, or with UDP, the lower port of the two.
#[derive(Debug, Args)]
#[command(after_help = "\
Captures are pcap or pcapng, also compressed by gzip or Zstandard; - reads standard input. Files of IPFIX
hold flows already, from `hashlane flow meter` or another exporter.

Exit code: 0; 1 after an error, or if a file ended early; 130 after Ctrl-C, which shows the flows so far.

Examples:
  hashlane flow show trace.pcap
  hashlane flow show day-*.pcap.gz --top 20
  hashlane flow show flows.ipfix --json | jq '.hosts[0]'
  hashlane flow show --interface eth0 --duration 10s")]
pub(super) struct Show {
    /// Captures and files of IPFIX, shown together; - for a capture on standard input
    #[arg(value_name = "FILE", required_unless_present = "interface", conflicts_with = "interface")]
    files: Vec<PathBuf>,
    /// Show the packets that this interface receives and sends, until --duration or Ctrl-C
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// End after this time: 500ms, 60s, 5min, 1h
    #[arg(
        long,
        value_name = "TIME",
        value_parser = time::parse,
        requires = "interface",
        conflicts_with = "files"
    )]
    duration: Option<Duration>,
    /// Source of the packets: auto, packet or xdp, which takes what the interface receives from the kernel:
    /// for mirror ports and taps (`hashlane flow meter --help`); auto is packet
    #[arg(long, value_name = "SOURCE", default_value = "auto", requires = "interface")]
    io: Io,
    /// Rows of each ranking
    #[arg(long, value_name = "NUMBER", default_value = "10", value_parser = number::within(1_usize, 100_000))]
    top: usize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// End a flow after this time without a packet: 500ms, 60s, 5min, 1h
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time::parse)]
    idle: Duration,
    /// Limit of the flows in memory, 64 or more, at most 150 bytes each
    #[arg(long, value_name = "NUMBER", default_value = "1048576",
        value_parser = number::within(64_usize, 1 << 30))]
    flows: usize,
    /// Show the packets inside IP-in-IP, GRE, VXLAN and GTP-U, not the tunnels
    #[arg(long)]
    tunnels: bool,
    /// Workers
    #[arg(long, value_name = "NUMBER", default_value = "1", value_parser = number::within(1_usize, 64))]
    threads: usize,
}

/// Flows of all files, and the counts of their packets.
struct Shown {
    overview: Overview,
    summary: Summary,
    /// Tests if there were captures, whose packets were counted on the wire.
    captured: bool,
}

impl Show {
    pub(super) fn run(self) -> Result<ExitCode> {
        let stop = stop_on_signal()?;
        let (flows, captures): (Vec<_>, Vec<_>) = self.files.iter().cloned().partition(|path| is_ipfix(path));
        let mut overview = Overview::default();
        let mut summary = Summary::default();
        for path in &flows {
            if let Some(problem) = read(path, &mut overview, &stop)? {
                summary.problems.push((path.clone(), problem));
            }
        }
        let captured = self.interface.is_some() || !captures.is_empty();
        if captured {
            let key = Key::random().context("cannot draw a key")?;
            let meter = MeterOptions { active: u64::MAX, ..self.meter() };
            let options = RunOptions { meter, workers: self.threads, key: &key, stop: &stop, largest: None };
            let mut bar = Bar::new();
            let mut view = Progress::new(&mut overview, |total: &MeterStats| bar.refresh(total));
            let metered = match &self.interface {
                Some(interface) => {
                    let (duration, io) = (self.duration, self.io);
                    // A mirror port has nothing for this host.
                    let promiscuous = io == Io::Xdp;
                    let live = Live { interface, duration, promiscuous, io };
                    let capture = Capture::open(&live, self.threads).map_err(|error| explained(&error))?;
                    capture.warning().iter().for_each(|warning| terminal::tell(warning));
                    capture.meter(&options, &RunState::new(meter, self.threads), &mut view)
                }
                None => meter_captures(&captures, &options, &mut view),
            };
            let metered = metered.map_err(|error| explained(&error))?;
            summary.problems.extend(metered.problems);
            summary.workers = metered.workers;
            summary.undissected = metered.undissected;
        }
        let shown = Shown { overview, summary, captured };
        let text = if self.json { json::json(&shown, self.top) } else { text::text(&shown, self.top) };
        terminal::print(&text).context("cannot write to standard output")?;
        for (path, problem) in &shown.summary.problems {
            terminal::tell(&format!("{}: {problem}", path.display()));
        }
        Ok(match stop.load(Ordering::Relaxed) {
            true => ExitCode::from(STOPPED),
            false if !shown.summary.problems.is_empty() => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        })
    }

    fn meter(&self) -> MeterOptions {
        let idle = time::nanoseconds(self.idle);
        MeterOptions { flows: self.flows, idle, tunnels: self.tunnels, ..MeterOptions::default() }
    }
}

/// Tests if a file begins as a message of IPFIX does: with version 10. A capture never does.
fn is_ipfix(path: &Path) -> bool {
    // Others cannot be read twice. Errors show when the file is read as a capture.
    let is_file = path.metadata().is_ok_and(|data| data.is_file());
    let mut version = [0; 2];
    is_file
        && File::open(path).and_then(|mut file| file.read_exact(&mut version)).is_ok()
        && version == [0, 10]
}

/// Adds the flows of a file of IPFIX. Returns the reason if it ended early.
fn read(path: &Path, overview: &mut Overview, stop: &AtomicBool) -> Result<Option<String>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut reader = IpfixReader::new(BufReader::with_capacity(1 << 20, file));
    for flow in reader.by_ref() {
        match flow {
            Ok(flow) => overview.add(&flow),
            Err(error) => return Ok(Some(error.to_string())),
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
    let report = reader.report();
    Ok(match (report.cut_off, report.sets_without_template) {
        (0, 0) => None,
        (0, sets) => Some(format!("{sets} sets of records without a template were skipped")),
        (bytes, _) => Some(format!("cut off within a message: only its first {bytes} bytes are there")),
    })
}

/// Time until progress shows.
const SOON: Duration = Duration::from_secs(2);

/// Progress on a terminal.
struct Bar {
    begun: Instant,
    bar: Option<ProgressBar>,
}

impl Bar {
    fn new() -> Self {
        Self { begun: Instant::now(), bar: None }
    }

    fn refresh(&mut self, total: &MeterStats) {
        if self.bar.is_none() && self.begun.elapsed() >= SOON && io::stderr().is_terminal() {
            let style = ProgressStyle::with_template("{spinner} {elapsed}  {msg}");
            self.bar = Some(
                ProgressBar::new_spinner().with_style(style.unwrap_or(ProgressStyle::default_spinner())),
            );
        }
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{} packets, {} flows", whole(total.packets), whole(total.flows_opened)));
            bar.tick();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
