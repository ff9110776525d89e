//! `cargo xtask nightly`

use crate::attack::Attack;
use crate::book::Book;
use crate::deb::Deb;
use crate::deny::Deny;
use crate::fuzz::Fuzz;
use crate::interop::Interop;
use crate::msrv::Msrv;
use crate::python::Python;
use crate::run::{self, Outcome};
use crate::steps;
use crate::suite;
use clap::{Args, ValueEnum};

/// Run the checks that take long
///
/// The tests in their long form, model checking of threads, fuzzing, a million DNS messages with
/// rollbacks, all notebooks, the book, every interop scenario under every PIT index, the attacks in full, the
/// dependencies, and the oldest supported Rust. `cargo xtask test` runs the tests with fewer seeds and
/// replays the fuzz corpora; `cargo xtask ci` runs each scenario once and the short form of the attacks.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Nightly {
    /// Run only this step (repeatable)
    #[arg(long, value_enum, value_name = "STEP")]
    only: Vec<Step>,
    /// Seconds for each fuzz target
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask nightly                             all steps: about three and a half hours
  cargo xtask nightly --seconds 10                all steps, with little fuzzing: about 45 minutes
  cargo xtask nightly --only loom";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Licenses, sources and known vulnerabilities of the dependencies
    Deny,
    /// The oldest supported Rust
    Msrv,
    /// The command without the DNS renderers of other projects
    Least,
    /// All Rust tests with HASHLANE_LONG=1: ten times the seeds, larger inputs
    Long,
    /// The sleep of forwarding threads, in every order of the threads' steps
    Loom,
    /// A million DNS messages with rollbacks, by the renderer and by the composer
    Rollback,
    /// Ten million mutated DNS messages in search of the one that costs the renderer most
    Worst,
    /// The Python package with every supported Python that is installed, from its source distribution, and
    /// all notebooks
    Python,
    /// The documentation as a book, with every link of its pages
    Book,
    /// The Debian packages, installed and purged in a fresh Debian
    Deb,
    /// Every interop scenario, under every PIT index
    Interop,
    /// The release build under every attack, in full
    Attack,
    /// Every fuzz target, --seconds each
    Fuzz,
}

impl Nightly {
    pub(crate) fn run(&self) -> Outcome {
        let chosen =
            Step::value_variants().iter().filter(|step| self.only.is_empty() || self.only.contains(step));
        steps::run("nightly", chosen, |step| match step {
            Step::Deny => Deny {}.run(),
            Step::Msrv => Msrv {}.run(),
            Step::Least => least().into(),
            Step::Long => suite::run(true).into(),
            Step::Loom => loom().into(),
            Step::Rollback => rollback().into(),
            Step::Worst => worst().into(),
            Step::Python => Python::installed().run(),
            Step::Book => Book {}.run(),
            Step::Deb => Deb::tried().run(),
            Step::Interop => Interop::EVERY_INDEX.run(),
            Step::Attack => Attack::full().run(),
            Step::Fuzz => Fuzz { targets: Vec::new(), seconds: self.seconds, inputs: None, seed: 1 }.run(),
        })
    }
}

/// Checks the command without its default features, which are other features of nearly all dependencies.
fn least() -> Result<(), String> {
    let words = ["cargo", "clippy", "--package", "hashlane", "--no-default-features", "--", "-D", "warnings"];
    run::show(&mut run::command(&words))
}

/// Checks the models of the sleep of forwarding threads. Their compiler flag changes every dependency, hence
/// a separate target directory.
fn loom() -> Result<(), String> {
    let dir = run::target_dir()?.join("loom");
    let mut models = run::command(&["cargo", "test", "--package", "hashlane-ndn-fw", "--lib", "models::"]);
    run::show(models.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", dir))
}

/// Checks the properties of rollbacks over a million cases each. A case is two messages of the renderer and
/// at least one of the composer, or one target of the composer that is cut anywhere.
fn rollback() -> Result<(), String> {
    let words = ["cargo", "test", "--package", "hashlane-dns", "--features", "domain", "--test", "dns"];
    let mut properties = run::command(&words);
    run::show(properties.args(["rollback::"]).env("PROPTEST_CASES", "1000000"))
}

/// Searches for the DNS messages that cost the renderer and the reader most for each byte. It fails if one
/// costs more than four times the ordinary answer, which the load of the machine can cause: the searches time
/// small messages.
fn worst() -> Result<(), String> {
    for example in ["worst_message", "worst_reading"] {
        let words = ["cargo", "run", "--release", "--package", "hashlane-study-dns", "--example", example];
        run::show(run::command(&words).args(["--", "--messages", "10000000"]))?;
    }
    Ok(())
}
