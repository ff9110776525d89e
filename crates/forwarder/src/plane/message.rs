//! Queues between the management and the forwarding thread.

use crate::management::{Plane, Report, Request};
use mio::Waker;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, OnceLock};

/// Requests that wait when management makes no more changes than those of commands.
const BUSY: usize = 256;

/// Sending end of the queue of requests, with the waker of the forwarding thread.
#[derive(Clone)]
pub(crate) struct Requests {
    queue: Sender<Request>,
    /// Number of requests in the queue.
    waiting: Arc<AtomicUsize>,
    waker: Arc<Waker>,
    /// True if requests were added since the last wake.
    added: Arc<AtomicBool>,
    /// True once the thread is asked to end.
    drain: Arc<AtomicBool>,
}

/// Receiving end of the queue of requests.
pub(crate) struct RequestQueue {
    requests: Receiver<Request>,
    waiting: Arc<AtomicUsize>,
    drain: Arc<AtomicBool>,
}

impl RequestQueue {
    /// The next request.
    pub(crate) fn next(&self) -> Option<Request> {
        let request = self.requests.try_recv().ok()?;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        Some(request)
    }

    /// True if the thread is asked to accept nothing new, to send its queues, and to end.
    #[inline]
    pub(crate) fn drains(&self) -> bool {
        self.drain.load(Ordering::Relaxed)
    }
}

impl Requests {
    /// Both ends of a queue whose reader is woken with `waker`.
    pub(crate) fn new(waker: Arc<Waker>) -> (Self, RequestQueue) {
        let (queue, requests) = std::sync::mpsc::channel();
        let (waiting, drain) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let taken = RequestQueue { requests, waiting: waiting.clone(), drain: drain.clone() };
        (Self { queue, waiting, waker, added: Arc::default(), drain }, taken)
    }

    /// Asks the forwarding thread to end, ahead of all requests that wait.
    pub(crate) fn drain(&self) {
        self.drain.store(true, Ordering::Relaxed);
        let _ = self.waker.wake();
    }

    /// Adds a request. The thread handles it after the next [`wake`](Self::wake).
    pub(crate) fn add(&self, request: Request) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // Sending fails only once the thread has ended, and the process with it.
        let _ = self.queue.send(request);
        self.added.store(true, Ordering::Relaxed);
    }

    /// Wakes the forwarding thread if requests were added. Returns true if there were any.
    pub(crate) fn wake(&self) -> bool {
        let added = self.added.swap(false, Ordering::Relaxed);
        if added {
            let _ = self.waker.wake();
        }
        added
    }
}

impl Plane for Requests {
    fn request(&mut self, request: Request) {
        self.add(request);
    }

    fn is_busy(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= BUSY
    }
}

/// Most Interests that wait for the management; others are answered with a Nack.
const MAX_INTERESTS: usize = 1024;
/// Most Interests that wait when one of another host is accepted: the rest of the queue is for local
/// applications.
const MAX_REMOTE_INTERESTS: usize = 768;

/// Sending end of the queue of reports. The number of Interests in it is bounded.
#[derive(Clone)]
pub(crate) struct Reports {
    queue: Sender<Report>,
    interests: Arc<AtomicUsize>,
    /// End of the forwarding thread: its error, if it failed; unset while it runs.
    ended: Arc<OnceLock<Option<String>>>,
}

impl Reports {
    /// Both ends of a queue.
    pub(crate) fn new() -> (Self, Inbox) {
        let (queue, reports) = std::sync::mpsc::channel();
        let interests = Arc::<AtomicUsize>::default();
        let ended = Arc::<OnceLock<Option<String>>>::default();
        let inbox = Inbox { reports, interests: interests.clone(), ended: ended.clone() };
        (Self { queue, interests, ended }, inbox)
    }

    /// Reports that the forwarding thread has ended, ahead of all reports that wait.
    pub(crate) fn end(&self, error: Option<String>) {
        // The reader may be waiting for a report.
        self.add(Report::Ended(self.ended.get_or_init(|| error).clone()));
    }

    /// Adds a report whose number faces and requests bound.
    pub(crate) fn add(&self, report: Report) {
        // Sending fails only once the reader has ended, and the process with it.
        let _ = self.queue.send(report);
    }

    /// Adds an Interest from a face. Returns false if too many wait.
    pub(crate) fn interest(&self, face: u64, local: bool, packet: &[u8]) -> bool {
        let most = if local { MAX_INTERESTS } else { MAX_REMOTE_INTERESTS };
        if self.interests.load(Ordering::Relaxed) >= most {
            return false;
        }
        self.interests.fetch_add(1, Ordering::Relaxed);
        self.add(Report::Interest { face, packet: packet.to_vec() });
        true
    }
}

/// Receiving end of the queue of reports.
pub(crate) struct Inbox {
    reports: Receiver<Report>,
    interests: Arc<AtomicUsize>,
    ended: Arc<OnceLock<Option<String>>>,
}

impl Inbox {
    /// The next report; `None` if none arrives in that time.
    pub(crate) fn next(&self, timeout: std::time::Duration) -> Option<Report> {
        if let Some(error) = self.ended.get() {
            return Some(Report::Ended(error.clone()));
        }
        let report = self.reports.recv_timeout(timeout).ok()?;
        if matches!(report, Report::Interest { .. }) {
            self.interests.fetch_sub(1, Ordering::Relaxed);
        }
        Some(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::management::FaceRequest;

    #[test]
    fn interests_of_other_hosts_leave_room_for_those_of_this_one() {
        let (reports, inbox) = Reports::new();
        let taken = |local| (0..5000).filter(|face| reports.interest(*face, local, b"")).count();
        assert_eq!([taken(false), taken(true), taken(true)], [MAX_REMOTE_INTERESTS, 256, 0]);
        let wait = std::time::Duration::ZERO;
        assert!((0..MAX_INTERESTS).all(|_| inbox.next(wait).is_some()) && inbox.next(wait).is_none());
        assert_eq!([taken(true), taken(false)], [MAX_INTERESTS, 0]);
    }

    #[test]
    fn nobody_is_woken_for_nothing() {
        let poll = mio::Poll::new().expect("epoll");
        let waker = Waker::new(poll.registry(), mio::Token(0)).expect("eventfd");
        let (requests, taken) = Requests::new(Arc::new(waker));
        assert!(!requests.wake());
        let other = requests.clone();
        (0..3).for_each(|face| other.add(Request::Face(FaceRequest::Destroy { face })));
        assert!(requests.wake() && !requests.wake() && !other.wake());
        assert_eq!(std::iter::from_fn(|| taken.next()).count(), 3);
    }

    #[test]
    fn the_forwarding_thread_is_busy_while_it_has_many_requests() {
        let poll = mio::Poll::new().expect("epoll");
        let waker = Waker::new(poll.registry(), mio::Token(0)).expect("eventfd");
        let (requests, taken) = Requests::new(Arc::new(waker));
        (1..BUSY).for_each(|_| requests.add(Request::Data(Vec::new())));
        assert!(!requests.is_busy());
        requests.add(Request::Data(Vec::new()));
        assert!(requests.is_busy() && taken.next().is_some() && !requests.is_busy());
    }

    #[test]
    fn the_end_is_known_ahead_of_all_that_waits() {
        let poll = mio::Poll::new().expect("epoll");
        let waker = Waker::new(poll.registry(), mio::Token(0)).expect("eventfd");
        let (requests, queue) = Requests::new(Arc::new(waker));
        (0..1000).for_each(|face| requests.add(Request::Face(FaceRequest::Destroy { face })));
        assert!(!queue.drains());
        requests.drain();
        assert!(queue.drains());

        let (reports, inbox) = Reports::new();
        (0..1000).for_each(|face| reports.add(Report::FaceDown { face }));
        let now = std::time::Duration::ZERO;
        assert!(matches!(inbox.next(now), Some(Report::FaceDown { face: 0 })));
        reports.end(Some("a reason".into()));
        assert!(matches!(inbox.next(now), Some(Report::Ended(Some(why))) if why == "a reason"));
    }
}
