//! `hashlane dns serve` under attack: its zone, its start, its counters, its end.

use super::messages;
use crate::cleanup;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time limit for a start.
const TIMEOUT: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_millis(5);

/// Clock ticks a second in `/proc/PID/stat`: Linux reports 100 on every architecture.
const TICKS: f64 = 100.0;

const ZONE: &str = "example.com.zone";
const CONTROL: &str = "control.sock";
const LOG: &str = "log";

/// Names `www0`, `www1` and so on in the zone. The rate limit counts each of them for itself.
pub(super) const NAMES: u32 = 100;

/// A running server, killed when dropped.
pub(super) struct Server {
    child: Child,
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
        // Free a moment ago.
        let probe = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let address = probe.local_addr().map_err(failed)?;
        drop(probe);
        fs::write(folder.path().join(ZONE), zone(1)).map_err(failed)?;
        let config = folder.path().join("dns.toml");
        fs::write(&config, configuration(folder.path(), address, toml)).map_err(failed)?;
        let log = fs::File::create(folder.path().join(LOG)).map_err(failed)?;
        let child = Command::new(command)
            .args(["dns", "serve", "--config"])
            .arg(config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .current_dir(folder.path())
            .env_remove("HASHLANE_LOG")
            .env_remove("NOTIFY_SOCKET")
            .spawn()
            .map_err(failed)?;
        cleanup::add_process(child.id());
        let mut server = Self { child, address, folder };
        let begun = Instant::now();
        while !server.is_ready() {
            if let Some(status) = server.ended()? {
                return Err(format!("the name server ended at the start: {status}\n{}", server.log()));
            }
            if begun.elapsed() > TIMEOUT {
                return Err(format!("the name server does not answer\n{}", server.log()));
            }
            thread::sleep(TICK);
        }
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

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Exit status if the process has ended.
    pub(super) fn ended(&mut self) -> Result<Option<ExitStatus>, String> {
        self.child.try_wait().map_err(|error| format!("the name server: {error}"))
    }

    /// Writes the zone file, and has it loaded.
    pub(super) fn reload(&self, zone: &str) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("the zone file: {error}");
        let (new, file) = (self.folder.path().join("new"), self.folder.path().join(ZONE));
        fs::write(&new, zone).and_then(|()| fs::rename(new, file)).map_err(failed)?;
        let pid = i32::try_from(self.pid()).map_err(|error| error.to_string())?;
        kill(Pid::from_raw(pid), Signal::SIGHUP).map_err(|error| format!("SIGHUP: {error}"))
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
        let path = format!("/proc/{}/stat", self.pid());
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        cpu_time(&text).ok_or_else(|| format!("{path} has no CPU time"))
    }

    /// End of its log.
    fn log(&self) -> String {
        let text = match fs::read(self.folder.path().join(LOG)) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => format!("no log: {error}"),
        };
        let skip = text.lines().count().saturating_sub(10);
        text.lines().skip(skip).map(|line| format!("  {line}\n")).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        cleanup::forget_process(self.pid());
        // Fails if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Counters of a server since its start.
pub(super) struct Stats(serde_json::Value);

impl Stats {
    /// Counter at a JSON pointer, such as `/udp/sent`; 0 if there is none.
    pub(super) fn get(&self, pointer: &str) -> u64 {
        let counter = self.0.pointer(pointer).and_then(serde_json::Value::as_u64);
        debug_assert!(counter.is_some(), "{pointer} in {}", self.0);
        counter.unwrap_or(0)
    }
}

/// User and system time in a line of `/proc/PID/stat`.
fn cpu_time(stat: &str) -> Option<Duration> {
    // The name of the process may have spaces and parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(|field| field.parse::<u64>().ok());
    let ticks = times.next()?? + times.next()??;
    Some(Duration::from_secs_f64(ticks as f64 / TICKS))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_cpu_time_of_a_process() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 100 0 0 0 150 50 3 4 20 0";
        assert_eq!(cpu_time(stat), Some(Duration::from_secs(2)));
        assert_eq!(cpu_time("7 (a) S 1"), None);
        let own = fs::read_to_string("/proc/self/stat").unwrap();
        assert!(cpu_time(&own).is_some());
    }
}
