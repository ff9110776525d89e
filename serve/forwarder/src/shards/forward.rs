//! The path of packets through a forwarding thread: from its faces and its queue to its shard.

use super::batch::{Action, Batch};
use super::exchange::Exchange;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::LpHeader;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::{BURST, Burst, DropReason, Forwarder, Output};
use hashlane_ndn_fw::pit::Pit;
use hashlane_ndn_fw::shard::{Visit, Visits};
use smallvec::SmallVec;

/// Receiver of the packets that a shard sends. It may hand them over to the thread that has the face.
pub trait Outlet {
    /// Sends a packet, by way of these queues if another thread has the face.
    fn send(&mut self, exchange: &mut Exchange, face: FaceId, header: &LpHeader<'_>, packet: &[u8]);
}

/// An outlet with the queues that it needs: the output of the forwarder of a shard.
pub struct Through<'a, O>(pub &'a mut Exchange, pub &'a mut O);

impl<O: Outlet> Output for Through<'_, O> {
    #[inline]
    fn send(&mut self, face: FaceId, header: &LpHeader<'_>, packet: &[u8]) {
        self.1.send(self.0, face, header, packet);
    }
}

/// Next step for a packet that a face has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Nothing: the packet is in the burst, or was handed over.
    Done,
    /// The burst is full: forward it.
    Full,
    /// The packet is malformed: count it.
    Malformed,
    /// The own shard is the first of several: forward the burst, then the packet alone.
    VisitsHere,
}

/// Takes a packet that a face has received: adds it to the burst if it visits shard `own` alone, and hands it
/// over if it visits another one first.
#[inline]
pub fn take_packet<'p, M>(
    own: usize,
    (face, packet): (FaceId, &'p [u8]),
    visits: Visits,
    burst: &mut Burst<'p, M>,
    exchange: &mut Exchange,
) -> Taken {
    if visits.shard() != own {
        let action = Action::Forward { visits, served: None };
        exchange.hand_over(visits.shard(), face, action, [packet, &[]]);
        Taken::Done
    } else if !visits.is_last() {
        Taken::VisitsHere
    } else if burst.push(face, packet).is_err() {
        Taken::Malformed
    } else if burst.is_full() {
        Taken::Full
    } else {
        Taken::Done
    }
}

/// Forwards the packets of a batch at a shard, and hands them over to the shards that they visit next. Skips
/// packets that are only to be [sent](Action::Send).
pub fn forward_batch<P: Pit>(
    batch: &Batch,
    forwarder: &mut Forwarder<P>,
    now: Time,
    exchange: &mut Exchange,
    outlet: &mut impl Outlet,
) {
    let mut burst = Burst::new();
    let mut visited: SmallVec<[(FaceId, Visits, &[u8]); BURST]> = SmallVec::new();
    for (face, action, packet) in batch.iter() {
        let Action::Forward { visits, served } = action else { continue };
        if burst.push(face, packet).is_err() {
            forwarder.count_drop(face, DropReason::Malformed);
            continue;
        }
        burst.set_visit(Visit { is_last: visits.is_last(), served: served.as_deref() });
        visited.push((face, *visits, packet));
        if burst.is_full() {
            forward_visits(&mut burst, &visited, forwarder, now, exchange, outlet);
            burst.clear();
            visited.clear();
        }
    }
    forward_visits(&mut burst, &visited, forwarder, now, exchange, outlet);
}

fn forward_visits<P: Pit>(
    burst: &mut Burst<'_, P::Mark>,
    visited: &[(FaceId, Visits, &[u8])],
    forwarder: &mut Forwarder<P>,
    now: Time,
    exchange: &mut Exchange,
    outlet: &mut impl Outlet,
) {
    if burst.is_empty() {
        return;
    }
    forwarder.receive_burst(burst, now, &mut Through(exchange, outlet));
    for (at, served) in burst.passed() {
        if let Some((face, visits, packet)) = visited.get(at)
            && let Some(visits) = visits.after()
        {
            let action = Action::Forward { visits, served: Some(served) };
            exchange.hand_over(visits.shard(), *face, action, [packet, &[]]);
        }
    }
}
