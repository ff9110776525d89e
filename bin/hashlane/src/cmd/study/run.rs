//! A run under way: studies in this process, and launches of the others in turn.

use super::{Own, RunArgs, STOP};
use crate::output::folder::{self, Folder};
use crate::output::{self, progress::Progress, results::Results};
use crate::studies::STUDIES;
use anyhow::{Context, Result, bail};
use hashlane_command::STOPPED;
use hashlane_command::number::number;
use hashlane_lab::definition::Definition;
use hashlane_lab::launch::{Launch, Launcher, is_launch, last_lines};
use hashlane_lab::layout::Layout;
use hashlane_lab::report::terminal;
use hashlane_lab::run::{Activity, Machine, RunStudies, RunStudy};
use hashlane_lab::study::{Event, Step, run};
use hashlane_records::RecordSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Fewest launches whose figures bound another launch's closely enough to be of use.
const FEWEST_LAUNCHES: u32 = 3;

/// Parses a number of launches.
pub(super) fn launches(text: &str) -> Result<u32, String> {
    let parsed = number(text).ok().filter(|count| *count == 1 || (FEWEST_LAUNCHES..=100).contains(count));
    parsed.ok_or_else(|| format!("expected 1, or a number from {FEWEST_LAUNCHES} to 100: two bound nothing"))
}

/// A run under way.
pub(super) struct Run<'a> {
    args: &'a RunArgs,
    own: &'a [Own],
    /// Print the tables of every study.
    verbose: bool,
    /// Path of this command.
    command: PathBuf,
    /// Counters of the system when the run began.
    begun: Activity,
    results: Results,
    machine: Machine,
    studies: Vec<Study<'a>>,
    /// Studies that failed, each with the reason.
    failed: Vec<String>,
    /// Reason why the last write failed, if it did.
    unwritten: Option<String>,
}

/// A study of a run.
struct Study<'a> {
    definition: Definition,
    /// Launches that measure it; `None` if this process does.
    launcher: Option<(Launcher<'a>, u32)>,
    /// Records of each launch that has ended.
    launches: Vec<RecordSet>,
    /// Records of the study so far.
    records: RecordSet,
    run: RunStudy,
    /// Notes of the study.
    notes: Vec<String>,
    has_ended: bool,
}

impl<'a> Run<'a> {
    /// A run of these studies.
    ///
    /// # Errors
    /// The path of this command is unknown; no temporary folder can be made.
    pub(super) fn new(
        args: &'a RunArgs,
        own: &'a [Own],
        definitions: Vec<Definition>,
        results: Results,
        machine: Machine,
    ) -> Result<Self> {
        let command = std::env::current_exe().context("cannot find the path of this command")?;
        let verbose = args.verbose || definitions.len() == 1;
        let study = |definition: Definition| {
            let launches = args.launches_of(&definition);
            let launcher = match launches {
                1 => None,
                _ => Some((Launcher::new(args.options_of(&definition, launches), &STOP, true)?, launches)),
            };
            let (slug, text) = (definition.slug.clone(), definition.text().to_owned());
            let run = RunStudy { slug, seconds: 0.0, samples: 0, outliers: 0, definition: text };
            let (launches, records, notes) = (Vec::new(), RecordSet::new(), Vec::new());
            Ok(Study { definition, launcher, launches, records, run, notes, has_ended: false })
        };
        let studies = definitions.into_iter().map(study).collect::<Result<Vec<_>>>()?;
        let (begun, failed, unwritten) = (Activity::now(), Vec::new(), None);
        Ok(Self { args, own, verbose, command, begun, results, machine, studies, failed, unwritten })
    }

    /// Measures all studies, in turn where they have launches.
    pub(super) fn measure(&mut self) -> Result<()> {
        let launches: Vec<u32> =
            self.studies.iter().map(|study| study.launcher.as_ref().map_or(1, |(_, count)| *count)).collect();
        let order = order(&launches);
        let jobs = order.len();
        let mut progress: Option<Progress> = None;
        for (job, at) in order.into_iter().enumerate() {
            let slug = match self.studies.get(at) {
                Some(study) if !study.has_ended => study.definition.slug.clone(),
                _ => continue,
            };
            let shown = match progress.take() {
                Some(shown) => shown,
                None => Progress::new(&slug).context("cannot show progress")?,
            };
            let is_launched = self.studies.get(at).is_some_and(|study| study.launcher.is_some());
            let show = |step: Step<'_>| match is_launched {
                true => shown.show_of(&slug, Step { done: job, total: jobs, ..step }),
                false => shown.show_of(&slug, step),
            };
            match is_launched {
                true => self.launch(at, &show)?,
                false => self.study(at, &show)?,
            }
            // It ends before something is printed.
            progress = Some(shown).filter(|_| self.studies.get(at).is_some_and(|study| !study.has_ended));
            self.after(at)?;
            if STOP.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(())
    }

    /// Runs a study in this process, and writes its records as they come.
    fn study(&mut self, at: usize, show: &dyn Fn(Step<'_>)) -> Result<()> {
        let definition = self.studies[at].definition.clone();
        let settings = self.args.settings(&definition, self.own)?;
        let Some(kind) = STUDIES.kind(&definition.model) else {
            bail!("no kind of study has the model {:?}", definition.model)
        };
        let begun = Instant::now();
        let outcome = run(kind, &definition, &settings, &STOP, &mut |event| match event {
            Event::Step(step) => show(step),
            Event::Measured { records, notes } => {
                let study = &mut self.studies[at];
                (study.records, study.notes) = (records.clone(), notes.to_vec());
                study.run.seconds = begun.elapsed().as_secs_f64();
                self.write(false);
            }
        });
        let (before, after) = outcome.rates;
        let run = &mut self.machine.run;
        run.tsc_ghz_before.get_or_insert(before.counter_ghz);
        run.core_ghz_before.get_or_insert(before.core_ghz);
        run.tsc_step.get_or_insert(before.step);
        run.tsc_ghz_after = Some(after.counter_ghz);
        run.core_ghz_after = Some(after.core_ghz);
        let study = &mut self.studies[at];
        (study.records, study.notes) = (outcome.records, outcome.notes);
        study.run.seconds = outcome.seconds;
        (study.run.samples, study.run.outliers) = outcome.samples;
        study.has_ended = true;
        if outcome.stopped {
            self.machine.run.mark_partial(format!("stopped by Ctrl-C in study {}", definition.slug));
        }
        outcome.failed.into_iter().for_each(|error| self.fail(at, &error.to_string()));
        Ok(())
    }

    /// Launches a study once more.
    fn launch(&mut self, at: usize, show: &dyn Fn(Step<'_>)) -> Result<()> {
        let study = &mut self.studies[at];
        let Some((launcher, count)) = &study.launcher else { return Ok(()) };
        let (done, total) = (study.launches.len(), *count as usize);
        let workload = format!("launch {} of {total}", done + 1);
        let mut step = |what: &str| show(Step { done, total, workload: &workload, what });
        step("starting");
        launcher.write_study(&text(&study.definition, done == 0)?)?;
        let size = if self.args.full { "--full" } else { "--quick" };
        let launched = launcher.launch(&self.command, size, &mut step);
        let results = Folder::open(&launcher.out());
        let slug = study.definition.slug.clone();
        let why = match launched {
            Ok(Launch::Records(records, seconds)) => {
                study.run.seconds += seconds;
                study.launches.push(records);
                study.records = RecordSet::from_launches(&study.launches);
                study.has_ended = study.launches.len() == total;
                return self.facts(at, &results);
            }
            Ok(Launch::Stopped) => {
                self.machine.run.mark_partial(format!("stopped by Ctrl-C in study {slug}"));
                None
            }
            Ok(Launch::Failed(status, said)) => {
                let why = last_lines(&said);
                Some(match (status.code(), why.strip_prefix(&format!("study {slug}: "))) {
                    (Some(1), Some(why)) => why.to_owned(),
                    (Some(1), None) => why,
                    _ => format!("launch {} of {total} ended ({status}): {why}", done + 1),
                })
            }
            Err(error) => Some(format!("launch {} of {total}: {error:#}", done + 1)),
        };
        study.has_ended = true;
        // Workloads that no launch before it has measured hold within this one.
        if let Ok(records) = results.records() {
            study.records.extend(&records);
            self.facts(at, &results)?;
        }
        why.into_iter().for_each(|why| self.fail(at, &why));
        Ok(())
    }

    /// Takes over the facts of a launch beside its records.
    fn facts(&mut self, at: usize, results: &Folder) -> Result<()> {
        let (launched, studies) = (results.machine()?.run, results.studies()?);
        let study = &mut self.studies[at];
        for note in launched.notes {
            if !study.notes.contains(&note) && !self.machine.run.notes.contains(&note) {
                study.notes.push(note);
            }
        }
        if let Some(of_launch) = studies.find(&study.run.slug) {
            study.run.samples += of_launch.samples;
            study.run.outliers += of_launch.outliers;
        }
        let run = &mut self.machine.run;
        run.tsc_ghz_before = run.tsc_ghz_before.or(launched.tsc_ghz_before);
        run.core_ghz_before = run.core_ghz_before.or(launched.core_ghz_before);
        run.tsc_step = run.tsc_step.or(launched.tsc_step);
        run.tsc_ghz_after = launched.tsc_ghz_after.or(run.tsc_ghz_after);
        run.core_ghz_after = launched.core_ghz_after.or(run.core_ghz_after);
        Ok(())
    }

    /// Marks a study as failed.
    fn fail(&mut self, at: usize, why: &str) {
        let slug = self.studies[at].definition.slug.clone();
        self.studies[at].notes.push(format!("study {slug} failed: {why}"));
        self.machine.run.mark_partial(format!("study {slug} failed"));
        if self.studies.iter().any(|study| !study.has_ended) {
            output::tell(&format!("study {slug} failed: {why}; the other studies go on"));
        }
        self.failed.push(format!("study {slug}: {why}"));
    }

    /// Writes the results after a launch or a study, and prints the tables of a study that has ended.
    fn after(&mut self, at: usize) -> Result<()> {
        // Written before anything is printed, as the reader of the output may have closed it.
        let draws = self.studies[at].has_ended && !is_launch();
        self.write(draws);
        if !draws {
            return Ok(());
        }
        let (machine, (records, studies)) = (self.machine(), self.records());
        let study = &self.studies[at];
        let has_failed =
            self.failed.iter().any(|why| why.starts_with(&format!("study {}: ", study.run.slug)));
        if self.verbose && !(has_failed && study.records.is_empty()) {
            let definition = std::slice::from_ref(&study.definition);
            for part in folder::parts(definition, &records, &machine, &studies) {
                output::print(&format!("{}\n", terminal::text(&part, output::width(), output::colours())))?;
            }
            for note in &study.notes {
                output::print(&format!("note: {note}\n"))?;
            }
        }
        Ok(())
    }

    /// Studies with results.
    fn ended(&self) -> impl Iterator<Item = &Definition> {
        let begun = |study: &&Study<'_>| study.has_ended || !study.records.is_empty();
        self.studies.iter().filter(begun).map(|study| &study.definition)
    }

    /// All records so far, and their studies.
    fn records(&self) -> (RecordSet, RunStudies) {
        let (mut records, mut studies) = (RecordSet::new(), RunStudies::default());
        for study in self.studies.iter().filter(|study| study.has_ended || !study.records.is_empty()) {
            records.extend(&study.records);
            studies.study.push(study.run.clone());
        }
        (records, studies)
    }

    /// The machine and the run so far.
    fn machine(&self) -> Machine {
        let mut machine = self.machine.clone();
        machine.run.notes.extend(self.studies.iter().flat_map(|study| &study.notes).cloned());
        let left = self.studies.iter().filter(|study| !study.has_ended).count();
        match self.studies.as_slice() {
            [one] if left > 0 => machine.run.mark_partial(format!("study {} had not ended", one.run.slug)),
            all if left > 0 => {
                machine.run.mark_partial(format!("{left} of {} studies had not ended", all.len()));
            }
            _ => {}
        }
        machine.run.noise = self.begun.until(&Activity::now());
        machine
    }

    /// Writes the records so far, and the page if `draws`. A launch writes at its end only, so as not to
    /// disturb itself.
    fn write(&mut self, draws: bool) {
        let is_over = STOP.load(Ordering::Relaxed) || self.studies.iter().all(|study| study.has_ended);
        if is_launch() && !is_over {
            return;
        }
        let (machine, (records, studies)) = (self.machine(), self.records());
        let ended: Vec<Definition> = self.ended().cloned().collect();
        let mut written = self.results.write(&records, &machine, &studies);
        if draws && written.is_ok() {
            written = self.results.draw(&folder::parts(&ended, &records, &machine, &studies));
        }
        self.see(written);
    }

    /// Records a failed write, and reports each reason once: the run continues, and the next write contains
    /// everything.
    fn see(&mut self, written: Result<()>) {
        let why = written.err().map(|error| format!("{error:#}"));
        if let Some(why) = why.as_ref().filter(|_| why != self.unwritten) {
            output::tell(&format!("{why}; the run goes on, and the next write tries again"));
        }
        self.unwritten = why;
    }

    /// Prints the paths of the results. Fails if a study failed, or if the results cannot be written.
    pub(super) fn end(self) -> Result<ExitCode> {
        let (machine, (records, studies)) = (self.machine(), self.records());
        let written = self.unwritten.as_deref().map_or(Ok(()), |why| self.elsewhere(why));
        let stopped = STOP.load(Ordering::Relaxed);
        if !is_launch() {
            if !records.is_empty() {
                let ended: Vec<Definition> = self.ended().cloned().collect();
                let parts = folder::parts(&ended, &records, &machine, &studies);
                let folder = self.results.path().display().to_string();
                output::print(&terminal::summary(&parts, &folder, output::width(), output::colours()))?;
            }
            output::print(&self.paths(written.is_ok() && !records.is_empty(), records.is_empty())?)?;
        }
        written?;
        match self.failed.as_slice() {
            [] if stopped => Ok(ExitCode::from(STOPPED)),
            [] => Ok(ExitCode::SUCCESS),
            failed => bail!("{}", failed.join("; ")),
        }
    }

    /// Lines with the paths of the results.
    fn paths(&self, are_written: bool, is_empty: bool) -> Result<String> {
        let mut text = String::from("\n");
        let out = self.results.path();
        match (STOP.load(Ordering::Relaxed), is_empty) {
            (true, true) => {
                writeln!(
                    text,
                    "stopped by Ctrl-C before anything was measured; {} is unchanged",
                    out.display()
                )?;
            }
            (true, false) => writeln!(text, "stopped by Ctrl-C; results until then are kept")?,
            (false, _) => {}
        }
        if are_written {
            writeln!(text, "report:  {}", out.join(folder::PAGE).display())?;
            writeln!(text, "records: {}", out.join(folder::RECORDS).display())?;
            if !self.verbose {
                writeln!(text, "tables:  hashlane report {} --verbose", out.display())?;
            }
        }
        if let Some(earlier) = self.results.earlier() {
            writeln!(text, "earlier: {} has the results of the run before", earlier.display())?;
        }
        Ok(if text.len() > 1 { text } else { String::new() })
    }

    /// Writes the results to a new temporary folder, so that they are not lost.
    fn elsewhere(&self, why: &str) -> Result<()> {
        let spare = std::env::temp_dir().join(format!("hashlane-report-{}", std::process::id()));
        let (machine, (records, studies)) = (self.machine(), self.records());
        let ended: Vec<Definition> = self.ended().cloned().collect();
        let written = std::fs::create_dir(&spare).map_err(anyhow::Error::from).and_then(|()| {
            let mut results = Results::create(&spare)?;
            results.write(&records, &machine, &studies)?;
            results.draw(&folder::parts(&ended, &records, &machine, &studies))
        });
        match written {
            Ok(()) => bail!("{why}; they are in {} instead", spare.display()),
            Err(_) => bail!("{why}; make room, or name another folder with --out"),
        }
    }
}

impl RunArgs {
    /// Launches of a study: 1 if it starts its programs itself, has too few repetitions, or reads a file that
    /// can be read once only.
    fn launches_of(&self, definition: &Definition) -> u32 {
        let in_process = STUDIES.kind(&definition.model).is_some_and(|kind| kind.in_process());
        let again = self.inputs.paths().values().all(|path| path.is_file());
        let size = if self.full { definition.size.full } else { definition.size.quick };
        let launches = self.launches.min(size.repetitions / 2);
        if !in_process || !again || is_launch() || launches < FEWEST_LAUNCHES { 1 } else { launches }
    }

    /// Options of a launch of a study, one of so many.
    fn options_of(&self, definition: &Definition, launches: u32) -> Vec<OsString> {
        let size = if self.full { definition.size.full } else { definition.size.quick };
        let mut options = self.inputs.options_of(definition);
        let mut add = |name: &str, value: &str| options.extend([name.into(), value.into()]);
        add("--repetitions", &size.repetitions.div_ceil(launches).to_string());
        let part = |ids: &[String], known: &[String]| -> Vec<String> {
            ids.iter().filter(|id| known.contains(id)).cloned().collect()
        };
        part(&self.schemes, &definition.schemes).iter().for_each(|id| add("--scheme", id));
        part(&self.workloads, &definition.workloads).iter().for_each(|id| add("--workload", id));
        if self.with_generated {
            options.push("--with-generated".into());
        }
        options
    }
}

/// Text of a study for a launch. Tables of its kind alone are for the first launch: what they ask for is
/// counted, simulated or checked, and the same in each. No later one draws a report.
fn text(definition: &Definition, is_first: bool) -> Result<String> {
    if is_first {
        return Ok(definition.text().to_owned());
    }
    let mut table: toml::Table = definition.text().parse().context("a study file that was read before")?;
    let tables = STUDIES.kind(&definition.model).map_or(&[][..], |kind| kind.tables());
    tables.iter().chain(&Layout::FIELDS).for_each(|name| _ = table.remove(*name));
    Ok(table.to_string())
}

/// Turns of studies, by their numbers of launches: each has one in a pass, so that its launches are spread
/// over the run. A study with a single one takes it between two passes.
fn order(launches: &[u32]) -> Vec<usize> {
    let mut single = (0..launches.len()).filter(|at| launches[*at] == 1);
    let mut order = Vec::new();
    for pass in 0..launches.iter().copied().max().unwrap_or(0) {
        order.extend((0..launches.len()).filter(|at| launches[*at] > 1 && launches[*at] > pass));
        order.extend(single.next());
    }
    order.extend(single);
    order
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn launches_of_a_study_are_spread_over_the_run() {
        assert_eq!(order(&[3, 2, 1]), [0, 1, 2, 0, 1, 0]);
        assert_eq!(order(&[1, 1, 1]), [0, 1, 2]);
        assert_eq!(order(&[1, 2, 1, 1]), [1, 0, 1, 2, 3]);
        assert!(order(&[]).is_empty());
    }
}
