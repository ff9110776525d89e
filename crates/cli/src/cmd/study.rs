//! `hashlane study`

use super::dns::input;
use crate::output::{
    self,
    folder::{self, definition},
    progress::Progress,
    results::Results,
};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use hashlane_dns::wire::Content;
use hashlane_hash::scheme::Key;
use hashlane_lab::record::{Machine, RecordSet, date};
use hashlane_lab::report::terminal;
use hashlane_lab::study::definition::Definition;
use hashlane_lab::study::embedded;
use hashlane_lab::study::run::{Event, Settings, run};
use hashlane_lab::workload::capture::{self, Capture};
use hashlane_lab::workload::dns::split;
use hashlane_lab::workload::file::{self, FromFile};
use hashlane_lab::workload::packed::Names;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// List studies, or run them.
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
    /// Run studies, print their tables, and keep records.csv, machine.toml and report.html
    Run(RunArgs),
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
  hashlane study run flow-kernel
  hashlane study run my-study.toml

A line of --names is a path, each element of which is a component as it stands, or a URI after ndn:.
Packets of --pcap that have no ports, or are fragments, are counted and passed over.
The records of --zone are divided into messages of 65,535 bytes, as a transfer sends them.

Results are written after every workload, and the page after every study. A study that fails leaves its
records; the other studies go on, and the exit code is 1. Stop with Ctrl-C: results so far are kept and
marked as partial. The folder of --out has the newest run; the results of earlier runs move to run-1,
run-2, ... in it as soon as the new run has records, and none are ever overwritten.")]
struct RunArgs {
    /// Slugs of studies, `all`, or files that end with .toml
    #[arg(required = true, value_name = "STUDY")]
    studies: Vec<String>,
    /// Small workloads: a minute a study (the default)
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Workloads of the source's size
    #[arg(long)]
    full: bool,
    /// Folder for the results; those of an earlier run in it are kept, in run-N
    #[arg(long, value_name = "DIR", default_value = folder::DEFAULT)]
    out: PathBuf,
    /// Measure these names, one to a line, in place of the study's workloads
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
    /// Take the tuples, or the messages of the DNS, of this capture (pcap, pcapng) in place of generated ones
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Render the records of this zone file in place of generated messages
    #[arg(long, value_name = "FILE", conflicts_with = "pcap")]
    zone: Option<PathBuf>,
    /// Build the kernels of this source (linux-source-VERSION.tar.xz) in place of that of Debian's package
    #[arg(long, value_name = "FILE")]
    linux_source: Option<PathBuf>,
}

/// The seed for which the studies state their checksums.
const SEED: u64 = 2015;

/// Names that are read from a file at the most: the source's number.
const MOST_NAMES: usize = 1_000_000;

/// Tuples that are taken from a capture at the most: some 100 octets each while it is read.
const MOST_TUPLES: usize = 1 << 20;

/// Octets of memory for messages that are taken from a capture at the most, about.
const MOST_MESSAGES: usize = 64 << 20;

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

/// What a shell calls the exit of a command that Ctrl-C has stopped: 128 + SIGINT.
const STOPPED: u8 = 130;

impl Study {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::List => list(),
            Command::Run(args) => args.run(),
        }
    }
}

fn list() -> Result<ExitCode> {
    let mut text = String::new();
    for study in embedded::STUDIES {
        let definition = Definition::parse(study.text, study.slug)?;
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
                for study in embedded::STUDIES.iter().filter(|study| study.in_all) {
                    definitions.push(definition(study.slug)?);
                }
            } else {
                definitions.push(definition(name)?);
            }
        }
        let definitions = once(definitions)?;
        self.is_of_use(&definitions)?;

        let mut machine = Machine::detect();
        machine.run.date = date::utc(SystemTime::now());
        machine.run.command = std::env::args().collect();
        machine.run.size = if self.full { "full" } else { "quick" }.into();
        machine.run.seed = SEED;
        let own = Own {
            names: self.names.as_deref().map(|path| own_names(path, &mut machine)).transpose()?,
            tuples: match &self.pcap {
                Some(path) if definitions.iter().any(of_flows) => Some(own_tuples(path, &mut machine)?),
                _ => None,
            },
            messages: match (&self.zone, &self.pcap) {
                (Some(path), _) => Some(own_zone(path, &mut machine)?),
                (None, Some(path)) if definitions.iter().any(of_messages) => {
                    Some(own_messages(path, &mut machine)?)
                }
                _ => None,
            },
        };
        let results = Results::create(&self.out)?;
        stop_on_ctrl_c()?;
        let ended = Vec::new();
        let records = RecordSet::new();
        let (failed, unwritten) = (Vec::new(), None);
        let mut left = definitions.len();
        let mut run = Run { args: &self, own, results, machine, records, ended, failed, unwritten };
        for definition in definitions {
            left -= 1;
            run.study(definition, left)?;
            if STOP.load(Ordering::Relaxed) {
                break;
            }
        }
        run.end()
    }

    /// Refuses names where no study is one of names, and a capture where all are: what the user gave would be passed over in
    /// silence.
    fn is_of_use(&self, definitions: &[Definition]) -> Result<()> {
        if self.names.is_some() && !definitions.iter().any(of_names) {
            bail!("--names is for studies of names, such as name-encodings, and none was named");
        }
        if self.pcap.is_some() && !definitions.iter().any(|study| of_flows(study) || of_messages(study)) {
            bail!(
                "--pcap is for studies of flows or of messages, such as flow-hash or dns-render, and none was named"
            );
        }
        if self.zone.is_some() && !definitions.iter().any(of_messages) {
            bail!("--zone is for studies of messages, such as dns-render, and none was named");
        }
        if self.linux_source.is_some() && !definitions.iter().any(of_kernels) {
            bail!("--linux-source is for studies of kernels, such as flow-kernel, and none was named");
        }
        Ok(())
    }

    /// Settings of a study.
    fn settings(&self, definition: &Definition, own: &Own) -> Result<Settings> {
        Ok(Settings {
            size: if self.full { definition.size.full } else { definition.size.quick },
            full: self.full,
            seed: SEED,
            key: Key::VECTOR,
            names: own.names.clone(),
            tuples: own.tuples.clone(),
            messages: own.messages.clone(),
            command: std::env::current_exe().context("cannot find the path of this command")?,
            linux_source: self.linux_source.clone(),
        })
    }
}

/// A run under way.
struct Run<'a> {
    args: &'a RunArgs,
    own: Own,
    results: Results,
    machine: Machine,
    /// Records of the studies that have ended.
    records: RecordSet,
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
        let settings = self.args.settings(&definition, &self.own)?;
        let progress = Progress::new(&definition.slug).context("cannot show progress")?;
        let outcome = run(&definition, &settings, &STOP, &mut |event| match event {
            Event::Step(step) => progress.show(step),
            Event::Measured { records, notes } => {
                let mut machine = self.machine.clone();
                machine.run.notes.extend_from_slice(notes);
                machine.run.mark_partial(format!("study {} had not ended", definition.slug));
                let mut all = self.records.clone();
                all.extend(records);
                let written = self.results.write(&all, &machine);
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
        self.records.extend(&outcome.records);
        let text = terminal::text(&definition, &outcome.records, output::width(), output::colours());
        self.ended.push(definition);
        // Written before anything is printed: whoever reads the output may have gone.
        let mut machine = self.machine.clone();
        if left > 0 {
            let all = self.ended.len() + left;
            machine.run.mark_partial(format!("{left} of {all} studies had not ended"));
        }
        let written = self.write(&machine);
        self.see(written, output::tell);
        if outcome.failed.is_none() || !outcome.records.is_empty() {
            output::print(&text)?;
            for note in &outcome.notes {
                output::print(&format!("note: {note}\n"))?;
            }
        }
        Ok(())
    }

    /// Writes everything.
    fn write(&mut self, machine: &Machine) -> Result<()> {
        self.results.write(&self.records, machine)?;
        self.results.draw(&self.ended, &self.records, machine)
    }

    /// Remembers whether a write failed, and reports each reason once: the run goes on, and the next write
    /// has all of it.
    fn see(&mut self, written: Result<()>, tell: impl FnOnce(&str)) {
        let why = written.err().map(|error| format!("{error:#}"));
        if let Some(why) = why.as_ref().filter(|_| why != self.unwritten) {
            tell(&format!("{why}; the run goes on, and the next workload's end tries again"));
        }
        self.unwritten = why;
    }

    /// Says where the results are. Fails if a study did, or if the results cannot be written.
    fn end(self) -> Result<ExitCode> {
        let written = self.unwritten.as_deref().map_or(Ok(()), |why| self.elsewhere(why));
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
            (true, false) => writeln!(text, "stopped by Ctrl-C; what was measured until then is kept")?,
            (false, _) => {}
        }
        if written.is_ok() && !self.records.is_empty() {
            writeln!(text, "report:  {}", out.join(folder::PAGE).display())?;
            writeln!(text, "records: {}", out.join(folder::RECORDS).display())?;
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

    /// Writes the results to a new folder for temporary files: better there than nowhere.
    fn elsewhere(&self, why: &str) -> Result<()> {
        let spare = std::env::temp_dir().join(format!("hashlane-report-{}", std::process::id()));
        let (records, machine) = (&self.records, &self.machine);
        let written = std::fs::create_dir(&spare).map_err(anyhow::Error::from).and_then(|()| {
            let mut results = Results::create(&spare)?;
            results.write(records, machine)?;
            results.draw(&self.ended, records, machine)
        });
        match written {
            Ok(()) => bail!("{why}; they are in {} instead", spare.display()),
            Err(_) => bail!("{why}; make room, or name another folder with --out"),
        }
    }
}

fn of_names(definition: &Definition) -> bool {
    definition.model == "names"
}

fn of_kernels(definition: &Definition) -> bool {
    definition.model == "kernel"
}

fn of_messages(definition: &Definition) -> bool {
    definition.model == "render"
}

fn of_flows(definition: &Definition) -> bool {
    ["tuples", "table", "flood"].contains(&definition.model.as_str())
}

/// What the user measures in place of what is generated.
struct Own {
    names: Option<(String, Names)>,
    tuples: Option<(String, Capture)>,
    messages: Option<(String, Vec<Content>)>,
}

/// Each study once, though it was named twice, or named and in `all`. The records of two studies with one slug could not
/// be told apart.
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

/// Reads the user's names; says on standard error, and in the machine's notes, what was skipped.
fn own_names(path: &Path, machine: &mut Machine) -> Result<(String, Names)> {
    let FromFile { names, skipped, skipped_count, lines, full } = file::read(path, MOST_NAMES)?;
    let mut note = format!("{}: {} names from {lines} lines", path.display(), names.len());
    if skipped_count > 0 {
        write!(note, "; {skipped_count} lines skipped that are no name")?;
    }
    if full {
        write!(note, "; the rest of the file was not read, as no more than {MOST_NAMES} names are taken")?;
    }
    output::tell(&note);
    for (line, reason) in &skipped {
        output::tell(&format!("  line {line}: {reason}"));
    }
    if skipped_count > skipped.len() as u64 {
        output::tell(&format!("  and {} more", skipped_count - skipped.len() as u64));
    }
    machine.run.notes.push(note);
    Ok((format!("names:{}", label(path)), names))
}

/// Reads the records of the user's zone file.
fn own_zone(path: &Path, machine: &mut Machine) -> Result<(String, Vec<Content>)> {
    let name = path.display().to_string();
    let octets = input::octets(path, &name)?;
    let content = input::zone(&octets, &name, None, "a line `$ORIGIN NAME` before it gives one")?;
    let records = content.records.len();
    let messages = split(content, &Key::VECTOR);
    let kept: usize = messages.iter().map(|message| message.records.len()).sum();
    let mut note = format!("{name}: {kept} records in {} messages", messages.len());
    if kept < records {
        write!(note, "; {} are too long for a message", records - kept)?;
    }
    output::tell(&note);
    machine.run.notes.push(note);
    Ok((format!("zone:{}", label(path)), messages))
}

/// Reads the messages of the DNS in the user's capture.
fn own_messages(path: &Path, machine: &mut Machine) -> Result<(String, Vec<Content>)> {
    let name = path.display().to_string();
    let capture = input::captured(&input::octets(path, &name)?, &name, MOST_MESSAGES)?;
    let note = format!("{name}: {capture}");
    output::tell(&note);
    machine.run.notes.push(note);
    Ok((format!("pcap:{}", label(path)), capture.messages))
}

fn label(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Reads the tuples of the user's capture; says on standard error, and in the machine's notes, what was passed over.
fn own_tuples(path: &Path, machine: &mut Machine) -> Result<(String, Capture)> {
    let capture = capture::read(path, MOST_TUPLES)?;
    let note = format!("{}: {capture}", path.display());
    output::tell(&note);
    machine.run.notes.push(note);
    Ok((format!("pcap:{}", label(path)), capture))
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
