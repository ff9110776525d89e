//! A forwarding thread without sockets.

use super::batch::Batch;
use super::control::{Control, Erasure};
use super::datagrams::Datagrams;
use super::exchange::Exchange;
use super::forward::{Outlet, Through, forward_batch};
use super::idle::IdleAnswers;
use crate::clock::Clock;
use crate::management::{self, Report};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::LpHeader;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::Forwarder;
use hashlane_ndn_fw::pit::Pit;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

/// Batches after which the worker looks for timeouts.
const BATCHES: usize = 16;

/// Longest wait, and the interval of housekeeping.
const HOUSEKEEPING: Duration = Duration::from_secs(1);

/// Wait for the first thread, whose queue is full.
const CONGESTED: Duration = Duration::from_micros(50);

/// A forwarding thread without sockets: its tables, and its ends of the queues.
pub(crate) struct Worker<P> {
    pub(crate) forwarder: Forwarder<P>,
    pub(crate) exchange: Exchange,
    pub(crate) datagrams: Datagrams,
    pub(crate) controls: Receiver<Control>,
    /// Control queue of the next worker; `None` for the last one.
    pub(crate) next: Option<(usize, Sender<Control>)>,
    pub(crate) report: Box<dyn Fn(Report) + Send>,
    pub(crate) idle: IdleAnswers,
    pub(crate) clock: Clock,
}

/// Sends to UDP faces, and hands packets of other faces, the management's among them, to the first thread,
/// which has these.
struct Out<'a>(&'a mut Datagrams);

impl Outlet for Out<'_> {
    #[inline]
    fn send(&mut self, exchange: &mut Exchange, face: FaceId, header: &LpHeader<'_>, packet: &[u8]) {
        if !self.0.send(face, header, packet) {
            // The packets that one burst sends may be far longer than those that it has received. The first
            // thread waits for no worker, so this one may wait for it.
            while exchange.is_first_full() {
                std::thread::sleep(CONGESTED);
                exchange.flush();
            }
            exchange.send(0, face, header, packet);
        }
    }
}

impl<P: Pit> Worker<P> {
    /// Runs until it is asked to end.
    pub(crate) fn run(mut self) {
        let mut swept = Time::default();
        loop {
            let batch = self.exchange.wait(self.poll_timeout());
            let now = self.clock.now();
            self.datagrams.set_time(now);
            let (mut batches, mut next) = (0, batch);
            loop {
                // What the first thread has changed before a batch holds for its packets.
                if !self.apply_controls() {
                    return;
                }
                let Some(batch) = next else { break };
                self.forward(&batch, now);
                self.exchange.give_back(batch);
                batches += 1;
                next = if batches < BATCHES { self.exchange.try_next() } else { None };
            }
            self.handle_retries(now);
            self.datagrams.flush();
            self.exchange.flush();
            if self.forwarder.has_route_events() {
                self.forwarder
                    .take_route_events()
                    .into_iter()
                    .for_each(|event| (self.report)(Report::Route(event)));
            }
            // It counts the pending Interests. When the first thread ends, answers must be there before.
            self.forwarder.handle_timeout(now);
            if now.since(swept) >= HOUSEKEEPING {
                swept = now;
                self.forwarder.gauge(now);
                self.forwarder.counters().queue_drops.add(self.datagrams.log_lost());
                if self.forwarder.shrink() {
                    self.datagrams.free_memory();
                    hashlane_link::memory::release_freed();
                }
            }
            while self.exchange.is_first_congested() {
                std::thread::sleep(CONGESTED);
                self.exchange.flush();
            }
            let lost = self.exchange.take_lost();
            if lost > 0 {
                self.forwarder.counters().queue_drops.add(lost);
            }
        }
    }

    fn poll_timeout(&self) -> Duration {
        let turn = self.forwarder.poll_timeout().map(|turn| turn.since(self.clock.now()));
        turn.map_or(HOUSEKEEPING, |turn| turn.clamp(Duration::from_millis(1), HOUSEKEEPING))
    }

    /// Forwards the packets of a batch.
    fn forward(&mut self, batch: &Batch, now: Time) {
        let Self { forwarder, exchange, datagrams, .. } = self;
        forward_batch(batch, forwarder, now, exchange, &mut Out(datagrams));
    }

    /// Sends Interests whose first next hop has not answered in time to others.
    fn handle_retries(&mut self, now: Time) {
        let Self { forwarder, exchange, datagrams, .. } = self;
        forwarder.handle_retries(now, &mut Through(exchange, &mut Out(datagrams)));
    }

    /// Applies the controls that have come. Returns false if the thread is to end.
    fn apply_controls(&mut self) -> bool {
        while let Ok(control) = self.controls.try_recv() {
            if !self.apply(control) {
                return false;
            }
        }
        true
    }

    /// Applies a control. Returns false if the thread is to end.
    fn apply(&mut self, control: Control) -> bool {
        let forwarder = &mut self.forwarder;
        match control {
            Control::AddFace(id, face, udp) => {
                if let Some(peer) = udp {
                    self.datagrams.add(id, &peer, face.counters.clone());
                }
                let added = forwarder.add_face(*face);
                debug_assert_eq!(added, Some(id), "shards number faces alike");
            }
            Control::RemoveFace(face) => {
                self.datagrams.remove(face);
                drop(forwarder.remove_face(face));
            }
            Control::UpdateFace { face, local_fields, pit_tokens, interest_digests, link } => {
                self.datagrams.update(face, link);
                if let Some(face) = forwarder.face_mut(face) {
                    (face.local_fields, face.pit_tokens) = (local_fields, pit_tokens);
                    face.interest_digests = interest_digests;
                }
            }
            Control::Table(request) => {
                let report = request.apply(forwarder);
                debug_assert!(report.is_none(), "the first thread reports");
            }
            Control::Configure(config) => forwarder.configure(*config),
            Control::Erasure(erase) => self.erase(erase),
            Control::FindIdle => self.idle.answer(|party| forwarder.is_idle(party)),
            Control::End => return false,
        }
        true
    }

    fn erase(&mut self, mut erase: Erasure) {
        let count = self.forwarder.erase(&erase.prefix.view(), erase.left);
        erase.count += count;
        erase.left -= count;
        match &self.next {
            Some((shard, next)) if erase.left > 0 => {
                let _ = next.send(Control::Erasure(erase));
                self.exchange.nudge(*shard);
            }
            _ => {
                let Erasure { prefix, left, count, ticket } = erase;
                let response = management::erased(prefix, count, left == 0);
                (self.report)(Report::Response { ticket, response });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shards::Crew;
    use hashlane_hash::scheme::Key;
    use hashlane_name::uri::parse_uri;
    use hashlane_ndn::wire::InterestBuilder;
    use hashlane_ndn_fw::face::{Face, LinkType, Scope};
    use hashlane_ndn_fw::forward::{Burst, Config, DropReason};
    use hashlane_ndn_fw::pit::ByName;
    use std::sync::Arc;
    use std::time::Instant;

    /// A worker that is busy finds a change and packets after it in its queues at any moment.
    #[test]
    fn a_face_is_known_before_its_first_packets() {
        // Without optimization, the state of threads takes more than 2 MiB as it is made.
        let thread = std::thread::Builder::new().stack_size(8 << 20);
        thread.spawn(check_first_packets).expect("a thread").join().expect("faces are known");
    }

    fn check_first_packets() {
        let forwarder = || Forwarder::with_pit(Config::default(), &Key::VECTOR, 7, ByName::default());
        let (mut first, worker) = (forwarder(), forwarder());
        let counters = worker.counters().clone();
        let poll = mio::Poll::new().expect("epoll");
        let waker = Arc::new(mio::Waker::new(poll.registry(), mio::Token(0)).expect("eventfd"));
        let clock = Clock::start();
        let mut crew = crate::shards::start(vec![worker], &[], waker, clock, |_| {}).expect("a thread");
        let take = |crew: &mut Crew| {
            while let Some(nacks) = crew.exchange.try_next() {
                crew.exchange.give_back(nacks);
            }
            std::thread::yield_now();
        };
        let mut handed = 0;
        for number in 0..1000 {
            let face = Face::new(Scope::Local, LinkType::PointToPoint);
            let id = first.add_face(face.clone()).expect("room for a face");
            crew.add_face(id, &face, &[Arc::default(), Arc::default()], None);
            let interests = (0..8).map(|at| {
                let name = parse_uri(format!("/{number}/{at}").as_bytes()).expect("a name");
                InterestBuilder { nonce: Some(at), ..InterestBuilder::new(name.view()) }.build()
            });
            let interests: Vec<_> = interests.collect();
            let mut burst = Burst::new();
            interests.iter().for_each(|interest| burst.push(id, interest).expect("an Interest"));
            crew.route(&mut first, &mut burst, clock.now());
            handed += (burst.len() - burst.remaining()) as u64;
            crew.exchange.flush();
            take(&mut crew);
            while crew.exchange.is_congested() {
                take(&mut crew);
                crew.exchange.flush();
            }
        }
        assert!(handed > 0);
        let unknown = || counters.drops.value(DropReason::UnknownFace);
        let begun = Instant::now();
        while counters.in_interests.value() + unknown() < handed {
            assert!(begun.elapsed() < Duration::from_secs(15), "packets on their way");
            take(&mut crew);
        }
        assert_eq!(unknown(), 0);
    }

    /// 64 Interests fill a batch between threads, and as many Data of 8 kB fill 16.
    #[test]
    fn packets_for_a_slow_first_thread_wait_and_none_is_lost() {
        const COUNT: usize = 2000;
        let mut ends = Exchange::of_all(2, None);
        let (mut worker, mut first) = (ends.remove(1), ends.remove(0));
        let mut datagrams = Datagrams::new(Vec::new());
        let reader = std::thread::spawn(move || {
            let mut arrived = 0;
            while arrived < COUNT {
                std::thread::sleep(Duration::from_micros(100));
                let batch = first.wait(Duration::from_secs(10)).expect("packets on their way");
                arrived += batch.len();
            }
            first
        });
        let mut send = |worker: &mut Exchange| {
            Out(&mut datagrams).send(worker, FaceId(300), &LpHeader::default(), &[7; 8000]);
        };
        (0..COUNT).for_each(|_| send(&mut worker));
        while worker.is_first_congested() {
            worker.flush();
        }
        worker.flush();
        let first = reader.join().expect("all arrive");
        assert_eq!(worker.take_lost(), 0);
        // A first thread that has ended is not waited for.
        drop(first);
        (0..COUNT).for_each(|_| send(&mut worker));
    }
}
