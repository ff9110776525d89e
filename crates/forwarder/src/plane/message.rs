//! What the management and the forwarding thread tell one another.

use crate::management::{CsConfig, FaceInfo, FaceOptions, FaceOutcome, Peer, Ticket};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::face_uri::Protocol;
use hashlane_ndn_fw::strategy::Strategy;
use mio::Waker;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, OnceLock};

/// What the forwarding thread is asked to do. Each takes it a moment, however large the tables are.
#[derive(Debug)]
pub(crate) enum Request {
    /// Puts a next hop into the FIB, or changes its cost.
    Route { prefix: OwnedName<Ndn>, face: u64, cost: u64 },
    /// Takes a next hop out of the FIB.
    Unroute { prefix: OwnedName<Ndn>, face: u64 },
    /// Gives names below a prefix a strategy, or that of the prefix above.
    Strategy { prefix: OwnedName<Ndn>, strategy: Option<Strategy> },
    /// Makes a face.
    CreateFace { ticket: Ticket, protocol: Protocol, remote: SocketAddr, options: FaceOptions },
    /// Changes a face.
    UpdateFace { face: u64, options: FaceOptions },
    /// Closes a face.
    DestroyFace { face: u64 },
    /// Configures the content store.
    Cs(CsConfig),
    /// Erases packets from the content store.
    Erase { prefix: OwnedName<Ndn>, limit: u64, ticket: Ticket },
    /// An answer of the management: Data, or a link packet with a Nack.
    Data(Vec<u8>),
}

/// What the management is told.
#[derive(Debug)]
pub(crate) enum Report {
    /// An Interest for it came from a face.
    Interest { face: u64, octets: Vec<u8> },
    /// There is a face more.
    FaceUp { info: Box<FaceInfo>, peer: Peer },
    /// There is a face less.
    FaceDown { face: u64 },
    /// The connection of a face is lost, or there again: then with its local end.
    FaceLink { face: u64, local: Option<FaceUri> },
    /// What came of making a face.
    FaceCreated { ticket: Ticket, outcome: FaceOutcome },
    /// What came of erasing.
    Erased { ticket: Ticket, count: u64, more: bool },
    /// The forwarding thread has ended, and why where that was not asked for.
    Ended(Option<String>),
}

/// Requests, and how the forwarding thread is woken for them.
#[derive(Clone)]
pub(crate) struct Requests {
    queue: Sender<Request>,
    waker: Arc<Waker>,
    /// Whether there are some that nobody was woken for.
    added: Arc<AtomicBool>,
    drain: Arc<AtomicBool>,
}

/// Requests that wait, and whether the forwarding thread is asked to end.
pub(crate) struct RequestQueue {
    requests: Receiver<Request>,
    drain: Arc<AtomicBool>,
}

impl RequestQueue {
    /// The next request.
    pub(crate) fn next(&self) -> Option<Request> {
        self.requests.try_recv().ok()
    }

    /// Tells if the thread is asked to take nothing new, to send what waits, and to end.
    #[inline]
    pub(crate) fn drains(&self) -> bool {
        self.drain.load(Ordering::Relaxed)
    }
}

impl Requests {
    /// A queue whose reader is woken with `waker`, and its other end.
    pub(crate) fn new(waker: Arc<Waker>) -> (Self, RequestQueue) {
        let (queue, requests) = std::sync::mpsc::channel();
        let drain = Arc::<AtomicBool>::default();
        (Self { queue, waker, added: Arc::default(), drain: drain.clone() }, RequestQueue { requests, drain })
    }

    /// Asks the forwarding thread to end, ahead of all requests that wait.
    pub(crate) fn drain(&self) {
        self.drain.store(true, Ordering::Relaxed);
        let _ = self.waker.wake();
    }

    /// Adds a request. It is taken up with the next [`wake`](Self::wake).
    pub(crate) fn add(&self, request: Request) {
        // Where nobody takes them any more, the process ends.
        let _ = self.queue.send(request);
        self.added.store(true, Ordering::Relaxed);
    }

    /// Wakes the forwarding thread, where there is something for it to do; whether there was.
    pub(crate) fn wake(&self) -> bool {
        let added = self.added.swap(false, Ordering::Relaxed);
        if added {
            let _ = self.waker.wake();
        }
        added
    }
}

/// Most Interests that wait for the management; others are sent back.
const MAX_INTERESTS: usize = 1024;
/// Most Interests that wait when one of another host is accepted: the rest of the queue is for local
/// applications.
const MAX_REMOTE_INTERESTS: usize = 768;

/// Reports; of Interests no more than a bound.
#[derive(Clone)]
pub(crate) struct Reports {
    queue: Sender<Report>,
    interests: Arc<AtomicUsize>,
    /// End of the forwarding thread: its error, if it failed; unset while it runs.
    ended: Arc<OnceLock<Option<String>>>,
}

impl Reports {
    /// A queue, and its other end.
    pub(crate) fn new() -> (Self, Inbox) {
        let (queue, reports) = std::sync::mpsc::channel();
        let interests = Arc::<AtomicUsize>::default();
        let ended = Arc::<OnceLock<Option<String>>>::default();
        let inbox = Inbox { reports, interests: interests.clone(), ended: ended.clone() };
        (Self { queue, interests, ended }, inbox)
    }

    /// Reports that the forwarding thread has ended, ahead of all reports that wait.
    pub(crate) fn end(&self, why: Option<String>) {
        // Whoever waits for a report wakes up for this one.
        self.add(Report::Ended(self.ended.get_or_init(|| why).clone()));
    }

    /// Adds a report of which there are no more than faces and requests.
    pub(crate) fn add(&self, report: Report) {
        // Where nobody reads them any more, the process ends.
        let _ = self.queue.send(report);
    }

    /// Adds an Interest, of a local face or not; returns false if too many wait.
    pub(crate) fn interest(&self, face: u64, local: bool, octets: &[u8]) -> bool {
        let most = if local { MAX_INTERESTS } else { MAX_REMOTE_INTERESTS };
        if self.interests.load(Ordering::Relaxed) >= most {
            return false;
        }
        self.interests.fetch_add(1, Ordering::Relaxed);
        self.add(Report::Interest { face, octets: octets.to_vec() });
        true
    }
}

/// The other end of [`Reports`].
pub(crate) struct Inbox {
    reports: Receiver<Report>,
    interests: Arc<AtomicUsize>,
    ended: Arc<OnceLock<Option<String>>>,
}

impl Inbox {
    /// The next report; `None` where none came in that time.
    pub(crate) fn next(&self, timeout: std::time::Duration) -> Option<Report> {
        if let Some(why) = self.ended.get() {
            return Some(Report::Ended(why.clone()));
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
        (0..3).for_each(|face| other.add(Request::DestroyFace { face }));
        assert!(requests.wake() && !requests.wake() && !other.wake());
        assert_eq!(std::iter::from_fn(|| taken.next()).count(), 3);
    }

    #[test]
    fn the_end_is_known_ahead_of_all_that_waits() {
        let poll = mio::Poll::new().expect("epoll");
        let waker = Waker::new(poll.registry(), mio::Token(0)).expect("eventfd");
        let (requests, queue) = Requests::new(Arc::new(waker));
        (0..1000).for_each(|face| requests.add(Request::DestroyFace { face }));
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
