//! Programs of other projects with a forwarder between them.

use super::forwarder::{self, Dir, Face, Forwarder, Index, Project};
use super::peers::Peers;
use super::program::Program;
use std::fmt;
use std::fs;
use std::net::UdpSocket;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Timeout for a program to be ready, and for a consumer to finish.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Checks in order. The first sends one Interest: ndnd loses most of a burst from an endpoint that it does
/// not know yet.
const CHECKS: [&str; 6] = ["leaf", "names", "big", "fresh", "timeout", "nack"];

/// The forwarders between the ends of a scenario.
pub(crate) struct ForwarderChain {
    pub(crate) peers: Peers,
    pub(crate) forwarder: Forwarder,
    pub(crate) neighbour: Forwarder,
}

impl ForwarderChain {
    /// Starts a producer, calls `connect`, and runs a consumer with all checks that its forwarder can pass.
    pub(crate) fn exchange(
        &self,
        prefix: &str,
        producer: (End, &Forwarder),
        consumer: (End, &Forwarder),
        connect: impl FnOnce() -> Result<(), String>,
    ) -> Result<String, String> {
        let producer = self.produce(prefix, producer.0, producer.1)?;
        connect()?;
        self.send_tokens(&self.forwarder, prefix)?;
        self.consume(prefix, consumer.0, consumer.1).map_err(|error| error + &producer.said())
    }

    /// A producer that has registered.
    fn produce(&self, prefix: &str, end: End, at: &Forwarder) -> Result<Program, String> {
        let mut producer = Program::start("producer", self.program("producer", end, at).arg(prefix))?;
        producer.wait_for("ready", TIMEOUT)?;
        Ok(producer)
    }

    fn consume(&self, prefix: &str, end: End, at: &Forwarder) -> Result<String, String> {
        let mut command = self.program("consumer", end, at);
        // The forwarder of ndnd sends no Nacks.
        let checks = CHECKS.iter().filter(|check| at.kind == Project::Hashlane || **check != "nack");
        Program::run("consumer", command.arg(prefix).args(checks), TIMEOUT).map(text)
    }

    fn program(&self, role: &str, End(library, face): End, at: &Forwarder) -> Command {
        let mut command = match library {
            Library::PythonV1 => self.peers.python(&format!("{role}_v1.py")),
            Library::PythonV2 => self.peers.python(&format!("{role}_v2.py")),
            Library::Ndnts => self.peers.ndnts(&format!("{role}.mjs")),
        };
        command.env("NDN_CLIENT_TRANSPORT", at.transport(face));
        command
    }

    fn ndnd(&self, at: &Forwarder, words: &[&str]) -> Command {
        let mut command = self.peers.ndnd();
        command.args(words).env("NDN_CLIENT_TRANSPORT", at.transport(Face::Unix));
        command
    }

    /// Runs a tool of ndnd to its end.
    fn tool(&self, at: &Forwarder, words: &[&str]) -> Result<String, String> {
        let name = format!("ndnd {}", words.join(" "));
        Program::run(&name, &mut self.ndnd(at, words), TIMEOUT).map(text)
    }

    pub(crate) fn add_route(&self, at: &Forwarder, prefix: &str, to: &Forwarder) -> Result<(), String> {
        let (prefix, face) = (format!("prefix={prefix}"), format!("face={}", to.uri()));
        self.tool(at, &["fw", "route-add", &prefix, &face]).map(drop)
    }

    /// Under the index by token, enables tokens on the faces of the next hops of a prefix.
    fn send_tokens(&self, at: &Forwarder, prefix: &str) -> Result<(), String> {
        if at.kind != Project::Hashlane || at.index != Index::Token {
            return Ok(());
        }
        let routes = self.tool(at, &["fw", "route-list"])?;
        let line = format!("prefix={prefix} nexthop=");
        let faces: Vec<&str> =
            routes.lines().filter_map(|route| route.strip_prefix(&line)?.split_whitespace().next()).collect();
        for face in &faces {
            let mut update = forwarder::hashlane()?;
            update.args(["ndn", "face", "update", face, "--pit-tokens", "on"]);
            update.args(["--connect", &at.transport(Face::Unix)]);
            Program::run("hashlane ndn face update", &mut update, TIMEOUT)?;
        }
        if faces.is_empty() { Err(format!("no route for {prefix} among\n{routes}")) } else { Ok(()) }
    }

    /// Waits until our forwarder lists a route, as ndnd does not report its registration.
    fn wait_for_route(&self, prefix: &str) -> Result<(), String> {
        let start = Instant::now();
        let line = format!("prefix={prefix} ");
        loop {
            let routes = self.tool(&self.forwarder, &["fw", "route-list"])?;
            if routes.lines().any(|route| route.starts_with(&line)) {
                return Ok(());
            }
            if start.elapsed() > TIMEOUT {
                return Err(format!("no route for {prefix} among\n{routes}"));
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The first forwarder leaves a socket file and a broken connection to the second.
    ///
    /// Clients are new, as `NDNApp` ends with its connection, and NDNts of this version reconnects and sends
    /// nothing.
    pub(crate) fn replaced(&self, prefix: &str) -> Result<String, String> {
        let mut forwarder = Forwarder::start(self.forwarder.kind, self.forwarder.index, &self.peers)?;
        let first = self.produce(prefix, End(Library::PythonV1, Face::Tcp), &forwarder)?;
        forwarder.replace(&self.peers)?;
        drop(first);
        let second = self.produce(prefix, End(Library::PythonV1, Face::Tcp), &forwarder)?;
        self.send_tokens(&forwarder, prefix)?;
        let consumer = End(Library::PythonV2, Face::Unix);
        self.consume(prefix, consumer, &forwarder).map_err(|error| error + &second.said())
    }

    pub(crate) fn ping(&self, prefix: &str) -> Result<String, String> {
        let server = Program::start("server", &mut self.ndnd(&self.forwarder, &["pingserver", prefix]))?;
        self.wait_for_route(prefix).map_err(|error| error + &server.said())?;
        self.send_tokens(&self.forwarder, prefix)?;
        let pings = ["ping", prefix, "-c", "5", "-i", "50", "-t", "1000"];
        let said = self.tool(&self.forwarder, &pings)?;
        let sum = "5 interests transmitted, 5 received, 0% lost";
        if said.contains(sum) { Ok(sum.to_owned()) } else { Err(said + &server.said()) }
    }

    /// Discovery by prefix, versions, and segments with a window.
    pub(crate) fn object(&self, prefix: &str) -> Result<String, String> {
        let object: Vec<u8> = (0..20_000_u32).flat_map(|number| format!("{number}\n").into_bytes()).collect();
        let mut server = Program::start("server", &mut self.ndnd(&self.forwarder, &["put", prefix]))?;
        server.feed(&object)?;
        self.wait_for_route(prefix).map_err(|error| error + &server.said())?;
        self.send_tokens(&self.forwarder, prefix)?;
        let cat = Program::run("ndnd cat", &mut self.ndnd(&self.forwarder, &["cat", prefix]), TIMEOUT);
        let got = cat.map_err(|error| error + &server.said())?;
        if got == object {
            return Ok(format!("{} bytes", object.len()));
        }
        Err(format!("got {} bytes, not the {} that were published", got.len(), object.len()))
    }

    /// An object stored in a repository. Its producer has ended and the content store is empty when it is
    /// fetched.
    pub(crate) fn repo(&self, prefix: &str) -> Result<String, String> {
        let transport = self.forwarder.transport(Face::Unix);
        let folder = Dir::new().map_err(|error| format!("a folder: {error}"))?;
        let (config, database) = (folder.path().join("repo.conf"), folder.path().join("repo.db"));
        let text = format!(
            "repo_config: {{repo_name: '{prefix}/repo', register_root: false}}\n\
             db_config: {{db_type: sqlite3, sqlite3: {{path: '{}'}}}}\n\
             tcp_bulk_insert: {{addr: 127.0.0.1, port: '0', register_prefix: false, prefixes: []}}\n\
             logging_config: {{level: INFO}}\n",
            database.display()
        );
        fs::write(&config, text).map_err(|error| format!("{}: {error}", config.display()))?;
        let mut command = self.peers.python_repo(&config);
        let repo = Program::start("repository", command.env("NDN_CLIENT_TRANSPORT", &transport))?;
        self.wait_for_route(&format!("{prefix}/repo")).map_err(|error| error + &repo.said())?;
        let client = |step: &str| {
            let mut client = self.peers.python("repo_client.py");
            client.args([step, prefix]).env("NDN_CLIENT_TRANSPORT", &transport);
            Program::run(&format!("{step}, client"), &mut client, TIMEOUT)
                .map_err(|error| error + &repo.said())
        };
        client("store")?;
        self.wait_for_route(&format!("{prefix}/object")).map_err(|error| error + &repo.said())?;
        if self.forwarder.kind == Project::Hashlane {
            let mut erase = forwarder::hashlane()?;
            erase.args(["ndn", "cs", "erase", prefix, "--connect", &transport]);
            Program::run("hashlane ndn cs erase", &mut erase, TIMEOUT)?;
        }
        self.send_tokens(&self.forwarder, &format!("{prefix}/object"))?;
        client("fetch").map(self::text)
    }

    /// Management commands in order, each with text that its answer must contain.
    pub(crate) fn commands(&self, prefix: &str) -> Result<String, String> {
        // Bound until the end, so that no other program answers there.
        let unused = UdpSocket::bind(("127.0.0.1", 0)).and_then(|socket| Ok((socket.local_addr()?, socket)));
        let (address, _socket) = unused.map_err(|error| format!("a free port: {error}"))?;
        let uri = format!("udp4://{address}");
        let strategy = "/localhost/nfd/strategy/multicast";
        let (remote, face) = (format!("remote={uri}"), format!("face={uri}"));
        let (of, by) = (format!("prefix={prefix}"), format!("strategy={strategy}"));
        let list: [(&[&str], String); 12] = [
            (&["face-create", &remote], format!("Uri={uri}")),
            (&["face-list"], format!("remote={uri}")),
            (&["route-add", &of, &face, "cost=3"], "Cost=3".to_owned()),
            (&["route-list"], format!("{of} nexthop=")),
            (&["fib-list"], format!("{prefix} nexthops=")),
            (&["strategy-set", &of, &by], "Status=200".to_owned()),
            (&["strategy-list"], format!("{of} {by}")),
            (&["strategy-unset", &of], "Status=200".to_owned()),
            (&["route-remove", &of, &face], "Status=200".to_owned()),
            (&["face-destroy", &face], "Status=200".to_owned()),
            (&["cs-info"], "capacity=".to_owned()),
            (&["status"], "nInInterests=".to_owned()),
        ];
        for (words, expected) in &list {
            let words = [&["fw"], *words].concat();
            let said = self.tool(&self.forwarder, &words)?;
            if !said.contains(expected) {
                return Err(format!("ndnd {}: no {expected} in\n{said}", words.join(" ")));
            }
        }
        Ok(format!("{} commands", list.len()))
    }
}

/// A library, as a producer and as a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    /// `ndn.app`
    PythonV1,
    /// `ndn.appv2`
    PythonV2,
    Ndnts,
}

/// A program on a library, and its face to the forwarder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End(pub(crate) Library, pub(crate) Face);

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let library = match self.0 {
            Library::PythonV1 => "python-v1",
            Library::PythonV2 => "python-v2",
            Library::Ndnts => "ndnts",
        };
        let face = match self.1 {
            Face::Unix => "unix",
            Face::Tcp => "tcp",
            Face::Udp => "udp",
            Face::WebSocket => "ws",
        };
        write!(f, "{library}-{face}")
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}
