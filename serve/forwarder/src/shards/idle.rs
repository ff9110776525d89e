//! Parties that have left: their numbers may be used again once no shard has a record of theirs.

use hashlane_table::share::Holder;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Answers of the workers to the question which parties hold nothing.
#[derive(Clone, Debug)]
pub(crate) struct IdleAnswers(Arc<Mutex<Answers>>);

#[derive(Debug, Default)]
struct Answers {
    /// Workers that have not answered.
    missing: usize,
    /// Parties that hold nothing at the workers that have answered.
    idle: HashSet<Holder>,
}

impl IdleAnswers {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    fn lock(&self) -> MutexGuard<'_, Answers> {
        // A worker that has panicked ends the process.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks `workers` workers about these parties. False if an earlier question is not answered yet.
    pub(super) fn ask(&self, workers: usize, parties: &[Holder]) -> bool {
        let mut answers = self.lock();
        if answers.missing > 0 {
            return false;
        }
        *answers = Answers { missing: workers, idle: parties.iter().copied().collect() };
        true
    }

    /// Answers for one worker.
    pub(super) fn answer(&self, idle: impl Fn(Holder) -> bool) {
        let mut answers = self.lock();
        answers.idle.retain(|party| idle(*party));
        answers.missing = answers.missing.saturating_sub(1);
    }

    /// True if a party holds nothing at any worker, by their last answers.
    pub(super) fn is_idle(&self, party: Holder) -> bool {
        let answers = self.lock();
        answers.missing == 0 && answers.idle.contains(&party)
    }

    /// Notes that a party is back: the answers about it are outdated.
    pub(super) fn forget(&self, party: Holder) {
        self.lock().idle.remove(&party);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_party_is_idle_when_all_workers_have_said_so_and_it_has_not_come_back() {
        let (answers, parties) = (IdleAnswers::new(), [1, 2, 3].map(|number| Holder::new(number, true)));
        assert!(answers.ask(2, &parties));
        answers.answer(|party| party != parties[0]);
        assert!(!answers.is_idle(parties[1]) && !answers.ask(2, &parties));
        answers.answer(|_| true);
        answers.forget(parties[2]);
        assert_eq!(parties.map(|party| answers.is_idle(party)), [false, true, false]);
        assert!(answers.ask(2, &[]) && !answers.is_idle(parties[1]));
    }
}
