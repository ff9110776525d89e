//! The verdict of an audit, out of the outcomes of its attacks and ε.

use super::{Epsilon, Outcome, Report};
use crate::attack::{About, Knowledge};
use crate::flood;
use crate::library::behaviour::Behaviour;
use crate::verdict::{Flaw, Verdict};
use hashlane_hash::scheme::Keying;

/// The verdict that follows from the outcomes: the one that needs to know least, and of these the worst.
///
/// A function that treats its arguments wrongly, but can be flooded all the same, is floodable, unless its
/// hashes change, and the outcomes with them.
pub(super) fn verdict(report: &Report) -> Verdict {
    match (&report.flaw, of_attacks(report)) {
        (Some(flaw @ Flaw::Behaviour(Behaviour::NotDeterministic)), _) => Verdict::Faulty(flaw.clone()),
        (Some(Flaw::Behaviour(_)), verdict) if verdict.is_floodable() => verdict,
        (Some(flaw), _) => Verdict::Faulty(flaw.clone()),
        (None, verdict) => verdict,
    }
}

/// The verdict that follows from the attacks and ε.
pub(super) fn of_attacks(report: &Report) -> Verdict {
    if let Some(flood) = &report.crowding {
        return Verdict::Crowded(flood.clone());
    }
    // A seed that everyone has leaks nothing.
    let needed = |about: &About| match (about.knowledge, report.info.keying) {
        (Knowledge::Seed, Keying::None) => Knowledge::Nothing,
        (knowledge, _) => knowledge,
    };
    let worst = |knowledge: Knowledge| {
        let floods = report.attempts.iter().filter_map(|(about, outcome)| match outcome {
            Outcome::Flood(flood) if needed(about) == knowledge => Some((about.id, &**flood)),
            _ => None,
        });
        flood::worst(floods)
    };
    let of_bits = report.attempts.iter().find_map(|(about, outcome)| match outcome {
        Outcome::Flood(flood) if about.id == "unhashed" => Some(flood),
        _ => None,
    });
    if let Some(flood) = of_bits {
        return Verdict::Partial(report.unhashed.clone(), flood.clone());
    }
    for knowledge in [Knowledge::Nothing, Knowledge::Results] {
        if let Some((id, flood)) = worst(knowledge) {
            return Verdict::Floodable(knowledge, id, Box::new(flood.clone()));
        }
    }
    if matches!(report.epsilon, Epsilon::Broken { log2, .. } if log2 >= 0.0) {
        return Verdict::PairAlways;
    }
    if let Some((id, flood)) = worst(Knowledge::Seed) {
        return Verdict::IfSeedLeaks(id, Box::new(flood.clone()));
    }
    match &report.epsilon {
        Epsilon::Proved(proved) => Verdict::Proved(*proved),
        Epsilon::Broken { log2, .. } => Verdict::WeakPair(*log2),
        Epsilon::Measured { .. } | Epsilon::Unknown => Verdict::NoneKnown,
    }
}
