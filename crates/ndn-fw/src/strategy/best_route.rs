//! Best route: the cheapest way, and another one when a consumer asks again.

use super::{Answer, Question, Suppression};
use hashlane_ndn::wire::NackReason;

/// The strategy.
///
/// A first Interest takes the cheapest way. One that comes while an answer is waited for takes, unless it comes too soon, the cheapest way that is
/// not tried yet, or else the one that was tried longest ago.
///
/// Source: NFD Developer's Guide, Best Route Strategy.
#[derive(Clone, Copy, Debug, Default)]
pub struct BestRoute {
    /// What comes too soon.
    pub suppression: Suppression,
}

impl BestRoute {
    /// Where an Interest goes.
    #[inline(always)]
    pub fn interest(&self, question: &mut Question<'_>) -> Answer {
        if question.records.waits(question.now) {
            return self.again(question);
        }
        match question.eligible().next() {
            Some(hop) => Answer::to(hop.face),
            None => Answer::Reject(NackReason::NO_ROUTE),
        }
    }

    /// Where one goes that comes while an answer is waited for.
    #[inline(never)]
    pub(super) fn again(&self, question: &mut Question<'_>) -> Answer {
        let now = question.now;
        let last = question.records.outs.iter().map(|out| out.sent).max().unwrap_or_default();
        if !self.suppression.lets(&mut question.records.suppression, now.since(last).as_millis()) {
            return Answer::Wait;
        }
        let records = &*question.records;
        let tried = |face| records.went_to(face).filter(|out| out.expires > now);
        let unused = question.eligible().find(|hop| tried(hop.face).is_none());
        let hop = unused
            .or_else(|| question.eligible().min_by_key(|hop| tried(hop.face).map_or(now, |out| out.sent)));
        hop.map_or(Answer::Wait, |hop| Answer::to(hop.face))
    }
}
