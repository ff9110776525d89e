//! `hashlane study`

mod kernel;

use super::STOPPED;
use super::inputs::InputArgs;
use crate::output::{
    self,
    folder::{self, definition},
    progress::Progress,
    quiet,
    results::Results,
};
use crate::studies::STUDIES;
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand};
use hashlane_lab::definition::{Definition, Selection};
use hashlane_lab::record::{Activity, Machine, Noise, RecordSet, RunStudies, RunStudy, date};
use hashlane_lab::report::terminal;
use hashlane_lab::study::{Event, Input, Loaded, SEED, Settings, run};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// List and run studies.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane study list
  hashlane study run all --quick")]
pub(crate) struct Study {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the studies and the question each answers
    #[command(after_help = "\
Examples:
  hashlane study list")]
    List,
    /// Run studies, print their tables, write records.csv, machine.toml and report.html
    Run(RunArgs),
    /// Write patches of Linux's connection hash, for its maintainers
    KernelPatches(kernel::PatchesArgs),
    /// Print the script that floods the connection table of the running Linux
    KernelSelftest(kernel::SelftestArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane study run all --quick
  hashlane study run name-encodings --full --out full
  find /usr -type f > names.txt; hashlane study run name-encodings --names names.txt
  tcpdump -c 100000 -w t.pcap; hashlane study run flow-hash flow-table --pcap t.pcap
  tcpdump -c 100000 -w d.pcap port 53; hashlane study run dns-render --pcap d.pcap
  hashlane study run dns-render --zone example.com.zone
  hashlane study run all --quick --wait-quiet 60
  hashlane study run flow-hash --scheme base/single --scheme siphash-1-3/burst --repetitions 200
  hashlane study run my-study.toml

A line of --names is a path, each element of which is a component, or a URI after ndn:.
Packets of --pcap without ports, and fragments, are counted and skipped.
The records of --zone are divided into messages of 65,535 bytes, as in a zone transfer.

All studies take about two minutes with --quick. --full takes the size of the source: hours for all,
2 to 60 minutes for one.

Results are written after every workload, and the page after every study. If a study fails, its
records are kept, the other studies run, and the exit code is 1. Stop with Ctrl-C: results so far
are kept and marked as partial. The folder of --out has the newest run; the results of earlier runs
move to run-1, run-2, ... in it as soon as the new run has records. None are ever overwritten.

One study prints its tables; several print the summary only, and their tables with --verbose.")]
struct RunArgs {
    /// Slugs of studies, `all`, or files that end with .toml
    #[arg(required = true, value_name = "STUDY")]
    studies: Vec<String>,
    /// Small workloads, about a minute per study (the default)
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Workloads at the size of the source
    #[arg(long)]
    full: bool,
    /// Folder for the results; earlier results in it move to run-N
    #[arg(long, value_name = "DIR", default_value = folder::DEFAULT)]
    out: PathBuf,
    #[command(flatten)]
    inputs: InputArgs,
    /// Measure the study's own workloads too, besides those of --names, --pcap or --zone
    #[arg(long)]
    with_generated: bool,
    /// Measure only this scheme (repeatable)
    #[arg(long = "scheme", value_name = "ID")]
    schemes: Vec<String>,
    /// Measure only this workload of the study (repeatable)
    #[arg(long = "workload", value_name = "ID")]
    workloads: Vec<String>,
    /// Repetitions, 2 to 1,000 [default: those of the study]
    #[arg(long, value_name = "N")]
    repetitions: Option<u32>,
    /// Wait until other processes leave the machine alone, at most so long
    #[arg(long, value_name = "SECONDS")]
    wait_quiet: Option<u64>,
    /// Print every table, and not only the answers
    #[arg(long)]
    verbose: bool,
}

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

impl Study {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::List => list(),
            Command::Run(args) => args.run(),
            Command::KernelPatches(args) => args.run(),
            Command::KernelSelftest(args) => args.run(),
        }
    }
}

fn list() -> Result<ExitCode> {
    let mut text = String::new();
    for study in STUDIES.files() {
        let definition = STUDIES.parse(study.text, study.slug)?;
        writeln!(text, "{}{}", study.slug, if study.in_all { "" } else { "  (by name, not by all)" })?;
        writeln!(text, "    {}", definition.question)?;
        writeln!(text, "    after: {}", definition.source)?;
    }
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

impl RunArgs {
    fn run(self) -> Result<ExitCode> {
        let mut definitions = Vec::new();
        for name in &self.studies {
            if name == "all" {
                for study in STUDIES.files().filter(|study| study.in_all) {
                    definitions.push(definition(study.slug)?);
                }
            } else {
                definitions.push(definition(name)?);
            }
        }
        let definitions = self.select(once(definitions)?)?;
        self.inputs.check(&definitions)?;

        let mut machine = Machine::detect();
        machine.run.date = date::utc(SystemTime::now());
        machine.run.command = std::env::args().collect();
        machine.run.size = if self.full { "full" } else { "quick" }.into();
        machine.run.seed = SEED;
        let own = self.load(&definitions, &mut machine)?;
        let results = Results::create(&self.out)?;
        stop_on_ctrl_c()?;
        self.wait(&mut machine)?;
        let begun = Activity::now();
        let (ended, records, studies) = (Vec::new(), RecordSet::new(), RunStudies::default());
        let (failed, unwritten) = (Vec::new(), None);
        let mut left = definitions.len();
        let verbose = self.verbose || left == 1;
        let mut run = Run {
            args: &self,
            own: &own,
            verbose,
            begun,
            results,
            machine,
            records,
            studies,
            ended,
            failed,
            unwritten,
        };
        for definition in definitions {
            left -= 1;
            run.study(definition, left)?;
            if STOP.load(Ordering::Relaxed) {
                break;
            }
        }
        run.end()
    }

    /// The selected schemes and workloads of the studies. Each id must be known to one of the studies at
    /// least; studies without any selected scheme, or workload, are left out.
    fn select(&self, definitions: Vec<Definition>) -> Result<Vec<Definition>> {
        let selection = Selection {
            schemes: self.schemes.clone(),
            workloads: self.workloads.clone(),
            repetitions: self.repetitions,
        };
        selection.check(&definitions)?;
        let mut selected = Vec::new();
        for mut definition in definitions {
            if let Some(part) = selection.within(&definition) {
                definition.select(&part)?;
                selected.push(definition);
            }
        }
        if selected.is_empty() {
            bail!("none of the studies has both the schemes and the workloads of --scheme and --workload");
        }
        Ok(selected)
    }

    /// Waits for a quiet machine, if so asked.
    fn wait(&self, machine: &mut Machine) -> Result<()> {
        let Some(seconds) = self.wait_quiet else { return Ok(()) };
        let tell = |noise: Noise| {
            let (others, steal) = (noise.others.unwrap_or_default(), noise.steal.unwrap_or_default());
            output::tell(&format!(
                "waiting for a quiet machine: other processes take {others:.1} cores, steal {:.0} %",
                100.0 * steal
            ));
        };
        if !quiet::wait(Duration::from_secs(seconds), &STOP, tell)? && !STOP.load(Ordering::Relaxed) {
            let note = format!("the machine was not quiet within {seconds} s; measured anyway");
            output::tell(&note);
            machine.run.notes.push(note);
        }
        Ok(())
    }

    /// Reads the user's own workloads. Kinds of studies with the same inputs share one. Prints their notes,
    /// and keeps the first line of each for the report.
    fn load(&self, definitions: &[Definition], machine: &mut Machine) -> Result<Vec<Own>> {
        let mut own: Vec<Own> = Vec::new();
        for definition in definitions {
            let inputs = inputs(definition);
            let known = own.iter().any(|own| own.inputs == inputs);
            let Some(kind) = STUDIES.kind(&definition.model).filter(|_| !known) else { continue };
            let Some(loaded) = kind.load(self.inputs.paths()).map_err(|error| anyhow!(error))? else {
                continue;
            };
            let note = loaded.notes.first();
            if let Some(note) = note.filter(|note| !machine.run.notes.contains(note)) {
                machine.run.notes.push(note.clone());
                loaded.notes.iter().for_each(|note| output::tell(note));
            }
            own.push(Own { inputs, loaded });
        }
        Ok(own)
    }

    /// Settings of a study.
    fn settings<'a>(&self, definition: &Definition, own: &'a [Own]) -> Result<Settings<'a>> {
        let command = std::env::current_exe().context("cannot find the path of this command")?;
        let own = own.iter().find(|own| own.inputs == inputs(definition)).map(|own| &own.loaded);
        let with_generated = self.with_generated;
        Ok(Settings { own, with_generated, ..Settings::new(definition, self.full, command) })
    }
}

/// The user's own workload for the kinds of studies with these inputs.
struct Own {
    inputs: &'static [Input],
    loaded: Loaded,
}

/// Inputs of the kind of a study.
fn inputs(definition: &Definition) -> &'static [Input] {
    STUDIES.kind(&definition.model).map_or(&[], |kind| kind.inputs())
}

/// A run under way.
struct Run<'a> {
    args: &'a RunArgs,
    own: &'a [Own],
    /// Print the tables of every study.
    verbose: bool,
    /// Counters of the system when the run began.
    begun: Activity,
    results: Results,
    machine: Machine,
    /// Records of the studies that have ended.
    records: RecordSet,
    /// Definitions and durations of the studies that have ended.
    studies: RunStudies,
    /// Studies that have ended.
    ended: Vec<Definition>,
    /// Studies that failed, each with the reason.
    failed: Vec<String>,
    /// Reason why the last write failed, if it did.
    unwritten: Option<String>,
}

impl Run<'_> {
    /// Runs one study, writes its records as they come, and prints its tables. `left` studies follow.
    fn study(&mut self, definition: Definition, left: usize) -> Result<()> {
        let settings = self.args.settings(&definition, self.own)?;
        let progress = Progress::new(&definition.slug).context("cannot show progress")?;
        let Some(kind) = STUDIES.kind(&definition.model) else {
            bail!("no kind of study has the model {:?}", definition.model)
        };
        let begun = Instant::now();
        let outcome = run(kind, &definition, &settings, &STOP, &mut |event| match event {
            Event::Step(step) => progress.show(step),
            Event::Measured { records, notes } => {
                let mut machine = self.machine.clone();
                machine.run.notes.extend_from_slice(notes);
                machine.run.mark_partial(format!("study {} had not ended", definition.slug));
                machine.run.noise = self.begun.until(&Activity::now());
                let mut all = self.records.clone();
                all.extend(records);
                let mut studies = self.studies.clone();
                studies.study.push(RunStudy {
                    slug: definition.slug.clone(),
                    seconds: begun.elapsed().as_secs_f64(),
                    samples: 0,
                    outliers: 0,
                    definition: definition.text().to_owned(),
                });
                let written = self.results.write(&all, &machine, &studies);
                self.see(written, |text| progress.tell(text));
            }
        });
        drop(progress);
        let slug = definition.slug.as_str();
        let run = &mut self.machine.run;
        let (before, after) = outcome.rates;
        run.tsc_ghz_before.get_or_insert(before.counter_ghz);
        run.core_ghz_before.get_or_insert(before.core_ghz);
        run.tsc_step.get_or_insert(before.step);
        run.tsc_ghz_after = Some(after.counter_ghz);
        run.core_ghz_after = Some(after.core_ghz);
        run.notes.extend_from_slice(&outcome.notes);
        if outcome.stopped {
            run.mark_partial(format!("stopped by Ctrl-C in study {slug}"));
        }
        if let Some(error) = &outcome.failed {
            run.notes.push(format!("study {slug} failed: {error}"));
            run.mark_partial(format!("study {slug} failed"));
            if left > 0 {
                output::tell(&format!("study {slug} failed: {error}; the other studies go on"));
            }
            self.failed.push(format!("study {slug}: {error}"));
        }
        run.noise = self.begun.until(&Activity::now());
        self.records.extend(&outcome.records);
        self.studies.study.push(RunStudy {
            slug: slug.to_owned(),
            seconds: outcome.seconds,
            samples: outcome.samples.0,
            outliers: outcome.samples.1,
            definition: definition.text().to_owned(),
        });
        self.ended.push(definition);
        // Written before anything is printed, as the reader of the output may have closed it.
        let mut machine = self.machine.clone();
        if left > 0 {
            let all = self.ended.len() + left;
            machine.run.mark_partial(format!("{left} of {all} studies had not ended"));
        }
        let written = self.write(&machine);
        self.see(written, output::tell);
        if self.verbose && (outcome.failed.is_none() || !outcome.records.is_empty()) {
            self.tables(&outcome.notes)?;
        }
        Ok(())
    }

    /// Prints the tables of the study that has ended last, and its notes.
    fn tables(&self, notes: &[String]) -> Result<()> {
        let last = self.ended.last().map_or(&[][..], std::slice::from_ref);
        for part in folder::parts(last, &self.records, &self.machine, &self.studies) {
            output::print(&format!("{}\n", terminal::text(&part, output::width(), output::colours())))?;
        }
        for note in notes {
            output::print(&format!("note: {note}\n"))?;
        }
        output::print("\n")?;
        Ok(())
    }

    /// Writes everything.
    fn write(&mut self, machine: &Machine) -> Result<()> {
        self.results.write(&self.records, machine, &self.studies)?;
        self.results.draw(&folder::parts(&self.ended, &self.records, machine, &self.studies))
    }

    /// Records a failed write, and reports each reason once: the run continues, and the next write contains
    /// everything.
    fn see(&mut self, written: Result<()>, tell: impl FnOnce(&str)) {
        let why = written.err().map(|error| format!("{error:#}"));
        if let Some(why) = why.as_ref().filter(|_| why != self.unwritten) {
            tell(&format!("{why}; the run goes on, and the next workload's end tries again"));
        }
        self.unwritten = why;
    }

    /// Prints the paths of the results. Fails if a study failed, or if the results cannot be written.
    fn end(self) -> Result<ExitCode> {
        let written = self.unwritten.as_deref().map_or(Ok(()), |why| self.elsewhere(why));
        if !self.records.is_empty() {
            let parts = folder::parts(&self.ended, &self.records, &self.machine, &self.studies);
            let folder = self.results.path().display().to_string();
            output::print(&terminal::summary(&parts, &folder, output::width(), output::colours()))?;
        }
        let mut text = String::from("\n");
        let stopped = STOP.load(Ordering::Relaxed);
        let out = self.results.path();
        match (stopped, self.records.is_empty()) {
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
        if written.is_ok() && !self.records.is_empty() {
            writeln!(text, "report:  {}", out.join(folder::PAGE).display())?;
            writeln!(text, "records: {}", out.join(folder::RECORDS).display())?;
            if !self.verbose {
                writeln!(text, "tables:  hashlane report {} --verbose", out.display())?;
            }
        }
        if let Some(earlier) = self.results.earlier() {
            writeln!(text, "earlier: {} has the results of the run before", earlier.display())?;
        }
        if text.len() > 1 {
            output::print(&text)?;
        }
        written?;
        match self.failed.as_slice() {
            [] if stopped => Ok(ExitCode::from(STOPPED)),
            [] => Ok(ExitCode::SUCCESS),
            failed => bail!("{}", failed.join("; ")),
        }
    }

    /// Writes the results to a new temporary folder, so that they are not lost.
    fn elsewhere(&self, why: &str) -> Result<()> {
        let spare = std::env::temp_dir().join(format!("hashlane-report-{}", std::process::id()));
        let (records, machine) = (&self.records, &self.machine);
        let written = std::fs::create_dir(&spare).map_err(anyhow::Error::from).and_then(|()| {
            let mut results = Results::create(&spare)?;
            results.write(records, machine, &self.studies)?;
            results.draw(&folder::parts(&self.ended, records, machine, &self.studies))
        });
        match written {
            Ok(()) => bail!("{why}; they are in {} instead", spare.display()),
            Err(_) => bail!("{why}; make room, or name another folder with --out"),
        }
    }
}

/// Each study once, though it was named twice, or named and in `all`. The records of two studies with one
/// slug could not be told apart.
fn once(named: Vec<Definition>) -> Result<Vec<Definition>> {
    let mut definitions: Vec<Definition> = Vec::new();
    for definition in named {
        match definitions.iter().find(|known| known.slug == definition.slug) {
            None => definitions.push(definition),
            Some(known) if *known == definition => {}
            Some(_) => bail!("two studies have the slug {:?}: change one of them", definition.slug),
        }
    }
    Ok(definitions)
}

/// The first Ctrl-C ends the run after what is being timed; the second one ends the process.
fn stop_on_ctrl_c() -> Result<()> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(STOPPED));
        }
    })
    .context("cannot listen for Ctrl-C")
}
