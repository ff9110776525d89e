//! The servers under comparison, each on a port of 127.0.0.1 for UDP and TCP.

use crate::exchange;
use crate::process::Server;
use crate::query::Query;
use crate::zone::Zone;
use hashlane_rig::{ports, program, wait};
use std::fmt::Write;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Texts of version and identity.
const VERSION: &str = "1.2.3";
const IDENTITY: &str = "compared";

/// Timeout for a server to load the zones.
const READY: Duration = Duration::from_secs(60);

/// Name servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    Ours,
    Nsd,
    Bind,
    Unbound,
}

/// Name of the program.
pub(crate) fn name(maker: Maker) -> &'static str {
    match maker {
        Maker::Ours => "hashlane",
        Maker::Nsd => "nsd",
        Maker::Bind => "named",
        Maker::Unbound => "unbound",
    }
}

/// A server that has loaded all zones.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) server: Server,
    pub(crate) name: &'static str,
}

impl Running {
    /// Error if the server has ended.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        self.server.check()
    }
}

/// Starts a server with `zones`, whose files in `folder` are its own.
pub(crate) fn start(maker: Maker, program: &Path, zones: &[Zone], folder: &Path) -> Result<Running, String> {
    let port = ports::free().map_err(|error| format!("no free port: {error}"))?;
    let name = name(maker);
    let folder = folder.join(name);
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    let settings = folder.join("settings");
    let (text, words): (String, Vec<&str>) = match maker {
        Maker::Ours => (ours(port, zones), vec!["dns", "serve", "--config"]),
        Maker::Nsd => (nsd(port, zones, &folder), vec!["-d", "-c"]),
        Maker::Bind => (bind(port, zones, &folder), vec!["-g", "-n", "1", "-c"]),
        Maker::Unbound => return Err("unbound serves no zones".to_owned()),
    };
    fs::write(&settings, text).map_err(failed)?;
    let mut command = Command::new(program);
    command.args(words).arg(&settings).current_dir(&folder);
    let server = Server::start(name, &mut command, &folder.join("log"))?;
    let mut running = Running { address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), server, name };
    let last = zones.last().ok_or("there are no zones")?;
    running.wait(&Query::plain(last.apex_name(), 6), &folder.join("log"))?;
    Ok(running)
}

impl Running {
    /// Waits until the server answers a query without an error.
    pub(crate) fn wait(&mut self, query: &Query, log: &Path) -> Result<(), String> {
        let query = query.to_bytes(1);
        let ready = wait::try_until(READY, Duration::from_millis(20), || {
            self.check().map_err(|error| {
                format!("{error}; see {}\n{}", log.display(), program::last_lines(log, 20))
            })?;
            let answer = exchange::once(self.address, &query, Duration::from_millis(200));
            let is_ready = |answer: Vec<u8>| answer.get(3).is_some_and(|flags| flags & 0xf == 0);
            Ok::<_, String>(answer.is_some_and(is_ready).then_some(()))
        })?;
        ready.ok_or_else(|| format!("{} does not answer:\n{}", self.name, program::last_lines(log, 20)))
    }
}

fn nsd(port: u16, zones: &[Zone], folder: &Path) -> String {
    let folder = folder.display();
    let mut text = format!(
        "server:\n  ip-address: 127.0.0.1@{port}\n  server-count: 1\n  username: \"\"\n  \
         zonesdir: \"{folder}\"\n  database: \"\"\n  pidfile: \"{folder}/nsd.pid\"\n  \
         xfrdfile: \"{folder}/xfrd.state\"\n  zonelistfile: \"{folder}/zone.list\"\n  \
         version: \"{VERSION}\"\n  identity: \"{IDENTITY}\"\n  nsid: \"ascii_{IDENTITY}\"\n  \
         rrl-ratelimit: 0\n  rrl-whitelist-ratelimit: 0\n  tcp-count: 100\n  \
         round-robin: no\nremote-control:\n  control-enable: no\n"
    );
    for zone in zones {
        let _ = writeln!(text, "zone:\n  name: \"{}\"\n  zonefile: \"{}\"", zone.apex, zone.file.display());
    }
    text
}

fn bind(port: u16, zones: &[Zone], folder: &Path) -> String {
    let folder = folder.display();
    let mut text = format!(
        "options {{\n  directory \"{folder}\";\n  listen-on port {port} {{ 127.0.0.1; }};\n  \
         listen-on-v6 {{ none; }};\n  pid-file none;\n  lock-file none;\n  session-keyfile none;\n  \
         recursion no;\n  notify no;\n  dnssec-validation no;\n  empty-zones-enable no;\n  \
         max-udp-size 1232;\n  edns-udp-size 1232;\n  version \"{VERSION}\";\n  hostname \"{IDENTITY}\";\n  \
         server-id \"{IDENTITY}\";\n  check-names primary ignore;\n  check-integrity no;\n  \
         check-mx ignore;\n  check-mx-cname ignore;\n  check-srv-cname ignore;\n  check-wildcard no;\n  \
         check-sibling no;\n  \
         check-spf ignore;\n  tcp-clients 200;\n}};\ncontrols {{ }};\n\
         logging {{ category default {{ default_stderr; }}; channel warnings {{ stderr; severity warning; }}; \
         category general {{ warnings; }}; category zoneload {{ warnings; }}; }};\n"
    );
    for zone in zones {
        let (apex, file) = (&zone.apex, zone.file.display());
        let _ = writeln!(text, "zone \"{apex}\" {{ type primary; file \"{file}\"; }};");
    }
    text
}

fn ours(port: u16, zones: &[Zone]) -> String {
    let mut text = format!(
        "[server]\nlisten = [\"127.0.0.1:{port}\"]\nversion = \"{VERSION}\"\nidentity = \"{IDENTITY}\"\n\
         nsid = \"ascii_{IDENTITY}\"\n\n[rate_limit]\nresponses_per_second = 0\n\n\
         [control]\npath = \"\"\n"
    );
    for zone in zones {
        let _ = writeln!(text, "\n[[zone]]\nname = {:?}\nfile = \"{}\"", zone.apex, zone.file.display());
    }
    text
}

/// Path of a program of Debian that is not in every user's path.
pub(crate) fn installed(name: &str) -> PathBuf {
    let places = ["/usr/sbin", "/usr/bin"].map(|folder| Path::new(folder).join(name));
    places.into_iter().find(|path| path.exists()).unwrap_or_else(|| name.into())
}
