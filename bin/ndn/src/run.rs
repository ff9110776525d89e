//! `hashlane ndn run`

use anyhow::{Result, anyhow, bail};
use clap::Args;
use hashlane_daemon::Daemon;
use hashlane_daemon::activation::take_unix_listeners;
use hashlane_daemon::metrics::Http;
use hashlane_forwarder::config::{InterfaceRule, Shards};
use hashlane_forwarder::{Config, PitIndex, Reloader, Server, Stopper};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

/// Run a forwarder
///
/// Without a configuration it listens on the addresses of NFD: a Unix socket, port 6363 of UDP and TCP, and
/// port 9696 for WebSockets. Local users may register prefixes of their own face; root and the user of the
/// forwarder may manage it. Ctrl-C or SIGTERM ends it within a second: it accepts no new Interests and still
/// delivers answers to pending ones; a second signal ends it at once. SIGHUP re-reads the configuration file:
/// the log lists each changed key, and those that need a restart; an invalid file changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
The log goes to standard error; the variable HASHLANE_LOG sets its level (error, warn, info, debug,
trace, off). If standard error is full or cannot be written, lines are dropped and counted;
forwarding does not wait.

Under systemd, use Type=notify-reload and WatchdogSec: READY, RELOADING, STOPPING and WATCHDOG are
sent to NOTIFY_SOCKET. A socket unit may open the Unix sockets: the configuration lists their paths.

Examples:
  hashlane ndn run                                       on the addresses of NFD
  hashlane ndn run --unix /tmp/nfd.sock --udp 16363 --tcp none --ws none
  hashlane ndn run --udp-multicast 'eth*' --ether eth0   also to all neighbours of a link, and without IP
  hashlane ndn run --shards auto                         a forwarding thread on each processor
  hashlane ndn run --config forwarder.toml --user ndn --metrics 127.0.0.1:9100
  hashlane ndn check-config --print > forwarder.toml     every key with its default value")]
pub(super) struct Run {
    /// Configuration file; the flags below override its values
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Unix socket to listen on, or none (repeatable)
    #[arg(long, value_name = "PATH")]
    unix: Vec<ListenAddress<PathBuf>>,
    /// UDP port, or address and port, or none (repeatable)
    #[arg(long, value_name = "ADDRESS")]
    udp: Vec<ListenAddress<Listen>>,
    /// TCP port, or address and port, or none (repeatable)
    #[arg(long, value_name = "ADDRESS")]
    tcp: Vec<ListenAddress<Listen>>,
    /// WebSocket port, or address and port, or none (repeatable)
    #[arg(long, value_name = "ADDRESS")]
    ws: Vec<ListenAddress<Listen>>,
    /// Interface with faces of the UDP multicast groups: a name (eth0, wl*), Ethernet address or network
    /// (repeatable)
    #[arg(long, value_name = "INTERFACE")]
    udp_multicast: Vec<InterfaceRule>,
    /// Interface with Ethernet faces: a name, Ethernet address or network; needs CAP_NET_RAW (repeatable)
    #[arg(long, value_name = "INTERFACE")]
    ether: Vec<InterfaceRule>,
    /// User to run as once the sockets are bound
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Address and port of counters over HTTP, in the format of Prometheus (repeatable)
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    metrics: Vec<SocketAddr>,
    /// Index of the PIT, by which Data finds pending Interests: name, digest or token
    #[arg(long, value_name = "INDEX")]
    pit_index: Option<PitIndex>,
    /// Forwarding threads, each with a shard of the names: 1 to 64, or auto for one on each processor; also
    /// from the variable HASHLANE_NDN_SHARDS
    #[arg(long, value_name = "N|auto")]
    shards: Option<Shards>,
}

/// An address with its port on the command line.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected an address with its port, such as 127.0.0.1:9100".to_owned())
}

/// An address to listen on.
#[derive(Clone, Debug)]
enum ListenAddress<T> {
    Nowhere,
    There(T),
}

impl<T: FromStr> FromStr for ListenAddress<T> {
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
            Err(_) => {
                bail!("expected a port (6363), an address and a port (127.0.0.1:6363, [::1]:6363), or none")
            }
        }
    }
}

/// The values of the flags of one kind; `None` without such flags.
fn places<T: Clone>(flags: &[ListenAddress<T>]) -> Option<Vec<T>> {
    let places = flags.iter().filter_map(|place| match place {
        ListenAddress::Nowhere => None,
        ListenAddress::There(place) => Some(place.clone()),
    });
    (!flags.is_empty()).then(|| places.collect())
}

fn addresses(flags: &[ListenAddress<Listen>]) -> Option<Vec<SocketAddr>> {
    Some(places(flags)?.into_iter().flat_map(|Listen(addresses)| addresses).collect())
}

impl Run {
    pub(super) fn run(self) -> Result<ExitCode> {
        let listeners = take_unix_listeners()?;
        let config = self.config()?;
        let mut daemon = Daemon::start(DESCRIPTORS)?;
        hashlane_link::memory::map_large_blocks();
        // Before the server gives up its privileges.
        let metrics = Http::bind_all(&config.metrics.listen, "metrics.listen or --metrics")?;
        let mut server = Server::start_with(&config, listeners)?;
        for http in metrics {
            let url = http.url();
            let (metrics, pages) = (server.observe(), server.observe());
            http.serve_pages(move || metrics.metrics(), move |path| pages.page(path))?;
            tracing::info!(%url, "metrics");
        }
        for channel in server.channels() {
            tracing::info!(%channel, "listening");
        }
        daemon.ready(|every| {
            let beats = server.heartbeats(every);
            let mut last = beats.count();
            move || std::mem::replace(&mut last, beats.count()) != last
        })?;
        let stop = |(stopper, _): &(Stopper, Reloader)| stopper.stop();
        let started = daemon.on_signals(stop, move |(_, reloader)| self.reload(reloader))?;
        let _ = started.set((server.stopper(), server.reloader()));
        let outcome = server.run();
        Ok(daemon.end("the forwarder", outcome))
    }

    /// The configuration: the file, with the values that flags override.
    fn config(&self) -> Result<Config> {
        let mut config = self.config.as_deref().map_or_else(|| Ok(Config::default()), Config::read)?;
        let faces = &mut config.faces;
        places(&self.unix).into_iter().for_each(|paths| faces.unix.path = paths);
        addresses(&self.udp).into_iter().for_each(|addresses| faces.udp.listen = addresses);
        addresses(&self.tcp).into_iter().for_each(|addresses| faces.tcp.listen = addresses);
        addresses(&self.ws).into_iter().for_each(|addresses| faces.websocket.listen = addresses);
        for (given, rules) in [
            (&self.udp_multicast, &mut faces.udp_multicast.interfaces),
            (&self.ether, &mut faces.ether.interfaces),
        ] {
            if !given.is_empty() {
                rules.clone_from(given);
            }
        }
        self.user.iter().for_each(|user| config.server.user.clone_from(user));
        if !self.metrics.is_empty() {
            config.metrics.listen.clone_from(&self.metrics);
        }
        config.threads.shards = match (self.shards, std::env::var("HASHLANE_NDN_SHARDS")) {
            (Some(shards), _) => shards,
            (None, Ok(shards)) => shards.parse().map_err(|why| anyhow!("HASHLANE_NDN_SHARDS: {why}"))?,
            (None, Err(_)) => config.threads.shards,
        };
        config.pit.index = self.pit_index.unwrap_or(config.pit.index);
        Ok(config)
    }

    /// Reads the configuration again. The log says what has changed.
    fn reload(&self, reloader: &Reloader) {
        let Some(file) = self.config.as_deref() else {
            tracing::warn!("SIGHUP: no configuration file to read again, as --config names none");
            return;
        };
        if let Err(error) = self.config().and_then(|config| Ok(reloader.reload(config)?)) {
            let (file, error) = (file.display(), format!("{error:#}"));
            tracing::error!(%file, error, "SIGHUP: the configuration is refused; nothing has changed");
        }
    }
}

/// Descriptors for every face and handshake at the limits of faces.
const DESCRIPTORS: u64 = 20_000;
