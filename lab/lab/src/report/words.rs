//! Findings in words.

use crate::definition::{Claim, Criterion, CriterionFigure, Definition};
use crate::outcome::{ClaimOutcome, Counts, Finding, Reached, Tally};
use hashlane_records::RecordSet;
use hashlane_stats::Interval;
use hashlane_stats::format::{ONE_LAUNCH, interval, plain, ratio};

/// Word for a finding.
pub fn finding(finding: Finding) -> &'static str {
    match finding {
        Finding::Agrees => "agrees",
        Finding::Disagrees => "disagrees",
        Finding::Undecided => "undecided",
    }
}

/// The words of a claim in quotation marks, and with what they are tested.
pub fn quoted(claim: &Claim) -> String {
    let with = claim.with.as_ref().map_or_else(String::new, |with| format!(", with {}", plain(with)));
    format!("“{}”{with}", plain(&claim.words))
}

/// The comparisons of a claim by finding: `agrees: 1 of 7 comparisons; disagrees: 5; undecided: 1`. Those
/// without a record are among all, and stated last.
pub fn comparisons(counts: Counts) -> String {
    let Counts { all, agree, disagree, undecided, not_measured } = counts;
    let all = all + not_measured;
    let found = [
        ("agrees", agree),
        ("disagrees", disagree),
        ("undecided", undecided),
        ("not measured", not_measured),
    ];
    let mut out = String::new();
    for (word, count) in found.into_iter().filter(|(_, count)| *count > 0) {
        if out.is_empty() {
            let comparisons = if all == 1 { "comparison" } else { "comparisons" };
            out = format!("{word}: {count} of {all} {comparisons}");
        } else {
            out += &format!("; {word}: {count}");
        }
    }
    if out.is_empty() { "not measured".to_owned() } else { out }
}

/// The finding on each claim of a study, a line each: `ID: agrees: 2 of 2 comparisons`.
pub fn claims(definition: &Definition, records: &RecordSet) -> String {
    let outcomes = definition.claim_outcomes(records);
    let line = |o: &ClaimOutcome<'_>| format!("{}: {}\n", o.claim.id, comparisons(o.counts()));
    outcomes.iter().map(line).collect()
}

/// Criteria by finding, those without any left out: `1 met, 2 not measured`.
pub fn tally(tally: Tally) -> String {
    let Tally { met, missed, undecided, not_measured } = tally;
    let found = [(met, "met"), (missed, "missed"), (undecided, "undecided"), (not_measured, "not measured")];
    let found = found.into_iter().filter(|(count, _)| *count > 0);
    found.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// Word for a criterion.
pub fn reached(reached: Reached) -> &'static str {
    match reached {
        Reached::Met => "met",
        Reached::Missed => "missed",
        Reached::Undecided => "undecided",
        Reached::NotMeasured => "not measured",
    }
}

/// Figure of a criterion: `ours / new, positive`.
pub fn criterion(criterion: &Criterion) -> String {
    let Criterion { of, workload, figure, .. } = criterion;
    match figure {
        CriterionFigure::Metric => format!("{of}, {workload}"),
        CriterionFigure::OtherMetric(metric) => format!("{metric} of {of}, {workload}"),
        CriterionFigure::Ratio(to) => format!("{of} / {to}, {workload}"),
        CriterionFigure::Difference(to) => format!("{of} − {to}, {workload}"),
        CriterionFigure::RatioToWorkload(to) => format!("{of}, {workload} / {to}"),
    }
}

/// Range of the intervals of a claim's ratios.
pub fn range(outcome: &ClaimOutcome<'_>) -> String {
    let low = outcome.counted().map(|case| case.ratio.low).reduce(f64::min);
    let high = outcome.counted().map(|case| case.ratio.high).reduce(f64::max);
    match low.zip(high) {
        Some((low, high)) => format!("The intervals of the ratios span {} to {}.", ratio(low), ratio(high)),
        None => "None of its ratios was measured.".to_owned(),
    }
}

/// The ratios that fit a claim.
pub fn rule(outcome: &ClaimOutcome<'_>) -> String {
    let allowance = match outcome.claim.allowance {
        0.0 => String::new(),
        share => format!("; contradicted beyond {:.0} % more, which the compiler may explain", 100.0 * share),
    };
    let fits = match outcome.claim.rule.fits(outcome.claim.tolerance) {
        (Some(floor), ceiling) if ceiling.is_infinite() => {
            format!("fits a ratio at or above {}", ratio(floor))
        }
        (None, ceiling) => format!("fits a ratio at or below {}", ratio(ceiling)),
        (Some(1.0), ceiling) => format!("fits a ratio above 1 and at or below {}", ratio(ceiling)),
        (Some(floor), ceiling) => format!("fits a ratio from {} to {}", ratio(floor), ratio(ceiling)),
    };
    let with = outcome.claim.with.as_ref().map_or_else(String::new, |with| format!("with {with}: "));
    with + &fits + &allowance
}

/// The intervals of a study's figures, by what they hold: the next run, or one launch; `None` without any.
pub fn intervals(definition: &Definition, records: &RecordSet) -> Option<String> {
    let of_study = records.iter().filter(|r| r.study == definition.slug && r.low < r.high);
    let (within, between): (Vec<u64>, Vec<u64>) =
        of_study.map(|record| record.launches).filter(|launches| *launches > 0).partition(|n| *n == 1);
    let within =
        if within.is_empty() { None } else { Some(format!("{ONE_LAUNCH} holds within one launch only")) };
    let between = between.iter().min().zip(between.iter().max()).map(|(least, most)| {
        let count = if least == most { most.to_string() } else { format!("{least} to {most}") };
        format!("Intervals at 95 % are for the next run of this build on this machine, from {count} launches")
    });
    match (between, within) {
        (Some(between), Some(within)) => Some(format!("{between}; an interval with {within}.")),
        (Some(between), None) => Some(format!("{between}.")),
        (None, Some(within)) => {
            Some(format!("An interval with {within}: the next run may have a figure outside."))
        }
        (None, None) => None,
    }
}

/// A ratio with its bounds.
pub fn ratio_with_bounds(estimate: Interval) -> String {
    format!("{} {}", ratio(estimate.value), interval(estimate, ratio))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn intervals_are_told_apart_by_their_launches() {
        let definition = sample::definition();
        let with = |launches: &[u64]| {
            let mut launches = launches.iter().cycle();
            let records = sample::changed(&[], |record| record.launches = *launches.next().unwrap());
            intervals(&definition, &records).unwrap()
        };
        let between = "Intervals at 95 % are for the next run of this build on this machine, from 6 launches";
        assert_eq!(with(&[6]), format!("{between}."));
        assert_eq!(with(&[6, 1]), format!("{between}; an interval with ¹ holds within one launch only."));
        assert_eq!(
            with(&[1]),
            "An interval with ¹ holds within one launch only: the next run may have a figure outside."
        );
        assert!(with(&[5, 6]).contains("from 5 to 6 launches"));
        assert_eq!(intervals(&definition, &RecordSet::new()), None);
    }

    #[test]
    fn comparisons_are_counted_by_finding() {
        let of = |agree, disagree, undecided, not_measured| {
            let all = agree + disagree + undecided;
            comparisons(Counts { all, agree, disagree, undecided, not_measured })
        };
        assert_eq!(of(1, 5, 1, 0), "agrees: 1 of 7 comparisons; disagrees: 5; undecided: 1");
        assert_eq!(of(2, 0, 0, 6), "agrees: 2 of 8 comparisons; not measured: 6");
        assert_eq!(of(0, 0, 1, 0), "undecided: 1 of 1 comparison");
        assert_eq!(of(0, 0, 0, 8), "not measured: 8 of 8 comparisons");
        assert_eq!(of(0, 0, 0, 0), "not measured");
    }

    #[test]
    fn criteria_that_were_not_measured_are_not_among_the_others() {
        assert_eq!(tally(Tally { not_measured: 4, ..Tally::default() }), "4 not measured");
        let all = Tally { met: 1, missed: 2, undecided: 3, not_measured: 4 };
        assert_eq!(tally(all), "1 met, 2 missed, 3 undecided, 4 not measured");
    }
}
