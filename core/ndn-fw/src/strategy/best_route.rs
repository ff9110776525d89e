//! Best route: the lowest-cost next hop, and another one for a retransmission.

use super::algorithm::{Algorithm, Decision, InterestContext};
use super::suppression::Suppression;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::wire::NackReason;

/// Strategy that forwards a new Interest to the next hop of the lowest cost.
///
/// A retransmission goes to the lowest-cost next hop that was not used yet, or else to the one that was used
/// the longest time ago.
///
/// Source: NFD Developer's Guide, Best Route Strategy.
#[derive(Clone, Copy, Debug, Default)]
pub struct BestRoute {
    /// Suppression of retransmissions.
    pub suppression: Suppression,
}

impl Algorithm for BestRoute {
    const PARAMETERS: &'static [&'static str] = Suppression::PARAMETERS;

    fn set_parameter(&mut self, name: &str, value: &str) -> Option<()> {
        self.suppression.set_parameter(name, value)
    }

    #[inline(always)]
    fn on_interest(&mut self, context: &mut InterestContext<'_>) -> Decision {
        if context.records.is_pending(context.now) {
            return self.retransmit(context);
        }
        match context.eligible().next() {
            Some(hop) => Decision::to(hop.face),
            None => Decision::Reject(NackReason::NO_ROUTE),
        }
    }
}

impl BestRoute {
    /// Decides where an Interest goes whose entry already waits for an answer.
    #[inline(never)]
    pub(super) fn retransmit(&self, context: &mut InterestContext<'_>) -> Decision {
        let now = context.now;
        let last = context.records.outs.iter().map(|out| out.sent).max();
        let last = last.invariant("an entry that waits has an out-record");
        let since_last = last.map_or(0, |last| now.since(last).as_millis());
        if !self.suppression.allows(&mut context.records.suppression, since_last) {
            return Decision::Suppress;
        }
        let records = &*context.records;
        let used = |face| records.out_record(face).filter(|out| out.expires > now);
        let unused = context.eligible().find(|hop| used(hop.face).is_none());
        let hop = unused
            .or_else(|| context.eligible().min_by_key(|hop| used(hop.face).map_or(now, |out| out.sent)));
        hop.map_or(Decision::Suppress, |hop| Decision::to(hop.face))
    }
}
