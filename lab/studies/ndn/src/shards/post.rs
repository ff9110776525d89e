//! Peers of all threads, as each thread reaches them: the network behind the faces.
//!
//! A thread sends to any face, as a worker does over UDP. The peer is made by the thread that reads its face,
//! so what has arrived there is noted for that thread: face, name and kind of packet, 24 bytes.

use super::ends::{Arrival, Ends, Plan};
use hashlane_ndn_fw::face::FaceId;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Arrivals at the peers of one thread.
type Mailbox = Mutex<Vec<Arrival>>;

/// The mailboxes of all threads, as one thread uses them.
pub(super) struct Post {
    own: usize,
    plan: Arc<Plan>,
    boxes: Arc<[Mailbox]>,
    /// Arrivals of this burst, by thread.
    open: Vec<Vec<Arrival>>,
    taken: Vec<Arrival>,
}

fn lock(mailbox: &Mailbox) -> MutexGuard<'_, Vec<Arrival>> {
    mailbox.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Post {
    /// The posts of `threads` threads.
    pub(super) fn of_all(threads: usize, plan: &Arc<Plan>) -> Vec<Self> {
        let boxes: Arc<[Mailbox]> = (0..threads).map(|_| Mailbox::default()).collect();
        let post = |own| Self {
            own,
            plan: plan.clone(),
            boxes: boxes.clone(),
            open: vec![Vec::new(); threads],
            taken: Vec::new(),
        };
        (0..threads).map(post).collect()
    }

    /// Sends a packet to a face of any thread.
    #[inline]
    pub(super) fn send(&mut self, face: FaceId, packet: &[u8], ends: &mut Ends) {
        let Some(arrival) = ends.read(face, packet) else { return ends.note_wrong() };
        let owner = self.plan.owner(face);
        if owner == self.own {
            ends.note(arrival);
        } else if let Some(open) = self.open.get_mut(owner) {
            open.push(arrival);
        } else {
            ends.note_wrong();
        }
    }

    /// Passes on the arrivals of the burst.
    pub(super) fn flush(&mut self) {
        for (open, mailbox) in self.open.iter_mut().zip(self.boxes.iter()) {
            if !open.is_empty() {
                lock(mailbox).append(open);
            }
        }
    }

    /// Notes the arrivals at the peers of this thread. Returns false if there are none.
    pub(super) fn take(&mut self, ends: &mut Ends) -> bool {
        if let Some(mailbox) = self.boxes.get(self.own) {
            std::mem::swap(&mut *lock(mailbox), &mut self.taken);
        }
        let has_some = !self.taken.is_empty();
        self.taken.drain(..).for_each(|arrival| ends.note(arrival));
        has_some
    }
}
