//! Queries in flight, by their ids.

use super::{BATCH, Counts, Target};
use crate::check;
use crate::queries::Queries;
use hashlane_lab::study::TurnError;
use hashlane_link::udp::{RecvBatch, SendBatch, UdpSocket};
use std::net::SocketAddr;

/// No query has this place.
const NONE: u32 = u32::MAX;

/// A socket, its batches, and the queries without an answer.
pub(super) struct Flight<'a> {
    socket: UdpSocket,
    received: RecvBatch,
    queue: SendBatch,
    target: Target,
    queries: &'a Queries,
    /// Place of the query of each id, and when it was due.
    slots: Vec<(u32, u64)>,
    next_id: u16,
    /// Place of the next query.
    next: usize,
    in_flight: usize,
    pub(super) counts: Counts,
}

impl<'a> Flight<'a> {
    /// A socket for queries. The first one sent has the place `from`, modulo their number.
    pub(super) fn new(target: Target, queries: &'a Queries, from: usize) -> Result<Self, TurnError> {
        let socket = UdpSocket::bind(SocketAddr::from((target.from, 0)));
        let mut socket = socket.map_err(TurnError::io("cannot make a socket for the load"))?;
        // A short queue loses answers, and they are counted as lost.
        let _ = socket.set_receive_queue(8 << 20);
        Ok(Self {
            socket,
            received: RecvBatch::new(BATCH),
            queue: SendBatch::new(BATCH),
            target,
            queries,
            slots: vec![(NONE, 0); 1 << 16],
            next_id: 0,
            next: from % queries.len().max(1),
            in_flight: 0,
            counts: Counts::default(),
        })
    }

    /// Queries without an answer.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Place of the next query.
    pub(super) fn next(&self) -> usize {
        self.next
    }

    /// Sends up to `count` queries; `due` gives the time, in nanoseconds, of each.
    #[inline]
    pub(super) fn send(&mut self, count: usize, mut due: impl FnMut(usize) -> u64) -> Result<(), TurnError> {
        for at in 0..count.min(BATCH) {
            let Some(query) = self.queries.get(self.next) else { break };
            let id = self.next_id;
            if let Some(slot) = self.slots.get_mut(usize::from(id)) {
                // After 65,536 queries without an answer its place is taken.
                if slot.0 != NONE {
                    self.counts.lost += 1;
                    self.in_flight -= 1;
                }
                *slot = (self.next as u32, due(at));
            }
            self.next_id = id.wrapping_add(1);
            self.next = if self.next + 1 == self.queries.len() { 0 } else { self.next + 1 };
            self.in_flight += 1;
            let rest = query.message.get(2..).unwrap_or_default();
            self.queue.push(self.target.address, &[&id.to_be_bytes(), rest]);
        }
        // Datagrams that the kernel drops have no answer, and are counted then.
        self.socket.send(&mut self.queue).map_err(TurnError::io("cannot send queries"))?;
        Ok(())
    }

    /// Receives answers that wait, and returns their number; `timed` gets the time at which each right answer
    /// to a timed query was due.
    #[inline]
    pub(super) fn receive(&mut self, mut timed: impl FnMut(u64)) -> Result<usize, TurnError> {
        let received = self.socket.recv(&mut self.received);
        let received = received.map_err(TurnError::io("cannot receive answers"))?;
        for datagram in self.received.iter() {
            let slot = check::id(datagram.payload).and_then(|id| self.slots.get_mut(usize::from(id)));
            let Some(slot) = slot else { continue };
            let Some(query) = self.queries.get(slot.0 as usize) else {
                // Late, or sent twice.
                continue;
            };
            let due = slot.1;
            slot.0 = NONE;
            self.in_flight -= 1;
            match check::check(datagram.payload, &query, self.target.manner) {
                Ok(()) => {
                    self.counts.answers += 1;
                    if query.is_timed {
                        timed(due);
                    }
                }
                Err(wrong) => {
                    self.counts.wrong += 1;
                    self.counts.first_wrong.get_or_insert(wrong);
                }
            }
        }
        Ok(received)
    }

    /// Gives up on all queries without an answer.
    pub(super) fn give_up(&mut self) {
        self.counts.lost += self.in_flight as u64;
        self.in_flight = 0;
        self.slots.iter_mut().for_each(|slot| slot.0 = NONE);
    }
}
