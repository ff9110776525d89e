//! A node: a forwarder in a network namespace, and commands at it.

use super::lab::Lab;
use super::network;
use crate::interop::program::{Ended, Program};
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Timeout for a forwarder to start, and to stop after a signal.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Clock ticks in a second in `/proc/PID/stat`: `USER_HZ`, which is 100 on all of Linux's platforms but one.
const TICKS: f64 = 100.0;

/// The project of a forwarder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forwarder {
    Nfd,
    Hashlane,
}

impl Forwarder {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nfd => "NFD",
            Self::Hashlane => "hashlane",
        }
    }
}

/// A running forwarder in a namespace, which is removed when it is dropped.
pub(super) struct Node<'l> {
    pub(super) lab: &'l Lab,
    /// Name of the namespace.
    pub(super) name: String,
    /// Folder of configuration, socket and keys.
    pub(super) dir: PathBuf,
    /// Report of `import-nfd-conf`; empty for NFD.
    pub(super) imported: String,
    program: Program,
    _namespace: Namespace,
}

/// A network namespace, which is removed when it is dropped.
pub(super) struct Namespace(String);

impl Namespace {
    /// # Errors
    /// `ip` failed.
    pub(super) fn new(name: &str) -> Result<Self, String> {
        network::add(name).map(|()| Self(name.to_owned()))
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        network::remove(&self.0);
    }
}

/// Users with rights by NFD's section `authorizations`.
#[derive(Clone, Debug, Default)]
pub(super) enum Operators {
    /// Every user of the host, as on the testbed.
    #[default]
    Any,
    /// The key of the certificate in this file.
    Certificate(PathBuf),
}

/// Differences between a node and one of the testbed.
#[derive(Clone, Debug, Default)]
pub(super) struct Setup {
    pub(super) operators: Operators,
    /// Ethernet faces to single hosts, on all interfaces.
    pub(super) has_ether: bool,
    /// NLSR advertises the prefixes of clients.
    pub(super) readvertises: bool,
    /// Another nfd.conf, whose socket is `nfd.sock` in the folder of the node.
    pub(super) conf: Option<String>,
}

impl<'l> Node<'l> {
    /// Starts a forwarder in a namespace, whose links are there already.
    ///
    /// # Errors
    /// A step failed.
    pub(super) fn start(
        lab: &'l Lab,
        namespace: Namespace,
        forwarder: Forwarder,
        setup: &Setup,
    ) -> Result<Self, String> {
        let dir = lab.folder(&namespace.0)?;
        Self::start_in(lab, namespace, dir, forwarder, setup)
    }

    /// As [`Node::start`], in a folder that is there already.
    ///
    /// # Errors
    /// A step failed.
    pub(super) fn start_in(
        lab: &'l Lab,
        namespace: Namespace,
        dir: PathBuf,
        forwarder: Forwarder,
        setup: &Setup,
    ) -> Result<Self, String> {
        let name = &namespace.0.clone();
        let config = dir.join("nfd.conf");
        let conf = setup.conf.clone().unwrap_or_else(|| nfd_conf(&dir, setup));
        fs::write(&config, conf).map_err(|error| format!("{}: {error}", config.display()))?;
        let mut report = String::new();
        let mut command = match forwarder {
            Forwarder::Nfd => {
                let mut command = network::inside(name, lab.programs.get("nfd")?);
                command.arg("--config").arg(&config);
                command
            }
            Forwarder::Hashlane => {
                let imported = dir.join("forwarder.toml");
                report = import(&lab.hashlane, &config, &imported)?;
                let mut command = network::inside(name, &lab.hashlane);
                command.args(["run", "--config"]).arg(imported).env("HASHLANE_LOG", "warn");
                command
            }
        };
        command.env("HOME", &dir).current_dir(&dir);
        let mut program = Program::start(&format!("{} on {name}", forwarder.name()), &mut command)?;
        let socket = dir.join("nfd.sock");
        program.wait_until(|| UnixStream::connect(&socket).is_ok(), TIMEOUT)?;
        Ok(Self { lab, name: name.to_owned(), dir, imported: report, program, _namespace: namespace })
    }

    /// A program in the namespace, connected to the forwarder, with the keys of the node.
    ///
    /// # Errors
    /// The program is missing.
    pub(super) fn command(&self, program: &str) -> Result<Command, String> {
        Ok(self.command_at(self.lab.programs.get(program)?))
    }

    /// As [`Node::command`], for the program at a path.
    pub(super) fn command_at(&self, program: &Path) -> Command {
        let mut command = network::inside(&self.name, program);
        command.env("HOME", &self.dir).env("PATH", self.lab.programs.path()).current_dir(&self.dir);
        command.env("NDN_CLIENT_TRANSPORT", format!("unix://{}", self.dir.join("nfd.sock").display()));
        command
    }

    /// Starts a program that runs beside others.
    ///
    /// # Errors
    /// The program is missing.
    pub(super) fn spawn(&self, words: &[&str]) -> Result<Program, String> {
        let (program, rest) = words.split_first().ok_or("no program")?;
        Program::start(program, self.command(program)?.args(rest))
    }

    /// Runs a program to its end.
    ///
    /// # Errors
    /// The program is missing, or does not end within `timeout`.
    pub(super) fn run(&self, words: &[&str], timeout: Duration) -> Result<Ended, String> {
        let mut program = self.spawn(words)?;
        program.feed(b"")?;
        program.end(timeout)
    }

    /// Runs a program that must succeed, and returns its standard output.
    ///
    /// # Errors
    /// The program is missing or fails.
    pub(super) fn output(&self, words: &[&str]) -> Result<String, String> {
        printed(words, &self.run(words, TIMEOUT)?)
    }

    /// As [`Node::output`], for a program that exits with the code `nothing` if it has nothing to print.
    ///
    /// # Errors
    /// The program is missing, or fails in another way.
    pub(super) fn output_or_nothing(&self, words: &[&str], nothing: i32) -> Result<String, String> {
        let ended = self.run(words, TIMEOUT)?;
        if ended.code == Some(nothing) { Ok(String::new()) } else { printed(words, &ended) }
    }

    /// CPU time of the forwarder so far, user and system, in seconds.
    ///
    /// # Errors
    /// The process has ended.
    pub(super) fn cpu(&self) -> Result<f64, String> {
        let path = format!("/proc/{}/stat", self.program.id());
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        cpu_of(&text).ok_or_else(|| format!("{path}: unexpected text"))
    }

    /// Stops the forwarder.
    ///
    /// # Errors
    /// It has ended before, does not stop, or exits with an error.
    pub(super) fn stop(self) -> Result<(), String> {
        self.program.terminate(TIMEOUT)
    }
}

/// Standard output of a program that must have succeeded.
fn printed(words: &[&str], ended: &Ended) -> Result<String, String> {
    match ended.code {
        Some(0) => Ok(String::from_utf8_lossy(&ended.output).into_owned()),
        code => Err(format!("{}: exit code {code:?}: {}", words.join(" "), ended.text().trim())),
    }
}

/// Fields 14 and 15 of `/proc/PID/stat`, in seconds. The second field may contain spaces.
fn cpu_of(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(11).map(|field| field.parse::<f64>().ok());
    Some((times.next()?? + times.next()??) / TICKS)
}

/// Imports an nfd.conf, and returns the report. Exit code 3 says that a key is not supported.
fn import(hashlane: &Path, from: &Path, to: &Path) -> Result<String, String> {
    let mut command = Command::new(hashlane);
    command.arg("import-nfd-conf").arg(from).arg("--out").arg(to);
    let ended = Program::start("import-nfd-conf", &mut command)?.end(TIMEOUT)?;
    match ended.code {
        Some(0 | 3) => Ok(ended.errors),
        code => Err(format!("import-nfd-conf: exit code {code:?}: {}", ended.text())),
    }
}

/// The nfd.conf of a node: ports and tables of the testbed, without multicast and WebSockets.
fn nfd_conf(dir: &Path, setup: &Setup) -> String {
    let certificate = match &setup.operators {
        Operators::Any => "any".to_owned(),
        Operators::Certificate(path) => format!("{:?}", path.display().to_string()),
    };
    format!(
        "log {{ default_level WARN }}
tables
{{
  cs_max_packets 65536
  cs_policy lru
  cs_unsolicited_policy drop-all
  strategy_choice
  {{
    / /localhost/nfd/strategy/best-route
    /localhost /localhost/nfd/strategy/multicast
    /localhost/nfd /localhost/nfd/strategy/best-route
  }}
}}
face_system
{{
  general {{ enable_congestion_marking yes }}
  unix {{ path {} }}
  tcp {{ listen yes }}
  udp {{ listen yes
    idle_timeout 600
    unicast_mtu 1452
    mcast no }}
  ether {{ listen {}
    mcast no }}
}}
authorizations
{{
  authorize
  {{
    certfile {certificate}
    privileges
    {{
      cs
      faces
      fib
      strategy-choice
    }}
  }}
}}
rib
{{
  localhost_security {{ trust-anchor {{ type any }} }}
  readvertise_nlsr {}
}}
",
        dir.join("nfd.sock").display(),
        yes_or_no(setup.has_ether),
        yes_or_no(setup.readvertises)
    )
}

fn yes_or_no(is_on: bool) -> &'static str {
    if is_on { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_behind_a_name_with_spaces() {
        let stat = "7 (a) b c) S 1 7 7 0 -1 4194560 100 0 0 0 250 150 0 0 20 0 1 0 100 1 1";
        assert_eq!(cpu_of(stat), Some(4.0));
        assert_eq!(cpu_of("7 (a"), None);
    }
}
