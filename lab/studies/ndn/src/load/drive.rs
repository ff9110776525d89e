//! The thread of the load: consumers ask, producers answer, until the time is up.

mod connect;
mod fill;

use super::forwarders::Running;
use super::index::Index;
use super::pair::Pair;
use super::plan::{LOST, Plan, TIMEOUT};
use super::port::{Batches, Port};
use super::reading::{Reading, Rtt};
use super::template::Template;
use super::window::{Counts, Window};
use super::workload::Workload;
use hashlane_lab::study::{Child, TurnError};
use hashlane_rig::proc;
use mio::{Events, Poll, Token};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Age at which an Interest is given up until the routes are known to work.
const LOST_AT_FIRST: Duration = Duration::from_millis(50);
/// Lifetime of Interests, in milliseconds: NDN's default, and for those that are to pend longer than any run.
const LIFETIME: u64 = hashlane_ndn::wire::interest::DEFAULT_LIFETIME;
const LONG_LIFETIME: u64 = 300_000;
/// A load under way.
pub(super) struct Drive<'a> {
    workload: &'a Workload,
    plan: &'a Plan,
    index: Option<Index>,
    /// `true` if the load has a core to itself and need not sleep.
    apart: bool,
    stop: &'a AtomicBool,
    pairs: Vec<Pair>,
    /// Ports: the consumer of pair `i` at `2 i`, its producer at `2 i + 1`. If the workload has pending
    /// Interests, their consumer and producer are last.
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
    ) -> Result<Self, TurnError> {
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
        let pairs = pairs.ok_or_else(|| TurnError::Failed("no packets have names of this shape".into()))?;
        let poll = Poll::new().map_err(TurnError::io("cannot wait for sockets"))?;
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

    /// Consumers and producers in all, with the pair of the pending Interests.
    fn count(&self) -> usize {
        2 * (self.pairs.len() + usize::from(self.workload.pending > 0))
    }

    /// The packets of the pair whose producer never answers.
    fn silent(&self) -> Result<Template, TurnError> {
        Template::new(self.workload.names, self.pairs.len(), LONG_LIFETIME)
            .ok_or_else(|| TurnError::Failed("no packets have names of this shape".into()))
    }

    fn check_stop(&self) -> Result<(), TurnError> {
        if self.stop.load(Ordering::Relaxed) { Err(TurnError::Stopped) } else { Ok(()) }
    }

    /// Puts the load on a forwarder, and measures it.
    pub(super) fn run(&mut self, running: &mut Running) -> Result<Reading, TurnError> {
        let Running { process, socket, .. } = running;
        let registry = self.poll.registry();
        for (at, port) in self.ports.iter_mut().enumerate() {
            port.register(registry, Token(at)).map_err(TurnError::io("cannot wait for a socket"))?;
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
            if begun.elapsed() > TIMEOUT {
                return Err(process.failed("some consumers receive no Data from the forwarder"));
            }
        }
        let bare: u64 = self.pairs.iter().map(|pair| pair.bare).sum();
        if bare > 0 {
            return Err(
                process.failed("the forwarder sends Interests without the token or digest of its index")
            );
        }
        self.set_due(Instant::now());
        if let (Some(tables), Some(socket)) = (self.workload.tables, socket) {
            self.fill_store(tables, &mut events, process)?;
            self.check_tables(tables, socket)?;
        }
        self.exchange_until(&mut events, Instant::now() + self.plan.warm_up)?;
        self.pairs.iter_mut().for_each(|pair| pair.waited.clear());
        let (start, cpu, counts) = (Instant::now(), cpu_time(process)?, self.counts());
        self.exchange_until(&mut events, start + self.plan.measured)?;
        // A forwarder that found no core in so short a time gets more.
        while self.counts().since(counts).answered == 0 {
            process.check()?;
            if start.elapsed() > self.plan.measured + TIMEOUT {
                return Err(process.failed("no exchange completed in the measured time"));
            }
            self.exchange_until(&mut events, Instant::now() + IDLE)?;
        }
        let waited: Vec<u32> = self.pairs.iter().flat_map(|pair| &pair.waited).copied().collect();
        let reading = Reading {
            rtt: Rtt::of(&waited),
            time: start.elapsed(),
            cpu: cpu_time(process)?.saturating_sub(cpu),
            counts: self.counts().since(counts),
            cores_apart: false,
        };
        process.check()?;
        Ok(reading)
    }

    fn counts(&self) -> Counts {
        self.pairs.iter().fold(Counts::default(), |sum, pair| sum.plus(pair.window.counts))
    }

    fn exchange_until(&mut self, events: &mut Events, until: Instant) -> Result<(), TurnError> {
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
    fn ask_what_is_due(&mut self, now: Instant) -> Result<(), TurnError> {
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
    fn ask(&mut self, at: usize, most: usize) -> Result<(), TurnError> {
        let now = Instant::now();
        let (Some(pair), Some(port)) = (self.pairs.get_mut(at), self.ports.get_mut(2 * at)) else {
            return Ok(());
        };
        port.send(&mut self.batches, |out| pair.ask(now, most, out))
    }

    /// Processes arrived packets, and gives up Interests older than `patience`.
    fn round(&mut self, events: &mut Events, patience: Duration) -> Result<(), TurnError> {
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
        if self.workload.reliability {
            self.ports.iter_mut().try_for_each(|port| port.handle_timeout(&mut self.batches))?;
        }
        for at in 0..self.pairs.len() {
            let lost = self.pairs.get_mut(at).map_or(0, |pair| pair.window.give_up(now, patience));
            if lost > 0 && (self.plan.pace.is_none() || patience == LOST_AT_FIRST) {
                self.ask(at, lost)?;
            }
        }
        Ok(())
    }
}

/// Longest wait for packets, so that lost Interests are given up and the run ends in time.
const IDLE: Duration = Duration::from_millis(5);

/// CPU time of all threads of the forwarder, in user space and in the kernel, since it began.
fn cpu_time(child: &Child) -> Result<Duration, TurnError> {
    proc::cpu(child.program.id()).map_err(TurnError::io("cannot read the CPU time of the forwarder"))
}

/// Waits for packets.
fn wait(poll: &mut Poll, events: &mut Events, longest: Duration) -> Result<(), TurnError> {
    match poll.poll(events, Some(longest)) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => {
            Err(TurnError::io("cannot wait for sockets")(error))
        }
        _ => Ok(()),
    }
}
