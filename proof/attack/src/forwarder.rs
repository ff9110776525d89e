//! A forwarder under attack: its start, its addresses, its end.

use crate::cleanup;
use crate::network::{Host, Network};
use crate::session::Session;
use hashlane_rig::forwarders::{Ndnd, Nfd};
use hashlane_rig::program;
use hashlane_rig::{ports, wait};
use nix::sys::signal::Signal;
use serde::Serialize;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time limit for a start, and for an end.
const TIMEOUT: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_millis(5);

/// Project of a forwarder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Project {
    Hashlane,
    Nfd,
    Ndnd,
}

/// A forwarder that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) kind: Project,
    pub(crate) path: PathBuf,
    /// Name in tables.
    pub(crate) label: String,
}

impl Program {
    pub(crate) fn is_ours(&self) -> bool {
        self.kind == Project::Hashlane
    }

    pub(crate) fn has_web_socket(&self) -> bool {
        // NFD is often built without.
        self.kind != Project::Nfd
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
    process: program::Program,
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
        let socket = running.socket();
        let ready = wait::try_until(TIMEOUT, TICK, || {
            if is_ready(&socket).is_ok_and(|ready| ready) {
                return Ok(Some(()));
            }
            match running.ended()? {
                Some(status) => Err(format!("the forwarder ended at the start: {status}\n{}", running.log())),
                None => Ok(None),
            }
        })?;
        match ready {
            Some(()) => Ok(running),
            None => Err(format!("the forwarder does not answer\n{}", running.log())),
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
        let process =
            network.inside(Host::Forwarder, || program::Program::start(&mut command).map_err(failed))?;
        cleanup::add_process(process.id());
        Ok(Self { process, ports, folder })
    }

    pub(crate) fn pid(&self) -> i32 {
        self.process.id()
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
        self.process.ended().map_err(|error| format!("the forwarder: {error}"))
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) -> Result<(), String> {
        self.process.signal(signal).map_err(|error| format!("{signal}: {error}"))
    }

    /// Waits for the end, at most `limit`; returns the exit status and the time it took.
    pub(crate) fn wait(&mut self, limit: Duration) -> Result<Option<(ExitStatus, Duration)>, String> {
        let begun = Instant::now();
        let status = wait::try_until(limit, TICK, || self.ended())?;
        Ok(status.map(|status| (status, begun.elapsed())))
    }

    /// End of its log.
    pub(crate) fn log(&self) -> String {
        program::last_lines(&self.folder.path().join(LOG), 10)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        cleanup::forget_process(self.pid());
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
        let [udp, tcp, web_socket] = ports::distinct()?;
        Ok(Self { udp, tcp, web_socket })
    }
}

/// Configuration file of a forwarder: name, text, and the arguments before its path.
fn configuration(
    kind: Project,
    socket: &Path,
    ports: Ports,
    toml: &str,
) -> (&'static str, String, &'static [&'static str]) {
    let Ports { udp, tcp, web_socket } = ports;
    match kind {
        Project::Hashlane => ("forwarder.toml", ours(socket, ports, toml), &["ndn", "run", "--config"]),
        Project::Nfd => {
            let settings = Nfd { socket, udp, tcp: Some(tcp), log_level: "INFO" };
            ("nfd.conf", settings.to_text(), &["--config"])
        }
        Project::Ndnd => {
            let settings = Ndnd {
                socket,
                udp,
                tcp: Some(tcp),
                web_socket: Some(("0.0.0.0", web_socket)),
                localhop: true,
                log_level: None,
            };
            ("ndnd.yml", settings.to_text(), &["fw", "run"])
        }
    }
}

/// Our configuration: the addresses, then `toml`. Tables of the addresses have one line here, so that `toml`
/// may have the rest of their keys.
pub(crate) fn ours_at(running: &Running, toml: &str) -> String {
    ours(&running.socket(), running.ports, toml)
}

fn ours(socket: &Path, ports: Ports, toml: &str) -> String {
    let (socket, Ports { udp, tcp, web_socket }) = (socket.display(), ports);
    format!(
        "faces.unix.path = [\"{socket}\"]
faces.udp.listen = [\"0.0.0.0:{udp}\"]
faces.tcp.listen = [\"0.0.0.0:{tcp}\"]
faces.websocket.listen = [\"0.0.0.0:{web_socket}\"]
{toml}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_forwarder::Config;

    #[test]
    fn our_configuration_is_valid_with_the_lines_of_a_row() {
        let ports = Ports { udp: 6363, tcp: 6364, web_socket: 9696 };
        let text = ours(Path::new("/tmp/nfd.sock"), ports, "cs.admit = false\npit.entries = 7\n");
        let config = Config::parse(&text).unwrap();
        assert_eq!((config.cs.admit, config.pit.entries), (false, 7));
        assert_eq!(config.faces.tcp.listen, ["0.0.0.0:6364".parse().unwrap()]);
    }
}
