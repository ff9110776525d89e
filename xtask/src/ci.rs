//! `cargo xtask ci`

use crate::asm::Build;
use crate::attack::Attack;
use crate::duckdb::Duckdb;
use crate::interop::Interop;
use crate::python::Python;
use crate::run::{self, Outcome};
use crate::steps;
use crate::test::Test;
use clap::{Args, ValueEnum};
use std::thread::JoinHandle;

/// Run every check that a change must pass before it is merged
///
/// Runs `cargo xtask test`, and then documentation, Python, DuckDB, programs of other projects, instructions
/// of the release build, and attacks on it. Runs every step, also after a failure, and ends with a summary. A
/// step that lacks a tool prints the command that installs it and is skipped; with CI=true the tool is
/// installed, and a step that cannot run fails.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Ci {
    /// Run only what `cargo xtask test` does not
    #[arg(long)]
    rest: bool,
    /// Run only this step (repeatable)
    #[arg(long, value_enum, value_name = "STEP", conflicts_with = "skip")]
    only: Vec<Step>,
    /// Skip this step (repeatable)
    #[arg(long, value_enum, value_name = "STEP")]
    skip: Vec<Step>,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask ci                          all steps
  cargo xtask ci --rest                   those that `cargo xtask test` leaves out
  cargo xtask ci --only python --only interop
  cargo xtask ci --skip asm --skip attack all steps without a release build
  CI=true cargo xtask ci                  install missing tools; skip nothing";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Step {
    /// `cargo xtask test`
    Test,
    /// Examples in the documentation
    Doctests,
    /// Documentation, warnings denied
    Doc,
    /// The Python package, as a wheel in a fresh environment: pytest and mypy
    Python,
    /// The DuckDB extension under pytest, with the oldest and the newest DuckDB
    Duckdb,
    /// Our DNS messages read by dig; NDN libraries and tools of other projects on our forwarder
    Interop,
    /// Instructions of the timed functions, in a release build
    Asm,
    /// The release build under every attack, three and a half minutes
    Attack,
}

impl Ci {
    pub(crate) fn run(&self) -> Outcome {
        let is_chosen = |step: &Step| {
            let is_named = self.only.is_empty() || self.only.contains(step);
            is_named && !self.skip.contains(step) && !(self.rest && *step == Step::Test)
        };
        let chosen: Vec<Step> = Step::value_variants().iter().copied().filter(is_chosen).collect();
        // Built and installed beside the other steps. The attacks come after the check of the instructions,
        // which waits for the build.
        let mut begun = Begun {
            release: chosen.contains(&Step::Asm).then(Build::begin),
            packages: chosen.contains(&Step::Python).then(Python::install),
        };
        steps::run("ci", &chosen, |step| step.run(&mut begun))
    }
}

/// Work beside the steps, until one of them waits for it.
struct Begun {
    release: Option<Result<Build, String>>,
    packages: Option<JoinHandle<()>>,
}

impl Step {
    fn run(self, begun: &mut Begun) -> Outcome {
        match self {
            Self::Test => Test::all().run(),
            Self::Doctests => run::cargo("test --workspace --all-features --doc --no-fail-fast").into(),
            Self::Doc => {
                let mut doc = run::command(&["cargo", "doc", "--workspace", "--all-features", "--no-deps"]);
                run::show(doc.env("RUSTDOCFLAGS", "-D warnings")).into()
            }
            Self::Python => {
                if let Some(packages) = begun.packages.take() {
                    let _ = packages.join();
                }
                Python::usual().run()
            }
            Self::Duckdb => Duckdb::tests().run(),
            Self::Interop => Interop::ALL.run(),
            Self::Asm => begun.release.take().unwrap_or_else(Build::begin).and_then(Build::check).into(),
            Self::Attack => Attack::quick().run(),
        }
    }
}
