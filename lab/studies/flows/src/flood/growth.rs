//! Growth of a lookup's time under a flood: with the most hostile flows, over that with the fewest.

use hashlane_lab::study::{Rounds, Session};
use hashlane_stats::Interval;

/// A lookup is slowed if the whole interval of its growth is at or above this.
const SLOWED: f64 = 2.0;

/// A lookup is not slowed if the whole interval of its growth is at or below this.
const NOT_SLOWED: f64 = 1.1;

/// Takes `SCHEME@FLOWS` apart.
pub(super) fn taken_apart(id: &str) -> Option<(&str, u64)> {
    let (scheme, flows) = id.rsplit_once('@')?;
    Some((scheme, flows.parse().ok()?))
}

/// The schemes of `ids` with the places of the fewest and of the most hostile flows, where these differ.
fn ends(ids: &[String]) -> Vec<(usize, usize)> {
    let mut schemes: Vec<(&str, usize, usize)> = Vec::new();
    let flows = |at: usize| ids.get(at).and_then(|id| taken_apart(id)).map(|(_, flows)| flows);
    for (at, id) in ids.iter().enumerate() {
        let Some((name, hostile)) = taken_apart(id) else { continue };
        match schemes.iter_mut().find(|(other, ..)| *other == name) {
            Some((_, fewest, _)) if Some(hostile) < flows(*fewest) => *fewest = at,
            Some((.., most)) if Some(hostile) > flows(*most) => *most = at,
            Some(_) => {}
            None => schemes.push((name, at, at)),
        }
    }
    schemes.into_iter().map(|(_, fewest, most)| (fewest, most)).filter(|(a, b)| a != b).collect()
}

/// Adds the growth of each scheme, taken within the rounds, as ratios of the `metric`. `ids` are the schemes
/// in the order of `rounds`.
pub fn add_growth(
    session: &mut Session<'_>,
    (model, workload, probe): (&str, &str, &str),
    metric: &str,
    ids: &[String],
    rounds: &Rounds,
) {
    for (fewest, most) in ends(ids) {
        let (Some(to), Some(of)) = (ids.get(fewest), ids.get(most)) else { continue };
        let known = session.records.metric_in(&session.definition.slug, workload, of, metric, to).is_some();
        if let Some(ratio) = rounds.ratio(most, fewest).filter(|_| !known) {
            session.add(model, workload, of, probe, metric, to, ratio);
        }
    }
}

/// Verdict on a growth, from its whole interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// At or above a factor of 2.
    Slowed,
    /// Above 1.1, and not all of it at or above 2.
    SlowedBy,
    /// At or below 1.1.
    NotSlowed,
    /// Around 1.1, or bounds that cover less than 95 %.
    Undecided,
}

impl Verdict {
    /// Verdict on this growth.
    pub(super) fn of(growth: Interval) -> Self {
        match growth {
            growth if !growth.is_conclusive() => Self::Undecided,
            growth if growth.low >= SLOWED => Self::Slowed,
            growth if growth.high <= NOT_SLOWED => Self::NotSlowed,
            growth if growth.low > NOT_SLOWED => Self::SlowedBy,
            _ => Self::Undecided,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_schemes_apart() {
        assert_eq!(taken_apart("a@b@16"), Some(("a@b", 16)));
        assert_eq!(["base", "base@", "base@-1", "base@x", "base@0/again"].map(taken_apart), [None; 5]);
    }

    #[test]
    fn pairs_the_most_with_the_fewest_of_the_same_scheme() {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            ends(&ids(&["a@64", "b@0", "a@0", "b@9", "a@1024", "c@5", "b@0/again"])),
            [(2, 4), (1, 3)]
        );
        assert!(ends(&ids(&["a@0", "b", "c@7"])).is_empty());
    }

    #[test]
    fn a_growth_between_the_borders_is_neither_slowed_nor_not_slowed() {
        let verdict = |low, high| Verdict::of(Interval::bounded((low + high) / 2.0, low, high));
        assert_eq!(verdict(2.0, 2.5), Verdict::Slowed);
        assert_eq!(verdict(1.45, 1.55), Verdict::SlowedBy);
        assert_eq!(verdict(1.9, 2.2), Verdict::SlowedBy);
        assert_eq!(verdict(0.97, 1.1), Verdict::NotSlowed);
        assert_eq!(verdict(1.0, 1.2), Verdict::Undecided);
        let of_few = Interval { coverage: 0.9, ..Interval::bounded(1.0, 1.0, 1.0) };
        assert_eq!(Verdict::of(of_few), Verdict::Undecided);
    }
}
