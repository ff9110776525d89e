//! `cargo xtask test`

use crate::need::{self, Need};
use crate::prose::{self, style::Style};
use crate::run::{self, Outcome};
use crate::steps;
use crate::suite;
use clap::{Args, ValueEnum};

/// Run formatting, lints and all Rust tests
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
  cargo xtask ci                            these and all other checks
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
}

impl Test {
    /// All steps.
    pub(crate) const fn all() -> Self {
        Self { only: Vec::new(), skip: Vec::new() }
    }

    pub(crate) fn run(&self) -> Outcome {
        let is_chosen =
            |step: &&Step| !self.skip.contains(step) && (self.only.is_empty() || self.only.contains(step));
        steps::run("test", Step::value_variants().iter().filter(is_chosen), Step::run)
    }
}

impl Step {
    fn run(self) -> Outcome {
        match self {
            Self::Fmt => {
                let workspace = run::cargo("fmt --all --check");
                let fuzz = run::cargo("fmt --manifest-path proof/fuzz/libfuzzer/Cargo.toml --check");
                workspace.and(fuzz).into()
            }
            Self::Prose => prose::check(),
            Self::Style => Style {}.run(),
            Self::Clippy => {
                run::cargo("clippy --workspace --all-targets --all-features -- -D warnings").into()
            }
            Self::Tests => tests(),
        }
    }
}

/// Tools of the tests: of the mca probe, of tables in other languages under audit, of builds that run it,
/// name servers with hostile answers, the public suffix list, and a browser for pages. Without one, its tests
/// print so and pass, and the other tests run.
const TOOLS: [Need; 9] = [
    Need {
        name: "llvm-mca",
        probe: &["llvm-mca", "--version"],
        install: "apt-get update && apt-get install --yes llvm",
    },
    need::GO,
    need::PYTHON,
    need::NAMED,
    need::UNBOUND,
    Need {
        name: "cmake",
        probe: &["cmake", "--version"],
        install: "apt-get update && apt-get install --yes cmake",
    },
    Need {
        name: "meson",
        probe: &["meson", "--version"],
        install: "apt-get update && apt-get install --yes meson",
    },
    Need {
        name: "chromium",
        probe: &["chromium", "--version"],
        install: "apt-get update && apt-get install --yes chromium",
    },
    Need {
        name: "publicsuffix",
        probe: &["test", "-f", "/usr/share/publicsuffix/public_suffix_list.dat"],
        install: "apt-get update && apt-get install --yes publicsuffix",
    },
];

fn tests() -> Outcome {
    match need::meet(&TOOLS) {
        Err(Outcome::Failed(why)) => return Outcome::Failed(why),
        Err(Outcome::Skipped(why)) => println!("without the tests that need it: {why}"),
        Ok(()) | Err(Outcome::Passed) => {}
    }
    suite::run(false).into()
}
