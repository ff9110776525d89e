//! `hashlane ndn run` and `hashlane ndn check-config`

use crate::output;
use anyhow::{Context, Result, bail};
use clap::Args;
use forwarder::{Config, PitIndex, Server};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Run a forwarder
///
/// It needs no configuration: without one it listens where NFD does, on a Unix socket, on port 6363 of UDP and TCP, and on port
/// 9696 for WebSockets, and local users may command it. It ends when it is interrupted (Ctrl-C, SIGTERM): it takes nothing new
/// then, and answers what is pending for a second.
#[derive(Debug, Args)]
#[command(after_help = "\
What it does is logged to the standard error; the variable HASHLANE_LOG says how much (error, warn, info, debug).

Examples:
  hashlane ndn run                                       as NFD: /run/nfd/nfd.sock (of root), ports 6363 and 9696
  hashlane ndn run --unix /tmp/nfd.sock --udp 16363 --tcp none --ws none
  hashlane ndn run --config forwarder.toml
  hashlane ndn check-config --print > forwarder.toml     every value there is, with its default")]
pub(super) struct Run {
    /// A configuration; flags below replace what it says
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Socket to listen on, or none (may be given again)
    #[arg(long, value_name = "PATH")]
    unix: Vec<Place<PathBuf>>,
    /// UDP port, or address and port, or none (may be given again)
    #[arg(long, value_name = "ADDRESS")]
    udp: Vec<Place<Listen>>,
    /// TCP port, or address and port, or none (may be given again)
    #[arg(long, value_name = "ADDRESS")]
    tcp: Vec<Place<Listen>>,
    /// WebSocket port, or address and port, or none (may be given again)
    #[arg(long, value_name = "ADDRESS")]
    ws: Vec<Place<Listen>>,
    /// What pending Interests are found by when Data comes: name, digest or token
    #[arg(long, value_name = "INDEX")]
    pit_index: Option<PitIndex>,
}

/// Where to listen.
#[derive(Clone, Debug)]
enum Place<T> {
    Nowhere,
    There(T),
}

impl<T: FromStr> FromStr for Place<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        if text == "none" { Ok(Self::Nowhere) } else { text.parse().map(Self::There) }
    }
}

/// One address, or all of this host.
#[derive(Clone, Debug)]
struct Listen(Vec<SocketAddr>);

impl FromStr for Listen {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Ok(port) = text.parse::<u16>() {
            let all: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
            return Ok(Self(all.map(|address| SocketAddr::new(address, port)).into()));
        }
        match text.parse() {
            Ok(address) => Ok(Self(vec![address])),
            Err(_) => bail!(
                "write a port, as 6363, or an address and a port, as 127.0.0.1:6363 or [::1]:6363, or none"
            ),
        }
    }
}

/// What the flags of one kind say, if there are any.
fn places<T: Clone>(flags: &[Place<T>]) -> Option<Vec<T>> {
    let places = flags.iter().filter_map(|place| match place {
        Place::Nowhere => None,
        Place::There(place) => Some(place.clone()),
    });
    (!flags.is_empty()).then(|| places.collect())
}

fn addresses(flags: &[Place<Listen>]) -> Option<Vec<SocketAddr>> {
    Some(places(flags)?.into_iter().flat_map(|Listen(addresses)| addresses).collect())
}

impl Run {
    pub(super) fn run(self) -> Result<ExitCode> {
        let mut config = self.config.as_deref().map_or_else(|| Ok(Config::default()), read)?;
        let faces = &mut config.faces;
        places(&self.unix).into_iter().for_each(|paths| faces.unix.path = paths);
        addresses(&self.udp).into_iter().for_each(|addresses| faces.udp.listen = addresses);
        addresses(&self.tcp).into_iter().for_each(|addresses| faces.tcp.listen = addresses);
        addresses(&self.ws).into_iter().for_each(|addresses| faces.websocket.listen = addresses);
        config.pit.index = self.pit_index.unwrap_or(config.pit.index);
        log();
        let server = Server::start(&config)?;
        let stopper = server.stopper();
        let asked = AtomicBool::new(false);
        ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::Relaxed) {
                // Asked again: at once.
                std::process::exit(1);
            }
            stopper.stop("interrupted");
        })?;
        for channel in server.channels() {
            tracing::info!(%channel, "listening");
        }
        server.run()?;
        Ok(ExitCode::SUCCESS)
    }
}

fn log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("HASHLANE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let color = console::colors_enabled_stderr();
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(filter)
        .with_ansi(color)
        .with_target(false)
        .init();
}

fn read(path: &Path) -> Result<Config> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Config::parse(&text).with_context(|| format!("{} is no configuration", path.display()))
}

/// Check a configuration of a forwarder
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane ndn check-config forwarder.toml
  hashlane ndn check-config --print              every value there is, with its default
  hashlane ndn check-config --print forwarder.toml")]
pub(super) struct CheckConfig {
    /// The file; without one, the defaults
    file: Option<PathBuf>,
    /// Print it with every value that it leaves to its default
    #[arg(short, long)]
    print: bool,
}

impl CheckConfig {
    pub(super) fn run(self) -> Result<ExitCode> {
        let config = self.file.as_deref().map_or_else(|| Ok(Config::default()), read)?;
        match (&self.file, self.print) {
            (_, true) => output::print(&config.to_toml())?,
            (Some(file), false) => output::print(&format!("{} is a configuration\n", file.display()))?,
            (None, false) => bail!("name a file, or let the defaults be printed with --print"),
        }
        Ok(ExitCode::SUCCESS)
    }
}
