//! `hashlane dns serve` under attack: its zone, its start, its counters, its end.

use super::messages;
use crate::cleanup;
use hashlane_rig::program::{self, Program};
use hashlane_rig::{ports, proc, wait};
use nix::sys::signal::Signal;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Time limit for a start.
const TIMEOUT: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_millis(5);

const ZONE: &str = "example.com.zone";
const CONTROL: &str = "control.sock";
const LOG: &str = "log";

/// Names `www0`, `www1` and so on in the zone. The rate limit counts each of them for itself.
pub(super) const NAMES: u32 = 100;

/// A running server, killed when dropped.
pub(super) struct Server {
    process: Program,
    address: SocketAddr,
    // Dropped after the process, which has its socket here.
    folder: TempDir,
}

impl Server {
    /// Starts the command with lines of configuration, and waits until it answers.
    ///
    /// # Errors
    /// It ends before, or does not answer.
    pub(super) fn start(command: &Path, toml: &str) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("cannot start {}: {error}", command.display());
        let folder = cleanup::folder()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free().map_err(failed)?));
        fs::write(folder.path().join(ZONE), zone(1)).map_err(failed)?;
        let config = folder.path().join("dns.toml");
        fs::write(&config, configuration(folder.path(), address, toml)).map_err(failed)?;
        let log = fs::File::create(folder.path().join(LOG)).map_err(failed)?;
        let mut command = Command::new(command);
        command
            .args(["dns", "serve", "--config"])
            .arg(config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .current_dir(folder.path())
            .env_remove("HASHLANE_LOG")
            .env_remove("NOTIFY_SOCKET");
        let process = Program::start(&mut command).map_err(failed)?;
        cleanup::add_process(process.id());
        let mut server = Self { process, address, folder };
        let ready = wait::try_until(TIMEOUT, TICK, || match server.ended()? {
            Some(status) => Err(format!("the name server ended at the start: {status}\n{}", server.log())),
            None => Ok(server.is_ready().then_some(())),
        })?;
        ready.ok_or_else(|| format!("the name server does not answer\n{}", server.log()))?;
        Ok(server)
    }

    /// True if it answers a query.
    fn is_ready(&self) -> bool {
        let ask = || {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.set_read_timeout(Some(Duration::from_millis(100)))?;
            socket.send_to(&messages::query(1, &["www0"], messages::A), self.address)?;
            socket.recv(&mut [0; 512])
        };
        ask().is_ok()
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn pid(&self) -> i32 {
        self.process.id()
    }

    /// Exit status if the process has ended.
    pub(super) fn ended(&mut self) -> Result<Option<ExitStatus>, String> {
        self.process.ended().map_err(|error| format!("the name server: {error}"))
    }

    /// Writes the zone file, and has it loaded.
    pub(super) fn reload(&self, zone: &str) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("the zone file: {error}");
        let (new, file) = (self.folder.path().join("new"), self.folder.path().join(ZONE));
        fs::write(&new, zone).and_then(|()| fs::rename(new, file)).map_err(failed)?;
        self.process.signal(Signal::SIGHUP).map_err(|error| format!("SIGHUP: {error}"))
    }

    /// Counters, as `hashlane dns control stats` gets them.
    pub(super) fn stats(&self) -> Result<Stats, String> {
        let ask = || {
            let mut stream = UnixStream::connect(self.folder.path().join(CONTROL))?;
            stream.set_read_timeout(Some(TIMEOUT))?;
            stream.write_all(b"stats\n")?;
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line)?;
            Ok(line)
        };
        let line = ask().map_err(|error: std::io::Error| format!("the control socket: {error}"))?;
        serde_json::from_str(&line).map(Stats).map_err(|error| format!("the control socket: {error}"))
    }

    /// CPU time of the process since its start.
    pub(super) fn cpu(&self) -> Result<Duration, String> {
        proc::cpu(self.pid()).map_err(|error| format!("the CPU time of the name server: {error}"))
    }

    /// End of its log.
    fn log(&self) -> String {
        program::last_lines(&self.folder.path().join(LOG), 10)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        cleanup::forget_process(self.pid());
    }
}

/// Counters of a server since its start.
pub(super) struct Stats(serde_json::Value);

impl Stats {
    /// Counter at a JSON pointer, such as `/udp/sent`; 0 if the counter is missing.
    pub(super) fn get(&self, pointer: &str) -> u64 {
        let counter = self.0.pointer(pointer).and_then(serde_json::Value::as_u64);
        debug_assert!(counter.is_some(), "{pointer} in {}", self.0);
        counter.unwrap_or(0)
    }
}

/// Configuration of a server. `toml` may have further keys of the table `tcp`. Loopback addresses are rate
/// limited like all others.
fn configuration(folder: &Path, address: SocketAddr, toml: &str) -> String {
    format!(
        "server.listen = [\"{address}\"]
control.path = \"{}\"
rate_limit.allow = []
{toml}
[[zone]]
name = \"example.com\"
file = \"{ZONE}\"
",
        folder.join(CONTROL).display()
    )
}

/// The zone: names of innocents, a wildcard, a delegation, and a response of about 1,110 bytes.
pub(super) fn zone(serial: u32) -> String {
    let mut zone = format!(
        "$ORIGIN example.com.
$TTL 300
@ IN SOA ns1 hostmaster {serial} 3600 600 86400 60
@ IN NS ns1
ns1 IN A 192.0.2.1
*.wild IN TXT \"made of a wildcard\"
sub IN NS ns.sub
ns.sub IN A 192.0.2.53
"
    );
    for number in 0..NAMES {
        let _ = writeln!(zone, "www{number} IN A 192.0.2.80");
    }
    for letter in ['a', 'b', 'c', 'd', 'e'] {
        let _ = writeln!(zone, "large IN TXT \"{}\"", letter.to_string().repeat(200));
    }
    zone
}
