//! Queue of reports from the forwarding thread to the management.
//!
//! It is bounded: Interests by [`FairQueue`], events of routes by [`RouteQueue`], reports about faces by the
//! number of faces, all others by the requests that they answer. Reports about faces go ahead of Interests,
//! as the management must know the face of an Interest.

use super::route_queue::RouteQueue;
use super::turns::{FairQueue, Waiting};
use crate::management::Report;
use hashlane_table::share::Owner;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Reports that wait from which a face that opens and closes is not reported at all.
const MANY: usize = 1024;

/// Sending end of the queue.
#[derive(Clone)]
pub(crate) struct Reports(Arc<Shared>);

/// Receiving end of the queue.
pub(crate) struct Inbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    added: Condvar,
}

#[derive(Default)]
struct Queue {
    /// End of the forwarding thread: its error, if it failed; unset while it runs.
    ended: Option<Option<String>>,
    /// Reports other than Interests, in the order of their numbers.
    reports: BTreeMap<u64, Report>,
    /// Number of the next report.
    next: u64,
    /// Numbers of the reports of opened faces.
    opened: HashMap<u64, u64>,
    interests: FairQueue,
    routes: RouteQueue,
    /// True if the event of a route has its turn before an Interest.
    is_turn_of_routes: bool,
    /// True if the reader sleeps.
    sleeps: bool,
}

impl Shared {
    /// The queue. It is valid after a panic, which leaves at most one report out.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the queue, and wakes the reader if it sleeps: a system call that is left out otherwise.
    fn add<R>(&self, change: impl FnOnce(&mut Queue) -> R) -> R {
        let mut queue = self.lock();
        let result = change(&mut queue);
        let sleeps = std::mem::take(&mut queue.sleeps);
        drop(queue);
        if sleeps {
            self.added.notify_one();
        }
        result
    }
}

impl Queue {
    fn add(&mut self, report: Report) {
        let report = match report {
            Report::Route(event) => return self.routes.push(event),
            report => report,
        };
        match &report {
            Report::FaceUp { info, .. } => {
                self.opened.insert(info.id, self.next);
            }
            Report::FaceDown { face } => {
                if let Some(opened) = self.opened.remove(face)
                    && self.reports.len() >= MANY
                {
                    self.reports.remove(&opened);
                    return;
                }
            }
            _ => {}
        }
        self.reports.insert(self.next, report);
        self.next += 1;
    }

    fn next(&mut self, interests: bool) -> Option<Report> {
        if let Some(error) = &self.ended {
            return Some(Report::Ended(error.clone()));
        }
        if let Some((_, report)) = self.reports.pop_first() {
            if let Report::FaceUp { info, .. } = &report {
                self.opened.remove(&info.id);
            }
            return Some(report);
        }
        if !interests {
            return None;
        }
        self.is_turn_of_routes = !self.is_turn_of_routes;
        if self.is_turn_of_routes
            && let Some(event) = self.routes.pop()
        {
            return Some(Report::Route(event));
        }
        match self.interests.pop() {
            Some(Waiting { face, packet }) => Some(Report::Interest { face, packet }),
            None => self.routes.pop().map(Report::Route),
        }
    }
}

impl Reports {
    /// Both ends of a queue.
    pub(crate) fn new() -> (Self, Inbox) {
        let shared = Arc::<Shared>::default();
        (Self(shared.clone()), Inbox(shared))
    }

    /// Reports that the forwarding thread has ended, ahead of all reports that wait. Only the first report
    /// counts.
    pub(crate) fn end(&self, error: Option<String>) {
        self.0.add(|queue| {
            queue.ended.get_or_insert(error);
        });
    }

    /// Adds a report whose number faces and requests bound.
    pub(crate) fn add(&self, report: Report) {
        self.0.add(|queue| queue.add(report));
    }

    /// Adds an Interest from a face. Returns the Interest that loses its place in the queue.
    pub(crate) fn interest(&self, face: u64, owner: Owner, packet: &[u8]) -> Option<Vec<u8>> {
        let waiting = Waiting { face, packet: packet.to_vec() };
        self.0.add(|queue| queue.interests.push(owner, waiting)).map(|displaced| displaced.packet)
    }
}

impl Inbox {
    /// The next report, Interests and events of routes only if `interests` is true; `None` if none arrives in
    /// that time.
    pub(crate) fn next(&self, timeout: Duration, interests: bool) -> Option<Report> {
        let end = Instant::now() + timeout;
        let mut queue = self.0.lock();
        loop {
            let report = queue.next(interests);
            let left = end.saturating_duration_since(Instant::now());
            if report.is_some() || left.is_zero() {
                return report;
            }
            queue.sleeps = true;
            queue = self.0.added.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
            queue.sleeps = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::management::{FaceInfo, Peer};
    use hashlane_ndn::mgmt::FaceUri;
    use hashlane_ndn::mgmt::values::{FacePersistency, FaceScope, LinkType};

    const NOW: Duration = Duration::ZERO;

    fn opened(id: u64) -> Report {
        let info = FaceInfo {
            id,
            remote: FaceUri::Null,
            local: FaceUri::Null,
            scope: FaceScope::NonLocal,
            persistency: FacePersistency::OnDemand,
            link_type: LinkType::PointToPoint,
            flags: 0,
            marking_interval: 0,
            congestion_threshold: 0,
            mtu: None,
            idle: None,
            counters: Arc::default(),
        };
        Report::FaceUp { info: Box::new(info), peer: Peer::Internal }
    }

    #[test]
    fn the_end_is_known_ahead_of_all_that_waits() {
        let (reports, inbox) = Reports::new();
        (0..1000).for_each(|face| reports.add(Report::FaceDown { face }));
        assert!(matches!(inbox.next(NOW, true), Some(Report::FaceDown { face: 0 })));
        reports.end(Some("a reason".into()));
        reports.end(None);
        assert!(matches!(inbox.next(NOW, true), Some(Report::Ended(Some(why))) if why == "a reason"));
    }

    #[test]
    fn faces_go_ahead_of_interests_which_may_have_to_wait() {
        let (reports, inbox) = Reports::new();
        assert_eq!(reports.interest(300, Owner::User(0), b"x"), None);
        reports.add(opened(300));
        assert!(matches!(inbox.next(NOW, true), Some(Report::FaceUp { .. })));
        assert!(inbox.next(NOW, false).is_none());
        assert!(matches!(inbox.next(NOW, true), Some(Report::Interest { face: 300, .. })));
        assert!(inbox.next(NOW, true).is_none());
    }

    #[test]
    fn faces_that_come_and_go_leave_a_bounded_number_of_reports() {
        let (reports, inbox) = Reports::new();
        reports.add(opened(1));
        for face in 2..100_000 {
            reports.add(opened(face));
            reports.add(Report::FaceDown { face });
        }
        reports.add(Report::FaceDown { face: 1 });
        let mut open = std::collections::BTreeSet::new();
        let mut count = 0;
        while let Some(report) = inbox.next(NOW, true) {
            count += 1;
            match report {
                Report::FaceUp { info, .. } => assert!(open.insert(info.id)),
                Report::FaceDown { face } => assert!(open.remove(&face), "a face opens before it closes"),
                other => panic!("{other:?}"),
            }
        }
        assert!(open.is_empty() && (MANY - 2..=MANY + 1).contains(&count), "{count} {open:?}");
        assert!(inbox.0.lock().opened.is_empty());
    }

    #[test]
    fn a_reader_that_sleeps_is_woken() {
        let (reports, inbox) = Reports::new();
        let reader = std::thread::spawn(move || inbox.next(Duration::from_secs(60), true));
        while !reports.0.lock().sleeps {
            std::thread::yield_now();
        }
        reports.interest(300, Owner::User(0), b"x");
        let report = reader.join().expect("the reader has not panicked");
        assert!(matches!(report, Some(Report::Interest { face: 300, .. })));
    }
}
