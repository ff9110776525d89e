//! The pace of Interests at which a forwarder takes nearly a whole core.

use crate::load::{self, Forwarder, Index, Plan, Workload};
use hashlane_lab::evidence::CARRIED;
use hashlane_lab::study::{RunError, Session};
use std::time::Duration;

/// Share of a core that the forwarder takes by name, in per cent, at least; the source's took 93 to 98.
pub(super) const LEAST: f64 = 90.0;

/// Share above which an index that costs more would have no room.
const MOST: f64 = 97.0;

/// Pace of each consumer in the first turn of a search: the source's.
pub(super) const FIRST: u32 = 1000;

/// Highest pace of each consumer.
const HIGHEST: u32 = 64_000;

/// Most turns of a search.
const TURNS: usize = 16;

/// Shortest measured time of a turn.
const SHORTEST: Duration = Duration::from_millis(200);

/// Result of a turn at a pace.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Trial {
    pace: u32,
    /// CPU time of the forwarder, in per cent of a core.
    percent: f64,
    /// Answered share of the offered Interests.
    carried: f64,
}

impl Trial {
    fn is_carried(self) -> bool {
        self.carried >= CARRIED
    }

    fn is_too_little(self) -> bool {
        self.is_carried() && self.percent < LEAST
    }

    fn is_too_much(self) -> bool {
        !self.is_carried() || self.percent > MOST
    }
}

/// Search for a pace, by doubling and then halving the difference.
#[derive(Clone, Debug, Default)]
struct Search {
    trials: Vec<Trial>,
}

impl Search {
    /// The next pace to try; `None` if the search has ended.
    fn next(&self) -> Option<u32> {
        let trials = self.trials.iter();
        if trials.len() >= TURNS || trials.clone().any(|trial| !trial.is_too_little() && !trial.is_too_much())
        {
            return None;
        }
        let low = trials.clone().filter(|trial| trial.is_too_little()).map(|trial| trial.pace).max();
        let high = trials.filter(|trial| trial.is_too_much()).map(|trial| trial.pace).min();
        match (low, high) {
            (None, None) => Some(FIRST),
            (Some(low), None) => Some(2 * low).filter(|pace| *pace <= HIGHEST),
            (low, Some(high)) => {
                let low = low.unwrap_or(0);
                // Noise may turn the order of two paces around.
                Some(u32::midpoint(low, high)).filter(|_| low + high / 32 + 1 < high)
            }
        }
    }

    /// The lowest pace at which the forwarder took the share; else the highest that it carried.
    fn best(&self) -> u32 {
        let carried = self.trials.iter().filter(|trial| trial.is_carried());
        let enough = carried.clone().filter(|trial| trial.percent >= LEAST).map(|trial| trial.pace).min();
        enough.or_else(|| carried.map(|trial| trial.pace).max()).unwrap_or(FIRST)
    }
}

/// Finds the pace of each consumer at which a forwarder by name takes [`LEAST`] per cent of a core and more;
/// if it takes less at every pace, the highest that it carries. `None` if the run was stopped.
pub(super) fn pace(
    session: &mut Session<'_>,
    label: &str,
    workload: &Workload,
    time: Duration,
) -> Result<Option<u32>, RunError> {
    let mut search = Search::default();
    while let Some(pace) = search.next() {
        if session.stopped() {
            return Ok(None);
        }
        let plan = Plan::paced(time.max(SHORTEST), pace);
        let all = plan.pairs as u32 * pace;
        session.doing(label, &format!("looking for {LEAST:.0} % of a core, at {all} Interests a second"));
        let name = Forwarder::Indexed(Index::Name);
        match load::turn(&session.settings.command, name, workload, &plan, session.stop) {
            Ok(reading) => {
                let offered = plan.offered(reading.time).unwrap_or(f64::INFINITY);
                let carried = reading.counts.answered as f64 / offered;
                search.trials.push(Trial { pace, percent: reading.cpu_percent(), carried });
            }
            Err(error) => return error.end(label, &session.definition.reference).map(|()| None),
        }
    }
    Ok(Some(search.best()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Result of a search with a forwarder of this CPU share that carries paces up to `most`, and the turns.
    fn search(percent: impl Fn(f64) -> f64, most: u32) -> (u32, usize) {
        let mut search = Search::default();
        while let Some(pace) = search.next() {
            let carried = (f64::from(most) / f64::from(pace)).min(1.0);
            search.trials.push(Trial { pace, percent: percent(f64::from(pace)), carried });
        }
        (search.best(), search.trials.len())
    }

    #[test]
    fn finds_a_pace_that_takes_nearly_a_core() {
        // Batches make an exchange cheaper, the more there are.
        let percent = |pace: f64| 100.0 * (1.0 - (-pace / 2500.0).exp());
        let (pace, turns) = search(percent, u32::MAX);
        assert!((LEAST..=MOST).contains(&percent(pace.into())) && turns < TURNS, "{pace} in {turns} turns");
    }

    #[test]
    fn a_steep_share_is_found_between_too_little_and_too_much() {
        let percent = |pace: f64| if pace < 5000.0 { 60.0 } else { 99.0 + pace / 100_000.0 };
        let (pace, turns) = search(percent, u32::MAX);
        assert!((5000..5200).contains(&pace) && turns <= TURNS, "{pace} in {turns} turns");
    }

    #[test]
    fn a_forwarder_that_never_takes_it_gets_the_most_that_it_carries() {
        let (pace, _) = search(|_| 50.0, 6000);
        assert!((5800..=6060).contains(&pace), "{pace}");
        assert_eq!(search(|_| 50.0, u32::MAX).0, HIGHEST);
        assert_eq!(search(|_| 50.0, 0), (FIRST, 10));
    }
}
