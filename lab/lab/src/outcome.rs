//! Outcomes of a study: its claims and criteria compared with its records.

use std::collections::HashSet;

use crate::definition::{Claim, Criterion, CriterionFigure, Definition, Rule};
use hashlane_records::{RecordSet, metric};
use hashlane_stats::Interval;

/// Finding on a rule, from the interval of a ratio. An interval that covers less than 95 % leaves it
/// undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The whole interval fits the rule.
    Agrees,
    /// The whole interval lies outside the rule.
    Disagrees,
    /// The interval lies on both sides of a border of the rule.
    Undecided,
}

/// One measured ratio that a claim is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case<'a> {
    /// The workload.
    pub workload: &'a str,
    /// `true` if the workload is the user's own, one that the study does not name.
    pub own: bool,
    /// The scheme whose time is divided.
    pub of: &'a str,
    /// The scheme whose time it is divided by.
    pub to: &'a str,
    /// The ratio.
    pub ratio: Interval,
    /// Verdict of this case.
    pub finding: Finding,
}

/// Finding on all cases of a claim together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overall {
    /// Every case agrees.
    Agrees,
    /// Every case disagrees.
    Disagrees,
    /// Every case is undecided.
    Undecided,
    /// The cases differ.
    Mixed,
    /// No case was measured.
    NotMeasured,
}

/// A claim and its measured ratios.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimOutcome<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// The ratios measured, on the claim's workloads and then on the user's own.
    pub cases: Vec<Case<'a>>,
}

/// Outcome of a criterion, from the interval of its figure. An interval that covers less than 95 % leaves it
/// undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// The whole interval is at or below the criterion.
    Met,
    /// The whole interval is above the criterion.
    Missed,
    /// The criterion lies within the interval.
    Undecided,
    /// There is no record of the figure.
    NotMeasured,
}

/// Criteria by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Criteria met.
    pub met: usize,
    /// Criteria missed.
    pub missed: usize,
    /// Criteria that the interval leaves undecided.
    pub undecided: usize,
    /// Criteria without a record.
    pub not_measured: usize,
}

impl FromIterator<Reached> for Tally {
    fn from_iter<I: IntoIterator<Item = Reached>>(outcomes: I) -> Self {
        let mut tally = Self::default();
        for outcome in outcomes {
            *match outcome {
                Reached::Met => &mut tally.met,
                Reached::Missed => &mut tally.missed,
                Reached::Undecided => &mut tally.undecided,
                Reached::NotMeasured => &mut tally.not_measured,
            } += 1;
        }
        tally
    }
}

/// A criterion and its measured figure.
#[derive(Clone, Debug, PartialEq)]
pub struct CriterionOutcome<'a> {
    /// The criterion.
    pub criterion: &'a Criterion,
    /// The figure, if it was measured.
    pub measured: Option<Interval>,
    /// Outcome.
    pub reached: Reached,
}

impl Reached {
    /// Outcome of a figure that is to be `at_most` so much.
    fn judge(at_most: f64, figure: Option<Interval>) -> Self {
        match figure {
            None => Self::NotMeasured,
            Some(figure) if !figure.is_conclusive() => Self::Undecided,
            Some(figure) if figure.high <= at_most => Self::Met,
            Some(figure) if figure.low > at_most => Self::Missed,
            Some(_) => Self::Undecided,
        }
    }
}

impl Rule {
    /// Finding on a ratio.
    pub fn judge(self, tolerance: f64, ratio: Interval) -> Finding {
        let Interval { low, high, .. } = ratio;
        // A time of zero is one that the timer did not see.
        if !ratio.is_conclusive() || low <= 0.0 {
            return Finding::Undecided;
        }
        let (floor, ceiling) = self.fits(tolerance);
        let (agrees, disagrees) = match self {
            Self::LittleMore => (low > 1.0 && high <= ceiling, high <= 1.0 || low > ceiling),
            Self::NoMore | Self::Alike | Self::Between { .. } => {
                let floor = floor.unwrap_or(0.0);
                (low >= floor && high <= ceiling, high < floor || low > ceiling)
            }
        };
        match (agrees, disagrees) {
            (true, _) => Finding::Agrees,
            (_, true) => Finding::Disagrees,
            _ => Finding::Undecided,
        }
    }

    /// The ratios that fit the rule; the lower end is absent where any lower ratio fits, and the upper end is
    /// infinite where any higher one does.
    pub fn fits(self, tolerance: f64) -> (Option<f64>, f64) {
        let ceiling = 1.0 + tolerance;
        match self {
            Self::NoMore => (None, ceiling),
            Self::LittleMore => (Some(1.0), ceiling),
            Self::Alike => (Some(1.0 - tolerance), ceiling),
            Self::Between { low, high } => {
                (low.map(|low| low / ceiling), high.map_or(f64::INFINITY, |high| high * ceiling))
            }
        }
    }
}

impl Claim {
    /// Finding on a ratio. One outside the rule by no more than the allowance is undecided.
    pub fn judge(&self, ratio: Interval) -> Finding {
        let finding = self.rule.judge(self.tolerance, ratio);
        let more = 1.0 + self.allowance;
        let allowed = Interval { low: ratio.low / more, high: ratio.high * more, ..ratio };
        match finding {
            Finding::Disagrees => match self.rule.judge(self.tolerance, allowed) {
                Finding::Disagrees => finding,
                _ => Finding::Undecided,
            },
            finding => finding,
        }
    }
}

impl<'a> ClaimOutcome<'a> {
    /// The cases that count: those on the claim's own workloads if there are any, for a user's names may be
    /// of a kind that the words are not about; otherwise all.
    pub fn counted(&self) -> impl Iterator<Item = &Case<'a>> {
        let any_named = self.cases.iter().any(|case| !case.own);
        self.cases.iter().filter(move |case| !(any_named && case.own))
    }

    /// The cases that count, by finding.
    pub fn counts(&self) -> Counts {
        let claimed = self.claim.workloads.len() * self.claim.pairs.len();
        let mut counts = Counts::default();
        if self.cases.is_empty() || self.cases.iter().any(|case| !case.own) {
            counts.not_measured = claimed - self.cases.iter().filter(|case| !case.own).count();
        }
        for case in self.counted() {
            counts.all += 1;
            match case.finding {
                Finding::Agrees => counts.agree += 1,
                Finding::Disagrees => counts.disagree += 1,
                Finding::Undecided => counts.undecided += 1,
            }
        }
        counts
    }

    /// Finding on the cases that count together.
    pub fn overall(&self) -> Overall {
        match self.counts() {
            Counts { all: 0, .. } => Overall::NotMeasured,
            Counts { all, agree, .. } if agree == all => Overall::Agrees,
            Counts { all, disagree, .. } if disagree == all => Overall::Disagrees,
            Counts { all, undecided, .. } if undecided == all => Overall::Undecided,
            _ => Overall::Mixed,
        }
    }
}

/// Cases of a claim, by finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All that were measured.
    pub all: usize,
    /// Those that agree.
    pub agree: usize,
    /// Those that disagree.
    pub disagree: usize,
    /// Those that are undecided.
    pub undecided: usize,
    /// Comparisons of the claim without a record.
    pub not_measured: usize,
}

impl Definition {
    /// The user's own workloads: those in the records that the study does not name. Workloads of another
    /// model, such as machine code that is simulated in a study of timings, are excluded.
    pub fn own_workloads<'a>(&self, records: &'a RecordSet) -> Vec<&'a str> {
        let timed: HashSet<&str> = records
            .iter()
            .filter(|r| r.study == self.slug && r.model == self.model)
            .map(|r| r.workload.as_str())
            .collect();
        let mut workloads = records.workloads(&self.slug);
        workloads.retain(|w| timed.contains(w) && !self.workloads.iter().any(|named| named == w));
        workloads
    }

    /// Each claim with its measured ratios.
    pub fn claim_outcomes<'a>(&'a self, records: &'a RecordSet) -> Vec<ClaimOutcome<'a>> {
        let own = self.own_workloads(records);
        let outcome = |claim: &'a Claim| {
            let named = claim.workloads.iter().map(|w| (w.as_str(), false));
            let mut cases = Vec::new();
            for (workload, own) in named.chain(own.iter().map(|&w| (w, true))) {
                for (of, to) in &claim.pairs {
                    if let Some(ratio) = self.claimed(claim, records, workload, (of, to)) {
                        let finding = claim.judge(ratio);
                        cases.push(Case { workload, own, of, to, ratio, finding });
                    }
                }
            }
            ClaimOutcome { claim, cases }
        };
        self.claims.iter().map(outcome).collect()
    }

    /// The ratio of a claim: the recorded one, or the quotient of two figures, the first exact.
    fn claimed(
        &self,
        claim: &Claim,
        records: &RecordSet,
        workload: &str,
        (of, to): (&str, &str),
    ) -> Option<Interval> {
        if let Some(record) = records.metric_in(&self.slug, workload, of, &claim.metric, to) {
            return Some(record.interval());
        }
        let over = claim.over.as_ref().unwrap_or(&claim.metric);
        let of = records.metric(&self.slug, workload, of, &claim.metric)?;
        let to = records.metric(&self.slug, workload, to, over)?;
        let (of, to) = (of.interval(), to.interval());
        let exact = of.low == of.high && to.low > 0.0;
        exact.then(|| Interval {
            value: of.value / to.value,
            low: of.value / to.high,
            high: of.value / to.low,
            coverage: to.coverage,
            one_launch: of.one_launch || to.one_launch,
        })
    }

    /// Each criterion with its measured figure. Criteria are about the study's workloads, so a run on the
    /// user's own has none.
    pub fn criterion_outcomes<'a>(&'a self, records: &RecordSet) -> Vec<CriterionOutcome<'a>> {
        if self.is_on_own_data(records) {
            return Vec::new();
        }
        let outcome = |criterion: &'a Criterion| {
            let Criterion { of, workload, figure, at_most } = criterion;
            let record = match figure {
                CriterionFigure::Metric => records.metric(&self.slug, workload, of, &self.metric),
                CriterionFigure::OtherMetric(metric) => records.metric(&self.slug, workload, of, metric),
                CriterionFigure::Ratio(to) => records.ratio(&self.slug, workload, of, to),
                CriterionFigure::Difference(to) => {
                    records.metric_in(&self.slug, workload, of, metric::MORE, to)
                }
                CriterionFigure::RatioToWorkload(to) => {
                    records.metric_in(&self.slug, workload, of, metric::RATIO_WORKLOAD, to)
                }
            };
            let measured = record.map(|record| record.interval());
            CriterionOutcome { criterion, measured, reached: Reached::judge(*at_most, measured) }
        };
        self.criteria.iter().map(outcome).collect()
    }

    /// `true` if the records are of the user's own workloads alone.
    pub fn is_on_own_data(&self, records: &RecordSet) -> bool {
        let named = |workload: &&str| self.workloads.iter().any(|named| named == workload);
        !self.own_workloads(records).is_empty() && !records.workloads(&self.slug).iter().any(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn judges_ratios_by_the_borders_of_their_rule() {
        use Finding::{Agrees, Disagrees, Undecided};
        use Rule::{Alike, LittleMore, NoMore};
        let between = |low, high| Rule::Between { low, high };
        let three_to_seven = between(Some(1.0 / 7.0), Some(1.0 / 3.0));
        for (rule, tolerance, low, high, expected) in [
            (NoMore, 0.1, 0.5, 0.6, Agrees),
            (NoMore, 0.1, 0.9, 1.1, Agrees),
            (NoMore, 0.1, 1.05, 1.15, Undecided),
            (NoMore, 0.1, 1.11, 1.15, Disagrees),
            (LittleMore, 0.1, 1.01, 1.09, Agrees),
            (LittleMore, 0.1, 1.0, 1.09, Undecided),
            (LittleMore, 0.1, 1.05, 1.2, Undecided),
            (LittleMore, 0.1, 0.9, 1.0, Disagrees),
            (LittleMore, 0.1, 1.2, 1.3, Disagrees),
            (Alike, 0.1, 0.9, 1.1, Agrees),
            (Alike, 0.1, 0.85, 1.0, Undecided),
            (Alike, 0.1, 1.0, 1.15, Undecided),
            (Alike, 0.1, 0.7, 0.8, Disagrees),
            (Alike, 0.1, 1.2, 1.3, Disagrees),
            (three_to_seven, 0.0, 0.15, 0.33, Agrees),
            (three_to_seven, 0.0, 0.32, 0.34, Undecided),
            (three_to_seven, 0.0, 0.34, 0.36, Disagrees),
            (three_to_seven, 0.0, 0.1, 0.14, Disagrees),
            // 0.2 more: from 0.119 to 0.4.
            (three_to_seven, 0.2, 0.12, 0.399, Agrees),
            (three_to_seven, 0.2, 0.401, 0.41, Disagrees),
            (between(Some(1.0), None), 0.0, 1.01, 90.0, Agrees),
            (between(Some(1.0), None), 0.0, 0.9, 0.99, Disagrees),
            (between(None, Some(0.1)), 0.0, 0.01, 0.1, Agrees),
        ] {
            let found = rule.judge(tolerance, Interval::bounded(f64::midpoint(low, high), low, high));
            assert_eq!(found, expected, "{rule:?}, {low} to {high}");
        }
    }

    #[test]
    fn an_allowance_leaves_ratios_near_the_rule_undecided() {
        let claim = Claim { allowance: 0.2, ..sample::definition().claims[0].clone() };
        // A little more: above 1, at most 1.15.
        let judge = |low, high| claim.judge(Interval::bounded((low + high) / 2.0, low, high));
        assert_eq!(judge(1.01, 1.1), Finding::Agrees);
        assert_eq!(judge(0.85, 0.95), Finding::Undecided);
        assert_eq!(judge(1.2, 1.35), Finding::Undecided);
        assert_eq!(judge(0.7, 0.8), Finding::Disagrees);
        assert_eq!(judge(1.39, 1.5), Finding::Disagrees);
    }

    #[test]
    fn divides_figures_of_which_the_first_is_exact() {
        let mut definition = sample::definition();
        let mut records = sample::records(&definition, &[]);
        let claim = &mut definition.claims[0];
        claim.model = Some("mca".to_owned());
        claim.metric = "cycles".to_owned();
        claim.workloads = vec!["mca/x".to_owned()];
        claim.pairs = vec![("a".to_owned(), "b".to_owned()), ("b".to_owned(), "c".to_owned())];
        let mut add = |scheme: &str, metric: &str, value: f64, low: f64, high: f64| {
            let mut record = records.iter().next().unwrap().clone();
            (record.model, record.workload) = ("mca".to_owned(), "mca/x".to_owned());
            (record.scheme, record.metric) = (scheme.to_owned(), metric.to_owned());
            (record.value, record.low, record.high, record.samples) = (value, low, high, 20);
            records.insert(record).unwrap();
        };
        add("a", "cycles", 110.0, 110.0, 110.0);
        add("b", "cycles", 100.0, 80.0, 125.0);
        add("c", "cycles", 50.0, 50.0, 50.0);
        add("a", "expected", 100.0, 100.0, 100.0);
        let outcomes = definition.claim_outcomes(&records);
        let [case] = outcomes[0].cases.as_slice() else { panic!("{:?}", outcomes[0].cases) };
        assert_eq!((case.ratio.value, case.ratio.low, case.ratio.high), (1.1, 110.0 / 125.0, 110.0 / 80.0));
        let counts = outcomes[0].counts();
        assert_eq!((counts.all, counts.undecided, counts.not_measured), (1, 1, 1), "b is not exact");
        definition.claims[0].over = Some("expected".to_owned());
        definition.claims[0].pairs = vec![("a".to_owned(), "a".to_owned())];
        assert_eq!(definition.claim_outcomes(&records)[0].cases[0].ratio.value, 1.1);
    }

    #[test]
    fn sums_up_the_cases_that_count() {
        use Finding::{Agrees, Disagrees, Undecided};
        let definition = sample::definition();
        let overall = |findings: &[(Finding, bool)]| {
            let case = |&(finding, own)| {
                let ratio = Interval::exact(1.0);
                Case { workload: "w", own, of: "a", to: "b", ratio, finding }
            };
            let cases = findings.iter().map(case).collect();
            ClaimOutcome { claim: &definition.claims[0], cases }.overall()
        };
        assert_eq!(overall(&[]), Overall::NotMeasured);
        assert_eq!(overall(&[(Agrees, false), (Agrees, false)]), Overall::Agrees);
        assert_eq!(overall(&[(Disagrees, false), (Disagrees, false)]), Overall::Disagrees);
        assert_eq!(overall(&[(Undecided, false), (Undecided, false)]), Overall::Undecided);
        assert_eq!(overall(&[(Agrees, false), (Undecided, false)]), Overall::Mixed);
        assert_eq!(overall(&[(Agrees, false), (Disagrees, false)]), Overall::Mixed);
        assert_eq!(overall(&[(Undecided, false), (Disagrees, false)]), Overall::Mixed);
        assert_eq!(overall(&[(Agrees, false), (Disagrees, true)]), Overall::Agrees);
        assert_eq!(overall(&[(Disagrees, true)]), Overall::Disagrees);
    }

    #[test]
    fn bounds_that_cover_less_than_95_percent_decide_nothing() {
        let of = |samples| Interval {
            coverage: hashlane_stats::coverage(samples),
            ..Interval::bounded(0.8, 0.7, 0.9)
        };
        for samples in 2..=5 {
            assert_eq!(Reached::judge(1.0, Some(of(samples))), Reached::Undecided, "{samples}");
            assert_eq!(Rule::NoMore.judge(0.1, of(samples)), Finding::Undecided, "{samples}");
        }
        assert_eq!(Reached::judge(1.0, Some(of(6))), Reached::Met);
        assert_eq!(Rule::NoMore.judge(0.1, of(6)), Finding::Agrees);
    }

    #[test]
    fn counts_criteria_that_were_not_measured_apart() {
        use Reached::{Met, Missed, NotMeasured, Undecided};
        let tally: Tally = [Met, NotMeasured, Missed, NotMeasured, Undecided, Met].into_iter().collect();
        assert_eq!(tally, Tally { met: 2, missed: 1, undecided: 1, not_measured: 2 });
    }

    #[test]
    fn takes_no_workload_of_another_model_for_the_users() {
        let definition = sample::definition();
        let mut records = sample::records(&definition, &["mine.txt"]);
        let mut other = records.iter().next().unwrap().clone();
        (other.model, other.workload) = ("mca".into(), "mca/skylake".into());
        records.insert(other).unwrap();
        assert_eq!(definition.own_workloads(&records), ["mine.txt"]);
    }

    #[test]
    fn holds_targets_and_claims_against_the_records() {
        let definition = sample::definition();
        let records = sample::records(&definition, &["mine.txt"]);
        let reached = |records: &RecordSet| -> Vec<Reached> {
            definition.criterion_outcomes(records).iter().map(|c| c.reached).collect()
        };
        assert_eq!(reached(&records), [Reached::Met, Reached::Missed]);
        let claims = definition.claim_outcomes(&records);
        let own = claims[0].cases.iter().filter(|case| case.own).count();
        assert_eq!(own, definition.claims[0].pairs.len());
        let none = RecordSet::new();
        assert_eq!(reached(&none), [Reached::NotMeasured; 2]);
        assert!(definition.claim_outcomes(&none).iter().all(|c| c.overall() == Overall::NotMeasured));
    }
}
