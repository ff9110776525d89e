//! Self-learning: known routes, and a broadcast to all neighbours where there are none.

use super::algorithm::{Algorithm, Decision, InterestContext, NackDecision, after_nack};
use super::suppression::Suppression;
use crate::face::{FaceId, LinkType};
use crate::pit::Records;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::NackReason;
use smallvec::SmallVec;

/// Strategy for networks whose producers announce their prefixes and that have no routing protocol.
///
/// An Interest with next hops goes to all of them, marked NonDiscovery. Without next hops it is a discovery
/// Interest: it goes to all faces to other hosts, and a NonDiscovery one is refused with a Nack. Data that
/// answers a discovery Interest brings the announcement of its prefix, from which the management makes a
/// route. If all next hops send a Nack, the router whose downstream sent a discovery Interest floods it. A
/// retransmission that follows within an interval is suppressed, as by the strategy multicast.
///
/// Source: Shi, Newberry, Zhang: "On Broadcast-based Self-Learning in Named Data Networking", 2017; NFD,
/// class `SelfLearningStrategy`, for behaviour.
#[derive(Clone, Copy, Debug, Default)]
pub struct SelfLearning;

/// Most faces that get a discovery Interest: those that were opened first, so that peers that connect later
/// do not take the places of neighbours.
const MAX_BROADCAST: usize = 64;

impl Algorithm for SelfLearning {
    const LEARNS: bool = true;

    const PARAMETERS: &'static [&'static str] = &[];

    fn set_parameter(&mut self, _name: &str, _value: &str) -> Option<()> {
        None
    }

    fn on_interest(&mut self, context: &mut InterestContext<'_>) -> Decision {
        let now = context.now;
        if context.records.is_pending(now) && !allows(context.records, now) {
            return Decision::Suppress;
        }
        let hops: SmallVec<[FaceId; 2]> = context.eligible().map(|hop| hop.face).collect();
        if !hops.is_empty() {
            return Decision::Follow(hops);
        }
        if !is_discovery(context) {
            return Decision::Reject(NackReason::NO_ROUTE);
        }
        // Without neighbours the Interest waits: another downstream may lead to the producer.
        broadcast(context)
    }

    /// Faces of a broadcast that the Interest was not sent to yet, for a discovery Interest.
    fn on_timeout(&mut self, context: &mut InterestContext<'_>) -> Decision {
        if is_discovery(context) { broadcast_to_unused(context) } else { Decision::Suppress }
    }

    fn on_nack(&mut self, _prefix: u64, records: &Records, _face: FaceId, now: Time) -> NackDecision {
        match after_nack(records, now) {
            NackDecision::NackAll(reason) => NackDecision::TryOthers(reason),
            decision => decision,
        }
    }
}

/// True if a retransmission may be forwarded.
fn allows(records: &mut Records, now: Time) -> bool {
    let last = records.outs.iter().map(|out| out.sent).max();
    let since_last = last.map_or(0, |last| now.since(last).as_millis());
    Suppression::default().allows(&mut records.suppression, since_last)
}

/// True if the downstream lets the Interest be flooded.
fn is_discovery(context: &InterestContext<'_>) -> bool {
    context.records.in_record(context.ingress).is_some_and(|record| !record.non_discovery)
}

/// Forwards to all neighbours.
fn broadcast(context: &InterestContext<'_>) -> Decision {
    broadcast_to(context, |_| true)
}

/// Forwards to the neighbours that have no out-record.
fn broadcast_to_unused(context: &InterestContext<'_>) -> Decision {
    let (records, now) = (&*context.records, context.now);
    broadcast_to(context, |face| records.out_record(face).is_none_or(|out| out.expires <= now))
}

/// Forwards to the neighbours that pass a filter.
fn broadcast_to(context: &InterestContext<'_>, filter: impl Fn(FaceId) -> bool) -> Decision {
    if context.local_only {
        return Decision::Suppress;
    }
    let remote = context.faces.remote();
    let others = remote.filter(|(id, face)| *id != context.ingress || face.link == LinkType::AdHoc);
    let faces: SmallVec<_> = others.map(|(id, _)| id).filter(|id| filter(*id)).take(MAX_BROADCAST).collect();
    if faces.is_empty() { Decision::Suppress } else { Decision::Forward(faces) }
}
