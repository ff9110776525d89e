//! Random: a next hop drawn at random.

use super::algorithm::{Algorithm, Decision, InterestContext};
use super::best_route::BestRoute;
use super::suppression::Suppression;
use hashlane_ndn::wire::NackReason;

/// Strategy that forwards each new Interest to one of its next hops, all with the same probability, and
/// handles retransmissions as [`BestRoute`] does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random {
    /// Handling of retransmissions.
    pub retransmission: BestRoute,
}

impl Algorithm for Random {
    const PARAMETERS: &'static [&'static str] = Suppression::PARAMETERS;

    fn set_parameter(&mut self, name: &str, value: &str) -> Option<()> {
        self.retransmission.set_parameter(name, value)
    }

    fn on_interest(&mut self, context: &mut InterestContext<'_>) -> Decision {
        if context.records.is_pending(context.now) {
            return self.retransmission.retransmit(context);
        }
        let hops = context.eligible().count();
        let at = context.rng.below(hops);
        match context.eligible().nth(at) {
            Some(hop) => Decision::to(hop.face),
            None => Decision::Reject(NackReason::NO_ROUTE),
        }
    }
}
