//! Access: the next hop that last returned Data for similar names, and all others if it is silent.

use super::algorithm::{Algorithm, DataContext, Decision, InterestContext, NackDecision, after_nack};
use super::groups::Groups;
use crate::face::FaceId;
use crate::fib::NextHop;
use crate::pit::Records;
use alloc::boxed::Box;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::NackReason;
use smallvec::SmallVec;

/// Strategy for a router whose next hops are end hosts: links are lossy, and few of the next hops of a prefix
/// have any one Data packet.
///
/// The names that differ in the last component alone form a group. An Interest of a group goes to the next
/// hop that last returned Data of the group. If no Data arrives within the retransmission timeout of that
/// next hop, or it sends a Nack, the Interest also goes to all others. The first Interest of a group goes to
/// all next hops, and so does a retransmission by the downstream; a retransmission within 100 ms is
/// suppressed.
///
/// Source: NFD, class `AccessStrategy`, for behaviour; RTT estimation as in RFC 6298.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Components of the prefix for which the strategy was chosen: the shortest prefix of a group.
    depth: usize,
    // In a box, as requests and messages carry strategies.
    groups: Box<Groups>,
}

/// Milliseconds after an Interest was sent within which a retransmission is suppressed.
const SUPPRESSED: u128 = 100;

impl Algorithm for Access {
    const MEASURES: bool = true;

    const PARAMETERS: &'static [&'static str] = &[];

    fn set_parameter(&mut self, _name: &str, _value: &str) -> Option<()> {
        None
    }

    fn on_interest(&mut self, context: &mut InterestContext<'_>) -> Decision {
        let now = context.now;
        if context.records.is_pending(now) {
            let last = context.records.outs.iter().map(|out| out.sent).max();
            let is_early = last.is_some_and(|last| now.since(last).as_millis() < SUPPRESSED);
            return if is_early { Decision::Suppress } else { forward(context, |_| true) };
        }
        if let Some((first, timeout)) = self.groups.find(context.name, self.depth, now)
            && context.eligible().any(|hop| hop.face == first)
        {
            return match context.eligible().any(|hop| hop.face != first) {
                true => Decision::Try { first, timeout },
                false => Decision::to(first),
            };
        }
        match forward(context, |_| true) {
            Decision::Suppress => Decision::Reject(NackReason::NO_ROUTE),
            decision => decision,
        }
    }

    /// Faces that the Interest was not sent to yet.
    fn on_timeout(&mut self, context: &mut InterestContext<'_>) -> Decision {
        let (records, now) = (&*context.records, context.now);
        forward(context, |hop| records.out_record(hop.face).is_none_or(|out| out.expires <= now))
    }

    fn on_data(&mut self, context: &DataContext<'_>) {
        let Some(sample) = context.round_trip() else { return };
        let DataContext { face, holder, name, now, .. } = *context;
        let len = name.len().saturating_sub(1).max(self.depth).min(name.len());
        self.groups.record(name.prefix(len), (face, holder), sample, now);
    }

    fn on_nack(&mut self, _prefix: u64, records: &Records, _face: FaceId, now: Time) -> NackDecision {
        match after_nack(records, now) {
            NackDecision::NackAll(reason) => NackDecision::TryOthers(reason),
            decision => decision,
        }
    }

    fn set_depth(&mut self, components: usize) {
        self.depth = components;
    }
}

/// Forwards to the eligible next hops that pass a filter.
fn forward(context: &InterestContext<'_>, filter: impl Fn(&NextHop) -> bool) -> Decision {
    let faces: SmallVec<_> = context.eligible().filter(filter).map(|hop| hop.face).collect();
    if faces.is_empty() { Decision::Suppress } else { Decision::Forward(faces) }
}
