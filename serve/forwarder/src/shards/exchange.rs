//! The ends of the queues between forwarding threads that one thread has.

use super::batch::Batch;
use hashlane_ndn::wire::LpHeader;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::HandOver;
use hashlane_ndn_fw::shard::SleepFlag;
use mio::Waker;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::Duration;

/// Batches that wait in the queue of a thread.
const QUEUE: usize = 64;

/// Batches for a thread whose queue is full that another thread keeps.
const WAITING: usize = 64;

/// Empty batches that wait for a thread which gets them back: one for each that a queue holds. With fewer,
/// batches of a full queue would be freed by one thread and allocated by another, and grow again.
const SPARE: usize = QUEUE;

/// Empty batches of other threads that a thread keeps to fill them itself, as many as it does soon: threads
/// that hand over to each other alike give none back, which would cost another access to a shared queue.
const KEPT: usize = 8;

/// The ends of the queues that the thread of one shard has.
///
/// Packets gather in a [batch](Batch) for each other thread. A batch is passed on when it is full, or by
/// [`flush`](Self::flush); one that a full queue does not take waits at the sender, up to a bound.
pub struct Exchange {
    outboxes: Vec<Outbox>,
    inbox: Receiver<Batch>,
    /// Batch that was taken from the queue, and not used yet.
    held: Option<Batch>,
    spare: Spare,
    /// Packets lost because the queue of another thread was full.
    lost: u64,
}

/// Empty batches of a thread, as they come back from other threads.
struct Spare {
    own: usize,
    returned: Receiver<Batch>,
    /// Those that the thread has taken, the last one on top: it is the one that a cache still has.
    kept: Vec<Batch>,
}

/// Sending end of the queue of another thread.
struct Outbox {
    open: Batch,
    /// Way back for the empty batches of that thread.
    returns: SyncSender<Batch>,
    /// Full batches that the queue had no room for.
    waiting: VecDeque<Batch>,
    queue: SyncSender<Batch>,
    /// Waker of the first thread, which waits for sockets, too. Workers wait for their queue.
    waker: Option<Arc<FirstWaker>>,
}

/// Waker of the thread that waits for sockets. It makes a system call only while that thread sleeps.
pub struct FirstWaker {
    waker: Arc<Waker>,
    pub(crate) sleep: SleepFlag,
}

impl FirstWaker {
    /// The waker of a thread that waits for the events of a `Poll`.
    pub fn new(waker: Arc<Waker>) -> Self {
        Self { waker, sleep: SleepFlag::default() }
    }

    /// Wakes the thread if it sleeps, or is about to. Call it after adding to the queue.
    fn wake(&self) {
        if self.sleep.take() {
            let _ = self.waker.wake();
        }
    }
}

impl Exchange {
    /// The ends of `shards` threads. `waker` wakes the first one; without it, that thread waits for its queue
    /// as the others do.
    pub fn of_all(shards: usize, waker: Option<&Arc<FirstWaker>>) -> Vec<Self> {
        let (queues, inboxes): (Vec<_>, Vec<_>) = (0..shards).map(|_| sync_channel(QUEUE)).unzip();
        let (returns, returned): (Vec<_>, Vec<_>) = (0..shards).map(|_| sync_channel(SPARE)).unzip();
        let ends = inboxes.into_iter().zip(returned).enumerate().map(|(own, (inbox, returned))| {
            let outbox = |(to, (queue, returns)): (usize, (&SyncSender<_>, &SyncSender<_>))| Outbox {
                open: Batch::new(own),
                returns: returns.clone(),
                waiting: VecDeque::new(),
                queue: queue.clone(),
                waker: waker.filter(|_| to == 0).cloned(),
            };
            let outboxes = queues.iter().zip(&returns).enumerate().map(outbox).collect();
            Self { outboxes, inbox, held: None, spare: Spare { own, returned, kept: Vec::new() }, lost: 0 }
        });
        ends.collect()
    }

    /// Hands a packet over to the thread of the shard that it visits next.
    #[inline]
    pub fn hand_over(&mut self, packet: HandOver<'_>) {
        self.add(packet.visits.shard(), |batch| batch.push(packet));
    }

    /// Hands a packet that is to be sent to the thread of a shard, which has the face.
    #[inline]
    pub fn send(&mut self, shard: usize, face: FaceId, header: &LpHeader<'_>, packet: &[u8]) {
        if header.is_empty() {
            return self.add(shard, |batch| batch.push_send(face, [&[], packet]));
        }
        let head = header.frame(packet.len());
        self.add(shard, |batch| batch.push_send(face, [head.as_bytes(), packet]));
    }

    /// Adds a packet to the open batch for the thread of a shard.
    #[inline]
    fn add(&mut self, shard: usize, push: impl FnOnce(&mut Batch)) {
        let Some(outbox) = self.outboxes.get_mut(shard) else {
            debug_assert!(false, "packets are routed to shards that there are");
            return;
        };
        push(&mut outbox.open);
        if outbox.open.is_full() {
            self.lost += outbox.close(&mut self.spare);
        }
    }

    /// Passes on what has gathered.
    pub fn flush(&mut self) {
        for outbox in &mut self.outboxes {
            if !outbox.open.is_empty() {
                self.lost += outbox.close(&mut self.spare);
            } else if !outbox.waiting.is_empty() {
                outbox.pass_on();
            }
        }
    }

    /// Wakes the thread of a shard, which waits for its queue.
    pub(super) fn nudge(&mut self, shard: usize) {
        if let Some(outbox) = self.outboxes.get_mut(shard) {
            // A thread with a full queue does not sleep.
            let _ = outbox.queue.try_send(Batch::new(self.spare.own));
        }
    }

    /// True if a thread takes less than it is given.
    pub fn is_congested(&self) -> bool {
        self.outboxes.iter().any(|outbox| !outbox.waiting.is_empty())
    }

    /// True if the first thread takes less than it is given.
    pub(super) fn is_first_congested(&self) -> bool {
        self.outboxes.first().is_some_and(|outbox| !outbox.waiting.is_empty())
    }

    /// True if the next packets for the first thread may be lost.
    #[inline]
    pub(super) fn is_first_full(&self) -> bool {
        self.outboxes.first().is_some_and(|outbox| outbox.waiting.len() >= WAITING)
    }

    /// The next batch of the own queue.
    pub fn try_next(&mut self) -> Option<Batch> {
        self.held.take().or_else(|| self.inbox.try_recv().ok())
    }

    /// True if a batch waits in the own queue.
    pub(crate) fn has_next(&mut self) -> bool {
        self.held = self.try_next();
        self.held.is_some()
    }

    /// The next batch, after at most this time; `None` if none arrives.
    pub fn wait(&mut self, timeout: Duration) -> Option<Batch> {
        match self.inbox.try_recv() {
            Ok(batch) => Some(batch),
            Err(TryRecvError::Empty) => self.inbox.recv_timeout(timeout).ok(),
            Err(TryRecvError::Disconnected) => None,
        }
    }

    /// Takes a batch that was read: this thread fills it again, or the one that it came from. A thread that
    /// has enough of them gets no more.
    pub fn give_back(&mut self, mut batch: Batch) {
        batch.clear();
        if self.spare.kept.len() < KEPT {
            self.spare.kept.push(batch);
        } else if let Some(outbox) = self.outboxes.get(batch.owner()) {
            let _ = outbox.returns.try_send(batch);
        }
    }

    /// Packets lost because the queue of another thread was full, since the last call.
    pub fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }
}

impl Spare {
    /// An empty batch.
    fn take(&mut self) -> Batch {
        if self.kept.is_empty() {
            self.kept.extend(self.returned.try_iter().take(SPARE));
        }
        let kept = self.kept.pop().map(|batch| batch.of(self.own));
        kept.unwrap_or_else(|| Batch::new(self.own))
    }
}

impl Outbox {
    /// Passes on the open batch, and opens another one. Returns the number of packets lost.
    fn close(&mut self, spare: &mut Spare) -> u64 {
        let full = std::mem::replace(&mut self.open, spare.take());
        if self.waiting.len() >= WAITING {
            let lost = full.len() as u64;
            self.pass_on();
            return lost;
        }
        self.waiting.push_back(full);
        self.pass_on();
        0
    }

    /// Moves batches that wait to the queue, while it has room.
    fn pass_on(&mut self) {
        while let Some(batch) = self.waiting.pop_front() {
            if let Err(TrySendError::Full(batch)) = self.queue.try_send(batch) {
                self.waiting.push_front(batch);
                break;
            }
            // A thread that has ended, and the process with it, takes nothing.
        }
        if let Some(waker) = &self.waker {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(shards: usize) -> (mio::Poll, Arc<FirstWaker>, Vec<Exchange>) {
        let poll = mio::Poll::new().expect("epoll");
        let waker = Waker::new(poll.registry(), mio::Token(0)).expect("eventfd");
        let waker = Arc::new(FirstWaker::new(Arc::new(waker)));
        let ends = Exchange::of_all(shards, Some(&waker));
        (poll, waker, ends)
    }

    fn count(exchange: &mut Exchange) -> usize {
        let mut count = 0;
        while let Some(batch) = exchange.try_next() {
            count += batch.len();
            exchange.give_back(batch);
        }
        count
    }

    #[test]
    fn packets_arrive_after_a_flush_or_in_a_full_batch() {
        let (_poll, _, mut ends) = ends(3);
        for number in 0..100 {
            ends[0].send(2, FaceId(number), &LpHeader::default(), &[7; 10]);
        }
        assert_eq!(count(&mut ends[2]), 64);
        ends[0].flush();
        assert_eq!((count(&mut ends[2]), count(&mut ends[1])), (36, 0));
        assert!(!ends[0].is_congested());
    }

    #[test]
    fn a_thread_that_takes_nothing_costs_bounded_memory() {
        let (_poll, _, mut ends) = ends(2);
        let most = (QUEUE + WAITING) * 64;
        for number in 0..most + 1000 {
            ends[0].send(1, FaceId(number as u32), &LpHeader::default(), &[7; 10]);
        }
        ends[0].flush();
        assert!(ends[0].is_congested());
        let lost = ends[0].take_lost() as usize;
        assert!((900..=1064).contains(&lost), "{lost}");
        let mut arrived = 0;
        while ends[0].is_congested() {
            arrived += count(&mut ends[1]);
            ends[0].flush();
        }
        assert_eq!(arrived + count(&mut ends[1]) + lost, most + 1000);
    }

    #[test]
    fn the_first_thread_is_woken_only_while_it_sleeps() {
        let (mut poll, waker, mut ends) = ends(2);
        let mut events = mio::Events::with_capacity(4);
        let mut woken = |exchange: &mut Exchange| {
            exchange.send(0, FaceId(1), &LpHeader::default(), &[1]);
            exchange.flush();
            poll.poll(&mut events, Some(Duration::ZERO)).expect("epoll");
            events.iter().count()
        };
        assert_eq!(woken(&mut ends[1]), 0);
        waker.sleep.announce();
        assert_eq!((woken(&mut ends[1]), woken(&mut ends[1])), (1, 0));
        waker.sleep.announce();
        waker.sleep.end();
        assert_eq!(woken(&mut ends[1]), 0);
    }
}
