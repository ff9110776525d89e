//! Runs of a study and reports of few records, for tests of its kind.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "panics are how a test fails")]

use super::{Settings, Studies, Study, run};
use crate::definition::{Definition, Size};
use crate::evidence::Doubt;
use crate::outcome::Reached;
use crate::report::{Answer, Block, Section};
use hashlane_records::{Record, RecordSet};
use std::sync::atomic::AtomicBool;

/// A record of the study's own model: workload, scheme, metric, unit and value.
pub type Row<'a> = (&'a str, &'a str, &'a str, &'a str, f64);

/// Units of counts, which have no bounds.
const COUNTS: [&str; 8] = ["queries", "records", "reloads", "flows", "packets", "keys", "kills", "results"];

/// A study, and records of it.
pub struct Sample {
    studies: Studies,
    /// The study.
    pub definition: Definition,
    /// Records so far.
    pub records: RecordSet,
    /// Distance of bounds from a value, as a share of it.
    spread: f64,
}

impl Sample {
    /// A study by its file, without records.
    pub fn new(studies: Studies, text: &str, spread: f64) -> Self {
        let definition = studies.parse(text, "study.toml").unwrap();
        Self { studies, definition, records: RecordSet::new(), spread }
    }

    /// Adds a record of six samples, of six launches; `at` is its model, workload, scheme, metric and unit.
    pub fn add(&mut self, at: [&str; 5], bounds: [f64; 3]) {
        let [model, workload, scheme, metric, unit] = at;
        let columns = [&self.definition.slug, model, workload, scheme, "p", metric, unit];
        self.records.insert(Record::new(columns, bounds, 6, 6)).unwrap();
    }

    /// Adds records of the study's own model. Counts have no bounds.
    pub fn with(mut self, rows: &[Row<'_>]) -> Self {
        let model = self.definition.model.clone();
        for &(workload, scheme, metric, unit, value) in rows {
            let spread = if COUNTS.contains(&unit) { 0.0 } else { value * self.spread };
            self.add([&model, workload, scheme, metric, unit], [value, value - spread, value + spread]);
        }
        self
    }

    /// The answer.
    pub fn answer(&self) -> Answer {
        self.studies.answer(&self.definition, &self.records).unwrap()
    }

    /// The sentence of the answer.
    ///
    /// # Errors
    /// The doubt that withholds it.
    pub fn sentence(&self) -> Result<String, Doubt> {
        self.answer().sentence.map(|statement| statement.text)
    }

    /// Labels of the first bars of the answer's chart.
    pub fn bars(&self) -> Vec<String> {
        let Some(Block::Bars(chart)) = self.answer().chart else { panic!("no bars") };
        chart
            .plots
            .iter()
            .take(1)
            .flat_map(|plot| &plot.groups)
            .take(1)
            .flat_map(|group| &group.bars)
            .map(|bar| bar.label.clone())
            .collect()
    }

    /// The first section; `None` without records.
    pub fn section(&self) -> Option<Section> {
        self.studies.sections(&self.definition, &self.records).into_iter().next()
    }

    /// The outcomes of all criteria that were measured.
    pub fn decided(&self) -> Vec<Reached> {
        let outcomes = self.definition.criterion_outcomes(&self.records);
        outcomes.iter().filter(|outcome| outcome.measured.is_some()).map(|outcome| outcome.reached).collect()
    }
}

/// Records of a run of a study that does not fail.
#[track_caller]
pub fn records(study: &dyn Study, definition: &Definition, full: bool, size: Size) -> RecordSet {
    let settings = Settings { size, ..Settings::new(definition, full, "hashlane".into()) };
    let outcome = run(study, definition, &settings, &AtomicBool::new(false), &mut |_| ());
    assert!(outcome.failed.is_none(), "{:?}", outcome.failed);
    outcome.records
}
