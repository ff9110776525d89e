//! A consumer that asks at a steady rate.

use super::{Clock, PREFIX, Way};
use crate::network::{Host, Network};
use crate::packets::{self, Received, interest, is_below, list_interest};
use crate::session::{LIFETIME, PATIENCE};
use crate::stats::Tally;
use crate::verdict::{Phase, Service};
use crate::wire::Wire;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::wire::{Data, Interest};
use std::time::{Duration, Instant};

/// Pause before another attempt to connect.
const RETRY: Duration = Duration::from_millis(100);

/// A consumer, and how often it asks.
pub(crate) struct Asker {
    pub(crate) who: &'static str,
    pub(crate) place: Host,
    pub(crate) way: Way,
    /// Interests a second.
    pub(crate) rate: u32,
    pub(crate) question: Question,
}

/// Names that a consumer asks for.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// A new name below a prefix.
    Names(String),
    /// A dataset of the management, one Interest after the other.
    List(&'static str),
}

impl Question {
    /// Names of the local producer.
    pub(crate) fn of(who: &str) -> Self {
        Self::Names(format!("{PREFIX}/{}", who.replace(' ', "-")))
    }
}

/// An Interest without an answer so far.
struct Pending {
    name: OwnedName<Ndn>,
    phase: Phase,
    sent: Instant,
}

/// A consumer at work.
struct Work {
    asker: Asker,
    wire: Option<Box<dyn Wire>>,
    failed: Option<Instant>,
    pending: Vec<Pending>,
    tallies: [Tally; Phase::COUNT],
    asked: u64,
}

impl Asker {
    /// Asks until the last phase ends, and the last answers have come or are overdue.
    pub(crate) fn run(self, network: &Network, clock: &Clock) -> Service {
        let who = self.who;
        // Without a way to the forwarder, every question is lost.
        let entered = network.enter(self.place);
        let pause = Duration::from_secs(1) / self.rate.max(1);
        let mut work = Work {
            asker: self,
            wire: None,
            failed: None,
            pending: Vec::new(),
            tallies: Default::default(),
            asked: 0,
        };
        debug_assert!(entered.is_ok(), "the namespace was entered before");
        let mut next = Instant::now();
        loop {
            let (phase, now) = (clock.phase(), Instant::now());
            work.pending.retain(|pending| now.duration_since(pending.sent) < PATIENCE);
            if phase == Phase::End && work.pending.is_empty() {
                return Service { who, tallies: work.tallies };
            }
            if phase != Phase::End && now >= next {
                work.ask(phase);
                next += pause;
                // After a standstill of this process, questions are not made up for all at once.
                next = next.max(now.checked_sub(10 * pause).unwrap_or(now));
            }
            let wait = next.saturating_duration_since(now).min(pause);
            work.listen(wait.max(Duration::from_millis(1)));
        }
    }
}

impl Work {
    fn ask(&mut self, phase: Phase) {
        let built = match &self.asker.question {
            Question::List(_) if !self.pending.is_empty() => return,
            Question::List(list) => packets::name(&format!("/localhost/nfd/{list}"))
                .map(|name| (list_interest(&name, LIFETIME), name)),
            Question::Names(prefix) => packets::name(&format!("{prefix}/{}", self.asked))
                .map(|name| (interest(&name, LIFETIME), name)),
        };
        let Ok((packet, name)) = built else {
            debug_assert!(false, "names of ours are valid");
            return;
        };
        self.asked += 1;
        let Some(tally) = self.tallies.get_mut(phase as usize) else { return };
        tally.sent += 1;
        self.pending.push(Pending { name, phase, sent: Instant::now() });
        self.connect();
        if let Some(wire) = &mut self.wire
            && wire.send(&packet).is_err()
        {
            self.wire = None;
        }
    }

    /// Connects if there is no connection, with a pause after a failure.
    fn connect(&mut self) {
        if self.wire.is_some() || self.failed.is_some_and(|failed| failed.elapsed() < RETRY) {
            return;
        }
        match self.asker.way.connect() {
            Ok(wire) => self.wire = Some(wire),
            Err(_) => self.failed = Some(Instant::now()),
        }
    }

    fn listen(&mut self, wait: Duration) {
        let Some(wire) = &mut self.wire else { return std::thread::sleep(wait) };
        match wire.receive(wait) {
            Ok(Some(bytes)) => self.take(&bytes),
            Ok(None) => {}
            Err(_) => self.wire = None,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        match Received::parse(bytes) {
            Some(Received::Data(bytes)) => {
                let Ok(data) = Data::parse(&bytes) else { return };
                if let Some(pending) = self.settle(|pending| is_below(&data, &pending.name))
                    && let Some(tally) = self.tallies.get_mut(pending.phase as usize)
                {
                    tally.add_answer(pending.sent.elapsed());
                }
            }
            Some(Received::Nack(bytes, _)) => {
                let Ok(interest) = Interest::parse(&bytes) else { return };
                if let Some(pending) = self.settle(|pending| pending.name.view() == interest.name())
                    && let Some(tally) = self.tallies.get_mut(pending.phase as usize)
                {
                    tally.nacked += 1;
                }
            }
            Some(Received::Interest(_)) | None => {}
        }
    }

    fn settle(&mut self, matches: impl Fn(&Pending) -> bool) -> Option<Pending> {
        self.pending.iter().position(matches).map(|at| self.pending.remove(at))
    }
}
