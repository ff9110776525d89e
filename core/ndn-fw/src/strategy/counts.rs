//! Counters of the decisions of strategies.

use super::{Decision, StrategyKind};
use crate::face::Counter;

/// Names of the decisions, in the order of the counters.
const DECISIONS: [&str; 5] = ["forward", "probe", "try", "suppress", "reject"];

/// Decisions about Interests, by strategy. One thread writes, any thread may read.
#[derive(Debug)]
pub struct DecisionCounters([[Counter; DECISIONS.len()]; StrategyKind::ALL.len()]);

impl Default for DecisionCounters {
    fn default() -> Self {
        Self(core::array::from_fn(|_| core::array::from_fn(|_| Counter::default())))
    }
}

impl DecisionCounters {
    /// Counts a decision. Only one thread may write.
    #[inline(always)]
    pub(crate) fn count(&self, kind: StrategyKind, decision: &Decision) {
        let at = match decision {
            Decision::Probe { .. } => 1,
            Decision::Try { .. } => 2,
            Decision::Suppress => 3,
            Decision::Reject(_) => 4,
            _ => 0,
        };
        if let Some(counter) = self.0.get(kind as usize).and_then(|counters| counters.get(at)) {
            counter.add(1);
        }
    }

    /// Numbers of the decisions of a strategy, each with its name.
    pub fn of(&self, kind: StrategyKind) -> impl Iterator<Item = (&'static str, u64)> {
        let counters = self.0.get(kind as usize).into_iter().flatten();
        DECISIONS.into_iter().zip(counters.map(Counter::value))
    }
}
