//! `hashlane compare`

mod alternate;
mod folders;

use super::inputs::InputArgs;
use crate::output;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use hashlane_lab::compare::{export, text};
use hashlane_records::compare::Comparison;
use hashlane_records::write_atomically;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compare two builds, or two folders of records.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane compare --run ./before ./after                  two builds, alternately, with verdicts
  hashlane compare --run ./before ./after name-encodings --workload 12Bx5 --time 120
  hashlane compare --run ./before ./after flow-hash --ci --threshold 5
  hashlane compare --run ./before ./after --export bmf --out bencher.json
  hashlane compare before after                            two folders of records, ratios only
  hashlane compare --same run-1 run-2 run-3                 do the intervals of one build's runs hold?

--run launches the builds alternately: A, B, and A again (A′) in each round, in changing order. B / A
is taken within rounds; its bounds hold at 95 % for all rows together. A row is called slower or
faster only if B / A lies further from 1 than A′ / A, the same build twice, may. Otherwise it has no
difference, with the smallest that could have been seen, or is undecided, with the reason. The
studies come from this command; each launch measures a small copy without simulations and claims.
Without STUDY: name-encodings, flow-hash, flow-table and dns-render, the first workload of each. If
there is no time for verdicts on all rows: the schemes of criteria and claims, on one workload.

Folders of records have no verdicts: A and B did not alternate. --same takes two or more folders of
runs of one build, in their order, and prints how many intervals hold the value of the next run, and of
any other.

Exit codes: 0; 1 after an error; 130 after Ctrl-C, which prints the rounds until then. With --ci: 0
without a regression, 1 with one, 2 after an error.")]
pub(crate) struct Compare {
    /// Folder of the first run; with --run, the command of the first build
    a: PathBuf,
    /// Folder of the second run; with --run, the command of the second build
    b: PathBuf,
    /// Launch two builds alternately and give verdicts
    #[arg(long, group = "more")]
    run: bool,
    /// Count the intervals of several runs of one build that hold each other's values
    #[arg(long, group = "more", conflicts_with_all = ["metric", "export"])]
    same: bool,
    /// Slugs of studies, or files that end with .toml [default: four, see below]; with --same, more folders
    #[arg(value_name = "STUDY", requires = "more")]
    studies: Vec<String>,
    /// Metric to compare (repeatable) [default: each study's own]
    #[arg(long)]
    metric: Vec<String>,
    /// Scheme to compare (repeatable) [default: all]
    #[arg(long, requires = "run")]
    scheme: Vec<String>,
    /// Workload to compare (repeatable) [default: all]
    #[arg(long, requires = "run")]
    workload: Vec<String>,
    /// Compare all rows, also if there is no time for verdicts on so many
    #[arg(long, requires = "run")]
    all_rows: bool,
    /// Seconds for each study; at most 40 rounds are run
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "run")]
    time: u64,
    /// Repetitions within a launch [default: as many as let enough rounds fit into the time]
    #[arg(long, value_name = "N", requires = "run", value_parser = clap::value_parser!(u32).range(2..=1000))]
    repetitions: Option<u32>,
    /// Print a Markdown comment, and exit with 1 if a row is slower
    #[arg(long, requires = "run", conflicts_with = "export")]
    ci: bool,
    /// Slow-down from which --ci fails, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0, requires = "ci")]
    threshold: f64,
    /// Print in this format instead of tables
    #[arg(long, value_enum, value_name = "FORMAT")]
    export: Option<Export>,
    /// File for the export; the tables are printed, too
    #[arg(long, value_name = "FILE", requires = "export")]
    out: Option<PathBuf>,
    #[command(flatten)]
    inputs: InputArgs,
}

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Export {
    /// Bencher Metric Format: figures of B and B / A with their bounds
    Bmf,
    /// Messages of cargo-criterion 1.1, one JSON object a line
    Criterion,
    /// The comment of --ci
    Markdown,
    /// Everything, in a format of our own
    Json,
}

impl Export {
    /// The comparison of `sides`, the paths of A and B, in this format.
    fn text(self, comparison: &Comparison, sides: &[String; 2]) -> String {
        match self {
            Self::Bmf => export::bmf(comparison),
            Self::Criterion => export::criterion(comparison),
            Self::Markdown => export::markdown(comparison, sides, None),
            Self::Json => export::json(comparison, sides),
        }
    }
}

/// Exit code of --ci after an error: 1 is a regression.
const CI_FAILED: u8 = 2;

impl Compare {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let ci = self.ci;
        match self.compared() {
            Err(error) if ci && !output::is_broken_pipe(&error) => {
                output::tell(&format!("hashlane: {error:#}"));
                Ok(ExitCode::from(CI_FAILED))
            }
            other => other,
        }
    }

    fn compared(self) -> Result<ExitCode> {
        if self.same {
            let more = self.studies.iter().map(std::path::Path::new);
            let folders: Vec<_> = [self.a.as_path(), self.b.as_path()].into_iter().chain(more).collect();
            output::print(&folders::same(&folders, output::width())?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let (comparison, stopped) = match self.run {
            true => alternate::run(&self)?,
            false => {
                if let Some(option) = self.inputs.paths().keys().next() {
                    bail!("--{option} is for --run");
                }
                (folders::compare(&self.a, &self.b, &self.metric)?, false)
            }
        };
        self.print(&comparison)?;
        if stopped {
            return Ok(ExitCode::from(hashlane_command::STOPPED));
        }
        let regressed = comparison.regressions(self.threshold / 100.0).next().is_some();
        Ok(ExitCode::from(u8::from(self.ci && regressed)))
    }

    fn print(&self, comparison: &Comparison) -> Result<()> {
        let sides = [&self.a, &self.b].map(|path| path.display().to_string());
        if self.ci {
            let text = export::markdown(comparison, &sides, Some(self.threshold / 100.0));
            return Ok(output::print(&text)?);
        }
        match (self.export, &self.out) {
            (None, _) => output::print(&text::comparison(comparison, output::width()))?,
            (Some(format), None) => output::print(&format.text(comparison, &sides))?,
            (Some(format), Some(path)) => {
                // Written first, as the reader of the output may have closed it.
                write_atomically(path, format.text(comparison, &sides).as_bytes()).with_context(|| {
                    format!("cannot write {}; name another file with --out", path.display())
                })?;
                output::print(&text::comparison(comparison, output::width()))?;
            }
        }
        Ok(())
    }
}
