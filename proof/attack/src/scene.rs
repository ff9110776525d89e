//! A forwarder, its innocents, and the phases of one attack on it.

use crate::forwarder::{Program, Running, Settings};
use crate::innocents::{Asker, Clock, Ending, Innocents, PREFIX, Producer, Question, Way};
use crate::network::{Host, Mac, Network};
use crate::packets;
use crate::session::{Answer, LIFETIME, Session};
use crate::verdict::{Check, Criteria, Line, Phase};
use crate::watch::Watch;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Time after an attack in which innocents may still lose something.
const SETTLING: Duration = Duration::from_secs(2);

/// Time limit for a producer to be reached, and for one attempt.
const TIMEOUT: Duration = Duration::from_secs(60);
const AGAIN: Duration = Duration::from_secs(1);

/// The innocent on the Ethernet of the attacker.
pub(crate) const ETHERNET: &str = "Ethernet neighbour";

/// Everything that the rows share.
pub(crate) struct Testbed {
    pub(crate) network: Arc<Network>,
    pub(crate) program: Program,
    /// Our own command, for rows that attack its clients.
    pub(crate) hashlane: Program,
    pub(crate) quick: bool,
}

impl Testbed {
    /// `quick` in the quick form, else `full`.
    pub(crate) fn pick<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    pub(crate) fn start(&self, settings: Settings) -> Result<Running, String> {
        Running::start(&self.network, &self.program, settings)
    }

    /// Way of a host to a forwarder's UDP port, from the host's own address.
    pub(crate) fn udp(&self, running: &Running, place: Host) -> Way {
        Way::Udp { from: self.network.own(place), to: running.udp(self.network.forwarder(place)) }
    }

    /// Calls `work` on the attacker's host.
    pub(crate) fn attack<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T, String> + Send,
    ) -> Result<T, String> {
        self.network.inside(Host::Attacker, work)
    }
}

/// Waits until Interests reach the producer: some forwarders answer a registration before it holds.
fn wait_for_producer(socket: &Path) -> Result<(), String> {
    let (begun, mut session) = (Instant::now(), Session::unix(socket)?);
    for number in 0.. {
        let name = packets::name(&format!("{PREFIX}/ready/{number}"))?;
        if let Answer::Data(_) = session.ask(&packets::interest(&name, LIFETIME), AGAIN)? {
            return Ok(());
        }
        if begun.elapsed() > TIMEOUT {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    Err(format!("no Interest reaches the producer in {} s", TIMEOUT.as_secs()))
}

/// Innocents of a scene.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cast {
    /// Interests a second of the local client, and of each neighbour.
    pub(crate) rate: u32,
    /// True for a neighbour over WebSocket, too.
    pub(crate) web_socket: bool,
    /// Address of the forwarder on the Ethernet, for a neighbour there, too.
    pub(crate) ethernet: Option<Mac>,
    /// Dataset that the management is asked for.
    pub(crate) list: &'static str,
}

impl Cast {
    pub(crate) const USUAL: Self =
        Self { rate: 100, web_socket: false, ethernet: None, list: "status/general" };
}

/// A forwarder whose innocents are being served.
pub(crate) struct Scene<'a> {
    pub(crate) bench: &'a Testbed,
    pub(crate) running: Running,
    // Stops when dropped, after the innocents.
    _producer: Producer,
    clock: Ending,
    innocents: Innocents,
    watch: Watch,
}

impl<'a> Scene<'a> {
    /// Starts a forwarder and the innocents, and lets them ask for a while.
    pub(crate) fn open(bench: &'a Testbed, settings: Settings, cast: Cast) -> Result<Self, String> {
        Self::around(bench, bench.start(settings)?, cast)
    }

    /// Starts the innocents of a forwarder that runs.
    pub(crate) fn around(bench: &'a Testbed, running: Running, cast: Cast) -> Result<Self, String> {
        let clock = Clock::default();
        let socket = running.socket();
        let _producer = Producer::start(&socket)?;
        wait_for_producer(&socket)?;
        let (network, mut innocents) = (&bench.network, Innocents::default());
        let unix = || Way::Unix(socket.clone());
        let mut ask = |who, place, way, rate, question| {
            innocents.add(Asker { who, place, way, rate, question }, network, &clock);
        };
        ask("local", Host::Forwarder, unix(), cast.rate, Question::of("local"));
        let far = bench.udp(&running, Host::Neighbour);
        ask("neighbour", Host::Neighbour, far.clone(), cast.rate, Question::of("neighbour"));
        ask("management", Host::Forwarder, unix(), 10, Question::List(cast.list));
        if cast.web_socket {
            let way = Way::WebSocket(running.web_socket(network.forwarder(Host::Neighbour)));
            ask("WebSocket", Host::Neighbour, way, cast.rate, Question::of("websocket"));
        }
        if let Some(to) = cast.ethernet {
            ask(ETHERNET, Host::Attacker, Way::Ethernet(to), cast.rate, Question::of("ethernet"));
        }
        innocents.add_newcomers("new Unix client", Host::Forwarder, unix(), network, &clock);
        innocents.add_newcomers("new UDP peer", Host::Neighbour, far, network, &clock);
        let watch = Watch::start(running.pid(), clock.clone());
        thread::sleep(bench.pick(Duration::from_millis(700), Duration::from_secs(2)));
        Ok(Self { bench, running, _producer, clock: Ending(clock), innocents, watch })
    }

    /// Begins the attack.
    pub(crate) fn begin(&self) {
        self.clock.0.set(Phase::During);
    }

    /// Ends the attack, waits for the service to settle, and measures what comes after.
    pub(crate) fn calm(&self) {
        self.clock.0.set(Phase::Settling);
        thread::sleep(SETTLING);
        self.clock.0.set(Phase::After);
        thread::sleep(self.bench.pick(Duration::from_millis(1000), Duration::from_secs(3)));
    }

    /// Opens a separate connection to the management.
    pub(crate) fn session(&self) -> Result<Session, String> {
        Session::unix(&self.running.socket())
    }

    /// Waits until `done`, at most `limit`. Returns the time it took.
    pub(crate) fn wait_until(&self, limit: Duration, mut done: impl FnMut() -> bool) -> Option<Duration> {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            if done() {
                return Some(begun.elapsed());
            }
            thread::sleep(Duration::from_millis(100));
        }
        None
    }

    /// Ends the scene. `checks` are the row's own.
    pub(crate) fn close(
        mut self,
        id: &str,
        attack: &str,
        criteria: Criteria,
        mut checks: Vec<Check>,
    ) -> Result<Line, String> {
        self.clock.0.set(Phase::End);
        let services = self.innocents.finish()?;
        let [rss, fds] = self.watch.finish()?;
        if let Some(status) = self.running.ended()? {
            checks.push(Check::new(false, format!("the forwarder ended: {status}")));
        }
        checks.extend(criteria.check(&services));
        Ok(Line { services, rss, fds, ..Line::of(id, attack, checks) })
    }
}
