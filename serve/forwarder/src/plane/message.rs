//! Queue of requests from the management to the forwarding thread.

use crate::config::Faces as FaceConfig;
use crate::management::{Plane, Request};
use hashlane_ndn_fw::forward::Config as TableConfig;
use hashlane_tls::Identity;
use mio::Waker;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};

/// Requests that wait when management takes no more Interests, and makes no changes in steps.
const BUSY: usize = 256;

/// Settings of the forwarding thread that a reload replaces.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Faces, with the listeners of the start.
    pub(crate) faces: FaceConfig,
    /// Limits of the tables.
    pub(crate) tables: TableConfig,
    /// Certificate and key for new WebSockets with TLS.
    pub(crate) tls: Option<Identity>,
}

/// Sending end of the queue of requests, with the waker of the forwarding thread.
#[derive(Clone)]
pub(crate) struct Requests {
    queue: Sender<Request>,
    /// Number of requests in the queue.
    waiting: Arc<AtomicUsize>,
    settings: Sender<Settings>,
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
    settings: Receiver<Settings>,
    drain: Arc<AtomicBool>,
}

impl RequestQueue {
    /// The next request.
    pub(crate) fn next(&self) -> Option<Request> {
        let request = self.requests.try_recv().ok()?;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        Some(request)
    }

    /// The next settings.
    pub(crate) fn next_settings(&self) -> Option<Settings> {
        self.settings.try_recv().ok()
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
        let (settings, settings_taken) = std::sync::mpsc::channel();
        let (waiting, drain) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let taken = RequestQueue {
            requests,
            waiting: waiting.clone(),
            settings: settings_taken,
            drain: drain.clone(),
        };
        (Self { queue, waiting, settings, waker, added: Arc::default(), drain }, taken)
    }

    /// Replaces the settings after the next [`wake`](Self::wake).
    pub(crate) fn configure(&self, settings: Settings) {
        // Sending fails only once the thread has ended, and the process with it.
        let _ = self.settings.send(settings);
        self.added.store(true, Ordering::Relaxed);
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

    /// True while so many requests wait that only those that must be are added.
    pub(crate) fn is_busy(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= BUSY
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
        self.is_busy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::management::FaceRequest;

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
    }
}
