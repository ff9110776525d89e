//! The running traces.
//!
//! A trace belongs to the face of its command, one to a face. It ends with its face, after its time limit,
//! and when nobody has read it for [`LEASE`].

use super::clock::Now;
use super::request::{Plane, Request, TableRequest};
use hashlane_ndn::mgmt::trace::TraceStep;
use hashlane_ndn_fw::trace::Step;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::Receiver;

/// Time after which a trace ends that nobody reads, in milliseconds.
pub(super) const LEASE: u64 = 5000;

/// The running traces, by the face of their command.
#[derive(Default)]
pub(super) struct Traces {
    pub(super) running: BTreeMap<u64, Running>,
    /// Number of the last trace.
    pub(super) last: u64,
}

/// A running trace.
pub(super) struct Running {
    /// Number of the trace.
    pub(super) id: u64,
    /// Steps that wait.
    pub(super) steps: Receiver<Step>,
    /// Number of steps for which there was no room.
    pub(super) lost: Arc<AtomicU64>,
    /// Step that the last report had no room for.
    pub(super) next: Option<TraceStep>,
    /// Time of the last command, in milliseconds.
    pub(super) read: u64,
    /// Time of the end, in milliseconds.
    pub(super) ends: u64,
}

impl Traces {
    /// Stops the trace of a face.
    pub(super) fn stop(&mut self, face: u64, plane: &mut dyn Plane) {
        if let Some(running) = self.running.remove(&face) {
            plane.request(Request::Table(TableRequest::StopTrace(running.id)));
        }
    }

    /// Stops the traces whose time is over, and those that nobody reads.
    pub(super) fn expire(&mut self, now: Now, plane: &mut dyn Plane) {
        let is_over = |running: &Running| {
            now.monotonic >= running.ends || now.monotonic.saturating_sub(running.read) >= LEASE
        };
        let over: Vec<u64> =
            self.running.iter().filter(|(_, running)| is_over(running)).map(|(face, _)| *face).collect();
        over.into_iter().for_each(|face| self.stop(face, plane));
    }
}
