//! Reads a study file: the tables as they are written, and the checks that make a [`Definition`] of them.

use std::collections::HashSet;

use serde::Deserialize;

use super::check::Checker;
use super::error::DefinitionError;
use super::parts::{Against, Chart, Claim, Definition, Limit, Only, Origin, Rule, Sizes, Target};
use super::published::Published;
use crate::record::metric;

/// Longest study file, in bytes.
pub const MAX_TEXT: usize = 1 << 20;

/// Most charts: a chart of a few bytes may expand to one bar for each scheme.
const MAX_CHARTS: usize = 64;

/// Core of the file as it is written, before braces are expanded and names looked up.
#[derive(Deserialize)]
struct File {
    slug: String,
    model: String,
    title: String,
    question: String,
    source: String,
    workloads: Vec<String>,
    schemes: Vec<String>,
    reference: String,
    #[serde(default)]
    pairs: Vec<(String, String)>,
    #[serde(default = "default_metric")]
    metric: String,
    #[serde(default = "default_per")]
    per: String,
    size: Sizes,
    #[serde(default)]
    target: Vec<Target>,
    #[serde(default)]
    limit: Vec<FileLimit>,
    #[serde(default)]
    claim: Vec<FileClaim>,
    #[serde(default)]
    chart: Vec<FileChart>,
    #[serde(default)]
    only: Vec<FileOnly>,
    #[serde(default)]
    published: Vec<Published>,
}

/// Fields of [`File`]; all others are tables of the study's kind.
pub(super) const FIELDS: [&str; 18] = [
    "slug",
    "model",
    "title",
    "question",
    "source",
    "workloads",
    "schemes",
    "reference",
    "pairs",
    "metric",
    "per",
    "size",
    "target",
    "limit",
    "claim",
    "chart",
    "only",
    "published",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileLimit {
    of: String,
    workload: String,
    /// A scheme.
    more_than: Option<String>,
    /// A workload.
    times: Option<String>,
    at_most: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileOnly {
    workload: String,
    schemes: Vec<String>,
}

fn default_metric() -> String {
    metric::CYCLES_MEAN.to_owned()
}

fn default_per() -> String {
    "item".to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileClaim {
    id: String,
    words: String,
    rule: Rule,
    tolerance: f64,
    workloads: Vec<String>,
    pairs: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileChart {
    title: String,
    #[serde(default)]
    note: String,
    schemes: Vec<String>,
}

impl Definition {
    /// Reads the study file `text`; `origin`, a path or a slug, is named in errors.
    ///
    /// Tables that only the study's kind knows are kept as they are:
    /// [`Study::check`](crate::study::Study::check) reads them.
    ///
    /// # Errors
    /// The first rule broken, with the field: criteria, claims and charts of schemes or workloads that the
    /// study does not measure are rejected, for example.
    pub fn parse(text: &str, origin: &str) -> Result<Self, DefinitionError> {
        if text.len() > MAX_TEXT {
            return Err(DefinitionError::TooLong { origin: origin.to_owned(), most: MAX_TEXT });
        }
        let toml =
            |e: toml::de::Error| DefinitionError::Toml { origin: origin.to_owned(), message: e.to_string() };
        // Twice, as a flattened table costs the errors their line numbers.
        let file: File = toml::from_str(text).map_err(toml)?;
        let mut own: toml::Table = toml::from_str(text).map_err(toml)?;
        own.retain(|field, _| !FIELDS.contains(&field));
        Checker { origin }.definition(file, own)
    }
}

impl Checker<'_> {
    fn definition(&self, file: File, own: toml::Table) -> Result<Definition, DefinitionError> {
        let slug_octet = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        self.range(
            "slug",
            (1..=64).contains(&file.slug.len()) && file.slug.bytes().all(slug_octet),
            "1 to 64 lower-case letters, digits and hyphens",
        )?;
        for (field, text) in [
            ("model", &file.model),
            ("title", &file.title),
            ("question", &file.question),
            ("source", &file.source),
            ("metric", &file.metric),
            ("per", &file.per),
        ] {
            self.range(field, !text.trim().is_empty(), "some words")?;
        }
        self.ids("workloads", &file.workloads)?;
        let schemes = self.expand("schemes", &file.schemes)?;
        self.known("reference", &file.reference, &schemes)?;
        for (i, (of, to)) in file.pairs.iter().enumerate() {
            self.pair(&format!("pairs[{i}]"), of, to, &schemes)?;
        }
        for (field, size) in [("size.quick", file.size.quick), ("size.full", file.size.full)] {
            self.count(&format!("{field}.items"), size.items)?;
            self.range(
                &format!("{field}.repetitions"),
                (2..=1000).contains(&size.repetitions),
                "a number from 2 to 1000",
            )?;
        }
        for (i, target) in file.target.iter().enumerate() {
            self.pair(&format!("target[{i}]"), &target.of, &target.to, &schemes)?;
            self.known(&format!("target[{i}].workload"), &target.workload, &file.workloads)?;
            self.positive(&format!("target[{i}].at_most"), target.at_most)?;
        }
        let mut limits = Vec::with_capacity(file.limit.len());
        for (i, limit) in file.limit.into_iter().enumerate() {
            limits.push(self.limit(&format!("limit[{i}]"), limit, &file.workloads, &schemes)?);
        }
        let mut claims = Vec::with_capacity(file.claim.len());
        let mut claim_ids = HashSet::new();
        for (i, claim) in file.claim.into_iter().enumerate() {
            let field = format!("claim[{i}]");
            if !claim_ids.insert(claim.id.clone()) {
                return Err(self.duplicate(format!("{field}.id"), claim.id));
            }
            claims.push(self.claim(&field, claim, &file.workloads, &schemes)?);
        }
        self.range("chart", file.chart.len() <= MAX_CHARTS, "at most 64 charts")?;
        let measured: HashSet<&String> = schemes.iter().collect();
        let mut charts = Vec::with_capacity(file.chart.len());
        for (i, chart) in file.chart.into_iter().enumerate() {
            let field = format!("chart[{i}].schemes");
            let bars = self.expand(&field, &chart.schemes)?;
            if let Some(bar) = bars.iter().find(|bar| !measured.contains(bar)) {
                self.known(&field, bar, &schemes)?;
            }
            charts.push(Chart { title: chart.title, note: chart.note, schemes: bars });
        }
        let mut only = Vec::with_capacity(file.only.len());
        let mut restricted = HashSet::new();
        for (i, FileOnly { workload, schemes: some }) in file.only.into_iter().enumerate() {
            let field = format!("only[{i}].workload");
            self.known(&field, &workload, &file.workloads)?;
            if !restricted.insert(workload.clone()) {
                return Err(self.duplicate(field, workload));
            }
            let field = format!("only[{i}].schemes");
            let some = self.expand(&field, &some)?;
            some.iter().try_for_each(|scheme| self.known(&field, scheme, &schemes))?;
            only.push(Only { workload, schemes: some });
        }
        for (i, published) in file.published.iter().enumerate() {
            self.range(
                &format!("published[{i}].rows"),
                published.is_rectangular(),
                "as many figures in each row as there are columns",
            )?;
        }
        Ok(Definition {
            slug: file.slug,
            model: file.model,
            title: file.title,
            question: file.question,
            source: file.source,
            workloads: file.workloads,
            schemes,
            reference: file.reference,
            pairs: file.pairs,
            metric: file.metric,
            per: file.per,
            size: file.size,
            targets: file.target,
            limits,
            claims,
            charts,
            only,
            published: file.published,
            own,
            origin: Origin(self.origin.to_owned()),
        })
    }

    fn limit(
        &self,
        field: &str,
        limit: FileLimit,
        workloads: &[String],
        schemes: &[String],
    ) -> Result<Limit, DefinitionError> {
        let FileLimit { of, workload, more_than, times, at_most } = limit;
        self.known(&format!("{field}.of"), &of, schemes)?;
        self.known(&format!("{field}.workload"), &workload, workloads)?;
        self.positive(&format!("{field}.at_most"), at_most)?;
        self.range(field, more_than.is_none() || times.is_none(), "more_than or times, not both")?;
        let against = match (more_than, times) {
            (Some(scheme), _) => {
                self.pair(&format!("{field}.more_than"), &of, &scheme, schemes)?;
                Against::Scheme(scheme)
            }
            (None, Some(other)) => {
                self.known(&format!("{field}.times"), &other, workloads)?;
                self.range(&format!("{field}.times"), other != workload, "another workload")?;
                Against::Workload(other)
            }
            (None, None) => Against::Nothing,
        };
        Ok(Limit { of, workload, against, at_most })
    }

    fn claim(
        &self,
        field: &str,
        claim: FileClaim,
        workloads: &[String],
        schemes: &[String],
    ) -> Result<Claim, DefinitionError> {
        let tolerance = format!("{field}.tolerance");
        self.range(
            &tolerance,
            claim.tolerance > 0.0 && claim.tolerance < 1.0,
            "a number above 0 and below 1",
        )?;
        let field_workloads = format!("{field}.workloads");
        self.ids(&field_workloads, &claim.workloads)?;
        claim.workloads.iter().try_for_each(|w| self.known(&field_workloads, w, workloads))?;
        self.range(&format!("{field}.pairs"), !claim.pairs.is_empty(), "one pair or more")?;
        for (i, (of, to)) in claim.pairs.iter().enumerate() {
            self.pair(&format!("{field}.pairs[{i}]"), of, to, schemes)?;
        }
        let FileClaim { id, words, rule, tolerance, workloads, pairs } = claim;
        Ok(Claim { id, words, rule, tolerance, workloads, pairs })
    }
}
