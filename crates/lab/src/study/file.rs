//! The study file as it is written, and the checks that turn it into a definition.

use std::collections::HashSet;

use serde::Deserialize;

use super::braces::{self, MAX_EXPANSION};
use super::definition::{
    Against, Bins, Bound, Chart, Claim, Counts, Definition, DefinitionError, Expect, Limit, Mca, Octets,
    Only, Rule, Sizes, Spread, Target,
};
use crate::record::metric;

const MAX_NAMES: u32 = 10_000_000;
/// A chart of a few octets may stand for as many bars as there are schemes.
const MAX_CHARTS: usize = 64;

/// The file as it is written, before braces are expanded and names looked up.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
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
    bound: Option<Bound>,
    #[serde(default)]
    target: Vec<Target>,
    #[serde(default)]
    limit: Vec<FileLimit>,
    #[serde(default)]
    claim: Vec<FileClaim>,
    #[serde(default)]
    chart: Vec<FileChart>,
    #[serde(default)]
    expect: Vec<Expect>,
    #[serde(default)]
    octets: Vec<FileOctets>,
    #[serde(default)]
    only: Vec<FileOnly>,
    spread: Option<FileSpread>,
    mca: Option<FileMca>,
}

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
struct FileOctets {
    workload: String,
    schemes: Vec<String>,
    octets: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileOnly {
    workload: String,
    schemes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSpread {
    sets: Vec<String>,
    schemes: Vec<String>,
    tuples: Counts,
    #[serde(default)]
    bins: Vec<Bins>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileMca {
    schemes: Vec<String>,
}

fn default_metric() -> String {
    metric::CYCLES_MEAN.to_owned()
}

fn default_per() -> String {
    "name".to_owned()
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

/// Turns a [`File`] into a [`Definition`], with the origin at hand for errors.
pub(super) struct Checker<'a> {
    pub(super) origin: &'a str,
}

impl Checker<'_> {
    pub(super) fn definition(&self, file: File) -> Result<Definition, DefinitionError> {
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
            self.names(&format!("{field}.items"), size.items)?;
            self.range(
                &format!("{field}.repetitions"),
                (2..=1000).contains(&size.repetitions),
                "a number from 2 to 1000",
            )?;
        }
        if let Some(bound) = &file.bound {
            self.positive("bound.value", bound.value)?;
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
        let mut expected = HashSet::new();
        for (i, expect) in file.expect.iter().enumerate() {
            let field = format!("expect[{i}].workload");
            self.known(&field, &expect.workload, &file.workloads)?;
            if !expected.insert(expect.workload.as_str()) {
                return Err(self.duplicate(field, expect.workload.clone()));
            }
            self.names(&format!("expect[{i}].names"), expect.names)?;
        }
        let mut octets = Vec::with_capacity(file.octets.len());
        for (i, FileOctets { workload, schemes: some, octets: count }) in file.octets.into_iter().enumerate()
        {
            let field = format!("octets[{i}]");
            self.known(&format!("{field}.workload"), &workload, &file.workloads)?;
            let some = self.expand(&format!("{field}.schemes"), &some)?;
            some.iter().try_for_each(|scheme| self.known(&format!("{field}.schemes"), scheme, &schemes))?;
            octets.push(Octets { workload, schemes: some, octets: count });
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
        let spread = file.spread.map(|spread| self.spread(spread)).transpose()?;
        let mca = match file.mca {
            Some(mca) => Some(Mca { schemes: self.expand("mca.schemes", &mca.schemes)? }),
            None => None,
        };
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
            bound: file.bound,
            targets: file.target,
            limits,
            claims,
            charts,
            expects: file.expect,
            octets,
            only,
            spread,
            mca,
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

    fn spread(&self, spread: FileSpread) -> Result<Spread, DefinitionError> {
        let FileSpread { sets, schemes, tuples, bins } = spread;
        self.ids("spread.sets", &sets)?;
        let schemes = self.expand("spread.schemes", &schemes)?;
        self.names("spread.tuples.quick", tuples.quick)?;
        self.names("spread.tuples.full", tuples.full)?;
        for (i, bins) in bins.iter().enumerate() {
            self.known(&format!("spread.bins[{i}].scheme"), &bins.scheme, &schemes)?;
        }
        Ok(Spread { sets, schemes, tuples, bins })
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

    /// Both schemes of a ratio are measured, and they are two.
    fn pair(&self, field: &str, of: &str, to: &str, schemes: &[String]) -> Result<(), DefinitionError> {
        self.known(field, of, schemes)?;
        self.known(field, to, schemes)?;
        self.range(field, of != to, "two different schemes")
    }

    fn expand(&self, field: &str, texts: &[String]) -> Result<Vec<String>, DefinitionError> {
        let mut all = Vec::new();
        for (i, text) in texts.iter().enumerate() {
            let expanded = braces::expand(text).map_err(|error| DefinitionError::Braces {
                origin: self.origin.to_owned(),
                field: format!("{field}[{i}]"),
                error,
            })?;
            all.extend(expanded);
            self.range(field, all.len() <= MAX_EXPANSION, "at most 4096 schemes")?;
        }
        self.ids(field, &all)?;
        Ok(all)
    }

    /// At least one id, none empty, none twice.
    fn ids(&self, field: &str, ids: &[String]) -> Result<(), DefinitionError> {
        self.range(field, !ids.is_empty(), "one id or more")?;
        let mut seen = HashSet::new();
        for id in ids {
            self.range(field, !id.trim().is_empty(), "ids that are not empty")?;
            if !seen.insert(id) {
                return Err(self.duplicate(field.to_owned(), id.clone()));
            }
        }
        Ok(())
    }

    fn known(&self, field: &str, id: &str, known: &[String]) -> Result<(), DefinitionError> {
        if known.iter().any(|k| k == id) {
            return Ok(());
        }
        Err(DefinitionError::Unknown {
            origin: self.origin.to_owned(),
            field: field.to_owned(),
            id: id.to_owned(),
            known: known.to_vec(),
        })
    }

    fn names(&self, field: &str, names: u32) -> Result<(), DefinitionError> {
        self.range(field, (1..=MAX_NAMES).contains(&names), "a number from 1 to 10000000")
    }

    fn positive(&self, field: &str, value: f64) -> Result<(), DefinitionError> {
        self.range(field, value > 0.0 && value.is_finite(), "a finite number above 0")
    }

    fn range(&self, field: &str, holds: bool, takes: &'static str) -> Result<(), DefinitionError> {
        if holds {
            return Ok(());
        }
        Err(DefinitionError::OutOfRange { origin: self.origin.to_owned(), field: field.to_owned(), takes })
    }

    fn duplicate(&self, field: String, id: String) -> DefinitionError {
        DefinitionError::Duplicate { origin: self.origin.to_owned(), field, id }
    }
}
