//! `hashlane flow meter`

use super::explain::explained;
use super::service;
use super::settings::Settings;
use super::targets::Targets;
use anyhow::{Context as _, Error, Result, anyhow, bail};
use clap::Args;
use hashlane_command::STOPPED;
use hashlane_command::terminal;
use hashlane_daemon::metrics::Http;
use hashlane_daemon::privileges::Account;
use hashlane_daemon::signals::on_stop;
use hashlane_hash::scheme::Key;
use hashlane_link::capture;
use hashlane_link::memory::Allocator;
use hashlane_meter::config::{Input, Io};
use hashlane_meter::format::{counted, rate};
use hashlane_meter::metrics::Metrics;
use hashlane_meter::outputs::{self, Exporters, Finished, Origin, RunFacts};
use hashlane_meter::run::wall;
use hashlane_meter::summary::missing;
use hashlane_meter::top::{self, Top};
use hashlane_meter::{
    Capture, Config, Live, MeterStats, Output, RunError, RunOptions, RunState, Summary, interface_index,
    meter_captures, time,
};
use hashlane_stats::format::plain;
use std::io::{self, IsTerminal as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Meter the flows of captures or of an interface, and export them
///
/// A flow is both directions of the packets between two ends of a protocol. It ends after the idle timeout,
/// after the active timeout, with its TCP connection, or when the meter ends. Ctrl-C exports the flows that
/// are open, and completes all files; a second one ends at once.
#[derive(Debug, Args)]
#[command(after_help = "\
Captures are pcap or pcapng, also compressed by gzip or Zstandard; - reads standard input. An
interface needs the capability CAP_NET_RAW. The kernel shares its packets out to the workers by a
hash of addresses and ports, and each worker has a ring of 64 MiB for them. Packets that the ring
has no room for and flows that outputs are too slow for are counted. An interface that goes down
ends the run. A summary goes to standard error: packets, flows, and what was dropped, by cause.

--top shows the flows that are open, the largest first, with totals and drops. Keys: q ends the
run and exports what is open; b, k and r rank by bytes, packets and rate; p pauses the view, not
the meter. After the last capture the view stays until q or Ctrl-C. The rate of a flow is for the
last second or two.

With --config, the file names the interface, timeouts, limits and outputs. Flags override its
values; outputs in flags replace all of the file. With captures, its interface and user have no
effect. Without captures and --top, the run is a service: SIGHUP reads the file again, exchanges
outputs and changes timeouts and limits; a bad file changes nothing. Ctrl-C or SIGTERM then ends it
with exit code 0. It logs to standard error; the variable HASHLANE_LOG sets the level (error, warn,
info, debug, trace, off). Under systemd, use Type=notify-reload and WatchdogSec.

An output that fails is closed, and the others go on. If none is left, the run ends.

Exit code: 0, also after q; 1 after an error, if flows were lost, or if a capture ended early;
130 after Ctrl-C.

Examples:
  hashlane flow meter trace.pcap --ipfix flows.ipfix
  hashlane flow meter day-*.pcap.gz --parquet flows.parquet --threads 2
  hashlane flow meter trace.pcapng --json -
  hashlane flow meter trace.pcap --ipfix udp:192.0.2.1:4739 --csv flows.csv --idle 30s
  hashlane flow meter --interface eth0 --ipfix udp:192.0.2.1:4739 --metrics 127.0.0.1:9100
  hashlane flow meter --interface eth0 --duration 1h --parquet hour.parquet
  hashlane flow meter --interface eth0 --top
  hashlane flow meter --interface mirror0 --promiscuous --io xdp --ipfix udp:192.0.2.1:4739
  hashlane flow meter --config /etc/hashlane/flow.toml
  hashlane flow check-config --print > flow.toml         every key with its default value
  tcpdump -i eth0 -w - | hashlane flow meter - --netflow9 udp:192.0.2.1:2055")]
pub(super) struct Meter {
    /// Captures, metered one after the other as if they were one; - for standard input
    #[arg(value_name = "CAPTURE", required_unless_present_any = ["interface", "config"],
        conflicts_with = "interface")]
    captures: Vec<PathBuf>,
    /// Configuration file; the other flags override its values
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Meter the packets that this interface receives and sends
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// End after this time: 500ms, 60s, 5min, 1h
    #[arg(long, value_name = "TIME", value_parser = time::parse, conflicts_with = "captures")]
    duration: Option<Duration>,
    /// Meter also packets to other hosts, as behind a mirror port
    #[arg(long, conflicts_with = "captures")]
    promiscuous: bool,
    /// Source of the packets: auto, packet or xdp; auto is packet [default: auto]
    #[arg(long, value_name = "SOURCE", conflicts_with = "captures")]
    io: Option<Io>,
    /// Serve the counters for Prometheus at http://ADDRESS/metrics
    #[arg(long, value_name = "IP:PORT", value_parser = address)]
    metrics: Vec<SocketAddr>,
    /// User to run as once the interface is open; root stays root
    #[arg(short, long, value_name = "USER", conflicts_with = "captures")]
    user: Option<String>,
    /// Unix socket for `hashlane flow control`, or none
    #[arg(long, value_name = "PATH", conflicts_with_all = ["captures", "top"])]
    socket: Option<PathBuf>,
    /// Show the largest flows on the terminal while the run goes on; outputs are optional then
    #[arg(long)]
    top: bool,
    #[command(flatten)]
    targets: Targets,
    #[command(flatten)]
    settings: Settings,
}

impl Meter {
    pub(super) fn run(self) -> Result<ExitCode> {
        let (config, origin) = self.config()?;
        self.check(&config)?;
        let is_named = self.config.is_some() || self.socket.is_some();
        if is_named && self.captures.is_empty() && !self.top {
            let duration = self.duration;
            let reread = move || self.config_again().map_err(|error| io::Error::other(format!("{error:#}")));
            return service::serve(&config, origin, duration, Box::new(reread));
        }
        Allocator::use_huge_pages();
        let start = Instant::now();
        let stop = stop_on_signal()?;
        let key = Key::random().context("cannot draw a key")?;
        let interface = self.captures.is_empty().then(|| config.input.interface.clone());
        let index = interface.as_deref().map(interface_index).transpose()?;
        let meter = config.meter.options(index.unwrap_or(0));
        let interfaces = index.into_iter().zip(interface.clone()).collect();
        let facts = RunFacts { interfaces, domain: meter.domain, sampling: meter.sampling };
        let account = match interface {
            Some(_) => Account::of(&config.server.user, &config.server.group)?,
            None => None,
        };
        // Outputs come last: those that are there stay as they are if the run cannot begin.
        let workers = config.meter.workers;
        let capture = interface.as_deref().map(|interface| {
            let Input { promiscuous, io, .. } = config.input;
            Capture::open(&Live { interface, duration: self.duration, promiscuous, io }, workers)
        });
        let capture = capture.transpose().map_err(|error| explained(&error))?;
        if let Some(warning) = capture.as_ref().and_then(Capture::warning) {
            terminal::tell(&warning);
        }
        self.check_capture()?;
        let mut metrics = Metrics::new(meter.domain);
        for http in Http::bind_all(&config.metrics.listen, "--metrics")? {
            let url = http.url();
            metrics.serve(http)?;
            terminal::tell(&format!("metrics: {url}"));
        }
        if let Some(account) = account {
            account.assume()?;
        }
        let opened = Exporters::open(&config.output, &facts, terminal::tell);
        let mut exporters = opened.map_err(|error| anyhow!(origin.explain(&error)))?;
        exporters.set_viewed(self.top);
        let largest = self.top.then(top::lists);
        let subject = largest.clone().map(|largest| top::ViewedRun {
            source: self.source(&config),
            is_live: interface.is_some(),
            limit: meter.flows,
            largest,
            stop: stop.clone(),
            exit_code: STOPPED,
        });
        let mut top = subject.map(Top::show).transpose()?;
        let mut receivers: Vec<&mut dyn Output> = vec![&mut metrics];
        receivers.extend(top.as_mut().map(|top| top as &mut dyn Output));
        receivers.push(&mut exporters);
        let options = RunOptions { meter, workers, key: &key, stop: &stop, largest: largest.as_deref() };
        let ran = match capture {
            Some(capture) => capture.meter(&options, &RunState::new(meter, workers), &mut receivers),
            None => meter_captures(&self.captures, &options, &mut receivers),
        };
        let seconds = start.elapsed().as_secs_f64();
        let summary = match ran {
            Ok(summary) => summary,
            // The inputs or threads failed; new files are removed.
            Err(error) if !matches!(error, RunError::Output(_)) => return Err(explained(&error)),
            Err(error) => {
                let finished = exporters.finish(wall());
                drop(top);
                return failed(error, &finished);
            }
        };
        let finished = exporters.finish(wall());
        if let [only] = finished.as_slice()
            && only.is_closed()
            && top.is_none()
        {
            return Ok(ExitCode::SUCCESS);
        }
        let mut stopped = stop.load(Ordering::Relaxed);
        let mut quit = top.as_ref().is_some_and(Top::has_quit);
        match top {
            Some(top) if interface.is_none() => {
                // The view stays after a capture: only the key that closes it says how the run ends.
                quit = top.end()?;
                stopped = stop.load(Ordering::Relaxed);
            }
            Some(top) => top.close()?,
            None => {}
        }
        terminal::tell(&describe(&summary, seconds));
        finished.iter().for_each(|finished| terminal::tell(&finished.to_string()));
        for (path, problem) in &summary.problems {
            terminal::tell(&format!("{}: {problem}", path.display()));
        }
        let failed = finished.iter().any(Finished::has_failed)
            || summary.total().flows_lost > 0
            || !summary.problems.is_empty();
        Ok(if stopped && !quit {
            ExitCode::from(STOPPED)
        } else if failed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }

    /// The configuration, read again, and where its outputs come from.
    fn config_again(&self) -> Result<(Config, Origin)> {
        if self.config.is_none() {
            bail!("there is no configuration file to read again, as --config names none");
        }
        self.config()
    }

    /// The configuration: the file, with the values that flags override, and where its outputs come from.
    fn config(&self) -> Result<(Config, Origin)> {
        let mut config = self.config.as_deref().map_or_else(|| Ok(Config::default()), Config::read)?;
        if let Some(interface) = &self.interface {
            config.input.interface.clone_from(interface);
        }
        config.input.promiscuous |= self.promiscuous;
        config.input.io = self.io.unwrap_or(config.input.io);
        self.settings.override_values(&mut config.meter)?;
        let is_named = self.targets.override_outputs(&mut config.output);
        if !self.metrics.is_empty() {
            config.metrics.listen.clone_from(&self.metrics);
        }
        if let Some(path) = &self.socket {
            config.control.path = if path.as_os_str() == "none" { PathBuf::new() } else { path.clone() };
        }
        if let Some(user) = &self.user {
            config.server.user.clone_from(user);
        }
        let origin = if is_named || self.config.is_none() { Origin::Flags } else { Origin::File };
        outputs::check(&config.output, &self.captures, origin).map_err(Error::msg)?;
        config.check()?;
        Ok((config, origin))
    }

    /// Checks that there is an input and an output, and that the terminal is free for `--top`.
    fn check(&self, config: &Config) -> Result<()> {
        let outputs = &config.output;
        if outputs.is_empty() && !self.top {
            bail!(
                "no output: add --ipfix, --netflow9, --json, --csv or --parquet with a file, --json - or \
                 --top; `hashlane flow show CAPTURE` shows who talked to whom"
            );
        }
        if self.captures.is_empty() && config.input.interface.is_empty() {
            bail!("no input: name captures, or an interface with --interface or `input.interface`");
        }
        if !self.top {
            return Ok(());
        }
        if outputs.iter().any(|output| output.to.is_standard_output()) {
            bail!("--top and an output to - both write to standard output; name a file instead of -");
        }
        let reads = self.captures.iter().any(|path| path.as_os_str() == "-");
        if reads && io::stdin().is_terminal() {
            bail!("--top reads keys from the terminal, which is the capture, too; pipe a capture to -");
        }
        Ok(top::check()?)
    }

    /// Checks that the first capture can be read. What comes by a pipe cannot be read twice.
    fn check_capture(&self) -> Result<()> {
        match self.captures.first() {
            Some(path) if path.is_file() || !path.exists() && path.as_os_str() != "-" => {
                let open = capture::open(path).map(drop);
                open.map_err(|error| explained(&RunError::Capture(path.clone(), error)))
            }
            _ => Ok(()),
        }
    }

    /// Name of the interface or the captures, for a title.
    fn source(&self, config: &Config) -> String {
        let name = match self.captures.as_slice() {
            [] => config.input.interface.clone(),
            [path] if path.as_os_str() == "-" => "standard input".to_owned(),
            [path] => path.display().to_string(),
            paths => format!("{} captures", paths.len()),
        };
        plain(&name)
    }
}

/// The error of a run that ended early, or success if the readers of all outputs have closed them
/// (`--json - | head`).
fn failed(error: RunError, finished: &[Finished]) -> Result<ExitCode> {
    match error {
        RunError::Output(_) if finished.iter().all(Finished::is_closed) => Ok(ExitCode::SUCCESS),
        RunError::Output(error) => {
            if finished.len() > 1 {
                finished.iter().for_each(|finished| terminal::tell(&finished.to_string()));
            }
            bail!("{error}")
        }
        error => Err(explained(&error)),
    }
}

/// Parses the address of `--metrics`.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected IP:PORT, for example 127.0.0.1:9100".to_owned())
}

/// A flag that the signals to end set; the second one ends the process.
pub(super) fn stop_on_signal() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    on_stop(move || {
        if flag.swap(true, Ordering::Relaxed) {
            top::restore();
            std::process::exit(i32::from(STOPPED));
        }
    })?;
    Ok(stop)
}

/// The summary of a run in a few lines.
fn describe(summary: &Summary, seconds: f64) -> String {
    let MeterStats { packets, bytes, flows_exported, .. } = summary.total();
    let speed = rate(packets as f64 / seconds.max(1e-9));
    let (packets, flows) = (counted(packets, "packet"), counted(flows_exported, "flow"));
    let speed = speed.trim_end();
    let first = format!("{packets}, {bytes} bytes, {flows} in {seconds:.2} s ({speed} packets/s)");
    std::iter::once(first).chain(missing(summary)).collect::<Vec<_>>().join("\n")
}
