//! The exporters of a run: one that fails is closed, and the others go on.

#[cfg(test)]
mod tests;

use super::RunFacts;
use super::places::{FileId, place};
use super::settings::{Format, OutputConfig, Target};
use crate::export::{ExportError, Exporter, Totals};
use crate::format::counted;
use crate::record::FlowRecord;
use crate::run::Output;
use crate::stats::MeterStats;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::time::{Duration, Instant};

/// Time between two reports of statistics.
const REPORT: Duration = Duration::from_secs(60);

/// The exporters of a run.
pub struct Exporters {
    all: Vec<Named>,
    /// Takes notes about outputs that fail while others go on, and about collectors that are unreachable.
    notes: Box<dyn FnMut(&str) + Send>,
    /// Observation domain of the first worker.
    domain: u32,
    /// Counters of the workers at the last tick.
    workers: Vec<MeterStats>,
    next_report: Instant,
    /// A view holds the terminal: failures are reported at the end, and do not end the run.
    viewed: bool,
}

/// An exporter and its settings.
pub(super) struct Named {
    config: OutputConfig,
    /// The file that was opened, if it is a single one.
    place: Option<FileId>,
    state: State,
    /// Counts before its collector became unreachable, if that is so.
    outage: Option<Totals>,
    /// Counts at the last tick.
    last: Totals,
}

/// State of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputStatus {
    /// File or collector.
    pub name: String,
    /// Flows written, or taken by the socket.
    pub flows: u64,
    /// Bytes of these flows.
    pub bytes: u64,
    /// Flows that were lost.
    pub flows_lost: u64,
    /// Messages, or pieces of files, that were lost.
    #[serde(default)]
    pub blocks_lost: u64,
    /// Reason why it was closed, or for which its collector is unreachable now.
    pub error: Option<String>,
}

enum State {
    Open(Box<dyn Exporter>),
    /// Closed after an error. Flows that came since are counted as lost.
    Failed(Failure, Totals),
}

/// Reason why an output was closed.
#[derive(Debug)]
enum Failure {
    /// Its reader has closed it, as `head` does.
    Closed,
    Error(String),
}

impl Failure {
    fn of(error: &ExportError) -> Self {
        match error {
            ExportError::Write(_, error) if error.kind() == io::ErrorKind::BrokenPipe => Self::Closed,
            error => Self::Error(error.to_string()),
        }
    }
}

/// Result of an output.
#[derive(Debug)]
pub struct Finished {
    name: String,
    totals: Totals,
    failure: Option<Failure>,
    /// Reason of flows that were lost on the way to a collector.
    reason: Option<String>,
}

impl Finished {
    /// Tests if the reader has closed the output.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        matches!(self.failure, Some(Failure::Closed))
    }

    /// Tests if flows were lost, unless nobody wanted them.
    #[must_use]
    pub const fn has_failed(&self) -> bool {
        !self.is_closed() && (self.failure.is_some() || self.totals.flows_lost > 0)
    }
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, totals: Totals { flows, bytes, flows_lost, .. }, .. } = self;
        write!(f, "{name}: {}, {bytes} bytes", counted(*flows, "flow"))?;
        if self.is_closed() {
            return f.write_str("; closed by its reader");
        }
        if *flows_lost > 0 {
            write!(f, ", {flows_lost} lost")?;
        }
        match (&self.failure, &self.reason) {
            (Some(Failure::Error(reason)), _) => write!(f, ": {reason}"),
            (_, Some(reason)) if *flows_lost > 0 => write!(f, ": {reason}"),
            _ if *flows_lost > 0 => f.write_str(": the collector was too slow"),
            _ => Ok(()),
        }
    }
}

impl Named {
    /// Opens an output.
    pub(super) fn open(output: &OutputConfig, facts: &RunFacts) -> Result<Self, ExportError> {
        let state = State::Open(output.open(facts)?);
        let (config, place) = (output.clone(), place_of(output));
        Ok(Self { config, place, state, outage: None, last: Totals::default() })
    }

    /// The name for people.
    pub(super) fn name(&self) -> String {
        self.config.name()
    }

    /// Tests if it is open with these settings, and its file is where it was opened.
    fn is_as_before(&self, output: &OutputConfig) -> bool {
        // A single file is open, whatever had to be done for that.
        let overwrite = if output.rotates() { output.overwrite } else { self.config.overwrite };
        matches!(self.state, State::Open(_))
            && self.config == OutputConfig { overwrite, ..output.clone() }
            && self.place == place_of(output)
    }

    /// Tests if it writes to the file of an output, or to numbered files of the same name.
    fn writes_to(&self, output: &OutputConfig) -> bool {
        let is_same_name = (self.config.rotates() || output.rotates())
            && self.config.to.path().is_some()
            && self.config.to == output.to;
        is_same_name || self.place.is_some() && self.place == place_of(output)
    }

    fn status(&self) -> OutputStatus {
        let (totals, error) = match &self.state {
            State::Open(exporter) => {
                let sink = exporter.sink();
                let error = sink.last_error().filter(|_| sink.is_unreachable());
                (sink.totals(), error.map(ToString::to_string))
            }
            State::Failed(Failure::Closed, totals) => (*totals, Some("closed by its reader".to_owned())),
            State::Failed(Failure::Error(error), totals) => (*totals, Some(error.clone())),
        };
        let Totals { flows, bytes, flows_lost, blocks_lost, .. } = totals;
        OutputStatus { name: self.name(), flows, bytes, flows_lost, blocks_lost, error }
    }

    /// The line for a collector that has become unreachable, or reachable again, since the last call.
    fn change(&mut self) -> Option<String> {
        let State::Open(exporter) = &self.state else { return None };
        let (sink, name) = (exporter.sink(), self.config.name());
        let totals = sink.totals();
        let before = std::mem::replace(&mut self.last, totals);
        match (self.outage, sink.is_unreachable()) {
            (None, true) => {
                self.outage = Some(before);
                let error = sink.last_error().map(ToString::to_string).unwrap_or_default();
                let fate = if matches!(self.config.to, Target::Udp(_)) {
                    "are lost"
                } else {
                    "wait, up to 16 MiB of them"
                };
                Some(format!(
                    "{name} is unreachable: {error}; start the collector, or check its address; until then \
                     flows {fate}"
                ))
            }
            (Some(before), false) => {
                self.outage = None;
                let flows = counted(totals.flows_lost.saturating_sub(before.flows_lost), "flow");
                let messages = counted(totals.blocks_lost.saturating_sub(before.blocks_lost), "message");
                Some(format!("{name} is reachable again; lost meanwhile: {flows} in {messages}"))
            }
            _ => None,
        }
    }

    /// Calls `act` if the exporter is open, and closes it if that fails.
    fn attempt(
        &mut self,
        now: u64,
        act: impl FnOnce(&mut dyn Exporter) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let State::Open(exporter) = &mut self.state else {
            return Ok(());
        };
        let done = act(exporter.as_mut());
        if let Err(error) = &done {
            // Flows that wait are written now, or counted as lost.
            let _ = exporter.finish(now);
            let totals = exporter.totals();
            self.state = State::Failed(Failure::of(error), totals);
        }
        done
    }

    fn write(&mut self, flows: &[FlowRecord], now: u64) -> Result<(), ExportError> {
        let mut flows = flows.iter();
        let done = self.attempt(now, |exporter| flows.try_for_each(|flow| exporter.write(flow, now)));
        if let State::Failed(_, totals) = &mut self.state {
            let directions =
                |flow: &FlowRecord| u64::from(flow.forward.packets > 0) + u64::from(flow.is_biflow());
            let each = self.config.format == Format::Netflow9;
            let records = flows.map(|flow| if each { directions(flow) } else { 1 });
            totals.flows_lost += records.sum::<u64>();
        }
        done
    }

    fn finished(self) -> Finished {
        let (totals, failure, reason) = match self.state {
            State::Open(exporter) => {
                (exporter.totals(), None, exporter.sink().last_error().map(ToString::to_string))
            }
            State::Failed(failure, totals) => (totals, Some(failure), None),
        };
        Finished { name: self.config.name(), totals, failure, reason }
    }
}

impl Exporters {
    /// Opens outputs. `notes` gets a line for each that fails while others go on.
    ///
    /// # Errors
    /// An output cannot be opened; files that were made for others are removed.
    pub fn open(
        outputs: &[OutputConfig],
        facts: &RunFacts,
        notes: impl FnMut(&str) + Send + 'static,
    ) -> Result<Self, ExportError> {
        let open = |output: &OutputConfig| Named::open(output, facts);
        Ok(Self {
            all: outputs.iter().map(open).collect::<Result<_, ExportError>>()?,
            notes: Box::new(notes),
            domain: facts.domain,
            workers: Vec::new(),
            next_report: Instant::now() + REPORT,
            viewed: false,
        })
    }

    /// Leaves the terminal to a view, which goes on when all outputs have failed.
    pub const fn set_viewed(&mut self, viewed: bool) {
        self.viewed = viewed;
    }

    /// Completes all files and queues, with the last statistics.
    pub fn finish(mut self, now: u64) -> Vec<Finished> {
        self.take_all().finish(now)
    }

    /// Takes all outputs out.
    pub(super) fn take_all(&mut self) -> Leaving {
        self.leave(|_| false)
    }

    /// Takes out the outputs whose number is not to stay.
    fn leave(&mut self, stays: impl Fn(usize) -> bool) -> Leaving {
        let all = std::mem::take(&mut self.all).into_iter().enumerate();
        let (staying, leaving): (Vec<_>, Vec<_>) = all.partition(|(number, _)| stays(*number));
        let named = |(_, named)| named;
        self.all = staying.into_iter().map(named).collect();
        let leaving = leaving.into_iter().map(named).collect();
        Leaving { all: leaving, domain: self.domain, workers: self.workers.clone() }
    }

    /// For each of these outputs the number of the one that is as before, if there is one.
    pub(super) fn find(&self, outputs: &[OutputConfig]) -> Vec<Option<usize>> {
        let mut found: Vec<Option<usize>> = Vec::new();
        for output in outputs {
            let mut all = self.all.iter().enumerate();
            let same =
                all.find(|(number, named)| !found.contains(&Some(*number)) && named.is_as_before(output));
            found.push(same.map(|(number, _)| number));
        }
        found
    }

    /// Tests if an output that is open writes to the file of this one.
    pub(super) fn writes_to(&self, output: &OutputConfig) -> bool {
        self.all.iter().any(|named| matches!(named.state, State::Open(_)) && named.writes_to(output))
    }

    /// Adds outputs, and takes out those that are not to stay.
    pub(super) fn replace(&mut self, stays: &[Option<usize>], new: Vec<Named>) -> Leaving {
        let leaving = self.leave(|number| stays.contains(&Some(number)));
        self.all.extend(new);
        leaving
    }

    /// State of each output.
    pub(super) fn status(&self) -> Vec<OutputStatus> {
        self.all.iter().map(Named::status).collect()
    }

    /// Acts on each output, and reports those that fail.
    ///
    /// # Errors
    /// No output is left.
    fn each(
        &mut self,
        mut act: impl FnMut(&mut Named) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let mut errors: Vec<_> = self
            .all
            .iter_mut()
            .filter_map(|named| act(named).err().map(|error| (named.config.name(), error)))
            .collect();
        if self.viewed {
            return Ok(());
        }
        let is_left = self.all.iter().any(|named| matches!(named.state, State::Open(_)));
        let last = if is_left { None } else { errors.pop() };
        for (name, error) in errors {
            let problem = match Failure::of(&error) {
                Failure::Closed => format!("{name} was closed by its reader"),
                Failure::Error(error) => error,
            };
            (self.notes)(&format!("{problem}; the other outputs go on"));
        }
        last.map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// Outputs that no longer get flows.
pub(super) struct Leaving {
    all: Vec<Named>,
    domain: u32,
    workers: Vec<MeterStats>,
}

impl Leaving {
    /// Completes all files and queues, with the last statistics.
    pub(super) fn finish(mut self, now: u64) -> Vec<Finished> {
        for named in &mut self.all {
            // Failures are in the result.
            let _ = named.attempt(now, |exporter| report(exporter, self.domain, &self.workers, now));
            let _ = named.attempt(now, |exporter| exporter.finish(now));
        }
        self.all.into_iter().map(Named::finished).collect()
    }
}

/// The place of the file of an output, unless files get numbers.
fn place_of(output: &OutputConfig) -> Option<FileId> {
    output.to.path().filter(|_| !output.rotates()).and_then(|path| place(path, io::stdout()))
}

/// Adds the statistics of each worker.
fn report(
    exporter: &mut dyn Exporter,
    domain: u32,
    workers: &[MeterStats],
    now: u64,
) -> Result<(), ExportError> {
    (domain..=u32::MAX).zip(workers).try_for_each(|(domain, stats)| exporter.report(domain, stats, now))
}

impl Output for Exporters {
    fn flows(&mut self, flows: &[FlowRecord], now: u64) -> Result<(), ExportError> {
        self.each(|named| named.write(flows, now))
    }

    fn tick(&mut self, workers: &[MeterStats], now: u64) -> Result<(), ExportError> {
        self.workers.clear();
        self.workers.extend_from_slice(workers);
        if Instant::now() >= self.next_report {
            self.next_report = Instant::now() + REPORT;
            let domain = self.domain;
            self.each(|named| named.attempt(now, |exporter| report(exporter, domain, workers, now)))?;
        }
        self.each(|named| named.attempt(now, |exporter| exporter.tick(now)))?;
        let changes: Vec<_> = self.all.iter_mut().filter_map(Named::change).collect();
        if !self.viewed {
            changes.iter().for_each(|change| (self.notes)(change));
        }
        Ok(())
    }
}
