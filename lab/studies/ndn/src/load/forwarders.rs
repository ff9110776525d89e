//! The forwarders that are put under load, and how each is started.

use super::index::Index;
use super::plan::TIMEOUT;
use super::relay;
use super::tables::Tables;
use super::workload::{Link, Workload};
use hashlane_lab::study::{Child, Start as ChildStart, TurnError};
use hashlane_rig::forwarders::{Ndnd, Nfd};
use hashlane_rig::{ports, program};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tempfile::TempDir;

/// Environment variable with the program of ndnd, if it is not on the `PATH`.
pub const NDND: &str = "HASHLANE_NDND";

/// File with the output of a forwarder.
const LOG: &str = "log";

/// Messages in the log of ndnd (Go) and of NFD (Boost, in upper case) if they cannot bind a port
/// (`EADDRINUSE`).
const IN_USE: [&str; 2] = ["address already in use", "Address already in use"];

/// Environment variable with the program of NFD, if it is not on the `PATH`.
const NFD: &str = "HASHLANE_NFD";

/// The variable that names an earlier `hashlane`, to be compared with this one.
const BEFORE: &str = "HASHLANE_BEFORE";

/// A forwarder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarder {
    /// `hashlane ndn run`.
    Ours,
    /// The same, whose PIT has this index.
    Indexed(Index),
    /// A process that sends each datagram to the other one of its pair, and knows nothing of NDN: no
    /// forwarder with UDP faces can cost less.
    Relay,
    /// The forwarder of the NDN project in Go, `ndnd fw run`.
    Ndnd,
    /// The forwarder of the NDN project in C++.
    Nfd,
    /// `hashlane ndn run` of an earlier build.
    Before,
}

/// A running forwarder and its addresses.
pub(super) struct Running {
    /// First, so that it ends before its folder goes.
    pub(super) process: Child,
    /// The socket for connections and commands; none of a relay.
    pub(super) socket: Option<PathBuf>,
    /// UDP port assigned to it; without one it takes any free port and reports it.
    pub(super) port: Option<u16>,
    pub(super) folder: TempDir,
}

/// Settings of a forwarder that is to start.
pub(super) struct Start<'a> {
    /// Our own command.
    pub(super) command: &'a Path,
    pub(super) core: Option<usize>,
    /// Path that opens its network namespace, if it has a separate one.
    pub(super) namespace: Option<&'a Path>,
    /// Address on which it takes datagrams.
    pub(super) host: Ipv4Addr,
    /// Partner addresses, for a relay.
    pub(super) partners: &'a [(SocketAddr, SocketAddr)],
    /// Tables that it must have room for.
    pub(super) tables: Option<Tables>,
    /// `true` if its links to the partners have link reliability.
    pub(super) reliability: bool,
}

impl Forwarder {
    /// Forwarders by the ids of schemes. `ours-again` is an A/A control: any difference from `ours` is noise.
    pub const ALL: [(&'static str, Self); 6] = [
        ("ours", Self::Ours),
        ("ours-again", Self::Ours),
        ("relay", Self::Relay),
        ("ndnd", Self::Ndnd),
        ("nfd", Self::Nfd),
        ("before", Self::Before),
    ];

    /// Index of its PIT, if it is chosen.
    pub fn index(self) -> Option<Index> {
        match self {
            Self::Indexed(index) => Some(index),
            _ => None,
        }
    }

    /// `true` if it has faces of the workload's kind, and tables of its sizes.
    pub fn takes(self, workload: &Workload) -> bool {
        match self {
            Self::Ours | Self::Indexed(_) | Self::Before => true,
            Self::Relay => workload.link == Link::Udp && workload.tables.is_none() && !workload.reliability,
            Self::Ndnd | Self::Nfd => workload.tables.is_none() && !workload.reliability,
        }
    }

    /// The configuration of our own forwarder, or of an earlier build; empty where all defaults are right.
    fn config(self, start: &Start<'_>) -> String {
        let mut config = start.tables.map(Tables::config).unwrap_or_default();
        if start.reliability {
            let uris = start.partners.iter().flat_map(|(a, b)| [a, b]).map(|at| format!("\"udp4://{at}\""));
            config.push_str(&format!("[faces]\nreliability = [{}]\n", uris.collect::<Vec<_>>().join(", ")));
        }
        if self == Self::Indexed(Index::DigestOne) {
            config.push_str("[pit.digest]\none = true\n");
        }
        config
    }

    /// `true` if it is another project's program, which may fail for its own reasons.
    pub fn is_foreign(self) -> bool {
        matches!(self, Self::Ndnd | Self::Nfd)
    }

    /// Its program, if it is installed and not our own command.
    fn program(self) -> Option<PathBuf> {
        match self {
            Self::Ours | Self::Indexed(_) | Self::Relay => None,
            Self::Ndnd => installed(NDND, Some("ndnd")),
            Self::Nfd => installed(NFD, Some("nfd")),
            Self::Before => installed(BEFORE, None),
        }
    }

    /// Reason for which it cannot be measured here and the remedy; `None` if it can.
    pub fn missing(self) -> Option<String> {
        let help = match self {
            Self::Ours | Self::Indexed(_) | Self::Relay => return None,
            Self::Nfd => format!("NFD was not measured: no nfd on the PATH, and {NFD} is not set to one"),
            Self::Before => format!("no earlier build was measured: {BEFORE} is not set to a hashlane"),
            Self::Ndnd => format!(
                "ndnd was not measured, as it is neither on the PATH nor named by {NDND}. It is built by: go mod init peer; go get \
                 github.com/named-data/ndnd/cmd/ndnd@v1.5.3; go build -o ndnd github.com/named-data/ndnd/cmd/ndnd (in an empty folder)"
            ),
        };
        self.program().is_none().then_some(help)
    }

    /// `true` if an error shows that another program has the UDP port assigned to this forwarder.
    pub(super) fn lost_its_port(self, error: &TurnError) -> bool {
        self.is_foreign()
            && matches!(error, TurnError::Failed(why) if IN_USE.iter().any(|words| why.contains(words)))
    }

    pub(super) fn start(self, start: &Start<'_>) -> Result<Running, TurnError> {
        let folder = tempfile::Builder::new().prefix("hashlane-load-").tempdir();
        let folder = folder.map_err(TurnError::io("cannot make a folder for sockets"))?;
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str, text: String| {
            let written = fs::write(path(name), text).map(|()| path(name).into_os_string());
            written.map_err(TurnError::io("cannot write the configuration of the forwarder"))
        };
        let free_port = || ports::free().map_err(TurnError::io("no port is free"));
        let program = self.program().unwrap_or_else(|| start.command.to_owned());
        let (socket, mut port) = (path("ndn.sock"), None);
        let udp = SocketAddr::from((start.host, 0)).to_string();
        let mut words = vec![program.into_os_string()];
        match self {
            Self::Ours | Self::Before | Self::Indexed(_) => {
                words.extend(["ndn".into(), "run".into(), "--unix".into(), socket.clone().into()]);
                words.extend(["--udp", &udp, "--tcp", "none", "--ws", "none"].map(OsString::from));
                if let Some(index) = self.index() {
                    words.extend(["--pit-index", index.flag()].map(OsString::from));
                }
                let config = self.config(start);
                if !config.is_empty() {
                    words.extend(["--config".into(), write("config.toml", config)?]);
                }
            }
            Self::Relay => {
                words.extend(["lab", "relay", &udp].map(OsString::from));
                words.extend(start.partners.iter().map(|(a, b)| format!("{a}={b}").into()));
            }
            Self::Ndnd => {
                let udp = *port.insert(free_port()?);
                let (tcp, web_socket, log_level) = (None, None, Some("WARN"));
                let settings = Ndnd { socket: &socket, udp, tcp, web_socket, localhop: false, log_level };
                words.extend(["fw".into(), "run".into(), write("config.yml", settings.to_text())?]);
            }
            Self::Nfd => {
                let udp = *port.insert(free_port()?);
                let settings = Nfd { socket: &socket, udp, tcp: None, log_level: "WARN" };
                words.extend(["--config".into(), write("nfd.conf", settings.to_text())?]);
            }
        }
        let Start { command, core, namespace, .. } = *start;
        let child = ChildStart { core, namespace, ..ChildStart::child(command) };
        let process = child.spawn(&words, path(LOG))?;
        let socket = (self != Self::Relay).then_some(socket);
        Ok(Running { process, socket, port, folder })
    }
}

impl Running {
    /// Waits until a relay reports its port.
    pub(super) fn relay_port(&mut self, stop: &AtomicBool) -> Result<u16, TurnError> {
        let log = self.folder.path().join(LOG);
        let limits = (TIMEOUT, Duration::from_millis(2));
        self.process.until(limits, stop, "did not report its port", || {
            // A log that cannot be read counts as empty.
            let said = fs::read_to_string(&log).unwrap_or_default();
            let line = said.split_once('\n').and_then(|(line, _)| line.strip_prefix(relay::LISTENING));
            Ok(line.and_then(|address| address.parse::<SocketAddr>().ok()).map(|address| address.port()))
        })
    }
}

/// The program that a variable names, or of this name on the `PATH`.
fn installed(variable: &str, name: Option<&str>) -> Option<PathBuf> {
    match env::var_os(variable) {
        Some(path) => Some(PathBuf::from(path)).filter(|path| path.is_file()),
        None => program::find(name?),
    }
}
