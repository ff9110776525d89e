//! A forwarder under attack: its start, its addresses, its end.

use crate::cleanup;
use crate::network::{Network, Place};
use crate::session::Session;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Serialize;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time limit for a start, and for an end.
const TIMEOUT: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_millis(5);

/// Project of a forwarder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Kind {
    Hashlane,
    Nfd,
    Ndnd,
}

/// A forwarder that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) kind: Kind,
    pub(crate) path: PathBuf,
    /// Name in tables.
    pub(crate) label: String,
}

impl Program {
    pub(crate) fn is_ours(&self) -> bool {
        self.kind == Kind::Hashlane
    }

    pub(crate) fn has_web_socket(&self) -> bool {
        // NFD is often built without.
        self.kind != Kind::Nfd
    }
}

/// Settings of a start.
#[derive(Default)]
pub(crate) struct Settings {
    /// Lines of our configuration, by table; other forwarders ignore them.
    pub(crate) toml: String,
    /// Limit of file descriptors; ours if absent.
    pub(crate) descriptors: Option<u64>,
    /// Standard error; a file in its folder if absent.
    pub(crate) stderr: Option<Stdio>,
}

impl Settings {
    pub(crate) fn toml(text: impl Into<String>) -> Self {
        Self { toml: text.into(), ..Self::default() }
    }
}

#[derive(Clone, Copy, Debug)]
struct Ports {
    udp: u16,
    tcp: u16,
    web_socket: u16,
}

/// A running forwarder, killed when dropped.
pub(crate) struct Running {
    child: Child,
    ports: Ports,
    // Dropped after the process, which has its socket here.
    folder: TempDir,
}

impl Running {
    /// Starts a forwarder, and waits until it answers.
    ///
    /// # Errors
    /// It ends before, or does not answer.
    pub(crate) fn start(network: &Network, program: &Program, settings: Settings) -> Result<Self, String> {
        let mut running = Self::launch(network, program, settings)?;
        let (begun, socket) = (Instant::now(), running.socket());
        loop {
            if is_ready(&socket).is_ok_and(|ready| ready) {
                return Ok(running);
            }
            if let Some(status) = running.ended()? {
                return Err(format!("the forwarder ended at the start: {status}\n{}", running.log()));
            }
            if begun.elapsed() > TIMEOUT {
                return Err(format!("the forwarder does not answer\n{}", running.log()));
            }
            thread::sleep(TICK);
        }
    }

    /// Starts a forwarder, and waits for nothing.
    pub(crate) fn launch(network: &Network, program: &Program, settings: Settings) -> Result<Self, String> {
        Self::launch_at(network, program, None, settings)
    }

    /// Starts a forwarder with its socket elsewhere, and waits for nothing.
    pub(crate) fn launch_at(
        network: &Network,
        program: &Program,
        socket: Option<&Path>,
        settings: Settings,
    ) -> Result<Self, String> {
        let failed = |error: io::Error| format!("cannot start {}: {error}", program.path.display());
        let folder = cleanup::folder()?;
        let ports = Ports::choose(network).map_err(failed)?;
        let limit = settings.descriptors.map_or_else(String::new, |most| format!("ulimit -n {most} && "));
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{limit}exec \"$@\""), "sh"]).arg(&program.path);
        let socket = socket.map_or_else(|| folder.path().join(SOCKET), Path::to_owned);
        let (file, text, words) = configuration(program.kind, &socket, ports, &settings.toml);
        let path = folder.path().join(file);
        fs::write(&path, text).map_err(failed)?;
        command.args(words).arg(path);
        let stderr = match settings.stderr {
            Some(stderr) => stderr,
            None => fs::File::create(folder.path().join(LOG)).map_err(failed)?.into(),
        };
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).current_dir(folder.path());
        command.env("HOME", folder.path()).env_remove("NDN_CLIENT_TRANSPORT").env_remove("HASHLANE_LOG");
        let child = network.inside(Place::Forwarder, || command.spawn().map_err(failed))?;
        cleanup::add_process(child.id());
        Ok(Self { child, ports, folder })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join(SOCKET)
    }

    pub(crate) fn udp(&self, host: Ipv4Addr) -> SocketAddr {
        (host, self.ports.udp).into()
    }

    pub(crate) fn tcp(&self, host: Ipv4Addr) -> SocketAddr {
        (host, self.ports.tcp).into()
    }

    pub(crate) fn web_socket(&self, host: Ipv4Addr) -> SocketAddr {
        (host, self.ports.web_socket).into()
    }

    /// Exit status if the process has ended.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>, String> {
        self.child.try_wait().map_err(|error| format!("the forwarder: {error}"))
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) -> Result<(), String> {
        let pid = i32::try_from(self.pid()).map_err(|error| error.to_string())?;
        kill(Pid::from_raw(pid), signal).map_err(|error| format!("{signal}: {error}"))
    }

    /// Waits for the end, at most `limit`; returns the exit status and the time it took.
    pub(crate) fn wait(&mut self, limit: Duration) -> Result<Option<(ExitStatus, Duration)>, String> {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            if let Some(status) = self.ended()? {
                return Ok(Some((status, begun.elapsed())));
            }
            thread::sleep(TICK);
        }
        Ok(None)
    }

    /// End of its log.
    pub(crate) fn log(&self) -> String {
        let text = match fs::read(self.folder.path().join(LOG)) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => format!("no log: {error}"),
        };
        let skip = text.lines().count().saturating_sub(10);
        text.lines().skip(skip).map(|line| format!("  {line}\n")).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        cleanup::forget_process(self.pid());
        // Fails if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// True if the management answers. NFD's RIB starts after its faces.
fn is_ready(socket: &Path) -> Result<bool, String> {
    let mut session = Session::unix(socket)?;
    Ok(session.dataset("status/general")?.is_some() && session.dataset("rib/list")?.is_some())
}

const SOCKET: &str = "nfd.sock";
const LOG: &str = "log";

impl Ports {
    /// The usual ports in a namespace, else ports that were free a moment ago.
    fn choose(network: &Network) -> io::Result<Self> {
        if network.has_namespaces() {
            return Ok(Self { udp: 6363, tcp: 6363, web_socket: 9696 });
        }
        let any = (Ipv4Addr::LOCALHOST, 0);
        // All are bound until all are known, so that they differ.
        let (udp, tcp, web) = (UdpSocket::bind(any)?, TcpListener::bind(any)?, TcpListener::bind(any)?);
        let [udp, tcp, web_socket] =
            [udp.local_addr()?, tcp.local_addr()?, web.local_addr()?].map(|address| address.port());
        Ok(Self { udp, tcp, web_socket })
    }
}

/// Configuration file of a forwarder: name, text, and the arguments before its path.
fn configuration(
    kind: Kind,
    socket: &Path,
    ports: Ports,
    toml: &str,
) -> (&'static str, String, &'static [&'static str]) {
    let (socket, Ports { udp, tcp, web_socket }) = (socket.display(), ports);
    match kind {
        Kind::Hashlane => {
            ("forwarder.toml", ours(&socket.to_string(), ports, toml), &["ndn", "run", "--config"])
        }
        Kind::Nfd => ("nfd.conf", nfd(&socket.to_string(), udp, tcp), &["--config"]),
        Kind::Ndnd => {
            let text = format!(
                "faces:
  udp: {{enabled_unicast: true, enabled_multicast: false, port_unicast: {udp}}}
  tcp: {{enabled: true, port_unicast: {tcp}}}
  unix: {{enabled: true, socket_path: {socket}}}
  websocket: {{enabled: true, bind: 0.0.0.0, port: {web_socket}}}
fw: {{threads: 1}}
mgmt: {{allow_localhop: true}}
"
            );
            ("ndnd.yml", text, &["fw", "run"])
        }
    }
}

/// Our configuration: the addresses, then `toml`. Tables of the addresses have one line here, so that `toml`
/// may have the rest of their keys.
pub(crate) fn ours_at(running: &Running, toml: &str) -> String {
    ours(&running.socket().display().to_string(), running.ports, toml)
}

fn ours(socket: &str, ports: Ports, toml: &str) -> String {
    let Ports { udp, tcp, web_socket } = ports;
    format!(
        "faces.unix.path = [\"{socket}\"]
faces.udp.listen = [\"0.0.0.0:{udp}\"]
faces.tcp.listen = [\"0.0.0.0:{tcp}\"]
faces.websocket.listen = [\"0.0.0.0:{web_socket}\"]
{toml}"
    )
}

fn nfd(socket: &str, udp: u16, tcp: u16) -> String {
    format!(
        "log
{{
  default_level INFO
}}
tables
{{
  cs_max_packets 65536
}}
face_system
{{
  unix
  {{
    path {socket}
  }}
  udp
  {{
    port {udp}
    enable_v4 yes
    enable_v6 no
    mcast no
  }}
  tcp
  {{
    port {tcp}
    enable_v4 yes
    enable_v6 no
  }}
}}
authorizations
{{
  authorize
  {{
    certfile any
    privileges
    {{
      faces
      fib
      cs
      strategy-choice
    }}
  }}
}}
rib
{{
  localhost_security
  {{
    trust-anchor
    {{
      type any
    }}
  }}
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_forwarder::Config;

    #[test]
    fn our_configuration_is_valid_with_the_lines_of_a_row() {
        let ports = Ports { udp: 6363, tcp: 6364, web_socket: 9696 };
        let text = ours("/tmp/nfd.sock", ports, "cs.admit = false\npit.entries = 7\n");
        let config = Config::parse(&text).unwrap();
        assert_eq!((config.cs.admit, config.pit.entries), (false, 7));
        assert_eq!(config.faces.tcp.listen, ["0.0.0.0:6364".parse().unwrap()]);
    }
}
