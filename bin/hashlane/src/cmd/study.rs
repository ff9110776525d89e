//! `hashlane study`

mod kernel;
mod run;

use super::inputs::InputArgs;
use crate::output::{
    self,
    folder::{self, definition},
    quiet,
    results::Results,
};
use crate::siblings;
use crate::studies::STUDIES;
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand};
use hashlane_daemon::signals::on_stop;
use hashlane_lab::definition::{Definition, Selection};
use hashlane_lab::launch;
use hashlane_lab::run::{Machine, Noise, date};
use hashlane_lab::study::{Input, Loaded, SEED, Settings};
use run::Run;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

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
  hashlane study run name-lookup --rules blocklist.txt --names queries.txt
  tcpdump -c 100000 -w t.pcap; hashlane study run flow-hash flow-table --pcap t.pcap
  tcpdump -c 100000 -w d.pcap port 53; hashlane study run dns-render --pcap d.pcap
  hashlane study run dns-render --zone example.com.zone
  hashlane study run all --quick --wait-quiet 60
  hashlane study run flow-hash --scheme base/single --scheme siphash-1-3/burst --repetitions 200
  hashlane study run my-study.toml

A line of --names is a path, whose elements are the components, or a URI after ndn:;
for name-lookup it is a domain name, as a line of --rules is.
Packets of --pcap without ports, and fragments, are counted and skipped.
The records of --zone are divided into messages of 65,535 bytes, as in a zone transfer.

All studies take about three minutes with --quick. --full takes the size of the source: hours for all,
2 to 60 minutes for one.

Studies of code in one process are launched several times, in turn, as figures differ between launches
by more than within one. Intervals are for the next run; [a, b]¹ holds within one launch only.

Results are written after every launch, or every workload of a study without launches. If a study fails, its
records are kept, the other studies run, and the exit code is 1. Stop with Ctrl-C: results so far
are kept and marked as partial. The folder of --out has the newest run; the results of earlier runs
move to run-1, run-2, ... in it as soon as the new run has records. None are ever overwritten.

One study prints its tables; several print the summary only, and their tables with --verbose.")]
struct RunArgs {
    /// Slugs of studies, `all`, or files that end with .toml
    #[arg(required = true, value_name = "STUDY")]
    studies: Vec<String>,
    /// Small workloads, about three minutes for `all` (the default)
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
    /// Measure the study's own workloads too, besides --names, --rules, --pcap or --zone
    #[arg(long)]
    with_generated: bool,
    /// Measure only this scheme (repeatable)
    #[arg(long = "scheme", value_name = "ID")]
    schemes: Vec<String>,
    /// Measure only this workload of the study (repeatable)
    #[arg(long = "workload", value_name = "ID")]
    workloads: Vec<String>,
    /// Repetitions, 2 to 1,000, divided among the launches [default: the study's]
    #[arg(long, value_name = "N")]
    repetitions: Option<u32>,
    /// Launches of each study that times code in its own process, 3 to 100; or 1, whose intervals hold
    /// within one launch
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = run::launches)]
    launches: u32,
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
        siblings::provide(&definitions)?;
        let results = Results::create(&self.out)?;
        stop_on_ctrl_c()?;
        self.wait(&mut machine)?;
        let mut run = Run::new(&self, &own, definitions, results, machine)?;
        run.measure()?;
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
    launch::stop_with_parent(&STOP);
    on_stop(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(hashlane_command::STOPPED));
        }
    })
    .map_err(Into::into)
}
