//! The tables of a study file that every study has.

use std::collections::HashSet;

use serde::Deserialize;

use super::published::Published;
use crate::layout::Layout;
use hashlane_records::metric;

/// A study as data: its question, its workloads and schemes, and the criteria and claims that its results are
/// compared with.
///
/// Lists of schemes in the file may use braces: `{a,b}/c` expands to `a/c` and `b/c`. They are expanded here.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Definition {
    /// Name on the command line and in records: 1 to 64 lower-case letters, digits and hyphens.
    pub slug: String,
    /// Kind of study, such as `names`: the [`Study`](crate::study::Study) with this model runs it.
    pub model: String,
    /// The heading of the report.
    pub title: String,
    /// Short name of the subject for summaries, such as `flood`. Default: the slug.
    #[serde(default)]
    pub topic: String,
    /// The question that the study answers.
    pub question: String,
    /// The question in at most some 40 characters, for summaries. Default: the question.
    #[serde(default)]
    pub asks: String,
    /// Source of the question and the claims.
    pub source: String,
    /// The ids of the workloads, each once, in the order of the report.
    pub workloads: Vec<String>,
    /// The ids of the schemes, each once, in the order of the report.
    pub schemes: Vec<String>,
    /// The scheme to which every other one's time is given as a ratio.
    pub reference: String,
    /// A/A control: two ids of one scheme, timed like two schemes. Every difference between them is noise.
    pub control: Option<(String, String)>,
    /// Further ratios to measure, in addition to ratios to the reference and ratios of criteria and claims:
    /// the time of the first scheme over the second's.
    #[serde(default)]
    pub pairs: Vec<(String, String)>,
    /// Metric of charts and tables. Default: `cycles_mean`.
    #[serde(default = "default_metric")]
    pub metric: String,
    /// Unit of work that a figure is for, one word such as `tuple` or `lookup`. Default: `item`.
    #[serde(default = "default_per")]
    pub per: String,
    /// Sizes of the measurement, quick and full.
    pub size: Sizes,
    /// Criteria that the project sets itself.
    #[serde(skip)]
    pub criteria: Vec<Criterion>,
    /// Statements of the source, as rules on ratios.
    #[serde(skip)]
    pub claims: Vec<Claim>,
    /// Workloads on which only some of the schemes are measured.
    #[serde(default)]
    pub only: Vec<Only>,
    /// Figures that the study's source prints, or that others measured elsewhere.
    #[serde(default)]
    pub published: Vec<Published>,
    /// Sentences, tables and charts of its records.
    #[serde(skip)]
    pub layout: Layout,
    /// Tables that only the study's kind knows; see [`Definition::table`].
    #[serde(skip)]
    pub(super) own: toml::Table,
    /// Origin of the text.
    #[serde(skip)]
    pub(super) origin: Origin,
    /// The text of the file.
    #[serde(skip)]
    pub(super) text: String,
    /// All schemes to be measured: [`schemes`](Self::schemes), and the control's if it is not among them.
    #[serde(skip)]
    pub(super) measured: Vec<String>,
    /// Workloads of the file, from which [`workloads`](Self::workloads) may be a selection.
    #[serde(skip)]
    pub(super) all_workloads: Vec<String>,
    /// `true` after [`select`](Self::select).
    #[serde(skip)]
    pub(super) selected: bool,
}

fn default_metric() -> String {
    metric::CYCLES_MEAN.to_owned()
}

fn default_per() -> String {
    "item".to_owned()
}

/// Origin of a study file, a path or a slug, for errors. All are equal: a study is the same wherever its file
/// lies.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin(pub(super) String);

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The two sizes of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// For a first answer, in about a minute.
    pub quick: Size,
    /// The source's own size.
    pub full: Size,
}

/// Size of the measurement of each workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Items of work in a repetition, such as names hashed or flows looked up; of a study of forwarders,
    /// milliseconds for which each is under load: 1 to 10,000,000.
    pub items: u32,
    /// Passes over all the items, 2 to 1,000. Bounds at 95 %, and so verdicts, take 6 or more.
    pub repetitions: u32,
}

/// A threshold that the project sets itself: a figure to stay at or below.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    /// The scheme.
    pub of: String,
    /// The workload.
    pub workload: String,
    /// The figure of the scheme on the workload that the threshold is for.
    pub figure: CriterionFigure,
    /// The largest figure that meets the criterion, 0 or above.
    pub at_most: f64,
}

/// The figure that a criterion is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CriterionFigure {
    /// The study's metric itself.
    Metric,
    /// Another metric of the records.
    OtherMetric(String),
    /// The time as a ratio to another scheme's on the same workload.
    Ratio(String),
    /// The study's metric less another scheme's on the same workload.
    Difference(String),
    /// The study's metric as a ratio to the same scheme's on another workload.
    RatioToWorkload(String),
}

/// A statement of the source, as a rule on ratios.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its name in tables.
    pub id: String,
    /// The source's words.
    pub words: String,
    /// Code or conditions under which the words are tested, after "with", where there are several: `the
    /// source's program in C`.
    pub with: Option<String>,
    /// Model of the records that the words are about, such as `mca`, if it is not the study's own: its kind
    /// knows their workloads and schemes.
    pub model: Option<String>,
    /// Metric of the ratio that the words are about. Default: `ratio`, the ratio of the times. If the metric
    /// is no recorded ratio, the figure of the first scheme is divided by the second's, if the first is
    /// exact.
    pub metric: String,
    /// Metric by which the figure is divided, if it is another one; a pair may then name one scheme twice.
    pub over: Option<String>,
    /// Share by which a ratio must lie outside the rule to contradict the words, 0 to 1: what the code's
    /// compiler may explain. Default: 0.
    pub allowance: f64,
    /// Rule on the ratio that the words state.
    pub rule: Rule,
    /// Largest distance of the ratio from 1 at which the words still hold, above 0 and below 1; of
    /// [`Rule::Between`], the share by which the ratio may exceed either bound, 0 or above.
    pub tolerance: f64,
    /// The workloads that the words are about.
    pub workloads: Vec<String>,
    /// The ratios that the words are about: the time of the first over the time of the second.
    pub pairs: Vec<(String, String)>,
}

/// A claim's rule on a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Rule {
    /// At or below 1 + tolerance.
    NoMore,
    /// Above 1, at or below 1 + tolerance.
    LittleMore,
    /// Between 1 − tolerance and 1 + tolerance.
    Alike,
    /// Between the bounds, those that there are, each moved outward by the tolerance.
    Between {
        /// Lower bound, above 0.
        low: Option<f64>,
        /// Upper bound.
        high: Option<f64>,
    },
}

/// The schemes that are measured on a workload, where not all are.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Only {
    /// The workload.
    pub workload: String,
    /// The schemes.
    pub schemes: Vec<String>,
}

impl Definition {
    /// The text of the study file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All schemes to be measured, with the A/A control. [`subject`](super::subject) maps the control's id to
    /// its scheme's.
    pub fn measured_schemes(&self) -> &[String] {
        &self.measured
    }

    /// The schemes to be measured on a workload, with the A/A control.
    pub fn schemes_on<'a>(&'a self, workload: &str) -> &'a [String] {
        let only = self.only.iter().find(|only| only.workload == workload);
        only.map_or(&self.measured, |only| &only.schemes)
    }

    /// `true` if the scheme is only there as an A/A control; reports list it nowhere else.
    pub fn is_control(&self, scheme: &str) -> bool {
        self.control.as_ref().is_some_and(|(of, _)| of == scheme) && !self.schemes.iter().any(|s| s == scheme)
    }

    /// Place of a workload in the file, from 0; it does not depend on a selection.
    pub fn position(&self, workload: &str) -> usize {
        let place = self.all_workloads.iter().position(|id| id == workload);
        debug_assert!(place.is_some(), "{workload} is a workload of the file");
        // One that no workload of the file has.
        place.unwrap_or(self.all_workloads.len())
    }

    /// `true` if only some schemes or workloads of the file are measured.
    pub fn is_selection(&self) -> bool {
        self.selected
    }

    /// `true` if only some workloads of the file are measured. A study then measures each of them, also one
    /// that it would leave out of its quick size.
    pub fn names_workloads(&self) -> bool {
        self.workloads.len() < self.all_workloads.len()
    }

    /// The ratios to measure, `(of, to)`, each once: every scheme to the reference, and the pairs of the
    /// file, its control, its criteria and its claims.
    pub fn ratio_pairs(&self) -> Vec<(&str, &str)> {
        let to_reference = self
            .schemes
            .iter()
            .filter(|&scheme| *scheme != self.reference)
            .map(|scheme| (scheme.as_str(), self.reference.as_str()));
        let criteria = self.criteria.iter().filter_map(|criterion| match &criterion.figure {
            CriterionFigure::Ratio(to) => Some((criterion.of.as_str(), to.as_str())),
            _ => None,
        });
        let claims = self.claims.iter().filter(|claim| claim.model.is_none()).flat_map(|claim| &claim.pairs);
        let named = self.control.iter().chain(&self.pairs).chain(claims);
        let named = named.map(|(of, to)| (of.as_str(), to.as_str()));
        let mut seen = HashSet::new();
        to_reference.chain(criteria).chain(named).filter(|&pair| seen.insert(pair)).collect()
    }
}
