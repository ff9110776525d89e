//! Running a study: the only place that measures.

mod fact;
mod flood;
mod forwarder;
mod kernel;
mod mca;
mod names;
mod pit;
mod render;
mod rounds;
mod spread;
mod table;
mod tally;
mod tuples;
mod under_load;

use super::definition::{Definition, Size};
use crate::kernel::KernelError;
use crate::probe::clock::{self, Rates};
use crate::record::{Record, RecordSet, metric};
use crate::workload::capture::Capture;
use crate::workload::packed::Names;
use dns::wire::Content;
use fact::Fact;
use hash::scheme::Key;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a study is run.
#[derive(Debug)]
pub struct Settings {
    /// How many items and repetitions.
    pub size: Size,
    /// Whether the run is of the source's size.
    pub full: bool,
    /// The seed of what is generated.
    pub seed: u64,
    /// The key of the keyed hashes.
    pub key: Key,
    /// The user's own names and what to call them, in place of the workloads of a study of names.
    pub names: Option<(String, Names)>,
    /// The user's own tuples and what to call them, in place of the generated ones of a study of tuples, tables or floods.
    pub tuples: Option<(String, Capture)>,
    /// The user's own messages and what to call them, in place of the workloads of a study of renderers.
    pub messages: Option<(String, Vec<Content>)>,
    /// The program `hashlane`, of which studies of forwarders and of kernels start processes.
    pub command: PathBuf,
    /// The source of Linux for a study of kernels, where it is not Debian's.
    pub linux_source: Option<PathBuf>,
}

/// What a run leaves.
#[derive(Debug)]
pub struct Outcome {
    /// The facts.
    pub records: RecordSet,
    /// Whether the run was stopped before its end.
    pub stopped: bool,
    /// The counter's and the core's rates before and after.
    pub rates: (Rates, Rates),
    /// What a reader of the figures must know besides.
    pub notes: Vec<String>,
}

/// What a run is about to do.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Steps done before this one.
    pub done: usize,
    /// Steps of the whole run.
    pub total: usize,
    /// The workload.
    pub workload: &'a str,
    /// What is done with it.
    pub what: &'a str,
}

/// Why a study cannot be run, or its results not be trusted.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The study's model is not known.
    UnknownModel(String),
    /// A workload is not known; what is said of it.
    UnknownWorkload(String),
    /// A scheme is not known.
    UnknownScheme {
        /// The scheme.
        id: String,
        /// How the ids are made.
        help: String,
    },
    /// A workload cannot be generated; why.
    Generate(String, String),
    /// The workload, or what was found in it, is not what the study was written for.
    Expectation {
        /// The workload.
        workload: String,
        /// What differs.
        what: String,
    },
    /// A forwarder could not be put under load.
    Load {
        /// The workload.
        workload: String,
        /// The forwarder.
        scheme: String,
        /// Why.
        why: String,
    },
    /// The kernels could not be built or run.
    Kernel(KernelError),
    /// Two schemes that must give the same hashes do not.
    Disagree {
        /// The workload.
        workload: String,
        /// The schemes.
        schemes: (String, String),
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownModel(model) => {
                let known: Vec<_> = MODELS.iter().map(|(id, _)| *id).collect();
                write!(f, "no model {model:?}: there are {}", known.join(", "))
            }
            Self::UnknownWorkload(what) => f.write_str(what),
            Self::UnknownScheme { id, help } => write!(f, "no scheme {id:?}: {help}"),
            Self::Generate(workload, why) => write!(f, "workload {workload}: {why}"),
            Self::Expectation { workload, what } => {
                write!(f, "workload {workload} is not what the study expects: {what}")
            }
            Self::Load { workload, scheme, why } => write!(f, "workload {workload}, {scheme}: {why}"),
            Self::Kernel(error) => error.fmt(f),
            Self::Disagree { workload, schemes: (a, b) } => {
                write!(f, "{a} and {b} must give the same hashes, and differ over workload {workload}")
            }
        }
    }
}

impl std::error::Error for RunError {}

/// What measures a study of a model.
type Measure = fn(&mut Session<'_>) -> Result<(), RunError>;

/// The models, each with what measures it.
const MODELS: &[(&str, Measure)] = &[
    ("names", names::run),
    ("flood", flood::run),
    ("forwarder", forwarder::run),
    ("kernel", kernel::run),
    ("pit", pit::run),
    ("render", render::run),
    ("table", table::run),
    ("tuples", tuples::run),
];

/// Runs `definition`; tells `progress` before each step, and ends soon after `stop` is set.
///
/// # Errors
/// Where a name in the study file is not known, or what is measured does not yield what the study expects of it.
pub fn run(
    definition: &Definition,
    settings: &Settings,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<Outcome, RunError> {
    let Some((_, measure)) = MODELS.iter().find(|(id, _)| *id == definition.model) else {
        return Err(RunError::UnknownModel(definition.model.clone()));
    };
    let before = clock::calibrate();
    let mut session = Session {
        definition,
        settings,
        stop,
        progress,
        done: 0,
        total: 0,
        records: RecordSet::new(),
        rates: before,
        notes: Vec::new(),
    };
    measure(&mut session)?;
    let stopped = session.stopped();
    let Session { records, notes, .. } = session;
    Ok(Outcome { records, stopped, rates: (before, clock::calibrate()), notes })
}

/// A run on its way: what it is to do, and what it leaves.
struct Session<'a> {
    definition: &'a Definition,
    settings: &'a Settings,
    stop: &'a AtomicBool,
    progress: &'a mut dyn FnMut(Step<'_>),
    done: usize,
    total: usize,
    records: RecordSet,
    rates: Rates,
    notes: Vec<String>,
}

impl Session<'_> {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn step(&mut self, workload: &str, what: &str) {
        (self.progress)(Step { done: self.done, total: self.total, workload, what });
        self.done += 1;
    }

    /// Tells what is done of the step that has begun.
    fn doing(&mut self, workload: &str, what: &str) {
        (self.progress)(Step { done: self.done.saturating_sub(1), total: self.total, workload, what });
    }

    /// Adds the ratios that the study asks for, between schemes that were timed: those of `ids`, by their places there.
    fn add_ratios(
        &mut self,
        model: &str,
        workload: &str,
        probe: &str,
        ids: &[String],
        ratio: impl Fn(usize, usize) -> Option<Fact>,
    ) {
        let place = |id: &str| ids.iter().position(|other| other == id);
        for (of, to) in self.definition.ratio_pairs() {
            if let (Some(of_at), Some(to_at)) = (place(of), place(to))
                && let Some(ratio) = ratio(of_at, to_at)
            {
                self.add(model, workload, of, probe, metric::RATIO, to, ratio);
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the columns of a record, in their order")]
    fn add(
        &mut self,
        model: &str,
        workload: &str,
        scheme: &str,
        probe: &str,
        metric: &str,
        unit: &str,
        fact: Fact,
    ) {
        let record = Record {
            study: self.definition.slug.clone(),
            model: model.into(),
            workload: workload.into(),
            scheme: scheme.into(),
            probe: probe.into(),
            metric: metric.into(),
            unit: unit.into(),
            value: fact.interval.value,
            low: fact.interval.low,
            high: fact.interval.high,
            samples: fact.samples,
        };
        // The keys are made of the study's distinct workloads and schemes, so no two are alike.
        let _ = self.records.insert(record);
    }
}
