//! A run under way: its settings, its results so far, and its reports.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::RunError;
use super::fact::Fact;
use super::input::Loaded;
use super::rounds::Rounds;
use crate::definition::{Definition, Size, subject};
use crate::probe::clock::Rates;
use hashlane_records::{Record, RecordSet, metric};

/// Settings of a run.
pub struct Settings<'a> {
    /// Items and repetitions.
    pub size: Size,
    /// `true` if the run has the source's size.
    pub full: bool,
    /// Seed of generated workloads.
    pub seed: u64,
    /// Key of keyed schemes.
    pub key: [u8; 16],
    /// The user's own workload, in place of the study's.
    pub own: Option<&'a Loaded>,
    /// `true` if the study's workloads are measured too, besides the user's own.
    pub with_generated: bool,
    /// Path of the command, which some studies start as processes.
    pub command: PathBuf,
}

/// Seed for which study files state their expected results.
pub const SEED: u64 = 2015;

/// Key for which study files state their expected results.
const KEY: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

impl Settings<'_> {
    /// Settings of a quick or a full run, with the standard seed and key, and without a workload of the
    /// user's own.
    pub fn new(definition: &Definition, full: bool, command: PathBuf) -> Self {
        let size = if full { definition.size.full } else { definition.size.quick };
        Self { size, full, seed: SEED, key: KEY, own: None, with_generated: false, command }
    }
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

/// Next step of a run, for its progress display.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Steps done before this one.
    pub done: usize,
    /// Steps of the whole run.
    pub total: usize,
    /// The workload.
    pub workload: &'a str,
    /// Work of the step, in words.
    pub what: &'a str,
}

/// Value of an id in a table.
pub fn by_id<T: Copy>(table: &[(&str, T)], id: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == id).map(|(_, value)| *value)
}

/// Ids of a table, for an error.
pub fn ids_of<T>(table: &[(&str, T)]) -> String {
    table.iter().map(|(id, _)| *id).collect::<Vec<_>>().join(", ")
}

/// A run under way: its study and settings, and its results so far.
pub struct Session<'a> {
    /// The study.
    pub definition: &'a Definition,
    /// Settings of the run.
    pub settings: &'a Settings<'a>,
    /// Set once the run is to end.
    pub stop: &'a AtomicBool,
    observer: &'a mut dyn FnMut(Event<'_>),
    done: usize,
    /// Steps of the whole run, for the progress bar.
    pub total: usize,
    /// Records so far.
    pub records: RecordSet,
    /// Records of the last [`Event::Measured`].
    reported: usize,
    /// Rates of the counter and of the core before the run.
    pub rates: Rates,
    /// Notes for the reader of the figures.
    pub notes: Vec<String>,
    /// Samples of all records so far, and the outliers among them.
    pub(super) samples: (u64, u64),
}

impl<'a> Session<'a> {
    /// A session without results.
    pub(super) fn new(
        definition: &'a Definition,
        settings: &'a Settings<'a>,
        stop: &'a AtomicBool,
        observer: &'a mut dyn FnMut(Event<'_>),
        rates: Rates,
    ) -> Self {
        let (records, notes) = (RecordSet::new(), Vec::new());
        let (done, total, reported, samples) = (0, 0, 0, (0, 0));
        Self { definition, settings, stop, observer, done, total, records, reported, rates, notes, samples }
    }

    /// The user's own workload and its label, if there is one.
    pub fn own<T: Any>(&self) -> Option<(&'a str, &'a T)> {
        let own = self.settings.own?;
        let data = own.data();
        debug_assert!(data.is_some(), "a kind of study gets what its `load` returned");
        Some((own.label.as_str(), data?))
    }

    /// `true` if the study's own workloads are to be measured: there are none of the user's, or both are
    /// wanted.
    pub fn measures_generated(&self) -> bool {
        self.settings.own.is_none() || self.settings.with_generated
    }

    /// `true` if the study has this workload.
    pub fn has_workload(&self, id: &str) -> bool {
        self.definition.workloads.iter().any(|workload| workload == id)
    }

    /// Checks the workloads of the study.
    ///
    /// # Errors
    /// One is not among the `known` ones.
    pub fn check_workloads(&self, known: &[&str]) -> Result<(), RunError> {
        match self.definition.workloads.iter().find(|id| !known.contains(&id.as_str())) {
            None => Ok(()),
            Some(id) => {
                let known = known.join(", ");
                Err(RunError::UnknownWorkload(format!("unknown workload {id:?}; known: {known}")))
            }
        }
    }

    /// Values of the study's schemes in a table. A control has the value of the scheme that it repeats.
    ///
    /// # Errors
    /// A scheme is not in the table.
    pub fn schemes_in<T: Copy>(&self, table: &[(&str, T)]) -> Result<Vec<T>, RunError> {
        let value = |id: &String| {
            let help = || format!("known: {}", ids_of(table));
            by_id(table, subject(id)).ok_or_else(|| RunError::UnknownScheme { id: id.clone(), help: help() })
        };
        self.definition.schemes.iter().map(value).collect()
    }

    /// Gives `work` a new folder for temporary files, which is removed afterwards.
    ///
    /// # Errors
    /// The error of `work`; or the folder cannot be made or removed.
    pub fn with_folder(
        &mut self,
        prefix: &str,
        work: impl FnOnce(&mut Self, &Path) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir().map_err(RunError::other)?;
        let done = work(self, folder.path());
        folder.close().map_err(RunError::other).and(done)
    }

    /// `true` once the run is to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Reports the results so far, and the next step.
    pub fn step(&mut self, workload: &str, what: &str) {
        self.report();
        (self.observer)(Event::Step(Step { done: self.done, total: self.total, workload, what }));
        self.done += 1;
    }

    /// Counts `steps` as done that are left out.
    pub fn skip(&mut self, steps: usize) {
        self.done += steps;
    }

    /// Reports progress within the step that has begun.
    pub fn doing(&mut self, workload: &str, what: &str) {
        let done = self.done.saturating_sub(1);
        (self.observer)(Event::Step(Step { done, total: self.total, workload, what }));
    }

    /// Reports the records, if some were added since the last report.
    pub(super) fn report(&mut self) {
        if self.records.len() != self.reported {
            (self.observer)(Event::Measured { records: &self.records, notes: &self.notes });
            self.reported = self.records.len();
        }
    }

    /// Reports the records and notes that `add` makes of the rounds so far, and takes them back: a later
    /// round makes better ones.
    pub fn report_rounds(&mut self, add: impl FnOnce(&mut Self)) {
        let (records, notes, samples) = (self.records.clone(), self.notes.len(), self.samples);
        add(self);
        self.report();
        self.records = records;
        self.notes.truncate(notes);
        self.samples = samples;
        self.reported = self.records.len();
    }

    /// Adds the figures of schemes that took turns; `at` is model, workload, probe, metric and unit.
    pub fn add_rounds(&mut self, at: [&str; 5], ids: &[String], rounds: &Rounds) {
        let [model, workload, probe, metric, unit] = at;
        for (at, id) in ids.iter().enumerate() {
            self.add(model, workload, id, probe, metric, unit, rounds.time(at));
        }
    }

    /// Adds figures of the time-stamp counter, as cycles and as nanoseconds.
    pub fn add_cycles(&mut self, model: &str, workload: &str, ids: &[String], cycles: &Rounds) {
        self.add_rounds([model, workload, "cycles", metric::CYCLES, "cycles"], ids, cycles);
        let ns = cycles.clone().scaled(1.0 / self.rates.counter_ghz);
        self.add_rounds([model, workload, "cycles", metric::NS, "ns"], ids, &ns);
    }

    /// Adds the ratios that the study asks for, between schemes that were timed: the schemes in `ids`, by
    /// their places there.
    pub fn add_ratios(
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

    /// Adds a record.
    #[allow(clippy::too_many_arguments, reason = "the columns of a record, in their order")]
    pub fn add(
        &mut self,
        model: &str,
        workload: &str,
        scheme: &str,
        probe: &str,
        metric: &str,
        unit: &str,
        fact: Fact,
    ) {
        let (value, low, high) = (fact.interval.value, fact.interval.low, fact.interval.high);
        if low < high {
            self.samples.0 += fact.samples;
            self.samples.1 += fact.outliers;
        }
        let columns = [&self.definition.slug, model, workload, scheme, probe, metric, unit];
        let record = Record::new(columns, [value, low, high], fact.samples, fact.launches);
        // The keys are made of the study's distinct workloads and schemes, so no two are alike.
        let _ = self.records.insert(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::clock;
    use crate::report::sample;

    #[test]
    fn records_of_rounds_are_taken_back() {
        let definition = sample::definition();
        let settings = Settings::new(&definition, false, "hashlane".into());
        let mut reported = Vec::new();
        let mut observer = |event: Event<'_>| {
            if let Event::Measured { records, notes } = event {
                reported.push((records.len(), notes.len()));
            }
        };
        let stop = AtomicBool::new(false);
        let mut session = Session::new(&definition, &settings, &stop, &mut observer, clock::calibrate());
        session.add("sample", "w", "s", "p", "m", "u", Fact::exact(1.0, 1));
        session.report();
        for _ in 0..2 {
            session.report_rounds(|session| {
                session.notes.push("so far".into());
                session.add("sample", "more", "s", "p", "m", "u", Fact::exact(1.0, 1));
            });
            assert_eq!((session.records.len(), session.notes.len()), (1, 0));
        }
        // Records that were taken back are not reported again.
        session.step("w", "next");
        assert_eq!(reported, [(1, 0), (2, 1), (2, 1)]);
    }
}
