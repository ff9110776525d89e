//! `hashlane dns control`

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use hashlane_command::terminal;
use hashlane_nameserver::Sums;
use hashlane_nameserver::config::{Access, Control as Socket, Peer, ZoneFile};
use hashlane_nameserver::control::request;
use hashlane_nameserver::status::{Reloaded, Stats, Status, TransferStatus};
use hashlane_stats::format::{self, plain};
use serde::de::DeserializeOwned;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// Zones of a status that text lists, besides those with errors.
const MAX_LISTED: usize = 100;

/// Ask a running name server for its state, or have it load zones
///
/// Only root and the user of the server may use its socket. The exit code of reload is 1 if a zone cannot be
/// loaded.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane dns control status
  hashlane dns control stats --json | jq .udp.rcodes
  hashlane dns control reload                    zones whose files have changed
  hashlane dns control reload example.com        one zone, changed or not
  hashlane dns control refresh example.com       ask the primaries of a zone now
  hashlane dns control retransfer example.com    take the zone whatever its serial number
  hashlane dns control notify example.com        tell the secondaries of a zone again
  hashlane dns control add example.net --primary \"192.0.2.1 key transfer.example\"
  hashlane dns control delete example.net")]
pub(super) struct Control {
    #[command(subcommand)]
    command: Command,
    /// Unix socket of the server
    #[arg(long, alias = "control", value_name = "PATH", global = true)]
    socket: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show addresses, connections, and the state of each zone
    Status,
    /// Show counters of queries and responses
    Stats,
    /// Read the configuration again, and load zones whose files have changed
    Reload {
        /// The one zone to load, changed or not
        zone: Option<String>,
    },
    /// Ask the primaries of a zone now, and transfer it if it has changed
    Refresh {
        /// The zone
        zone: String,
    },
    /// Transfer a zone from its primaries, whatever its serial number
    Retransfer {
        /// The zone
        zone: String,
    },
    /// Serve another zone, from servers that have it or from a file
    ///
    /// The zone is kept beside those of the configuration, in the folder of received zones.
    Add {
        /// The zone
        zone: String,
        /// Server that has the zone, as \"192.0.2.1 key NAME\" (repeatable)
        #[arg(long, value_name = "PEER", required_unless_present = "file")]
        primary: Vec<Peer>,
        /// Zone file, whose path the server reads
        #[arg(long, value_name = "FILE", conflicts_with = "primary")]
        file: Option<PathBuf>,
        /// Server that may transfer the zone, as \"192.0.2.0/24\" or \"key NAME\" (repeatable)
        #[arg(long, value_name = "PEERS")]
        allow_transfer: Vec<Access>,
        /// Server that is told of changes (repeatable)
        #[arg(long, value_name = "PEER")]
        notify: Vec<Peer>,
    },
    /// Serve a zone no more that was added
    Delete {
        /// The zone
        zone: String,
    },
    /// Tell the secondaries of a zone that it has changed
    Notify {
        /// The zone
        zone: String,
    },
}

/// Refuses what is no name of a zone.
fn name(zone: &str) -> Result<&str> {
    if zone.is_empty() || zone.contains(char::is_whitespace) {
        bail!("{zone:?} is not the name of a zone; `hashlane dns control status` lists the zones");
    }
    Ok(zone)
}

impl Control {
    pub(super) fn run(self) -> Result<ExitCode> {
        let command = match &self.command {
            Command::Status => "status".to_owned(),
            Command::Stats => "stats".to_owned(),
            Command::Reload { zone: None } => "reload".to_owned(),
            Command::Reload { zone: Some(zone) } if zone.is_empty() => {
                bail!("the name of the zone is empty; leave it out to load all zones that have changed")
            }
            Command::Reload { zone: Some(zone) } => format!("reload {}", name(zone)?),
            Command::Refresh { zone } => format!("refresh {}", name(zone)?),
            Command::Retransfer { zone } => format!("retransfer {}", name(zone)?),
            Command::Notify { zone } => format!("notify {}", name(zone)?),
            Command::Delete { zone } => format!("delete {}", name(zone)?),
            Command::Add { zone, primary, file, allow_transfer, notify } => {
                let added = ZoneFile {
                    name: name(zone)?.to_owned(),
                    file: file.clone().unwrap_or_default(),
                    primaries: primary.clone(),
                    allow_transfer: allow_transfer.clone(),
                    notify: notify.clone(),
                    ..ZoneFile::default()
                };
                format!("add {}", serde_json::to_string(&added)?)
            }
        };
        let document = match request(&self.socket.unwrap_or_else(Socket::find), &command) {
            Ok(document) => document,
            Err(error) => {
                if self.json {
                    terminal::print(&format!("{}\n", serde_json::json!({ "error": error.to_string() })))?;
                }
                return Err(error.into());
            }
        };
        let (text, code) = match self.command {
            Command::Status => (status(&parse(&document)?), ExitCode::SUCCESS),
            Command::Stats => (stats(&parse(&document)?), ExitCode::SUCCESS),
            Command::Refresh { zone } | Command::Retransfer { zone } => {
                let text =
                    format!("{}: asking its primaries; `control status` shows the outcome\n", plain(&zone));
                (text, ExitCode::SUCCESS)
            }
            Command::Add { zone, .. } => (format!("{}: added\n", plain(&zone)), ExitCode::SUCCESS),
            Command::Delete { zone } => (format!("{}: deleted\n", plain(&zone)), ExitCode::SUCCESS),
            Command::Notify { zone } => {
                let text =
                    format!("{}: telling its secondaries; the log shows their answers\n", plain(&zone));
                (text, ExitCode::SUCCESS)
            }
            Command::Reload { .. } => {
                let reloaded: Reloaded = parse(&document)?;
                let code = if reloaded.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
                (reload(&reloaded), code)
            }
        };
        terminal::print(&if self.json { document + "\n" } else { text })?;
        Ok(code)
    }
}

fn parse<T: DeserializeOwned>(document: &str) -> Result<T> {
    serde_json::from_str(document).context("cannot read the server's report; is it of this version?")
}

fn status(status: &Status) -> String {
    let mut text = String::new();
    let Status { version, pid, uptime_s, listen, listen_tls, workers, connections, refused, zones, .. } =
        status;
    let addresses: Vec<_> = listen.iter().map(ToString::to_string).collect();
    let _ = writeln!(text, "version      {version}, process {pid}, up {uptime_s} s");
    let _ = writeln!(text, "listening    {}, {workers} workers each", addresses.join(", "));
    if !listen_tls.is_empty() {
        let addresses: Vec<_> = listen_tls.iter().map(ToString::to_string).collect();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let end = status.certificate_expires.map(|end| match end.saturating_sub(now) / 86_400 {
            0 => "; the certificate has expired, or does so today".to_owned(),
            days => format!("; the certificate expires in {} days", count(days)),
        });
        let _ = writeln!(text, "over TLS     {}{}", addresses.join(", "), end.unwrap_or_default());
    }
    let _ = writeln!(text, "connections  {connections}");
    if let Some(why) = refused {
        let _ = writeln!(text, "refused      the configuration of the last reload: {}", one_line(why));
    }
    let loaded = zones.iter().filter(|zone| zone.serial.is_some()).count();
    let bad = zones.iter().filter(|zone| zone.error.is_some()).count();
    let (records, memory) =
        zones.iter().fold((0, 0), |(records, memory), zone| (records + zone.records, memory + zone.memory));
    let _ = writeln!(
        text,
        "zones        {loaded} in service, {bad} with errors; {} records, {} MB",
        count(records),
        count(memory.div_ceil(1_000_000))
    );
    let mut listed = 0;
    for zone in zones {
        if zone.error.is_none() && listed == MAX_LISTED {
            continue;
        }
        listed += usize::from(zone.error.is_none());
        let serial = zone.serial.map_or("not loaded".to_owned(), |serial| format!("serial {serial}"));
        let (records, queries) = (count(zone.records), count(zone.queries));
        let _ = writeln!(text, "{}  {serial}, {records} records, {queries} queries", plain(&zone.name));
        if let Some(transfer) = &zone.transfer {
            let _ = writeln!(text, "  {}", transfers(transfer));
        }
        if let Some(error) = &zone.error {
            for error in error.lines() {
                let _ = writeln!(text, "  error: {}", plain(error));
            }
        }
        for warning in &zone.warnings {
            let _ = writeln!(text, "  warning: {}", plain(warning));
        }
    }
    let others = zones.len() - bad - listed;
    if others > 0 {
        let _ = writeln!(text, "and {} more; --json lists all", count(others as u64));
    }
    text
}

/// The transfers of a zone in one line.
fn transfers(status: &TransferStatus) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let mut parts = match (&status.primary, status.checked) {
        (Some(primary), Some(checked)) => {
            vec![format!("from {}, asked {} s ago", plain(primary), now.saturating_sub(checked))]
        }
        _ => vec!["no primary has answered".to_owned()],
    };
    if status.next > 0 {
        parts.push(format!("next in {} s", status.next.saturating_sub(now)));
    }
    if let Some(expires) = status.expires {
        parts.push(format!("expires in {} s", expires.saturating_sub(now)));
    }
    if let Some(error) = &status.error {
        parts.push(format!("{} failures: {}", status.failures, one_line(error)));
    }
    parts.join(", ")
}

fn stats(stats: &Stats) -> String {
    let mut text = String::new();
    for (transport, sums) in [("udp", &stats.udp), ("tcp", &stats.tcp)] {
        counts(&mut text, transport, sums);
    }
    let reloads = stats.reloads;
    let _ = writeln!(
        text,
        "reloads      {}; zones loaded {}, failed {}; configurations refused {}",
        reloads.reloads, reloads.loaded, reloads.failed, reloads.refused
    );
    text
}

/// The counters of a transport that are not 0.
fn counts(text: &mut String, transport: &str, sums: &Sums) {
    let _ = writeln!(text, "{transport}");
    for (name, value) in sums.fields().filter(|(name, value)| *value > 0 || *name == "received") {
        let _ = writeln!(text, "  {:18} {}", name.replace('_', "-"), count(value));
    }
    for (kind, counts) in [("types", &sums.types), ("rcodes", &sums.rcodes)] {
        let each: Vec<_> = counts.iter().map(|(name, number)| format!("{name} {}", count(*number))).collect();
        if !each.is_empty() {
            let _ = writeln!(text, "  {kind:18} {}", each.join(", "));
        }
    }
}

fn reload(reloaded: &Reloaded) -> String {
    let mut text = String::new();
    let Reloaded { loaded, unchanged, removed, failed, restart } = reloaded;
    for (zone, serial) in loaded {
        let _ = writeln!(text, "{}: loaded, serial {serial}", plain(zone));
    }
    for zone in removed {
        let _ = writeln!(text, "{}: removed", plain(zone));
    }
    for (zone, error) in failed {
        let _ = writeln!(text, "{}: not loaded: {}", plain(zone), one_line(error));
    }
    if !failed.is_empty() {
        let _ = writeln!(text, "old data stay in service; a zone that was never loaded gets SERVFAIL");
    }
    for key in restart {
        let _ = writeln!(text, "`{key}` takes effect after a restart");
    }
    let _ = writeln!(
        text,
        "{} loaded, {unchanged} unchanged, {} removed, {} failed",
        loaded.len(),
        removed.len(),
        failed.len()
    );
    text
}

/// Lines of an error, one after the other.
fn one_line(error: &str) -> String {
    error.lines().map(plain).collect::<Vec<_>>().join("; ")
}

/// A number with separators.
fn count(number: u64) -> String {
    format::count(number as f64)
}
