//! `cargo xtask records`

mod machine;
mod marks;
mod measure;
mod runs;
mod timed;

pub(crate) use marks::{outdated, studies};
pub(crate) use timed::Changes;

use crate::prose::crates::packages;
use crate::run::Outcome;
use clap::Args;
use runs::{Run, runs};

/// Measure all that the documentation quotes, and write its figures
///
/// Builds the commands for release, makes each run of `records/runs.toml` on a quiet machine, one after the
/// other, and writes `records/MACHINE/RUN`. A run whose records are of the same timed code is not repeated: a
/// task that was stopped goes on where it was. Then marks the studies whose code has changed since
/// their records, and draws the figures of README, `docs/` and the studies' pages.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Records {
    /// Runs by their folders; all if none is named
    folders: Vec<String>,
    /// List the runs, and measure none
    #[arg(long, conflicts_with_all = ["mark", "again"])]
    list: bool,
    /// Mark what has changed and draw the figures, and measure nothing
    #[arg(long, conflicts_with = "again")]
    mark: bool,
    /// Repeat also runs whose records are of the same code
    #[arg(long)]
    again: bool,
    /// Folder of this machine [default: after the processor]
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask records --list                 the runs, their times, and which are of the present code
  cargo xtask records                        all that are not: an hour and a half for all
  cargo xtask records quick launches         two of them
  cargo xtask records --mark                 after a change of timed code, which `cargo xtask test` asks for";

/// State of the records of a run.
#[derive(Debug, PartialEq, Eq)]
enum State {
    Missing,
    /// The list has another command for it.
    OtherCommand,
    Partial(String),
    /// Code of these studies has changed.
    Changed(Vec<String>),
    Current,
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => write!(f, "not measured"),
            Self::OtherCommand => write!(f, "measured by another command"),
            Self::Partial(why) => write!(f, "partial: {why}"),
            Self::Changed(studies) => write!(f, "code changed since: {}", studies.join(", ")),
            Self::Current => write!(f, "of the present code"),
        }
    }
}

impl Records {
    pub(crate) fn run(&self) -> Outcome {
        self.task().into()
    }

    fn task(&self) -> Result<(), String> {
        let packages = packages()?;
        let mut changes = Changes::new(&packages)?;
        let machine = self.machine.clone().unwrap_or_else(machine::name);
        let runs = runs(&self.folders)?;
        if self.list {
            for run in &runs {
                let state = state(run, &machine, &mut changes)?;
                let needs =
                    if run.needs.is_empty() { String::new() } else { format!("; needs {}", run.needs) };
                println!("{:<15} {:>3} min  {state}{needs}", run.folder, run.minutes);
            }
            return Ok(());
        }
        let mut failed = Vec::new();
        if !self.mark {
            let mut due = Vec::new();
            for run in &runs {
                match state(run, &machine, &mut changes)? {
                    State::Current if !self.again => println!("{}: of the present code", run.folder),
                    _ => due.push(run),
                }
            }
            failed = measure::all(&due, &machine)?;
        }
        marks::write(&mut Changes::new(&packages)?)?;
        marks::draw()?;
        if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
    }
}

/// State of a run's records on a machine.
fn state(run: &Run, machine: &str, changes: &mut Changes<'_>) -> Result<State, String> {
    let folder = format!("records/{machine}/{}", run.folder);
    let Some((facts, studies)) = marks::read(&folder)? else { return Ok(State::Missing) };
    if facts.command() != run.command {
        return Ok(State::OtherCommand);
    }
    if facts.run.partial {
        return Ok(State::Partial(
            facts.run.partial_reason.unwrap_or_else(|| "no reason was recorded".into()),
        ));
    }
    let changed = marks::changed(&facts, &studies, changes)?;
    Ok(if changed.is_empty() { State::Current } else { State::Changed(changed) })
}
