//! `hashlane audit --markdown`, of all functions or of some, and `--out`

use super::{json as document, table};
use crate::output::{self, progress::Progress};
use anyhow::{Context as _, Result, bail};
use clap::Args;
use hashlane_audit::audit::{Report, Settings};
use hashlane_audit::epsilon::vectors;
use hashlane_audit::referee::key_file::{KeyFile, key_files};
use hashlane_audit::referee::speed::{Speeds, measure};
use hashlane_audit::referee::{COLUMNS, Row, row};
use hashlane_audit::registered::Registered;
use hashlane_audit::smhasher::Suite;
use hashlane_audit::subject::AuditedHash;
use hashlane_audit::verdict::rounded;
use hashlane_lab::run::{Machine, date};
use hashlane_lab::study::Step;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Options of the table of functions, and of the keys that bear it out.
#[derive(Debug, Args)]
#[command(next_help_heading = "Table of functions")]
#[group(skip)]
pub(super) struct Referee {
    /// A table of all registered functions, one row each, with their times: with --markdown or --json
    #[arg(long, conflicts_with_all = ["target", "schemes", "library"])]
    all: bool,
    /// Print the table in Markdown, of --all functions or of each --scheme
    #[arg(long, conflicts_with_all = ["json", "library"])]
    markdown: bool,
    /// Rounds in which the times of the table are measured, 200 if not given; the least time of all counts.
    /// With --scheme and --json, the document has the rows of the table, too
    #[arg(long, value_name = "N", conflicts_with = "library",
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    rounds: Option<u32>,
    /// Leave out the tests of quality of the kind of SMHasher3's from the table
    #[arg(long, conflicts_with = "library")]
    no_quality: bool,
    /// Write the keys of each verdict to a file in this folder, with their seed and hashes, for a program of
    /// yours to check
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Rounds in which the times are measured if none are stated.
const ROUNDS: u32 = 200;

impl Referee {
    /// True if the table is asked for.
    pub(super) fn is_table(&self) -> bool {
        self.all || self.markdown || self.rounds.is_some()
    }

    /// Folder of the keys.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.out.as_deref()
    }

    /// Checks the options before the work begins, and makes the folder. `is_selected` is true if schemes are
    /// stated.
    pub(super) fn check(&self, json: bool, is_selected: bool) -> Result<()> {
        if self.is_table() && !self.markdown && !json {
            let option = if self.all { "--all" } else { "--rounds" };
            bail!("{option} prints a table: state its form with --markdown or --json");
        }
        if self.is_table() && !self.all && !is_selected {
            bail!("--markdown and --rounds are for a table: state --all, or functions with --scheme");
        }
        if self.no_quality && !self.is_table() {
            bail!("--no-quality is for a table: add --all, or --markdown with --scheme");
        }
        let Some(folder) = &self.out else { return Ok(()) };
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))
    }

    /// The table of the functions, as Markdown or JSON.
    pub(super) fn text(
        &self,
        subjects: &mut [Registered],
        reports: &[Report],
        settings: &Settings,
        as_json: bool,
    ) -> Result<String> {
        let progress = Progress::new("audit")?;
        let rounds = self.rounds.unwrap_or(ROUNDS);
        let total = rounds as usize;
        let speeds = measure(subjects, rounds, &mut |round| {
            progress.show(Step { done: round as usize, total, workload: "times", what: "measuring" });
        })?;
        let suite = (!self.no_quality).then(|| Suite::new(settings.seed));
        let mut rows: Vec<Row> = Vec::with_capacity(reports.len());
        for (subject, (report, speed)) in subjects.iter_mut().zip(reports.iter().zip(&speeds.functions)) {
            let (done, workload) = (rows.len(), report.info.id.as_str());
            progress.show(Step { done, total: reports.len(), workload, what: "tests of quality" });
            let quality = suite.as_ref().map(|suite| suite.run(subject)).transpose()?;
            rows.push(row(report, *speed, quality));
        }
        drop(progress);
        let run = Run { machine: Machine::detect(), date: date::utc(SystemTime::now()), speeds };
        match as_json {
            true => document::of_functions_with(reports, settings, run.keys(&rows)?),
            false => {
                let not_audited = if self.all { table::not_audited() } else { String::new() };
                Ok(markdown(&rows, settings, &run) + &not_audited)
            }
        }
    }
}

/// Circumstances of a table.
struct Run {
    machine: Machine,
    /// Date and time, in UTC.
    date: String,
    speeds: Speeds,
}

impl Run {
    /// Keys of the JSON document that a table has besides the verdicts' keys.
    fn keys(&self, rows: &[Row]) -> Result<Map<String, Value>> {
        let machine = json!({
            "cpu": self.machine.cpu.model,
            "arch": self.machine.system.arch,
            "kernel": self.machine.system.kernel,
            "hashlane": self.machine.build.hashlane,
            "commit": self.machine.build.commit,
        });
        let keys = [
            ("date", json!(self.date)),
            ("machine", machine),
            ("loop_ns", json!(self.speeds.loop_ns)),
            ("rows", serde_json::to_value(rows)?),
        ];
        Ok(keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

/// The table in Markdown, with the circumstances above it and the legend below.
fn markdown(rows: &[Row], settings: &Settings, run: &Run) -> String {
    let machine = &run.machine;
    let cpu = machine.cpu.model.as_deref().unwrap_or("an unknown processor");
    let commit = machine.build.commit.as_deref().map(|commit| format!(", commit {commit}"));
    let day = run.date.get(..10).unwrap_or(&run.date);
    let mut text = format!(
        "# Audit of {} hash function{}, {day}\n\n\
         hashlane {}{}, seed {}.\nTable: {}.\n\
         Times on {cpu} ({}): the least of all rounds, which alternate between the functions; a key of 8\n\
         bytes includes {} ns of the loop over the keys.\n\n",
        rows.len(),
        if rows.len() == 1 { "" } else { "s" },
        machine.build.hashlane,
        commit.unwrap_or_default(),
        settings.seed,
        table::describe(&settings.geometry),
        machine.system.arch,
        rounded(run.speeds.loop_ns),
    );
    let mut line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        // A `String` takes everything.
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    };
    line(&COLUMNS.map(str::to_owned));
    line(&COLUMNS.map(|_| "---".to_owned()));
    rows.iter().for_each(|row| line(&row.cells()));
    text + LEGEND
}

const LEGEND: &str = "
A flood is the attack, its keys, and the entries that a lookup compares, beside those among random keys.
← who can do it with less knowledge can do it with this, too; – no attack known to this audit; not tried:
the authors claim nothing once the key is known. ε: the share of seeds for which the worst pair known
collides.
";

/// Writes the keys of all verdicts.
pub(super) fn write_keys(
    folder: &Path,
    subjects: Vec<&mut dyn AuditedHash>,
    reports: &[Report],
    settings: &Settings,
) -> Result<()> {
    let pairs = vectors::committed().map_err(|(name, error)| anyhow::anyhow!("vector {name}: {error}"))?;
    let mut written = 0;
    for (subject, report) in subjects.into_iter().zip(reports) {
        for KeyFile { name, text } in key_files(subject, report, settings, &pairs)? {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            written += 1;
        }
    }
    output::tell(&format!("{written} files of keys in {}", folder.display()));
    Ok(())
}
