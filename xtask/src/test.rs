//! `cargo xtask test`

use crate::asm::Build;
use crate::attack::Attack;
use crate::interop::Interop;
use crate::need::{self, Need};
use crate::prose::{self, style::Style};
use crate::python::Python;
use crate::run::{self, Outcome};
use crate::steps;
use clap::{Args, ValueEnum};
use std::num::NonZero;
use std::thread::{self, JoinHandle};

/// Run every check that a change must pass
///
/// Runs every step, also after a failure, and ends with a summary. A step that lacks a tool prints the
/// command that installs it and is skipped; with CI=true the tool is installed, and a step that cannot run
/// fails.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Test {
    /// Run only this step (repeatable)
    #[arg(long, value_enum, value_name = "STEP", conflicts_with = "skip")]
    only: Vec<Step>,
    /// Skip this step (repeatable)
    #[arg(long, value_enum, value_name = "STEP")]
    skip: Vec<Step>,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask test                          all steps, in the order above
  cargo xtask test --only fmt --only clippy
  cargo xtask test --skip asm --skip attack all steps without a release build
  CI=true cargo xtask test                  install missing tools; skip nothing";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Step {
    /// Formatting, in the workspace and in proof/fuzz/libfuzzer/
    Fmt,
    /// Links and tables in Markdown files, arrows between crates, circles of files
    Prose,
    /// First words of doc lines, widths of comments and Markdown
    Style,
    /// Clippy, warnings denied
    Clippy,
    /// Unit, property and integration tests, and the corpora of the fuzz targets
    Tests,
    /// Examples in the documentation
    Doctests,
    /// Documentation, warnings denied
    Doc,
    /// The Python package, as a wheel in a fresh environment: pytest and mypy
    Python,
    /// Our DNS messages read by dig; NDN libraries and tools of other projects on our forwarder
    Interop,
    /// Instructions of the timed functions, in a release build
    Asm,
    /// The release build under every attack, three and a half minutes
    Attack,
}

impl Test {
    pub(crate) fn run(&self) -> Outcome {
        let chosen = self.chosen();
        // Built beside the other steps, as it keeps one core busy for most of its time. The attacks come
        // after the check of its instructions, which waits for it.
        let mut begun = Begun {
            release: chosen.contains(&Step::Asm).then(Build::begin),
            packages: chosen.contains(&Step::Python).then(Python::install),
        };
        steps::run("test", &chosen, |step| step.run(&mut begun))
    }

    /// The steps to run, in their order.
    fn chosen(&self) -> Vec<Step> {
        let is_chosen =
            |step: &Step| !self.skip.contains(step) && (self.only.is_empty() || self.only.contains(step));
        Step::value_variants().iter().copied().filter(is_chosen).collect()
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
            Self::Fmt => {
                let workspace = cargo("fmt --all --check");
                let fuzz = cargo("fmt --manifest-path proof/fuzz/libfuzzer/Cargo.toml --check");
                workspace.and(fuzz).into()
            }
            Self::Prose => prose::check(),
            Self::Style => Style {}.run(),
            Self::Clippy => cargo("clippy --workspace --all-targets --all-features -- -D warnings").into(),
            Self::Tests => tests(),
            Self::Doctests => cargo("test --workspace --all-features --doc --no-fail-fast").into(),
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
            Self::Interop => Interop::ALL.run(),
            Self::Asm => begun.release.take().unwrap_or_else(Build::begin).and_then(Build::check).into(),
            Self::Attack => Attack::quick().run(),
        }
    }
}

/// Tools of the tests: of the mca probe, and of tables in other languages under audit. Without one, its tests
/// print so and pass, and the other tests run.
const TOOLS: [Need; 3] = [
    Need {
        name: "llvm-mca",
        probe: &["llvm-mca", "--version"],
        install: "apt-get update && apt-get install --yes llvm",
    },
    need::GO,
    need::PYTHON,
];

fn tests() -> Outcome {
    match need::meet(&TOOLS) {
        Err(Outcome::Failed(why)) => return Outcome::Failed(why),
        Err(Outcome::Skipped(why)) => println!("without the tests that need it: {why}"),
        Ok(()) | Err(Outcome::Passed) => {}
    }
    let mut tests =
        run::command(&["cargo", "test", "--workspace", "--all-features", "--tests", "--no-fail-fast"]);
    run::show(tests.env("RUST_TEST_THREADS", threads().to_string())).into()
}

/// Tests at a time: two a core, as many of them wait for a process.
fn threads() -> usize {
    2 * thread::available_parallelism().map_or(1, NonZero::get)
}

fn cargo(words: &str) -> Result<(), String> {
    let words: Vec<&str> = ["cargo"].into_iter().chain(words.split(' ')).collect();
    run::show(&mut run::command(&words))
}
