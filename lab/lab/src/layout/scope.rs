//! The records that templates and expressions are over, as figures and lists.

use super::figure::{self, Figure};
use super::lists::Lists;
use crate::definition::Definition;
use crate::evidence::{Doubt, Evidence};
use hashlane_records::{Record, RecordSet, metric};
use hashlane_stats::Interval;
use hashlane_stats::format;
use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Name of the macros, and the beginning of the names of all other texts.
pub(super) const WORDS: &str = "words";
pub(super) const MARK: char = '\u{1}';

/// Most items of a list that an expression makes.
pub(super) const MOST_ITEMS: usize = 1 << 17;

/// The records that are shown, and what compiles the texts over them.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) env: &'a Environment<'static>,
    pub(super) scope: &'a Scope,
}

/// The records that are shown, and how.
pub(super) struct Scope {
    pub(super) definition: Definition,
    pub(super) records: RecordSet,
    /// Figures are stated in a sentence: only those without a doubt.
    is_checked: AtomicBool,
    /// Uncertain figures that the sentence has stated without their bounds.
    stated: Mutex<Vec<Interval>>,
    /// Workloads and schemes of the model at hand.
    lists: Mutex<Arc<Lists>>,
    pretence: Pretence,
}

/// Records that are made up, to try a file when it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pretence {
    /// None: there are records.
    Real,
    /// Every scheme has records on every workload, and none has the figure that is looked for.
    Missing,
    /// Every figure is there, and is this number.
    All(f64),
}

impl Scope {
    pub(super) fn new(definition: &Definition, records: &RecordSet, pretence: Pretence) -> Arc<Self> {
        let mut of_study = RecordSet::new();
        for record in records.iter().filter(|record| record.study == definition.slug) {
            // Each key is in the records once.
            let _ = of_study.insert(record.clone());
        }
        Arc::new(Self {
            definition: definition.clone(),
            records: of_study,
            is_checked: AtomicBool::new(false),
            stated: Mutex::default(),
            lists: Mutex::default(),
            pretence,
        })
    }

    /// Takes the lists of a model. `false`, and empty lists, without records of it.
    pub(super) fn model(&self, model: &str) -> bool {
        let lists = if self.pretends() {
            Some(Lists::all(&self.definition))
        } else {
            Lists::of(&self.definition, &self.records, model)
        };
        let found = lists.is_some();
        *self.lists.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(lists.unwrap_or_default());
        found
    }

    pub(super) fn lists(&self) -> Arc<Lists> {
        Arc::clone(&self.lists.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn pretends(&self) -> bool {
        self.pretence != Pretence::Real
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() && !self.pretends()
    }

    /// Sentences have checked figures, and remember them.
    pub(super) fn check(&self, is_checked: bool) {
        self.is_checked.store(is_checked, Ordering::Relaxed);
        self.stated.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The uncertain figures that were stated without their bounds since [`check`](Self::check).
    pub(super) fn stated(&self) -> Vec<Interval> {
        std::mem::take(&mut *self.stated.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_checked(&self) -> bool {
        self.is_checked.load(Ordering::Relaxed)
    }

    pub(super) fn evidence(&self) -> Evidence<'_> {
        Evidence::new(&self.definition, &self.records)
    }

    /// A figure as it was measured, or as a sentence may state it.
    fn figure(
        &self,
        record: Option<&Record>,
        what: impl Fn() -> String,
        check: impl Fn(Evidence<'_>) -> Result<Interval, Doubt>,
    ) -> Figure {
        if let Pretence::All(value) = self.pretence {
            return Figure::exact(value);
        }
        let Some(record) = record else { return Figure::missing(what()) };
        let doubt = if self.is_checked() { check(self.evidence()).err() } else { None };
        Figure { measured: Some(record.interval()), samples: record.samples, doubt }
    }

    pub(super) fn of(&self, workload: &str, scheme: &str, metric: &str) -> Figure {
        let record = self.records.metric(&self.definition.slug, workload, scheme, metric);
        let what = || format!("{metric} of {scheme}, {workload}");
        self.figure(record, what, |evidence| evidence.figure(workload, scheme, metric))
    }

    pub(super) fn raw(&self, workload: &str, scheme: &str, metric: &str) -> Figure {
        let record = self.records.metric(&self.definition.slug, workload, scheme, metric);
        let what = || format!("{metric} of {scheme}, {workload}");
        self.figure(record, what, |_| Ok(Interval::exact(1.0)))
    }

    pub(super) fn ratio(&self, workload: &str, of: &str, to: &str, metric: &str) -> Figure {
        let record = self.records.metric_in(&self.definition.slug, workload, of, metric, to);
        let what = || format!("{of} / {to}, {workload}");
        self.figure(record, what, |evidence| evidence.ratio_in(metric, workload, of, to))
    }

    pub(super) fn more(&self, workload: &str, of: &str, to: &str, metric: &str) -> Figure {
        let record = self.records.metric_in(&self.definition.slug, workload, of, metric::MORE, to);
        let what = || format!("{of} − {to}, {workload}");
        self.figure(record, what, |evidence| evidence.difference(metric, workload, of, to))
    }

    /// The figure by which schemes are sorted: infinite if it was not measured.
    pub(super) fn order(&self, workload: &str, scheme: &str, metric: &str, to: Option<&str>) -> f64 {
        let figure = match to {
            Some(to) => self.ratio(workload, scheme, to, metric),
            None => self.raw(workload, scheme, metric),
        };
        figure.measured.map_or(f64::INFINITY, |i| i.value)
    }

    /// The schemes of a workload with any of the metrics.
    pub(super) fn schemes_with(&self, workload: &str, metrics: &[String]) -> Vec<String> {
        let lists = self.lists();
        let has = |scheme: &&String| {
            self.pretends()
                || metrics.is_empty()
                || metrics
                    .iter()
                    .any(|m| self.records.metric(&self.definition.slug, workload, scheme, m).is_some())
        };
        lists.on(workload).iter().filter(has).cloned().collect()
    }

    /// The interval of a figure or number; `None` without one, which a sentence cannot be.
    fn interval(&self, value: &Value) -> Result<Option<Interval>, Error> {
        if let Some(figure) = value.downcast_object_ref::<Figure>() {
            return if self.is_checked() { figure.stated().map(Some) } else { Ok(figure.measured) };
        }
        if let Ok(number) = f64::try_from(value.clone()) {
            return Ok(Some(Interval::exact(number)));
        }
        if value.is_undefined() || value.is_none() {
            return if self.is_checked() { Err(figure::doubtful(nothing())) } else { Ok(None) };
        }
        Err(Error::new(ErrorKind::InvalidOperation, format!("{value} is no figure")))
    }

    /// A figure in words without its bounds, or the dash.
    pub(super) fn write(
        &self,
        value: &Value,
        words: impl Fn(Interval) -> Result<String, String>,
    ) -> Result<String, Error> {
        if self.is_checked()
            && let Some(interval) = self.interval(value)?
            && interval.low < interval.high
        {
            self.stated.lock().unwrap_or_else(PoisonError::into_inner).push(interval);
        }
        self.write_bounds(value, words)
    }

    /// A figure in words that have its bounds, or the dash.
    pub(super) fn write_bounds(
        &self,
        value: &Value,
        words: impl Fn(Interval) -> Result<String, String>,
    ) -> Result<String, Error> {
        self.interval(value)?.map_or_else(|| Ok(format::none()), |i| words(i).map_err(invalid))
    }
}

fn nothing() -> Doubt {
    Doubt::NotMeasured { figure: "a figure of the sentence".to_owned() }
}

pub(super) fn invalid(why: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, why)
}
