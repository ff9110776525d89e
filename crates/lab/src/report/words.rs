//! Findings in words.

use super::format::{figure, interval, ratio};
use crate::stats::Interval;
use crate::study::outcome::{ClaimOutcome, Finding, Overall, Reached};

pub(super) fn finding(finding: Finding) -> &'static str {
    match finding {
        Finding::Agrees => "agrees",
        Finding::Disagrees => "disagrees",
        Finding::Undecided => "cannot tell",
    }
}

pub(super) fn overall(overall: Overall) -> &'static str {
    match overall {
        Overall::Agrees => "this machine agrees",
        Overall::Disagrees => "this machine disagrees",
        Overall::Mixed => "this machine agrees in part",
        Overall::Undecided => "this machine cannot tell",
        Overall::NotMeasured => "not measured",
    }
}

pub(super) fn reached(reached: Reached) -> &'static str {
    match reached {
        Reached::Met => "met",
        Reached::Missed => "missed",
        Reached::Undecided => "cannot tell",
    }
}

/// How many comparisons say what, and between which ratios they lie.
pub(super) fn counts(outcome: &ClaimOutcome<'_>) -> String {
    let counts = outcome.counts();
    if counts.all == 0 {
        return "No ratio that it speaks of was measured.".to_owned();
    }
    let said: Vec<String> =
        [(counts.agree, "agree"), (counts.disagree, "disagree"), (counts.undecided, "cannot tell")]
            .into_iter()
            .filter(|&(count, _)| count > 0)
            .map(|(count, word)| match count {
                1 if word == "cannot tell" => format!("1 {word}"),
                1 => format!("1 {word}s"),
                _ => format!("{count} {word}"),
            })
            .collect();
    let low = outcome.counted().map(|case| case.ratio.low).fold(f64::INFINITY, f64::min);
    let high = outcome.counted().map(|case| case.ratio.high).fold(f64::NEG_INFINITY, f64::max);
    let comparisons = if counts.all == 1 { "comparison" } else { "comparisons" };
    format!(
        "Of {} {comparisons}, {}; the intervals of the ratios lie between {} and {}.",
        counts.all,
        said.join(", "),
        ratio(low),
        ratio(high)
    )
}

/// Which ratios fit a claim.
pub(super) fn rule(outcome: &ClaimOutcome<'_>) -> String {
    match outcome.claim.rule.fits(outcome.claim.tolerance) {
        (None, ceiling) => format!("fits a ratio at or below {}", ratio(ceiling)),
        (Some(1.0), ceiling) => format!("fits a ratio above 1 and at or below {}", ratio(ceiling)),
        (Some(floor), ceiling) => format!("fits a ratio from {} to {}", ratio(floor), ratio(ceiling)),
    }
}

/// Cycles with their bounds.
pub(super) fn cycles(estimate: Interval) -> String {
    format!("{} {}", figure(estimate.value), interval(estimate, figure))
}

/// A ratio with its bounds.
pub(super) fn ratio_with_bounds(estimate: Interval) -> String {
    format!("{} {}", ratio(estimate.value), interval(estimate, ratio))
}
