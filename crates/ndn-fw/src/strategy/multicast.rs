//! Multicast: all ways.

use super::{Answer, Question, Suppression};
use hashlane_ndn::wire::NackReason;
use smallvec::SmallVec;

/// The strategy: an Interest takes all its ways, but those that it took too short a while ago.
///
/// Source: NFD Developer's Guide, Multicast Strategy.
#[derive(Clone, Copy, Debug, Default)]
pub struct Multicast {
    /// What a short while is, for each face.
    pub suppression: Suppression,
}

impl Multicast {
    /// Where an Interest goes.
    pub fn interest(&self, question: &mut Question<'_>) -> Answer {
        let now = question.now;
        let mut faces = SmallVec::new();
        let mut any = false;
        for hop in question.eligible() {
            any = true;
            let mut outs = question.records.outs.iter_mut();
            let before = outs.find(|out| out.face == hop.face && out.expires > now);
            let lets = before.is_none_or(|out| {
                self.suppression.lets(&mut out.suppression, now.since(out.sent).as_millis())
            });
            if lets {
                faces.push(hop.face);
            }
        }
        match faces.is_empty() {
            false => Answer::Send(faces),
            true if any || question.records.waits(now) => Answer::Wait,
            true => Answer::Reject(NackReason::NO_ROUTE),
        }
    }
}
