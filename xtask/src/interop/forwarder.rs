//! A forwarder on its own sockets.

use super::peers::Peers;
use super::program::Program;
use crate::run;
use clap::ValueEnum;
use std::fs;
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Timeout for a forwarder to start, and to stop after a signal.
const TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Project {
    /// hashlane ndn run
    #[default]
    Hashlane,
    /// ndnd fw run
    Ndnd,
}

/// Index of our PIT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Index {
    /// Name of the Data
    #[default]
    Name,
    /// Digest of the Interest
    Digest,
    /// Token, sent to all producers and neighbours
    Token,
}

impl Index {
    fn flag(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Digest => "digest",
            Self::Token => "token",
        }
    }
}

/// Transport of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    Unix,
    Tcp,
    Udp,
    WebSocket,
}

/// A running forwarder, killed when dropped.
pub(crate) struct Forwarder {
    pub(crate) kind: Project,
    pub(crate) index: Index,
    program: Program,
    // Contains the socket of the program, so it is dropped after it.
    dir: Dir,
    ports: Ports,
}

impl Forwarder {
    /// Starts a forwarder on a socket in a new folder and on free ports, and waits until it listens.
    pub(crate) fn start(kind: Project, index: Index, peers: &Peers) -> Result<Self, String> {
        let dir = Dir::new().map_err(|error| format!("a folder for a socket: {error}"))?;
        let ports = Ports::free().map_err(|error| format!("free ports: {error}"))?;
        let program = launch(kind, index, &dir, &ports, peers)?;
        Ok(Self { kind, index, program, dir, ports })
    }

    /// Kills the forwarder, and starts another on the same sockets.
    pub(crate) fn replace(&mut self, peers: &Peers) -> Result<(), String> {
        self.program.kill();
        self.program = launch(self.kind, self.index, &self.dir, &self.ports, peers)?;
        Ok(())
    }

    /// Value of `NDN_CLIENT_TRANSPORT` for its clients.
    pub(crate) fn transport(&self, face: Face) -> String {
        match face {
            Face::Unix => format!("unix://{}", self.dir.socket().display()),
            Face::Tcp => format!("tcp://127.0.0.1:{}", self.ports.tcp),
            Face::Udp => format!("udp://127.0.0.1:{}", self.ports.udp),
            Face::WebSocket => format!("ws://127.0.0.1:{}", self.ports.ws),
        }
    }

    /// URI of this forwarder at its neighbours.
    pub(crate) fn uri(&self) -> String {
        format!("udp4://127.0.0.1:{}", self.ports.udp)
    }

    /// Output so far.
    pub(crate) fn said(&self) -> String {
        self.program.said()
    }

    /// # Errors
    /// The forwarder has ended before, does not stop, or exits with an error.
    pub(crate) fn stop(self) -> Result<(), String> {
        self.program.terminate(TIMEOUT)
    }
}

/// Builds our command with the flags of the tests, which build it, too: after them nothing is compiled again.
pub(crate) fn build() -> Result<(), String> {
    let words = ["cargo", "test", "--workspace", "--all-features", "--no-run", "--test", "command"];
    run::show(&mut run::command(&words))
}

fn launch(kind: Project, index: Index, dir: &Dir, ports: &Ports, peers: &Peers) -> Result<Program, String> {
    let mut command = match kind {
        Project::Hashlane => ours(index, dir, ports)?,
        Project::Ndnd => theirs(dir, ports, peers)?,
    };
    let mut program = Program::start(&format!("{kind:?} forwarder"), &mut command)?;
    let socket = dir.socket();
    program.wait_until(|| UnixStream::connect(&socket).is_ok(), TIMEOUT)?;
    Ok(program)
}

/// Our command, which [`build`] has built.
pub(crate) fn hashlane() -> Result<Command, String> {
    Ok(run::command(&[run::target_dir()?.join("debug/hashlane")]))
}

fn ours(index: Index, dir: &Dir, ports: &Ports) -> Result<Command, String> {
    let mut command = hashlane()?;
    // Pages and Node.js register over the WebSocket as the user who runs them.
    let config = dir.0.join("hashlane.toml");
    let text = "[faces.websocket]\nloopback = true\n";
    fs::write(&config, text).map_err(|error| format!("{}: {error}", config.display()))?;
    command.args(["ndn", "run", "--pit-index", index.flag(), "--config"]).arg(config);
    command.arg("--unix").arg(dir.socket());
    for (option, port) in [("--udp", ports.udp), ("--tcp", ports.tcp), ("--ws", ports.ws)] {
        command.arg(option).arg(format!("127.0.0.1:{port}"));
    }
    Ok(command)
}

/// ndnd takes ports without addresses, except for the WebSocket.
fn theirs(dir: &Dir, ports: &Ports, peers: &Peers) -> Result<Command, String> {
    let config = dir.0.join("config.yml");
    let socket = dir.socket();
    let text = format!(
        "faces:
  udp: {{enabled_unicast: true, enabled_multicast: false, port_unicast: {}}}
  tcp: {{enabled: true, port_unicast: {}}}
  unix: {{enabled: true, socket_path: {}}}
  websocket: {{enabled: true, bind: 127.0.0.1, port: {}}}
fw: {{threads: 1}}
mgmt: {{allow_localhop: true}}
",
        ports.udp,
        ports.tcp,
        socket.display(),
        ports.ws
    );
    fs::write(&config, text).map_err(|error| format!("{}: {error}", config.display()))?;
    let mut command = peers.ndnd();
    command.args(["fw", "run"]).arg(config);
    Ok(command)
}

/// A folder that is removed when it is dropped.
pub(crate) struct Dir(PathBuf);

impl Dir {
    /// Under the system's temporary folder, as the path of a socket must be short.
    pub(crate) fn new() -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hashlane-interop-{}-{number}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        fs::create_dir(&dir)?;
        Ok(Self(dir))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    fn socket(&self) -> PathBuf {
        self.0.join("ndn.sock")
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        // A leftover is a folder among temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Ports of the loopback address.
struct Ports {
    udp: u16,
    tcp: u16,
    ws: u16,
}

impl Ports {
    /// Ports that were free a moment ago. All stay bound until all are known, so that they differ.
    fn free() -> io::Result<Self> {
        let any = ("127.0.0.1", 0);
        let (udp, tcp, ws) = (UdpSocket::bind(any)?, TcpListener::bind(any)?, TcpListener::bind(any)?);
        let ports = [udp.local_addr()?, tcp.local_addr()?, ws.local_addr()?].map(|address| address.port());
        let [udp, tcp, ws] = ports;
        Ok(Self { udp, tcp, ws })
    }
}
