//! NDN libraries and tools of others, and our forwarder between them.
//!
//! xtask/interop/README.md says what the programs on the libraries do.

use super::forwarder::{self, Face, Forwarder, Kind};
use super::peers::{NEEDS, Peers};
use super::program::Program;
use crate::need;
use crate::run::Outcome;
use clap::Args;
use std::fmt;
use std::net::UdpSocket;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// NDN libraries and tools of others on our forwarder
///
/// A producer of one library and a consumer of another, in all pairs; tools; and a forwarder of others as a neighbour.
/// The packages are installed in the target directory, once.
#[derive(Debug, Default, Args)]
pub(crate) struct Ndn {
    /// Run the scenarios with this in their names; may be given several times
    #[arg(long, value_name = "PART")]
    only: Vec<String>,
    /// The forwarder between them: theirs shows what the programs do without ours
    #[arg(long, value_enum, value_name = "FORWARDER", default_value = "hashlane")]
    on: Kind,
}

/// How long a program may take to be ready, and a consumer to be done.
const PATIENCE: Duration = Duration::from_secs(20);
/// Scenarios at the same time. Most of them wait: for a timeout, or for a library to load.
const AT_ONCE: usize = 4;
/// In this order: ndnd loses most of a burst from an endpoint that it does not know yet, so one Interest goes first.
const CHECKS: [&str; 6] = ["leaf", "names", "big", "fresh", "timeout", "nack"];

impl Ndn {
    pub(crate) fn run(&self) -> Outcome {
        match need::meet(&NEEDS) {
            Ok(()) => self.scenarios().into(),
            Err(outcome) => outcome,
        }
    }

    fn scenarios(&self) -> Result<(), String> {
        let chosen = |scenario: &Scenario| {
            let name = scenario.to_string();
            self.only.is_empty() || self.only.iter().any(|part| name.contains(part))
        };
        let scenarios: Vec<Scenario> = Scenario::all().filter(chosen).collect();
        if scenarios.is_empty() {
            let names: Vec<String> = Scenario::all().map(|scenario| scenario.to_string()).collect();
            return Err(format!("no such scenario; there are\n{}", names.join("\n")));
        }
        let peers = Peers::install()?;
        if self.on == Kind::Hashlane {
            forwarder::build()?;
        }
        let forwarder = Forwarder::start(self.on, &peers)?;
        let neighbour = Forwarder::start(Kind::Ndnd, &peers)?;
        let bench = Bench { peers, forwarder, neighbour };
        let mut failed = bench.run(&scenarios);
        failed.extend(bench.forwarder.stop().err());
        if failed.is_empty() { Ok(()) } else { Err(format!("NDN: {}", failed.join(", "))) }
    }
}

/// A library, as a producer and as a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Library {
    /// `ndn.app`
    PythonV1,
    /// `ndn.appv2`
    PythonV2,
    Ndnts,
}

/// A program on a library, and its way to the forwarder.
#[derive(Clone, Copy, Debug)]
struct End(Library, Face);

#[derive(Debug)]
enum Scenario {
    /// A producer and a consumer on one forwarder.
    Pair {
        producer: End,
        consumer: End,
    },
    /// The same, the producer on ndnd's forwarder, behind ours.
    NeighbourProduces,
    /// The same, the consumer on ndnd's forwarder, before ours.
    NeighbourConsumes,
    /// The same, on a forwarder in the place of one that was killed while it had clients.
    Replaced,
    NdndPing,
    NdndObject,
    NdndCommands,
}

impl Scenario {
    fn all() -> impl Iterator<Item = Self> {
        use Face::{Tcp, Udp, Unix, WebSocket};
        use Library::{Ndnts, PythonV1, PythonV2};
        let libraries = [PythonV1, PythonV2, Ndnts];
        let same_face = [Unix, Tcp].into_iter().flat_map(move |face| {
            libraries.into_iter().flat_map(move |producer| {
                libraries.into_iter().map(move |consumer| (End(producer, face), End(consumer, face)))
            })
        });
        let other_faces = [
            (End(PythonV1, Unix), End(Ndnts, Udp)),
            (End(Ndnts, WebSocket), End(Ndnts, WebSocket)),
            (End(Ndnts, WebSocket), End(PythonV1, Unix)),
            (End(PythonV2, Tcp), End(Ndnts, WebSocket)),
        ];
        let pairs =
            same_face.chain(other_faces).map(|(producer, consumer)| Self::Pair { producer, consumer });
        pairs.chain([
            Self::NeighbourProduces,
            Self::NeighbourConsumes,
            Self::Replaced,
            Self::NdndPing,
            Self::NdndObject,
            Self::NdndCommands,
        ])
    }

    /// What it says where all is well.
    fn run(&self, bench: &Bench) -> Result<String, String> {
        let prefix = format!("/interop/{self}");
        let (ours, theirs) = (&bench.forwarder, &bench.neighbour);
        match self {
            Self::Pair { producer, consumer } => {
                bench.exchange(&prefix, (*producer, ours), (*consumer, ours), || Ok(()))
            }
            Self::NeighbourProduces => {
                let producer = (End(Library::PythonV1, Face::Unix), theirs);
                let consumer = (End(Library::Ndnts, Face::Unix), ours);
                bench.exchange(&prefix, producer, consumer, || bench.add_route(ours, &prefix, theirs))
            }
            Self::NeighbourConsumes => {
                let producer = (End(Library::Ndnts, Face::Unix), ours);
                let consumer = (End(Library::PythonV2, Face::Unix), theirs);
                bench.exchange(&prefix, producer, consumer, || bench.add_route(theirs, &prefix, ours))
            }
            Self::Replaced => bench.replaced(&prefix),
            Self::NdndPing => bench.ping(&prefix),
            Self::NdndObject => bench.object(&prefix),
            Self::NdndCommands => bench.commands(&prefix),
        }
    }
}

/// What stands between the ends of a scenario.
struct Bench {
    peers: Peers,
    forwarder: Forwarder,
    neighbour: Forwarder,
}

impl Bench {
    /// Runs the scenarios and prints what came of each.
    ///
    /// Returns those that failed.
    fn run(&self, scenarios: &[Scenario]) -> Vec<String> {
        let left = Mutex::new(scenarios.iter());
        let failed = Mutex::new(Vec::new());
        let work = || {
            let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some(scenario) = next() {
                let start = Instant::now();
                let result = scenario.run(self);
                let seconds = start.elapsed().as_secs_f64();
                let (mark, text) = match &result {
                    Ok(text) => ("ok", text),
                    Err(text) => ("FAILED", text),
                };
                println!("{mark:<7} {:<33} {seconds:>5.1} s  {}", scenario.to_string(), text.trim_end());
                if result.is_err() {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).push(scenario.to_string());
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(work);
            }
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a producer, calls `connect`, and has a consumer make all checks that its forwarder can pass.
    fn exchange(
        &self,
        prefix: &str,
        producer: (End, &Forwarder),
        consumer: (End, &Forwarder),
        connect: impl FnOnce() -> Result<(), String>,
    ) -> Result<String, String> {
        let producer = self.produce(prefix, producer.0, producer.1)?;
        connect()?;
        self.consume(prefix, consumer.0, consumer.1).map_err(|error| error + &producer.said())
    }

    /// A producer that has registered.
    fn produce(&self, prefix: &str, end: End, at: &Forwarder) -> Result<Program, String> {
        let mut producer = Program::start("producer", self.program("producer", end, at).arg(prefix))?;
        producer.wait_for("ready", PATIENCE)?;
        Ok(producer)
    }

    fn consume(&self, prefix: &str, end: End, at: &Forwarder) -> Result<String, String> {
        let mut command = self.program("consumer", end, at);
        // The forwarder of ndnd sends no Nacks.
        let checks = CHECKS.iter().filter(|check| at.kind == Kind::Hashlane || **check != "nack");
        Program::run("consumer", command.arg(prefix).args(checks), PATIENCE).map(text)
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
        Program::run(&name, &mut self.ndnd(at, words), PATIENCE).map(text)
    }

    fn add_route(&self, at: &Forwarder, prefix: &str, to: &Forwarder) -> Result<(), String> {
        let (prefix, face) = (format!("prefix={prefix}"), format!("face={}", to.uri()));
        self.tool(at, &["fw", "route-add", &prefix, &face]).map(drop)
    }

    /// Waits until our forwarder lists a route: ndnd does not say when it has registered.
    fn wait_for_route(&self, prefix: &str) -> Result<(), String> {
        let start = Instant::now();
        let line = format!("prefix={prefix} ");
        loop {
            let routes = self.tool(&self.forwarder, &["fw", "route-list"])?;
            if routes.lines().any(|route| route.starts_with(&line)) {
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                return Err(format!("no route for {prefix} among\n{routes}"));
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// What is left of the first forwarder is in the way of the second: a socket, and a connection not closed in order.
    ///
    /// The clients are new: `NDNApp` ends with its connection, and NDNts of this version connects again and sends nothing.
    fn replaced(&self, prefix: &str) -> Result<String, String> {
        let mut forwarder = Forwarder::start(self.forwarder.kind, &self.peers)?;
        let first = self.produce(prefix, End(Library::PythonV1, Face::Tcp), &forwarder)?;
        forwarder.replace(&self.peers)?;
        drop(first);
        let second = self.produce(prefix, End(Library::PythonV1, Face::Tcp), &forwarder)?;
        let consumer = End(Library::PythonV2, Face::Unix);
        self.consume(prefix, consumer, &forwarder).map_err(|error| error + &second.said())
    }

    fn ping(&self, prefix: &str) -> Result<String, String> {
        let server = Program::start("server", &mut self.ndnd(&self.forwarder, &["pingserver", prefix]))?;
        self.wait_for_route(prefix).map_err(|error| error + &server.said())?;
        let pings = ["ping", prefix, "-c", "5", "-i", "50", "-t", "1000"];
        let said = self.tool(&self.forwarder, &pings)?;
        let sum = "5 interests transmitted, 5 received, 0% lost";
        if said.contains(sum) { Ok(sum.to_owned()) } else { Err(said + &server.said()) }
    }

    /// Names that are found by a prefix, versions, and segments with a window.
    fn object(&self, prefix: &str) -> Result<String, String> {
        let object: Vec<u8> = (0..20_000_u32).flat_map(|number| format!("{number}\n").into_bytes()).collect();
        let mut server = Program::start("server", &mut self.ndnd(&self.forwarder, &["put", prefix]))?;
        server.feed(&object)?;
        self.wait_for_route(prefix).map_err(|error| error + &server.said())?;
        let cat = Program::run("ndnd cat", &mut self.ndnd(&self.forwarder, &["cat", prefix]), PATIENCE);
        let came = cat.map_err(|error| error + &server.said())?;
        if came == object {
            return Ok(format!("{} octets", object.len()));
        }
        Err(format!("{} octets came, and not the {} that were put", came.len(), object.len()))
    }

    /// Management, one command after the other; each with what it must say.
    fn commands(&self, prefix: &str) -> Result<String, String> {
        // Held to the end, so that nobody answers there.
        let nobody = UdpSocket::bind(("127.0.0.1", 0)).and_then(|socket| Ok((socket.local_addr()?, socket)));
        let (address, _socket) = nobody.map_err(|error| format!("a free port: {error}"))?;
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

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

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

/// A component of a name, too.
impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pair { producer, consumer } => write!(f, "{producer}-to-{consumer}"),
            Self::NeighbourProduces => write!(f, "neighbour-produces"),
            Self::NeighbourConsumes => write!(f, "neighbour-consumes"),
            Self::Replaced => write!(f, "forwarder-replaced"),
            Self::NdndPing => write!(f, "ndnd-ping"),
            Self::NdndObject => write!(f, "ndnd-object"),
            Self::NdndCommands => write!(f, "ndnd-commands"),
        }
    }
}
