//! Reads a study file: the tables as they are written, and the checks that make a [`Definition`] of them.

use std::collections::HashSet;

use serde::Deserialize;

use super::check::Checker;
use super::control;
use super::error::DefinitionError;
use super::parts::{Claim, Criterion, CriterionFigure, Definition, Origin, Rule};
use crate::layout::Layout;
use hashlane_records::metric;

/// Longest study file, in bytes.
pub const MAX_TEXT: usize = 1 << 20;

/// Criteria and claims as they are written, before names are looked up.
#[derive(Deserialize)]
struct Rules {
    #[serde(default)]
    criterion: Vec<FileCriterion>,
    #[serde(default)]
    claim: Vec<FileClaim>,
}

/// Fields of every study; all others are tables of the study's kind.
pub(super) const FIELDS: [&str; 19] = [
    "slug",
    "model",
    "title",
    "topic",
    "question",
    "asks",
    "source",
    "workloads",
    "schemes",
    "reference",
    "control",
    "pairs",
    "metric",
    "per",
    "size",
    "criterion",
    "claim",
    "only",
    "published",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileCriterion {
    of: String,
    workload: String,
    /// A metric, if not the study's own.
    metric: Option<String>,
    /// A scheme, for a ratio.
    to: Option<String>,
    /// A scheme, for a difference.
    more_than: Option<String>,
    /// A workload, for a ratio.
    times: Option<String>,
    at_most: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileClaim {
    id: String,
    words: String,
    with: Option<String>,
    model: Option<String>,
    #[serde(default = "default_ratio")]
    metric: String,
    over: Option<String>,
    rule: FileRule,
    #[serde(default)]
    allowance: f64,
    tolerance: Option<f64>,
    /// Bounds of `between`.
    low: Option<f64>,
    high: Option<f64>,
    workloads: Vec<String>,
    pairs: Vec<(String, String)>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileRule {
    NoMore,
    LittleMore,
    Alike,
    Between,
}

fn default_ratio() -> String {
    metric::RATIO.to_owned()
}

impl Definition {
    /// Reads the study file `text`; `origin`, a path or a slug, is named in errors.
    ///
    /// Tables that only the study's kind knows are kept as they are:
    /// [`Study::check`](crate::study::Study::check) reads them.
    ///
    /// # Errors
    /// The first rule broken, with the field: criteria and claims of schemes or workloads that the
    /// study does not measure are rejected, for example.
    pub fn parse(text: &str, origin: &str) -> Result<Self, DefinitionError> {
        if text.len() > MAX_TEXT {
            let fault = format!("the study file is longer than {MAX_TEXT} bytes");
            return Err(DefinitionError::new(origin, fault));
        }
        let toml = |error: toml::de::Error| DefinitionError::new(origin, error);
        // Several times, as a flattened table costs the errors their line numbers.
        let mut study: Self = toml::from_str(text).map_err(toml)?;
        let rules: Rules = toml::from_str(text).map_err(toml)?;
        study.own = toml::from_str(text).map_err(toml)?;
        study.own.retain(|field, _| !FIELDS.contains(&field) && !Layout::FIELDS.contains(&field));
        study.layout = Layout::parse(text, origin)?;
        study.origin = Origin(origin.to_owned());
        text.clone_into(&mut study.text);
        Checker { origin }.complete(&mut study, rules)?;
        Ok(study)
    }
}

impl Checker<'_> {
    /// Checks a study as it is written, and adds what follows from it.
    fn complete(&self, study: &mut Definition, rules: Rules) -> Result<(), DefinitionError> {
        let slug_octet = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        self.range(
            "slug",
            (1..=64).contains(&study.slug.len()) && study.slug.bytes().all(slug_octet),
            "1 to 64 lower-case letters, digits and hyphens",
        )?;
        for (field, text) in [
            ("model", &study.model),
            ("title", &study.title),
            ("question", &study.question),
            ("source", &study.source),
            ("metric", &study.metric),
            ("per", &study.per),
        ] {
            self.range(field, !text.trim().is_empty(), "some words")?;
        }
        self.ids("workloads", &study.workloads)?;
        study.all_workloads.clone_from(&study.workloads);
        study.schemes = self.expand("schemes", &study.schemes)?;
        let (schemes, workloads) = (&study.schemes, &study.workloads);
        self.known("reference", &study.reference, schemes)?;
        if let Some((of, to)) = &study.control {
            self.known("control", to, schemes)?;
            if *of != control::again(to) {
                self.pair("control", of, to, schemes)?;
            }
        }
        let defaults = [("topic", &mut study.topic, &study.slug), ("asks", &mut study.asks, &study.question)];
        for (field, text, default) in defaults {
            if text.is_empty() {
                text.clone_from(default);
            }
            self.range(field, !text.trim().is_empty(), "some words")?;
        }
        for (i, (of, to)) in study.pairs.iter().enumerate() {
            self.pair(&format!("pairs[{i}]"), of, to, schemes)?;
        }
        for (field, size) in [("size.quick", study.size.quick), ("size.full", study.size.full)] {
            self.count(&format!("{field}.items"), size.items)?;
            self.range(
                &format!("{field}.repetitions"),
                (2..=1000).contains(&size.repetitions),
                "a number from 2 to 1000",
            )?;
        }
        for (i, criterion) in rules.criterion.into_iter().enumerate() {
            let field = format!("criterion[{i}]");
            study.criteria.push(self.criterion(&field, criterion, workloads, schemes)?);
        }
        for (i, claim) in rules.claim.into_iter().enumerate() {
            let field = format!("claim[{i}]");
            if study.claims.iter().any(|other| other.id == claim.id) {
                return Err(self.duplicate(&format!("{field}.id"), &claim.id));
            }
            study.claims.push(self.claim(&field, claim, workloads, schemes)?);
        }
        let mut restricted = HashSet::new();
        for (i, only) in study.only.iter_mut().enumerate() {
            let field = format!("only[{i}].workload");
            self.known(&field, &only.workload, workloads)?;
            if !restricted.insert(&only.workload) {
                return Err(self.duplicate(&field, &only.workload));
            }
            let field = format!("only[{i}].schemes");
            only.schemes = self.expand(&field, &only.schemes)?;
            only.schemes.iter().try_for_each(|scheme| self.known(&field, scheme, schemes))?;
            control::add_to(&mut only.schemes, study.control.as_ref());
        }
        for (i, published) in study.published.iter().enumerate() {
            self.range(
                &format!("published[{i}].rows"),
                published.is_rectangular(),
                "as many figures in each row as there are columns",
            )?;
        }
        study.measured.clone_from(schemes);
        control::add_to(&mut study.measured, study.control.as_ref());
        Ok(())
    }

    fn criterion(
        &self,
        field: &str,
        criterion: FileCriterion,
        workloads: &[String],
        schemes: &[String],
    ) -> Result<Criterion, DefinitionError> {
        let FileCriterion { of, workload, metric, to, more_than, times, at_most } = criterion;
        self.known(&format!("{field}.of"), &of, schemes)?;
        self.known(&format!("{field}.workload"), &workload, workloads)?;
        let is_amount = at_most >= 0.0 && at_most.is_finite();
        self.range(&format!("{field}.at_most"), is_amount, "a finite number, 0 or above")?;
        let given = [&metric, &to, &more_than, &times].into_iter().flatten().count();
        self.range(field, given <= 1, "one of metric, to, more_than and times")?;
        let figure = if let Some(metric) = metric {
            self.range(&format!("{field}.metric"), !metric.trim().is_empty(), "some words")?;
            CriterionFigure::OtherMetric(metric)
        } else if let Some(scheme) = to {
            self.pair(&format!("{field}.to"), &of, &scheme, schemes)?;
            CriterionFigure::Ratio(scheme)
        } else if let Some(scheme) = more_than {
            self.pair(&format!("{field}.more_than"), &of, &scheme, schemes)?;
            CriterionFigure::Difference(scheme)
        } else if let Some(other) = times {
            self.known(&format!("{field}.times"), &other, workloads)?;
            self.range(&format!("{field}.times"), other != workload, "another workload")?;
            CriterionFigure::RatioToWorkload(other)
        } else {
            CriterionFigure::Metric
        };
        Ok(Criterion { of, workload, figure, at_most })
    }

    fn claim(
        &self,
        field: &str,
        claim: FileClaim,
        workloads: &[String],
        schemes: &[String],
    ) -> Result<Claim, DefinitionError> {
        let (rule, tolerance) = self.rule(field, &claim)?;
        self.range(&format!("{field}.metric"), !claim.metric.trim().is_empty(), "some words")?;
        let field_workloads = format!("{field}.workloads");
        self.ids(&field_workloads, &claim.workloads)?;
        let own = claim.model.is_none();
        if own {
            claim.workloads.iter().try_for_each(|w| self.known(&field_workloads, w, workloads))?;
        }
        self.range(&format!("{field}.pairs"), !claim.pairs.is_empty(), "one pair or more")?;
        for (i, (of, to)) in claim.pairs.iter().enumerate() {
            let field = format!("{field}.pairs[{i}]");
            if own {
                self.known(&field, of, schemes)?;
                self.known(&field, to, schemes)?;
            }
            self.range(&field, of != to || claim.over.is_some(), "two different schemes")?;
        }
        let share = (0.0..=1.0).contains(&claim.allowance);
        self.range(&format!("{field}.allowance"), share, "a number from 0 to 1")?;
        let FileClaim { id, words, with, model, metric, over, allowance, workloads, pairs, .. } = claim;
        Ok(Claim { id, words, with, model, metric, over, allowance, rule, tolerance, workloads, pairs })
    }

    /// Rule of a claim, and its tolerance.
    fn rule(&self, field: &str, claim: &FileClaim) -> Result<(Rule, f64), DefinitionError> {
        let FileClaim { rule, tolerance, low, high, .. } = *claim;
        let rule = match rule {
            FileRule::NoMore => Rule::NoMore,
            FileRule::LittleMore => Rule::LittleMore,
            FileRule::Alike => Rule::Alike,
            FileRule::Between => Rule::Between { low, high },
        };
        let is_between = matches!(rule, Rule::Between { .. });
        let given = low.is_some() || high.is_some();
        self.range(field, given == is_between, "low, high or both with the rule between, and with no other")?;
        for (name, bound) in [("low", low), ("high", high)] {
            if let Some(bound) = bound {
                self.positive(&format!("{field}.{name}"), bound)?;
            }
        }
        let ordered = low.zip(high).is_none_or(|(low, high)| low <= high);
        self.range(&format!("{field}.low"), ordered, "a number not above high")?;
        let is_default = is_between && tolerance.is_none();
        let tolerance = tolerance.unwrap_or(0.0);
        let holds = is_default || tolerance > 0.0 && tolerance < 1.0;
        self.range(&format!("{field}.tolerance"), holds, "a number above 0 and below 1")?;
        Ok((rule, tolerance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    /// Error of the small study with this rule for its first claim.
    fn error(rule: &str) -> Option<String> {
        let text = sample::definition().text().replacen("rule = \"little-more\"\ntolerance = 0.15", rule, 1);
        Definition::parse(&text, "study.toml").err().map(|error| error.to_string())
    }

    #[test]
    fn a_claim_between_bounds_has_one_bound_or_two() {
        let read = |rule: &str| {
            let text =
                sample::definition().text().replacen("rule = \"little-more\"\ntolerance = 0.15", rule, 1);
            let claim = Definition::parse(&text, "study.toml").unwrap().claims.swap_remove(0);
            (claim.rule, claim.tolerance, claim.metric)
        };
        let between = |low, high| Rule::Between { low, high };
        assert_eq!(
            read("rule = \"between\"\nlow = 0.2\nhigh = 0.5\ntolerance = 0.2"),
            (between(Some(0.2), Some(0.5)), 0.2, "ratio".to_owned())
        );
        assert_eq!(
            read("metric = \"ratio_rtt\"\nrule = \"between\"\nlow = 1"),
            (between(Some(1.0), None), 0.0, "ratio_rtt".to_owned())
        );
    }

    #[test]
    fn a_claim_about_other_records_names_their_workloads_and_schemes() {
        let with = |lines: &str| {
            let text = sample::definition().text().replacen("rule = \"little-more\"", lines, 1);
            Definition::parse(&text, "study.toml").map(|mut study| study.claims.swap_remove(0))
        };
        let claim = with("rule = \"little-more\"\nallowance = 0.2").unwrap();
        assert_eq!((claim.model, claim.over, claim.allowance), (None, None, 0.2));
        let lines = "model = \"mca\"\nmetric = \"total_cycles\"\nover = \"ipc\"\nrule = \"little-more\"";
        let claim = with(lines).unwrap();
        assert_eq!((claim.model.as_deref(), claim.over.as_deref()), (Some("mca"), Some("ipc")));
        let error = with("rule = \"little-more\"\nallowance = 1.5").unwrap_err().to_string();
        assert!(error.contains("claim[0].allowance: takes a number from 0 to 1"), "{error}");
    }

    #[test]
    fn refuses_rules_without_their_figures() {
        for (rule, words) in [
            ("rule = \"between\"", "low, high or both"),
            ("rule = \"alike\"\ntolerance = 0.1\nhigh = 2", "low, high or both"),
            ("rule = \"alike\"", "claim[0].tolerance"),
            ("rule = \"between\"\nhigh = 2\ntolerance = 1", "claim[0].tolerance"),
            ("rule = \"between\"\nlow = -1", "claim[0].low"),
            ("rule = \"between\"\nlow = 2\nhigh = 1", "not above high"),
            ("rule = \"between\"\nlow = nan", "claim[0].low"),
            ("rule = \"between\"\nlow = 1\nmetric = \" \"", "claim[0].metric"),
        ] {
            let error = error(rule).unwrap_or_default();
            assert!(error.contains(words), "{rule}: {error}");
        }
    }
}
