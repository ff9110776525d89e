//! The thread of the load: consumers ask, producers answer, until the time is up.

use super::forwarders::Running;
use super::network::{Network, Side};
use super::port::{Batches, Out, Port, connect};
use super::process::Process;
use super::template::Template;
use super::turn::{Reading, Rtt};
use super::window::{Counts, Window};
use super::{Index, Link, LoadError, Tables, Workload, control, routes};
use hashlane_ndn::wire::lp::{DigestField, INTEREST_DIGEST};
use hashlane_ndn::wire::{Data, DigestFunction, Interest, LpHeader, LpPacket};
use mio::{Events, Poll, Token};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Amount and duration of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Pairs of a consumer and a producer.
    pub pairs: usize,
    /// Most unanswered Interests of a consumer.
    pub window: usize,
    /// Time under load before anything is measured.
    pub warm_up: Duration,
    /// Time that is measured; more where no exchange was done in it.
    pub measured: Duration,
    /// Interests that each consumer sends in a second, whatever comes back; without it, as many as its window
    /// lets it.
    pub pace: Option<u32>,
}

impl Plan {
    /// 16 pairs with 16 Interests each, measured for so long.
    pub fn lasting(measured: Duration) -> Self {
        let warm_up = (measured * 3 / 10).clamp(Duration::from_millis(10), Duration::from_millis(800));
        Self { pairs: 16, window: 16, warm_up, measured, pace: None }
    }

    /// As [`lasting`](Self::lasting), where each consumer sends so many Interests in a second.
    pub fn paced(measured: Duration, pace: u32) -> Self {
        // As many as it sends until one is lost.
        let window = (pace as usize * LOST.as_secs() as usize).max(16);
        Self { window, pace: Some(pace.max(1)), ..Self::lasting(measured) }
    }

    /// Interests that all consumers are to send in so long a time; as many as they can where there is no
    /// pace.
    pub fn offered(&self, time: Duration) -> Option<f64> {
        self.pace.map(|pace| f64::from(pace) * self.pairs as f64 * time.as_secs_f64())
    }
}

/// When an Interest is given up; before that it is merely late.
const LOST: Duration = Duration::from_secs(1);
/// The same until the routes are known to work.
const LOST_AT_FIRST: Duration = Duration::from_millis(50);
/// Timeout until a forwarder listens, until all pairs exchange packets, and until it has taken the pending
/// Interests.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
/// Lifetime of Interests, in milliseconds: NDN's default, and for those that are to pend longer than any run.
const LIFETIME: u64 = hashlane_ndn::wire::interest::DEFAULT_LIFETIME;
const LONG_LIFETIME: u64 = 300_000;
/// Interests that are sent before it is looked how many have arrived.
const FLOOD_STEP: usize = 256;
/// Time between two looks at how full the content store is.
const FILL_STEP: Duration = Duration::from_millis(20);

/// A consumer and its producer.
struct Pair {
    template: Template,
    window: Window,
    /// Index of the forwarder's PIT, if it is chosen.
    index: Option<Index>,
    /// Function that digests Interests, if they are digested.
    digests: Option<DigestFunction>,
    paced: bool,
    /// When the next Interest is due, of a load with a pace.
    due: Instant,
    /// Round-trip times of Interests in nanoseconds, of a load with a pace.
    waited: Vec<u32>,
    /// Interests that reached the producer without the field that the index needs back.
    bare: u64,
}

pub(super) struct Drive<'a> {
    workload: &'a Workload,
    plan: &'a Plan,
    index: Option<Index>,
    /// `true` if the load has a core of its own and need not sleep.
    apart: bool,
    stop: &'a AtomicBool,
    pairs: Vec<Pair>,
    /// Of the pair `i` the consumer at `2 i`, the producer at `2 i + 1`. Behind them, where there are to be
    /// pending Interests, the consumer and the producer of those.
    ports: Vec<Port>,
    poll: Poll,
    batches: Batches,
}

impl<'a> Drive<'a> {
    pub(super) fn new(
        workload: &'a Workload,
        plan: &'a Plan,
        index: Option<Index>,
        apart: bool,
        stop: &'a AtomicBool,
    ) -> Result<Self, LoadError> {
        let pair = |number| {
            let template = match workload.tables.map(|tables| tables.share(number, plan.pairs)) {
                None => Template::new(workload.names, number, LIFETIME)?,
                Some(prefixes) => Template::spread(workload.names, number, LIFETIME, prefixes)?,
            };
            Some(Pair {
                template,
                window: Window::new(plan.window),
                index,
                digests: index.and_then(Index::digests),
                paced: plan.pace.is_some(),
                due: Instant::now(),
                waited: Vec::new(),
                bare: 0,
            })
        };
        let pairs = (0..plan.pairs).map(pair).collect::<Option<Vec<_>>>();
        let pairs =
            pairs.ok_or_else(|| LoadError::Forwarder("no packets have names of this shape".into()))?;
        let poll = Poll::new().map_err(|error| LoadError::Io("cannot wait for sockets", error))?;
        Ok(Self {
            workload,
            plan,
            index,
            apart,
            stop,
            pairs,
            ports: Vec::new(),
            poll,
            batches: Batches::new(),
        })
    }

    /// Consumers and producers, one after the other, and those of the pending Interests.
    fn count(&self) -> usize {
        2 * (self.pairs.len() + usize::from(self.workload.pending > 0))
    }

    /// Opens the sockets of all consumers and producers. They are opened before the forwarder starts: a relay
    /// must know them, and a port assigned to a forwarder is then none of theirs.
    pub(super) fn open_udp(&mut self, network: Option<&Network>) -> Result<(), LoadError> {
        let failed = |error| LoadError::Io("cannot open UDP sockets", error);
        for at in 0..self.count() {
            let side = if at % 2 == 0 { Side::Consumers } else { Side::Producers };
            let port = match network {
                None => Port::udp(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST),
                Some(network) => {
                    let [own, router] = side.addresses();
                    network.on(side, || Port::udp(own, router))?
                }
            };
            self.ports.push(port.map_err(failed)?);
        }
        Ok(())
    }

    /// The addresses of each pair.
    pub(super) fn partners(&self) -> Vec<(SocketAddr, SocketAddr)> {
        let pairs = self.ports.chunks_exact(2);
        pairs.filter_map(|pair| Some((pair.first()?.address()?, pair.last()?.address()?))).collect()
    }

    /// Waits until a forwarder listens, asks for its UDP port where it chose that, connects, and registers
    /// the prefixes of the producers. A relay has no prefixes.
    pub(super) fn connect(&mut self, running: &mut Running) -> Result<(), LoadError> {
        let Some(socket) = &running.socket.clone() else {
            let port = running.relay_port(|| self.check_stop())?;
            self.ports.iter_mut().for_each(|ours| ours.set_forwarder(port));
            return Ok(());
        };
        let process = &mut running.process;
        let begun = Instant::now();
        let mut control = loop {
            match connect(socket) {
                Ok(stream) => break stream,
                Err(_) if begun.elapsed() < PATIENCE => {}
                Err(error) => return Err(error),
            }
            process.check()?;
            self.check_stop()?;
            std::thread::sleep(Duration::from_millis(2));
        };
        if self.workload.link != Link::Unix {
            let port = match running.port {
                Some(port) => port,
                None => control::udp_port(&mut control)?,
            };
            self.ports.iter_mut().for_each(|ours| ours.set_forwarder(port));
        }
        for at in 0..self.count() {
            let is_producer = at % 2 == 1;
            let silent;
            let template = match self.pairs.get(at / 2) {
                Some(pair) => &pair.template,
                None => {
                    silent = self.silent()?;
                    &silent
                }
            };
            match (self.workload.link, self.ports.get(at).and_then(Port::address)) {
                (Link::Udp | Link::Netns, Some(address)) => {
                    if is_producer {
                        let face = control::create_face(&mut control, address)?;
                        self.route(&mut control, template, Some(face))?;
                        if self.index == Some(Index::Token) {
                            control::give_tokens(&mut control, Some(face))?;
                        }
                    }
                }
                _ => {
                    let mut stream = connect(socket)?;
                    if is_producer {
                        self.route(&mut stream, template, None)?;
                        if self.index == Some(Index::Token) {
                            control::give_tokens(&mut stream, None)?;
                        }
                    }
                    let failed = |error| LoadError::Io("cannot use a connection to the forwarder", error);
                    self.ports.push(Port::unix(stream).map_err(failed)?);
                }
            }
        }
        Ok(())
    }

    /// Lets Interests for the names of `template` come over `face`, or over `stream` itself.
    fn route(
        &self,
        stream: &mut UnixStream,
        template: &Template,
        face: Option<u64>,
    ) -> Result<(), LoadError> {
        match template.is_spread() {
            true => routes::add_next_hops(stream, template.prefixes(), face, || self.check_stop()),
            false => control::register(stream, template.prefix(), face),
        }
    }

    /// The packets of the pair whose producer never answers.
    fn silent(&self) -> Result<Template, LoadError> {
        Template::new(self.workload.names, self.pairs.len(), LONG_LIFETIME)
            .ok_or_else(|| LoadError::Forwarder("no packets have names of this shape".into()))
    }

    fn check_stop(&self) -> Result<(), LoadError> {
        if self.stop.load(Ordering::Relaxed) { Err(LoadError::Stopped) } else { Ok(()) }
    }

    /// Puts the load on a forwarder, and measures it.
    pub(super) fn run(&mut self, running: &mut Running) -> Result<Reading, LoadError> {
        let Running { process, socket, .. } = running;
        let registry = self.poll.registry();
        for (at, port) in self.ports.iter_mut().enumerate() {
            port.register(registry, Token(at))
                .map_err(|error| LoadError::Io("cannot wait for a socket", error))?;
        }
        let mut events = Events::with_capacity(256);
        if self.workload.pending > 0 {
            self.flood(&mut events, process)?;
        }
        // One Interest each, until all have been answered once: a forwarder may lose those that arrive before
        // a face is up.
        let begun = Instant::now();
        (0..self.pairs.len()).try_for_each(|at| self.ask(at, 1))?;
        while self.pairs.iter().any(|pair| pair.window.counts.answered == 0) {
            self.round(&mut events, LOST_AT_FIRST)?;
            process.check()?;
            if begun.elapsed() > PATIENCE {
                return Err(process.failed("the forwarder brings no Data to some of the consumers"));
            }
        }
        let bare: u64 = self.pairs.iter().map(|pair| pair.bare).sum();
        if bare > 0 {
            return Err(process.failed("the forwarder sends Interests without what it is to find them by"));
        }
        self.set_due(Instant::now());
        if let (Some(tables), Some(socket)) = (self.workload.tables, socket) {
            self.fill_store(tables, &mut events, process)?;
            self.check_tables(tables, socket)?;
        }
        self.go_on(&mut events, Instant::now() + self.plan.warm_up)?;
        self.pairs.iter_mut().for_each(|pair| pair.waited.clear());
        let (start, cpu, counts) = (Instant::now(), process.cpu()?, self.counts());
        self.go_on(&mut events, start + self.plan.measured)?;
        // A forwarder that found no core in so short a time gets more.
        while self.counts().since(counts).answered == 0 {
            process.check()?;
            if start.elapsed() > self.plan.measured + PATIENCE {
                return Err(process.failed("no exchange was done in the measured time"));
            }
            self.go_on(&mut events, Instant::now() + IDLE)?;
        }
        let waited: Vec<u32> = self.pairs.iter().flat_map(|pair| &pair.waited).copied().collect();
        let reading = Reading {
            rtt: Rtt::of(&waited),
            time: start.elapsed(),
            cpu: process.cpu()?.saturating_sub(cpu),
            counts: self.counts().since(counts),
            cores_apart: false,
        };
        process.check()?;
        Ok(reading)
    }

    fn counts(&self) -> Counts {
        self.pairs.iter().fold(Counts::default(), |sum, pair| sum.plus(pair.window.counts))
    }

    fn go_on(&mut self, events: &mut Events, until: Instant) -> Result<(), LoadError> {
        loop {
            let now = Instant::now();
            if now >= until {
                return Ok(());
            }
            self.ask_what_is_due(now)?;
            self.round(events, LOST)?;
        }
    }

    /// Interval between two Interests of each consumer.
    fn interval(&self) -> Option<Duration> {
        self.plan.pace.map(|pace| Duration::from_secs(1) / pace)
    }

    /// Lets the consumers of a load with a pace begin, one after the other within one interval.
    fn set_due(&mut self, now: Instant) {
        let Some(interval) = self.interval() else { return };
        let count = self.pairs.len().max(1) as u32;
        for (pair, at) in self.pairs.iter_mut().zip(0..) {
            pair.due = now + interval * at / count;
        }
    }

    /// Sends the Interests that are due, of a load with a pace.
    fn ask_what_is_due(&mut self, now: Instant) -> Result<(), LoadError> {
        let Some(interval) = self.interval() else { return Ok(()) };
        for at in 0..self.pairs.len() {
            let Some(pair) = self.pairs.get_mut(at) else { break };
            let mut due = 0;
            while pair.due <= now {
                pair.due += interval;
                due += 1;
            }
            if due > 0 {
                self.ask(at, due)?;
            }
        }
        Ok(())
    }

    /// Sends Interests of the consumer of a pair, `most` of them as far as its window has room.
    fn ask(&mut self, at: usize, most: usize) -> Result<(), LoadError> {
        let now = Instant::now();
        let (Some(pair), Some(port)) = (self.pairs.get_mut(at), self.ports.get_mut(2 * at)) else {
            return Ok(());
        };
        port.send(&mut self.batches, |out| pair.ask(now, most, out))
    }

    /// Processes arrived packets, and gives up Interests older than `patience`.
    fn round(&mut self, events: &mut Events, patience: Duration) -> Result<(), LoadError> {
        self.check_stop()?;
        // The kernel's shortest sleep is longer than the pace allows, and waking a sleeping load for each
        // packet would be most of the CPU time charged to the forwarder.
        let longest = match self.plan.pace {
            Some(_) if self.apart => Duration::ZERO,
            None if self.apart && self.plan.window == 1 => Duration::ZERO,
            Some(_) => Duration::from_millis(1),
            None => IDLE,
        };
        wait(&mut self.poll, events, longest)?;
        let now = Instant::now();
        let Self { pairs, ports, batches, .. } = self;
        for event in &*events {
            let Token(at) = event.token();
            let (Some(port), Some(pair)) = (ports.get_mut(at), pairs.get_mut(at / 2)) else { continue };
            match at % 2 {
                0 => port.receive(batches, |packet, out| pair.consume(packet, now, out))?,
                _ => port.receive(batches, |packet, out| pair.produce(packet, out))?,
            }
        }
        for at in 0..self.pairs.len() {
            let lost = self.pairs.get_mut(at).map_or(0, |pair| pair.window.give_up(now, patience));
            if lost > 0 && (self.plan.pace.is_none() || patience == LOST_AT_FIRST) {
                self.ask(at, lost)?;
            }
        }
        Ok(())
    }

    /// Exchanges packets until the content store has had as many as it holds.
    fn fill_store(
        &mut self,
        tables: Tables,
        events: &mut Events,
        process: &mut Process,
    ) -> Result<(), LoadError> {
        let (mut answered, mut last) = (0, Instant::now());
        while answered < tables.packets as u64 {
            self.go_on(events, Instant::now() + FILL_STEP)?;
            process.check()?;
            let before = answered;
            answered = self.counts().answered;
            if answered > before {
                last = Instant::now();
            } else if last.elapsed() > PATIENCE {
                return Err(
                    process.failed(&format!("the content store was filled with {answered} packets only"))
                );
            }
        }
        Ok(())
    }

    /// Fails unless the forwarder reports tables as large as the workload's.
    fn check_tables(&self, tables: Tables, socket: &Path) -> Result<(), LoadError> {
        let status = control::status(&mut connect(socket)?)?;
        for (table, entries, least) in [
            ("FIB", status.fib_entries, tables.prefixes),
            ("PIT", status.pit_entries, self.workload.pending),
            ("content store", status.cs_entries, tables.packets),
        ] {
            if entries < least as u64 {
                return Err(LoadError::Forwarder(format!(
                    "the {table} has {entries} entries, but the workload needs {least}"
                )));
            }
        }
        Ok(())
    }

    /// Sends the Interests that stay pending, no faster than they arrive at the producer.
    fn flood(&mut self, events: &mut Events, process: &mut Process) -> Result<(), LoadError> {
        let mut template = self.silent()?;
        let (consumer, producer) = (2 * self.pairs.len(), 2 * self.pairs.len() + 1);
        let (mut sent, mut arrived) = (0, 0);
        let mut last = Instant::now();
        while arrived < self.workload.pending {
            if sent == arrived && sent < self.workload.pending {
                let end = (sent + FLOOD_STEP).min(self.workload.pending);
                let Some(port) = self.ports.get_mut(consumer) else { break };
                port.send(&mut self.batches, |out| {
                    (sent..end).try_for_each(|number| out.push(&[template.interest(number as u64)]))
                })?;
                sent = end;
            }
            self.check_stop()?;
            wait(&mut self.poll, events, IDLE)?;
            for at in [producer, consumer] {
                let Some(port) = self.ports.get_mut(at) else { break };
                let before = arrived;
                port.receive(&mut self.batches, |_, _| {
                    arrived += usize::from(at == producer);
                    Ok(())
                })?;
                if arrived > before {
                    last = Instant::now();
                }
            }
            process.check()?;
            if last.elapsed() > PATIENCE {
                return Err(
                    process.failed(&format!("of {sent} Interests that are to pend {arrived} arrived"))
                );
            }
        }
        Ok(())
    }
}

/// For how long packets are waited for: then there may be something to give up, or an end.
const IDLE: Duration = Duration::from_millis(5);

/// Waits for packets.
fn wait(poll: &mut Poll, events: &mut Events, longest: Duration) -> Result<(), LoadError> {
    match poll.poll(events, Some(longest)) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => {
            Err(LoadError::Io("cannot wait for sockets", error))
        }
        _ => Ok(()),
    }
}

impl Pair {
    fn ask(&mut self, now: Instant, most: usize, out: &mut Out<'_>) -> io::Result<()> {
        for _ in 0..most {
            let Some(number) = self.window.ask(now) else { break };
            let interest = self.template.interest(number);
            match self.digests {
                None => out.push(&[interest])?,
                Some(function) => {
                    // A template's packets are right.
                    let Ok(parsed) = Interest::parse(interest) else { break };
                    let digest = function.digest(&parsed);
                    let digest = DigestField::new(INTEREST_DIGEST, digest.as_bytes());
                    let header = LpHeader { digest, ..LpHeader::default() };
                    out.push(&[header.frame(interest.len()).as_bytes(), interest])?;
                }
            }
        }
        Ok(())
    }

    /// Handles a packet that arrived at the consumer, and refills its window.
    fn consume(&mut self, packet: &[u8], now: Instant, out: &mut Out<'_>) -> io::Result<()> {
        let number = LpPacket::parse(packet)
            .ok()
            .filter(|packet| packet.header.nack.is_none())
            // A consumer that asked by digest requires that digest in the answer.
            .filter(|packet| self.digests.is_none() || !packet.header.digest.of(INTEREST_DIGEST).is_empty())
            .and_then(|packet| Data::parse(packet.fragment).ok())
            .and_then(|data| self.template.number(data.name_bytes()));
        // An unrequested Data must not widen the window.
        match self.window.answer(number) {
            Some(asked) if self.paced => {
                let waited = asked.elapsed().as_nanos();
                self.waited.push(u32::try_from(waited).unwrap_or(u32::MAX));
            }
            Some(_) => self.ask(now, usize::MAX, out)?,
            None => {}
        }
        Ok(())
    }

    /// Handles a packet that arrived at the producer: answers an Interest for its names, with the Interest's
    /// token and digest.
    fn produce(&mut self, packet: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        let Ok(LpPacket { header, fragment }) = LpPacket::parse(packet) else { return Ok(()) };
        let interest = Interest::parse(fragment).ok();
        let number = interest.and_then(|interest| self.template.number(interest.name_bytes()));
        let Some(number) = number else { return Ok(()) };
        let data = self.template.data(number);
        let LpHeader { pit_token, digest, .. } = header;
        self.bare += u64::from(match self.index {
            Some(Index::Token) => pit_token.is_empty(),
            Some(Index::Digest | Index::DigestOne) => digest.of(INTEREST_DIGEST).is_empty(),
            Some(Index::Name) | None => false,
        });
        // The token and digest of the Interest go back with its Data.
        let header = LpHeader { pit_token, digest, ..LpHeader::default() };
        out.push(&[header.frame(data.len()).as_bytes(), data])
    }
}
