//! Multicast: all next hops.

use super::algorithm::{Algorithm, Decision, InterestContext};
use super::suppression::Suppression;
use hashlane_ndn::wire::NackReason;
use smallvec::SmallVec;

/// Strategy that forwards an Interest to all its next hops, except those it was forwarded to only recently.
///
/// Source: NFD Developer's Guide, Multicast Strategy.
#[derive(Clone, Copy, Debug, Default)]
pub struct Multicast {
    /// Suppression of retransmissions, for each face.
    pub suppression: Suppression,
}

impl Algorithm for Multicast {
    const PARAMETERS: &'static [&'static str] = Suppression::PARAMETERS;

    fn set_parameter(&mut self, name: &str, value: &str) -> Option<()> {
        self.suppression.set_parameter(name, value)
    }

    fn on_interest(&mut self, context: &mut InterestContext<'_>) -> Decision {
        let now = context.now;
        let mut faces = SmallVec::new();
        let mut any = false;
        for hop in context.eligible() {
            any = true;
            let mut outs = context.records.outs.iter_mut();
            let before = outs.find(|out| out.face == hop.face && out.expires > now);
            let allowed = before.is_none_or(|out| {
                self.suppression.allows(&mut out.suppression, now.since(out.sent).as_millis())
            });
            if allowed {
                faces.push(hop.face);
            }
        }
        match faces.is_empty() {
            false => Decision::Forward(faces),
            true if any || context.records.is_pending(now) => Decision::Suppress,
            true => Decision::Reject(NackReason::NO_ROUTE),
        }
    }
}
