//! `hashlane flow control`

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use hashlane_command::terminal;
use hashlane_meter::config::Control as Socket;
use hashlane_meter::format::{counted, size, whole};
use hashlane_meter::service::{Reloaded, Stats, Status, request};
use hashlane_stats::format::plain;
use serde::de::DeserializeOwned;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Ask a running meter for its state, or have it read its configuration again
///
/// A meter has a control socket if it was started with --config or --socket. Only root and the user of the
/// meter may use it. The exit code of reload is 1 if the configuration is refused; nothing has changed then.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane flow control status
  hashlane flow control stats --json | jq .total.flows_open
  hashlane flow control reload --socket /run/hashlane-flow-eth0/control.sock")]
pub(super) struct Control {
    #[command(subcommand)]
    command: Command,
    /// Unix socket of the meter
    #[arg(long, value_name = "PATH", global = true)]
    socket: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the interface, and the state of each output
    Status,
    /// Show counters of packets and flows
    Stats,
    /// Read the configuration again: exchange outputs, change timeouts and limits
    Reload,
}

impl Control {
    pub(super) fn run(self) -> Result<ExitCode> {
        let command = match self.command {
            Command::Status => "status",
            Command::Stats => "stats",
            Command::Reload => "reload",
        };
        let document = match request(&self.socket.unwrap_or_else(Socket::find), command) {
            Ok(document) => document,
            Err(error) => {
                if self.json {
                    terminal::print(&format!("{}\n", serde_json::json!({ "error": error.to_string() })))?;
                }
                return Err(error.into());
            }
        };
        let text = match self.command {
            _ if self.json => document + "\n",
            Command::Status => status(&parse(&document)?),
            Command::Stats => stats(&parse(&document)?),
            Command::Reload => reload(&parse(&document)?),
        };
        terminal::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn parse<T: DeserializeOwned>(document: &str) -> Result<T> {
    serde_json::from_str(document).context("cannot read the meter's report; is it of this version?")
}

fn status(status: &Status) -> String {
    let mut text = String::new();
    let Status { version, pid, uptime_s, interface, workers, outputs, reloads, reloads_refused, refused } =
        status;
    let _ = writeln!(text, "version    {version}, process {pid}, up {uptime_s} s");
    let workers = counted(*workers as u64, "worker");
    let _ = writeln!(text, "interface  {}, {workers}", plain(interface));
    let _ = writeln!(text, "reloads    {reloads}, {reloads_refused} refused");
    if let Some(why) = refused {
        let _ = writeln!(text, "refused    the configuration of the last reload: {}", plain(why));
    }
    for output in outputs {
        let (flows, bytes) = (whole(output.flows), size(output.bytes));
        let lost = match output.blocks_lost {
            0 => String::new(),
            messages => format!(" in {}", counted(messages, "message")),
        };
        let (name, flows_lost) = (plain(&output.name), whole(output.flows_lost));
        let _ = writeln!(text, "{name}  {flows} flows, {bytes}, {flows_lost} lost{lost}");
        if let Some(error) = &output.error {
            let _ = writeln!(text, "  error: {}", plain(error));
        }
    }
    text
}

fn stats(stats: &Stats) -> String {
    let mut text = String::new();
    let total = &stats.total;
    let counts = [
        ("packets", total.packets),
        ("bytes", total.bytes),
        ("flows-open", total.flows_open),
        ("flows-opened", total.flows_opened),
        ("flows-exported", total.flows_exported),
        ("flows-evicted", total.flows_evicted),
        ("flows-lost", total.flows_lost),
    ];
    for (name, count) in counts {
        let _ = writeln!(text, "{name:18} {}", whole(count));
    }
    for (cause, count) in total.dropped.by_cause().into_iter().filter(|(_, count)| *count > 0) {
        let _ = writeln!(text, "{:18} {}", format!("dropped-{}", cause.replace('_', "-")), whole(count));
    }
    text
}

fn reload(reloaded: &Reloaded) -> String {
    let mut text = String::new();
    let Reloaded { changed, restart, opened, closed } = reloaded;
    for key in changed {
        let _ = writeln!(text, "`{key}` has changed");
    }
    for key in restart {
        let _ = writeln!(text, "`{key}` takes effect after a restart");
    }
    for output in opened {
        let _ = writeln!(text, "opened {}", plain(output));
    }
    for output in closed {
        let _ = writeln!(text, "closed {}", plain(output));
    }
    let _ = writeln!(text, "{} opened, {} closed", opened.len(), closed.len());
    text
}
