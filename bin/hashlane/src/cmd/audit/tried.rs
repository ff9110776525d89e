//! Attacks that flood nothing, and the lengths of keys that were tried, in sentences.

use hashlane_audit::audit::{Outcome, Report};
use hashlane_audit::subject::Lengths;

/// The number of attacks that flood nothing, beside `floods` that do.
pub(super) fn without_flood(report: &Report, floods: usize) -> String {
    let of = |is: fn(&Outcome) -> bool| report.attempts.iter().filter(|(_, outcome)| is(outcome)).count();
    sentence(
        floods,
        of(|outcome| matches!(outcome, Outcome::Harmless)),
        of(|outcome| matches!(outcome, Outcome::NotApplicable(_))),
        of(|outcome| matches!(outcome, Outcome::NotTried)),
    )
}

/// The sentence for attacks that flood the table, of harmless keys, that do not apply, and that were not
/// tried.
fn sentence(floods: usize, harmless: usize, others: usize, untried: usize) -> String {
    let another = if floods > 0 { "other " } else { "" };
    let attacks = |count: usize| format!("{count} {another}attack{}", if count == 1 { "" } else { "s" });
    let verb = |count: usize| if count == 1 { "does" } else { "do" };
    let mut text = match harmless {
        0 => format!("{} {} not apply to this function.", attacks(others), verb(others)),
        _ => format!(
            "{} made keys that do no harm, and {others} {} not apply to this function.",
            attacks(harmless),
            verb(others)
        ),
    };
    if untried > 0 {
        let were = if untried == 1 { "was" } else { "were" };
        text += &format!(" {untried} more {were} not tried: they need the key, which is declared secret.");
    }
    text + " --json shows the reason of each."
}

/// Lengths of the keys tried.
pub(super) fn lengths(report: &Report) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for length in &report.lengths {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *length => *last = *length,
            _ => ranges.push((*length, *length)),
        }
    }
    let ranges = ranges.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}–{last}"),
    });
    let tried = format!("Lengths of keys tried: {} bytes", ranges.collect::<Vec<_>>().join(", "));
    match report.info.lengths {
        Lengths::Any => format!("{tried}. --keys BYTES tries another one."),
        Lengths::Exactly(_) => format!("{tried}, and no other."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attacks_without_a_flood_are_counted_by_their_outcome() {
        let shows = " --json shows the reason of each.";
        for (of, expected) in [
            ([0, 0, 51, 0], "51 attacks do not apply to this function."),
            ([1, 0, 1, 0], "1 other attack does not apply to this function."),
            (
                [1, 2, 51, 0],
                "2 other attacks made keys that do no harm, and 51 do not apply to this function.",
            ),
            (
                [0, 0, 51, 4],
                "51 attacks do not apply to this function. 4 more were not tried: they need the key, which is \
                 declared secret.",
            ),
        ] {
            let [floods, harmless, others, untried] = of;
            assert_eq!(sentence(floods, harmless, others, untried), format!("{expected}{shows}"));
        }
    }
}
