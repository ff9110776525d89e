//! The path of packets through a forwarding thread: from its faces and its queue to its shard.

use super::batch::{Action, Batch};
use super::exchange::Exchange;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::LpHeader;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::{Burst, DropReason, Forwarder, Output};
use hashlane_ndn_fw::pit::Pit;
use hashlane_ndn_fw::shard::{Dispatch, Load};
use hashlane_table::stage::Stage as _;

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

/// The choice of shards, as the thread of shard `own` makes it for the packets of its faces.
pub struct Router<'a> {
    /// Shard of the thread.
    pub own: usize,
    /// The choice, which all threads share.
    pub dispatch: &'a Dispatch,
    /// Counts the packets.
    pub load: &'a mut Load,
}

/// Decodes a burst of packets that faces have received, and hands over those that visit another shard first.
/// The caller forwards the rest ([`Forwarder::forward_decoded`]), then [passes on](pass_on).
#[inline]
pub fn route_burst<P: Pit>(
    router: Router<'_>,
    forwarder: &mut Forwarder<P>,
    burst: &mut Burst<'_, P::Mark>,
    now: Time,
    exchange: &mut Exchange,
) {
    let Router { own, dispatch, load } = router;
    forwarder.decode().run(burst);
    dispatch.route_burst(own, forwarder, burst, now, load, |packet| exchange.hand_over(packet));
}

/// Hands over the packets of a burst, which `forwarder` has forwarded, that visit another shard next.
#[inline]
pub fn pass_on<P: Pit>(
    forwarder: &mut Forwarder<P>,
    burst: &mut Burst<'_, P::Mark>,
    exchange: &mut Exchange,
) {
    burst.hand_over_passed(forwarder.decode(), |packet| exchange.hand_over(packet));
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
    // A batch has at most as many packets as a burst.
    let mut burst = Burst::new();
    for (face, action, packet) in batch.iter() {
        let Action::Forward { visit, hashes } = action else { continue };
        if burst.push(face, packet).is_err() {
            forwarder.count_drop(face, DropReason::Malformed);
            continue;
        }
        burst.set_visit(visit, hashes);
    }
    if !burst.is_empty() {
        forwarder.receive_burst(&mut burst, now, &mut Through(exchange, outlet));
        pass_on(forwarder, &mut burst, exchange);
    }
}
