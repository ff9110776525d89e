//! NDN libraries and tools of other projects, with our forwarder between them.
//!
//! proof/interop/README.md describes the programs on the libraries.

use super::bench::{End, ForwarderChain, Library};
use super::forwarder::{self, Face, Forwarder, Index, Project};
use super::peers::{NEEDS, Peers};
use crate::need;
use crate::run::Outcome;
use clap::Args;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// Run NDN libraries and tools of other projects on our forwarder
///
/// Runs a producer of one library with a consumer of another, in all pairs; tools; and a forwarder of another
/// project as a neighbour. The packages are installed in the target directory, once.
#[derive(Debug, Default, Args)]
pub(crate) struct Ndn {
    /// Run only scenarios whose names contain PART (repeatable)
    #[arg(long, value_name = "PART")]
    only: Vec<String>,
    /// Forwarder between the programs; ndnd shows their behaviour without ours
    #[arg(long, value_enum, value_name = "FORWARDER", default_value = "hashlane")]
    on: Project,
    /// Index of our PIT
    #[arg(long, value_enum, value_name = "INDEX", default_value = "name")]
    index: Index,
}

/// Scenarios in parallel. Most of them wait, for a timeout or for a library to load.
const AT_ONCE: usize = 4;

impl Ndn {
    pub(crate) fn run(&self) -> Outcome {
        match need::meet(&NEEDS) {
            Ok(()) => self.scenarios().into(),
            Err(outcome) => outcome,
        }
    }

    /// All scenarios under the index by name. Under the others either all, or the ones that differ in the
    /// header fields that come back: no fields, a library's, a neighbour's.
    pub(crate) fn all(under_every_index: bool) -> Outcome {
        let few = ["python-v1-unix-to-python-v2-unix", "ndnts-unix-to-ndnts-unix", "neighbour"];
        let only = if under_every_index { Vec::new() } else { few.map(str::to_owned).to_vec() };
        let others =
            [Index::Digest, Index::Token].map(|index| Self { only: only.clone(), index, ..Self::default() });
        match need::meet(&NEEDS) {
            Ok(()) => [Self::default()].iter().chain(&others).try_for_each(Self::scenarios).into(),
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
            return Err(format!("no such scenario; the scenarios are\n{}", names.join("\n")));
        }
        let peers = Peers::install()?;
        if self.on == Project::Hashlane {
            forwarder::build()?;
        }
        let forwarder = Forwarder::start(self.on, self.index, &peers)?;
        let neighbour = Forwarder::start(Project::Ndnd, Index::Name, &peers)?;
        let bench = ForwarderChain { peers, forwarder, neighbour };
        if scenarios.iter().any(Scenario::has_neighbour) {
            // ndnd has a face from our first datagram, and closes it when a command creates one to the same
            // address: a scenario that runs at that time would lose Data.
            bench.add_route(&bench.neighbour, "/interop/link", &bench.forwarder)?;
        }
        let mut failed = run(&bench, &scenarios);
        if !failed.is_empty() {
            print!("{}{}", bench.forwarder.said(), bench.neighbour.said());
        }
        failed.extend(bench.forwarder.stop().err());
        if failed.is_empty() {
            Ok(())
        } else {
            Err(format!("NDN, by {:?}: {}", self.index, failed.join(", ")))
        }
    }
}

#[derive(Debug)]
enum Scenario {
    /// A producer and a consumer on one forwarder.
    Pair {
        producer: End,
        consumer: End,
    },
    /// A pair with the producer on ndnd's forwarder, behind ours.
    NeighbourProduces,
    /// A pair with the consumer on ndnd's forwarder, before ours.
    NeighbourConsumes,
    /// A pair on a forwarder that replaces one that was killed while it had clients.
    Replaced,
    NdndPing,
    NdndObject,
    NdndCommands,
    /// A repository stores an object, and answers for its producer, which has ended.
    PythonRepo,
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
            Self::PythonRepo,
        ])
    }

    /// True for a scenario between our forwarder and ndnd's.
    fn has_neighbour(&self) -> bool {
        matches!(self, Self::NeighbourProduces | Self::NeighbourConsumes)
    }

    /// Runs the scenario. Returns the summary of its programs.
    fn run(&self, bench: &ForwarderChain) -> Result<String, String> {
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
            Self::PythonRepo => bench.repo(&prefix),
        }
    }
}

/// Runs the scenarios and prints the outcome of each. Returns those that failed.
fn run(bench: &ForwarderChain, scenarios: &[Scenario]) -> Vec<String> {
    let left = Mutex::new(scenarios.iter());
    let failed = Mutex::new(Vec::new());
    let work = || {
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some(scenario) = next() {
            let start = Instant::now();
            let result = scenario.run(bench);
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

/// The name of the scenario, which is also a valid name component.
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
            Self::PythonRepo => write!(f, "python-repo"),
        }
    }
}
