//! Growth of a lookup's time under a flood: with the most hostile flows, over that with the fewest.

use hashlane_lab::study::{Rounds, Session};

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
}
