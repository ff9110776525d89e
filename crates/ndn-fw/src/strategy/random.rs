//! Random: any way.

use super::{Answer, BestRoute, Question};
use hashlane_ndn::wire::NackReason;

/// The strategy: each first Interest takes one of its ways, all with the same probability. What comes while an answer is waited for goes as
/// with [`BestRoute`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Random {
    /// For what comes again.
    pub again: BestRoute,
}

impl Random {
    /// Where an Interest goes.
    pub fn interest(&self, question: &mut Question<'_>) -> Answer {
        if question.records.waits(question.now) {
            return self.again.again(question);
        }
        let ways = question.eligible().count();
        let which = question.dice.below(ways);
        match question.eligible().nth(which) {
            Some(hop) => Answer::to(hop.face),
            None => Answer::Reject(NackReason::NO_ROUTE),
        }
    }
}
