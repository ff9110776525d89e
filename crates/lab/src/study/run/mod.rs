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
use fact::Fact;
use hashlane_dns::wire::Content;
use hashlane_hash::scheme::Key;
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

/// Results of a run.
#[derive(Debug)]
pub struct Outcome {
    /// All records, also those that were made before a failure.
    pub records: RecordSet,
    /// The run was stopped before its end.
    pub stopped: bool,
    /// The reason why the run ended early, if it failed.
    pub failed: Option<RunError>,
    /// The counter's and the core's rates before and after.
    pub rates: (Rates, Rates),
    /// What a reader of the figures must know besides.
    pub notes: Vec<String>,
}

/// Something that a run reports on its way.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A step begins, or goes on.
    Step(Step<'a>),
    /// Results so far, after each workload that added some.
    ///
    /// Schemes that take turns in rounds get records after each round, which the next round replaces. So each
    /// event has everything, and makes the one before it obsolete.
    Measured {
        /// All records of the study so far.
        records: &'a RecordSet,
        /// All notes of the study so far.
        notes: &'a [String],
    },
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

/// Runs `definition`; reports steps and results to `observer`, and ends soon after `stop` is set.
///
/// A study fails where a name in its file is not known, or where what is measured does not yield what the
/// study expects. What was measured before that is in the outcome.
pub fn run(
    definition: &Definition,
    settings: &Settings,
    stop: &AtomicBool,
    observer: &mut dyn FnMut(Event<'_>),
) -> Outcome {
    let before = clock::calibrate();
    let mut session = Session {
        definition,
        settings,
        stop,
        observer,
        done: 0,
        total: 0,
        records: RecordSet::new(),
        reported: 0,
        rates: before,
        notes: Vec::new(),
    };
    let measured = match MODELS.iter().find(|(id, _)| *id == definition.model) {
        Some((_, measure)) => measure(&mut session),
        None => Err(RunError::UnknownModel(definition.model.clone())),
    };
    session.report();
    let stopped = session.stopped();
    let Session { records, notes, .. } = session;
    Outcome { records, stopped, failed: measured.err(), rates: (before, clock::calibrate()), notes }
}

/// A run on its way: what it is to do, and what it leaves.
struct Session<'a> {
    definition: &'a Definition,
    settings: &'a Settings,
    stop: &'a AtomicBool,
    observer: &'a mut dyn FnMut(Event<'_>),
    done: usize,
    total: usize,
    records: RecordSet,
    /// Records of the last [`Event::Measured`].
    reported: usize,
    rates: Rates,
    notes: Vec<String>,
}

impl Session<'_> {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn step(&mut self, workload: &str, what: &str) {
        self.report();
        (self.observer)(Event::Step(Step { done: self.done, total: self.total, workload, what }));
        self.done += 1;
    }

    /// Reports progress within the step that has begun.
    fn doing(&mut self, workload: &str, what: &str) {
        let done = self.done.saturating_sub(1);
        (self.observer)(Event::Step(Step { done, total: self.total, workload, what }));
    }

    /// Reports the records, if some were added since the last report.
    fn report(&mut self) {
        if self.records.len() != self.reported {
            (self.observer)(Event::Measured { records: &self.records, notes: &self.notes });
            self.reported = self.records.len();
        }
    }

    /// Reports the records and notes that `add` makes of the rounds so far, and takes them back: a later
    /// round makes better ones.
    fn report_rounds(&mut self, add: impl FnOnce(&mut Self)) {
        let (records, notes) = (self.records.clone(), self.notes.len());
        add(self);
        self.report();
        self.records = records;
        self.notes.truncate(notes);
        self.reported = self.records.len();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A study of names; the second workload is not what the study expects, if `wrong`.
    fn definition(wrong: bool) -> Definition {
        let text = r#"
            slug = "mine"
            model = "names"
            title = "t"
            question = "q"
            source = "s"
            workloads = ["3Bx2", "4Bx2"]
            schemes = ["ndn/{one-by-one,one-pass}/crc32c"]
            reference = "ndn/one-by-one/crc32c"
            size = { quick = { items = 300, repetitions = 2 }, full = { items = 300, repetitions = 2 } }
            "#;
        let expect = "[[expect]]\nworkload = \"4Bx2\"\nnames = 100\ncomponents = 1\n\
                      checksum = { offset = \"0x1\", ccnx = \"0x1\", ndn = \"0x1\" }\n";
        Definition::parse(&format!("{text}\n{}", if wrong { expect } else { "" }), "mine.toml").unwrap()
    }

    fn settings(definition: &Definition) -> Settings {
        Settings {
            size: definition.size.quick,
            full: false,
            seed: 1,
            key: Key::VECTOR,
            names: None,
            tuples: None,
            messages: None,
            command: "hashlane".into(),
            linux_source: None,
        }
    }

    /// The outcome, and for each event the step, or the workloads with records.
    fn events(definition: &Definition) -> (Outcome, Vec<String>) {
        let settings = settings(definition);
        let mut events = Vec::new();
        let outcome = run(definition, &settings, &AtomicBool::new(false), &mut |event| match event {
            Event::Step(step) => events.push(format!("{} {}", step.workload, step.what)),
            Event::Measured { records, .. } => events.push(records.workloads("mine").join(" and ")),
        });
        (outcome, events)
    }

    #[test]
    fn reports_the_records_after_every_workload() {
        let (outcome, events) = events(&definition(false));
        assert!(outcome.failed.is_none() && !outcome.stopped);
        let at = |event: &str| events.iter().position(|other| other == event);
        assert!(at("3Bx2") < at("4Bx2 generating names") && at("3Bx2").is_some(), "{events:?}");
        assert_eq!(events.last().map(String::as_str), Some("3Bx2 and 4Bx2"));
        assert_eq!(events.iter().filter(|event| !event.contains("ing")).count(), 2, "{events:?}");
    }

    #[test]
    fn a_failure_costs_no_records() {
        let (outcome, events) = events(&definition(true));
        assert!(matches!(outcome.failed, Some(RunError::Expectation { .. })));
        assert_eq!(outcome.records.workloads("mine"), ["3Bx2"]);
        assert_eq!(events.last().map(String::as_str), Some("4Bx2 generating names"));
    }

    #[test]
    fn records_of_rounds_are_taken_back() {
        let definition = definition(false);
        let (outcome, _) = events(&definition);
        let mut reported = Vec::new();
        let settings = settings(&definition);
        let mut session = Session {
            definition: &definition,
            settings: &settings,
            stop: &AtomicBool::new(false),
            observer: &mut |event| {
                if let Event::Measured { records, notes } = event {
                    reported.push((records.len(), notes.len()));
                }
            },
            done: 0,
            total: 1,
            records: outcome.records,
            reported: 0,
            rates: outcome.rates.0,
            notes: Vec::new(),
        };
        session.report();
        let before = session.records.len();
        for _ in 0..2 {
            session.report_rounds(|session| {
                session.notes.push("so far".into());
                session.add("names", "more", "s", "p", "m", "u", Fact::exact(1.0, 1));
            });
            assert_eq!((session.records.len(), session.notes.len()), (before, 0));
        }
        // What was taken back is not reported as news.
        session.step("w", "next");
        assert_eq!(reported, [(before, 0), (before + 1, 1), (before + 1, 1)]);
    }
}
