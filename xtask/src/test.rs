//! `cargo xtask test`

use crate::asm::Build;
use crate::fuzz::Fuzz;
use crate::interop::Interop;
use crate::need::{self, Need};
use crate::run::{self, Outcome};
use clap::{Args, ValueEnum};
use std::time::Instant;

/// Run everything that a change must pass
///
/// Every step is run, whatever became of those before it; the summary stands at the end. A step that lacks a tool says
/// which command installs it and is skipped; with CI=true the tool is installed, and a step that cannot run has failed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Test {
    /// Run this step; may be given several times
    #[arg(long, value_enum, value_name = "STEP", conflicts_with = "skip")]
    only: Vec<Step>,
    /// Leave this step out; may be given several times
    #[arg(long, value_enum, value_name = "STEP")]
    skip: Vec<Step>,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask test                          all steps, in the order above
  cargo xtask test --only fmt --only clippy
  cargo xtask test --skip asm --skip fuzz   what needs no release build and no nightly compiler
  CI=true cargo xtask test                  install what is missing; skip nothing";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Step {
    /// The layout of the code, in the workspace and in fuzz/
    Fmt,
    /// Clippy, warnings denied
    Clippy,
    /// Unit and property tests and those of the command
    Tests,
    /// The examples in the documentation
    Doctests,
    /// The documentation itself, warnings denied
    Doc,
    /// Our DNS messages in the eyes of dig, and NDN libraries and tools of others on our forwarder
    Interop,
    /// What several threads share, in every order of their steps
    Loom,
    /// Every fuzz target, for 6 seconds
    Fuzz,
    /// The instructions of the functions that are timed, in a release build that is begun two steps before
    Asm,
}

impl Test {
    pub(crate) fn run(&self) -> Outcome {
        let mut summary = String::new();
        let mut failed = Vec::new();
        let chosen = self.chosen();
        // Begun with the steps that it cannot disturb.
        let mut release = None;
        for &step in &chosen {
            if step >= Step::Loom && release.is_none() && chosen.contains(&Step::Asm) {
                release = Some(Build::begin());
            }
            let name = format!("{step:?}").to_lowercase();
            println!("\n== {name}");
            let start = Instant::now();
            let outcome = step.run(&mut release);
            let seconds = start.elapsed().as_secs_f64();
            let (mark, why) = match outcome {
                Outcome::Passed => ("ok", String::new()),
                Outcome::Skipped(why) => ("skipped", why),
                Outcome::Failed(why) => {
                    failed.push(name.clone());
                    ("FAILED", why)
                }
            };
            let row = format!("{mark:<7}  {name:<8}  {seconds:>6.1} s  {why}");
            println!("-- {}", row.trim_end());
            summary.push_str(&format!("  {}\n", row.trim_end()));
        }
        print!("\ncargo xtask test\n{summary}");
        if failed.is_empty() { Outcome::Passed } else { Outcome::Failed(failed.join(", ")) }
    }

    /// The steps to run, in their order.
    fn chosen(&self) -> Vec<Step> {
        let is_chosen =
            |step: &Step| !self.skip.contains(step) && (self.only.is_empty() || self.only.contains(step));
        Step::value_variants().iter().copied().filter(is_chosen).collect()
    }
}

impl Step {
    /// Runs it; `release` is the release build where that was begun.
    fn run(self, release: &mut Option<Result<Build, String>>) -> Outcome {
        match self {
            Self::Fmt => {
                let workspace = cargo("fmt --all --check");
                let fuzz = cargo("fmt --manifest-path fuzz/Cargo.toml --check");
                workspace.and(fuzz).into()
            }
            Self::Clippy => cargo("clippy --workspace --all-targets --all-features -- -D warnings").into(),
            Self::Tests => tests(),
            Self::Doctests => cargo("test --workspace --all-features --doc --no-fail-fast").into(),
            Self::Doc => {
                let mut doc = run::command(&["cargo", "doc", "--workspace", "--all-features", "--no-deps"]);
                run::show(doc.env("RUSTDOCFLAGS", "-D warnings")).into()
            }
            Self::Interop => Interop::ALL.run(),
            Self::Loom => loom().into(),
            Self::Fuzz => Fuzz { targets: Vec::new(), seconds: 6 }.run(),
            Self::Asm => release.take().unwrap_or_else(Build::begin).and_then(Build::check).into(),
        }
    }
}

/// The tests of the mca probe run llvm-mca. Where it is missing and not installed they say so and pass, and the other
/// tests are run all the same.
const LLVM: [Need; 1] = [Need {
    name: "llvm-mca",
    probe: &["llvm-mca", "--version"],
    install: "apt-get update && apt-get install --yes llvm",
}];

fn tests() -> Outcome {
    match need::meet(&LLVM) {
        Err(Outcome::Failed(why)) => return Outcome::Failed(why),
        Err(Outcome::Skipped(why)) => println!("without the tests that run it: {why}"),
        Ok(()) | Err(Outcome::Passed) => {}
    }
    cargo("test --workspace --all-features --lib --bins --tests --no-fail-fast").into()
}

/// The models of the shared table. Their flag changes every crate that they need: so they are built in a folder apart.
fn loom() -> Result<(), String> {
    let dir = run::target_dir()?.join("loom");
    let mut models = run::command(&["cargo", "test", "--package", "hashlane-table", "--lib", "models::"]);
    run::show(models.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", dir))
}

fn cargo(words: &str) -> Result<(), String> {
    let words: Vec<&str> = ["cargo"].into_iter().chain(words.split(' ')).collect();
    run::show(&mut run::command(&words))
}
