//! Counters of the decisions of strategies.

use super::verdict::NAMES;
use super::{Decision, StrategyKind, Verdict};
use crate::face::Counter;

/// Kinds of decisions of strategies.
const DECISIONS: usize = NAMES.len() - 1;

/// Decisions about Interests, by strategy. One thread writes, any thread may read.
#[derive(Debug)]
pub struct DecisionCounters([[Counter; DECISIONS]; StrategyKind::ALL.len()]);

impl Default for DecisionCounters {
    fn default() -> Self {
        Self(core::array::from_fn(|_| core::array::from_fn(|_| Counter::default())))
    }
}

impl DecisionCounters {
    /// Counts a decision. Only one thread may write.
    #[inline(always)]
    pub(crate) fn count(&self, kind: StrategyKind, decision: &Decision) {
        let counters = self.0.get(kind as usize);
        if let Some(counter) = counters.and_then(|counters| counters.get(Verdict::from(decision).place())) {
            counter.add(1);
        }
    }

    /// Numbers of the decisions of a strategy, each with its name.
    pub fn of(&self, kind: StrategyKind) -> impl Iterator<Item = (&'static str, u64)> {
        let counters = self.0.get(kind as usize).into_iter().flatten();
        NAMES.into_iter().zip(counters.map(Counter::value))
    }
}
