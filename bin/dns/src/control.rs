//! `hashlane dns control`

mod report;
mod text;
mod zone;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use hashlane_command::terminal;
use hashlane_nameserver::config::{Access, Control as Socket, Peer, ZoneFile};
use hashlane_nameserver::control::request;
use hashlane_nameserver::status::{Reloaded, Status};
use hashlane_stats::format::plain;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::process::ExitCode;

/// Ask a running name server for its state, or have it load zones
///
/// Only root and the user of the server may use its socket. The exit code of reload is 1 if a zone cannot be
/// loaded, of status --failing if a zone fails, and of a command with --wait if it has failed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane dns control status
  hashlane dns control status example.com        one zone, with all that is known of it
  hashlane dns control status --failing          zones with errors, or whose peers do not answer
  hashlane dns control stats --json | jq .udp.rcodes
  hashlane dns control reload                    zones whose files have changed
  hashlane dns control reload example.com        one zone, changed or not
  hashlane dns control refresh example.com       ask the primaries of a zone now
  hashlane dns control retransfer example.com    take the zone whatever its serial number
  hashlane dns control refresh example.com --wait     and print the outcome
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
    /// Show addresses, connections, and the state of each zone, or all that is known of one zone
    Status {
        /// The one zone to show
        zone: Option<String>,
        /// Show zones with errors, and those whose primaries or secondaries do not answer, alone
        #[arg(long, conflicts_with = "zone")]
        failing: bool,
    },
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
        /// Wait until the primaries have answered, and a new version is in service
        #[arg(long)]
        wait: bool,
    },
    /// Transfer a zone from its primaries, whatever its serial number
    Retransfer {
        /// The zone
        zone: String,
        /// Wait until the zone is in service
        #[arg(long)]
        wait: bool,
    },
    /// Serve another zone, from servers that have it or from a file
    ///
    /// The zone is kept beside the configured ones, in the folder of received zones.
    Add {
        /// The zone
        zone: String,
        /// Server that has the zone, as "192.0.2.1 key NAME" (repeatable)
        #[arg(long, value_name = "PEER", required_unless_present_any = ["file", "catalog"])]
        primary: Vec<Peer>,
        /// Zone file, whose path the server reads
        #[arg(long, value_name = "FILE", conflicts_with = "primary")]
        file: Option<PathBuf>,
        /// Server that may transfer the zone, as "192.0.2.0/24" or "key NAME" (repeatable)
        #[arg(long, value_name = "PEERS")]
        allow_transfer: Vec<Access>,
        /// Client that may query the zone, as "192.0.2.0/24" (repeatable); by default, all may
        #[arg(long, value_name = "PEERS")]
        allow_query: Vec<Access>,
        /// Server that may say that the zone has changed, besides its primaries (repeatable)
        #[arg(long, value_name = "PEERS")]
        allow_notify: Vec<Access>,
        /// Server that is told of changes (repeatable)
        #[arg(long, value_name = "PEER")]
        notify: Vec<Peer>,
        /// Serve the members of this catalog zone, too, or make it of all other zones
        #[arg(long, value_name = "ROLE", value_parser = ["follow", "produce"])]
        catalog: Option<String>,
        /// Group of the zone in catalogs that this server makes
        #[arg(long, value_name = "NAME", conflicts_with = "catalog")]
        group: Option<String>,
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
        /// Wait until the secondaries have answered, about a minute at most
        #[arg(long)]
        wait: bool,
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
        let socket = self.socket.unwrap_or_else(Socket::find);
        let document = match self.command.line().and_then(|line| Ok(request(&socket, &line)?)) {
            Ok(document) => document,
            Err(error) => {
                if self.json {
                    terminal::print(&format!("{}\n", serde_json::json!({ "error": error.to_string() })))?;
                }
                return Err(error);
            }
        };
        let Shown { text, json, is_ok } = self.command.show(document)?;
        terminal::print(&if self.json { json + "\n" } else { text })?;
        Ok(if is_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// A document of the server as it is printed.
struct Shown {
    text: String,
    json: String,
    /// The exit code is 0.
    is_ok: bool,
}

impl Command {
    /// The line that the server gets.
    ///
    /// # Errors
    /// A name is not one of a zone.
    fn line(&self) -> Result<String> {
        let with = |verb: &str, zone: &str, wait: bool| {
            Ok(format!("{verb} {}{}", name(zone)?, if wait { " wait" } else { "" }))
        };
        match self {
            Self::Status { zone: Some(zone), .. } => with("status", zone, false),
            Self::Status { .. } => Ok("status".to_owned()),
            Self::Stats => Ok("stats".to_owned()),
            Self::Reload { zone: None } => Ok("reload".to_owned()),
            Self::Reload { zone: Some(zone) } if zone.is_empty() => {
                bail!("the name of the zone is empty; leave it out to load all zones that have changed")
            }
            Self::Reload { zone: Some(zone) } => with("reload", zone, false),
            Self::Refresh { zone, wait } => with("refresh", zone, *wait),
            Self::Retransfer { zone, wait } => with("retransfer", zone, *wait),
            Self::Notify { zone, wait } => with("notify", zone, *wait),
            Self::Delete { zone } => with("delete", zone, false),
            Self::Add {
                zone,
                primary,
                file,
                allow_query,
                allow_transfer,
                allow_notify,
                notify,
                catalog,
                group,
            } => {
                let added = ZoneFile {
                    name: name(zone)?.to_owned(),
                    // The server may have another current folder, and another one after a restart.
                    file: file.as_deref().map(std::path::absolute).transpose()?.unwrap_or_default(),
                    primaries: primary.clone(),
                    allow_query: allow_query.clone(),
                    allow_transfer: allow_transfer.clone(),
                    allow_notify: allow_notify.clone(),
                    notify: notify.clone(),
                    catalog: catalog.clone().unwrap_or_default(),
                    group: group.clone().unwrap_or_default(),
                    ..ZoneFile::default()
                };
                Ok(format!("add {}", serde_json::to_string(&added)?))
            }
        }
    }

    /// The text of a document, and the exit code.
    ///
    /// # Errors
    /// The document is of another version.
    fn show(&self, document: String) -> Result<Shown> {
        let (text, is_ok) = match self {
            Self::Status { zone: Some(_), .. } => (zone::full(&parse(&document)?), true),
            Self::Status { failing: true, .. } => return failing(&document),
            Self::Status { .. } => (report::status(&parse(&document)?, false), true),
            Self::Stats => (report::stats(&parse(&document)?), true),
            Self::Refresh { zone, wait: true } | Self::Retransfer { zone, wait: true } => {
                let outcome = parse(&document)?;
                (zone::refreshed(zone, &outcome), outcome.error.is_none() && outcome.not_kept.is_none())
            }
            Self::Refresh { zone, .. } | Self::Retransfer { zone, .. } => {
                let zone = plain(zone);
                let text =
                    format!("{zone}: asking its primaries; `control status {zone}` shows the outcome\n");
                (text, true)
            }
            Self::Add { zone, .. } => (format!("{}: added\n", plain(zone)), true),
            Self::Delete { zone } => (format!("{}: deleted\n", plain(zone)), true),
            Self::Notify { zone, wait: true } => {
                let told = parse(&document)?;
                (zone::told(zone, &told), zone::is_taken(&told))
            }
            Self::Notify { zone, .. } => {
                let zone = plain(zone);
                let text =
                    format!("{zone}: telling its secondaries; `control status {zone}` shows their answers\n");
                (text, true)
            }
            Self::Reload { .. } => {
                let reloaded: Reloaded = parse(&document)?;
                (report::reload(&reloaded), reloaded.failed.is_empty())
            }
        };
        Ok(Shown { text, json: document, is_ok })
    }
}

/// The status with those zones alone that fail; the exit code is 1 if there are any, or if the last reload
/// has refused its configuration.
fn failing(document: &str) -> Result<Shown> {
    let mut status: Status = parse(document)?;
    let text = report::status(&status, true);
    status.zones.retain(|zone| zone.is_failing());
    let is_ok = status.zones.is_empty() && status.refused.is_none();
    Ok(Shown { text, json: serde_json::to_string(&status)?, is_ok })
}

fn parse<T: DeserializeOwned>(document: &str) -> Result<T> {
    serde_json::from_str(document).context("cannot read the server's report; is it of this version?")
}
