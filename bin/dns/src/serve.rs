//! `hashlane dns serve`, and the check of its configuration

use anyhow::{Result, bail};
use clap::Args;
use hashlane_command::terminal;
use hashlane_daemon::Daemon;
use hashlane_daemon::metrics::Http;
use hashlane_link::memory::Allocator;
use hashlane_nameserver::config::{Config, Io, ZoneFile};
use hashlane_nameserver::server::Checked;
use hashlane_nameserver::status::ZoneStatus;
use hashlane_nameserver::{Handle, Server};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// An address with its port on the command line.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected an address with its port, such as 127.0.0.1:53 or [::1]:53".to_owned())
}

/// Descriptors for as many TCP connections as the default configuration allows, and for sockets and files.
const DESCRIPTORS: u64 = 20_000;

/// Serve zones: an authoritative name server
///
/// Answers queries from zone files, unsigned or signed beforehand, over UDP and TCP. A zone that cannot be
/// loaded is reported in the log with its file, line and reason, and the others are served. SIGHUP and
/// `hashlane dns control reload` load changed zones; a zone with errors leaves the old one in service. Ctrl-C
/// or SIGTERM ends the server.
#[derive(Debug, Args)]
#[command(after_help = "\
ZONE is a zone file that is named like the zone, with or without .zone; or NAME=FILE. Without
--listen and a configuration, the server listens on port 53 of every address of this host: then it
needs --user, or the right to use that port.

The log goes to standard error; the variable HASHLANE_LOG sets its level (error, warn, info, debug,
trace, off). Under systemd, use Type=notify-reload and WatchdogSec.

Examples:
  hashlane dns serve example.com.zone --listen 127.0.0.1:5353
  dig @127.0.0.1 -p 5353 example.com SOA
  hashlane dns serve example.com=db.example --listen 127.0.0.1:5353 --check
  hashlane dns serve --config /etc/hashlane/dns.toml --user nobody
  hashlane dns check-config --print > dns.toml        every key with its default value")]
pub(super) struct Serve {
    /// Zone files, besides the configuration's
    #[arg(value_name = "ZONE")]
    zones: Vec<OsString>,
    /// Configuration file; the flags below override its values
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Address and port for UDP and TCP (repeatable)
    #[arg(short, long, value_name = "ADDRESS:PORT", value_parser = address)]
    listen: Vec<SocketAddr>,
    /// Source of UDP queries: auto, sockets or xdp (with --interface)
    #[arg(long, value_name = "SOURCE")]
    io: Option<Io>,
    /// Interface whose UDP queries come past the kernel's network stack, by XDP (repeatable)
    #[arg(long, value_name = "NAME")]
    interface: Vec<String>,
    /// User to run as once the sockets are bound; root stays root
    #[arg(short, long, value_name = "USER")]
    user: Option<String>,
    /// Unix socket for `hashlane dns control`, or none
    #[arg(long, alias = "control", value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Address and port of counters over HTTP, in the format of Prometheus (repeatable)
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    metrics: Vec<SocketAddr>,
    /// Load the zones and check the configuration, and do not serve
    #[arg(long)]
    check: bool,
}

impl Serve {
    pub(super) fn run(self) -> Result<ExitCode> {
        let config = self.config()?;
        if self.check {
            let lines = check(&config)?;
            terminal::print_verdict(&format!("{lines}the configuration is valid\n"))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut daemon = Daemon::start(DESCRIPTORS)?;
        hashlane_link::memory::map_large_blocks();
        Allocator::use_huge_pages();
        // Before the server gives up its privileges.
        let metrics = Http::bind_all(&config.metrics.listen, "metrics.listen or --metrics")?;
        // The server logs the outcome of a reload.
        let started = daemon.on_signals(Handle::stop, |handle| drop(handle.reload(None)))?;
        let reread = move || self.config().map_err(|error| io::Error::other(format!("{error:#}")));
        let server = Server::start(&config, Box::new(reread));
        if server.is_err() {
            // The zones' errors come first.
            daemon.flush();
        }
        let server = server.map_err(advise)?;
        let handle = server.handle();
        for http in metrics {
            let (handle, url) = (handle.clone(), http.url());
            http.serve(move || handle.metrics())?;
            terminal::tell(&format!("metrics: {url}"));
        }
        for address in server.addresses() {
            tracing::info!(%address, "listening");
        }
        for address in server.tls_addresses() {
            tracing::info!(%address, "listening by TLS");
        }
        if let Some(path) = server.control() {
            tracing::info!(path = %path.display(), "control socket");
        }
        daemon.ready(|_| is_alive(handle.clone()))?;
        let _ = started.set(handle);
        let outcome = server.run();
        Ok(daemon.end("the name server", outcome))
    }

    /// The configuration: the file, with the values that flags override, and the zones of the command line.
    fn config(&self) -> Result<Config> {
        let mut config = self.config.as_deref().map_or_else(|| Ok(Config::default()), Config::read)?;
        if !self.listen.is_empty() {
            config.server.listen.clone_from(&self.listen);
        }
        if let Some(io) = self.io {
            config.server.io = io;
        }
        if !self.interface.is_empty() {
            config.server.interfaces.clone_from(&self.interface);
        }
        if let Some(user) = &self.user {
            config.server.user.clone_from(user);
        }
        if let Some(path) = &self.socket {
            config.control.path = if path.as_os_str() == "none" { PathBuf::new() } else { path.clone() };
        }
        if !self.metrics.is_empty() {
            config.metrics.listen.clone_from(&self.metrics);
        }
        for zone in &self.zones {
            config.zone.push(named(zone)?);
        }
        config.check()?;
        if config.zone.is_empty() {
            bail!("there is no zone to serve; name a zone file, such as example.com.zone, or --config FILE");
        }
        Ok(config)
    }
}

/// The zone of an argument: a file, or `NAME=FILE`.
fn named(zone: &OsStr) -> Result<ZoneFile> {
    let mut parts = zone.as_bytes().splitn(2, |byte| *byte == b'=');
    Ok(match (parts.next(), parts.next()) {
        (Some(name), Some(file)) => {
            let name = String::from_utf8_lossy(name).into_owned();
            ZoneFile::new(name, OsStr::from_bytes(file))
        }
        _ => ZoneFile::of(Path::new(zone))?,
    })
}

/// Check zone files
///
/// Loads each zone as `serve` does, and prints its serial number and number of records, or what is wrong with
/// file, line and reason; and the faults with which it is served, such as expired signatures, missing glue,
/// or a digest (ZONEMD) of other content.
#[derive(Debug, Args)]
#[command(after_help = "\
ZONE is a zone file that is named like the zone, with or without .zone; or NAME=FILE. The exit code
is 1 if a zone cannot be loaded; with --strict, also if one has faults.

Examples:
  hashlane dns check-zone example.com.zone
  hashlane dns check-zone --strict example.com=db.example 2.0.192.in-addr.arpa=db.192.0.2")]
pub(super) struct CheckZone {
    /// Zone files
    #[arg(value_name = "ZONE", required = true)]
    zones: Vec<OsString>,
    /// Fail for faults with which a zone is served
    #[arg(long)]
    strict: bool,
}

impl CheckZone {
    pub(super) fn run(self) -> Result<ExitCode> {
        let zone = self.zones.iter().map(|zone| named(zone)).collect::<Result<_>>()?;
        let zones = Server::check_zones(&Config { zone, ..Config::default() })?;
        terminal::print_verdict(&report(String::new(), &zones)?)?;
        let faulty = zones.iter().filter(|zone| !zone.warnings.is_empty()).count();
        if self.strict && faulty > 0 {
            bail!("{faulty} of {} zones have faults; the lines above name them", zones.len());
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The error with the next step.
fn advise(error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::PermissionDenied if error.to_string().contains("privileged") => anyhow::anyhow!(
            "{error}; start as root with --user USER, or name another port, as in --listen 127.0.0.1:5353"
        ),
        _ => error.into(),
    }
}

/// Tells at each call if all threads have made progress since the last one.
fn is_alive(handle: Handle) -> impl FnMut() -> bool + Send + 'static {
    let mut last = handle.beats();
    move || {
        let before = std::mem::replace(&mut last, handle.beats());
        before.iter().zip(&last).all(|(before, now)| before != now)
    }
}

/// Checks a configuration, and loads its zones. Returns a line for each zone and each warning.
///
/// # Errors
/// The configuration is refused, or a zone cannot be loaded: then the lines are printed.
pub(super) fn check(config: &Config) -> Result<String> {
    let Checked { warnings, zones } = Server::check(config)?;
    let text: String = warnings.iter().map(|warning| format!("warning: {warning}\n")).collect();
    report(text, &zones)
}

/// The text before, and a line for each zone and each warning.
///
/// # Errors
/// A zone cannot be loaded: then the lines are printed.
fn report(mut text: String, zones: &[ZoneStatus]) -> Result<String> {
    for ZoneStatus { name, file, serial, records, warnings, error, .. } in zones {
        let _ = match (serial, error) {
            (_, Some(error)) => writeln!(text, "{name}: {error}"),
            (Some(serial), None) if file.as_os_str().is_empty() => {
                writeln!(text, "{name}: serial {serial}, {records} records of its primaries")
            }
            (Some(serial), None) => {
                writeln!(text, "{name}: serial {serial}, {records} records in {}", file.display())
            }
            (None, None) => writeln!(text, "{name}: not yet received from its primaries"),
        };
        for warning in warnings {
            let _ = writeln!(text, "{name}: warning: {warning}");
        }
    }
    let bad = zones.iter().filter(|zone| zone.error.is_some()).count();
    if bad > 0 {
        terminal::print_verdict(&text)?;
        bail!("{bad} of {} zones cannot be loaded; the lines above name file, line and reason", zones.len());
    }
    if zones.is_empty() {
        text += "warning: no zone: add [[zone]], or name zone files to `dns serve`\n";
    }
    Ok(text)
}
