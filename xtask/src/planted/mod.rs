//! `cargo xtask planted`

mod busy;
mod tally;

use crate::run::{self, Outcome};
use busy::Busy;
use clap::Args;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tally::{Found, Tally};

/// Check that `hashlane compare` finds a planted slow-down, and no other
///
/// Builds the command once, with a slow-down of one scheme that is not shipped, and compares the build with
/// itself: with the slow-down in B, and without. Criterion: of 20 runs of at most 60 s, 19 call the
/// slow-down, and without it at most 1 calls any row. Beside busy loops, no run calls a row wrongly.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Planted {
    /// Runs with the slow-down, and as many without
    #[arg(long, default_value_t = 20)]
    runs: usize,
    /// The slow-down, in per cent
    #[arg(long, default_value_t = 3.0)]
    percent: f64,
    /// Seconds of a run
    #[arg(long, default_value_t = 55)]
    time: u64,
    /// Busy loops beside the runs
    #[arg(long, value_name = "N", default_value_t = 0)]
    busy: usize,
}

const EXAMPLES: &str = "\
Takes about 15 minutes on an idle machine, and twice as long beside busy loops.

Examples:
  cargo xtask planted
  cargo xtask planted --busy 2
  cargo xtask planted --runs 2 --percent 20 --time 10";

/// The scheme that is slowed down.
const SCHEME: &str = "jhash/single";

/// The schemes that are compared: its reference, and one in bursts.
const SCHEMES: [&str; 3] = ["base/single", SCHEME, "siphash-1-3/burst"];

impl Planted {
    pub(crate) fn run(&self) -> Outcome {
        self.measure().into()
    }

    fn measure(&self) -> Result<(), String> {
        let command = build()?;
        let folder = command.parent().unwrap_or(Path::new(".")).join("scripts");
        // The environment is of one length in both, as it moves the stack.
        let without = script(&folder, "without", &command, 0.0)?;
        let again = script(&folder, "again", &command, 0.0)?;
        let with = script(&folder, "with", &command, self.percent)?;

        let busy = Busy::start(self.busy).map_err(|error| format!("cannot start a busy loop: {error}"))?;
        let mut planted = Tally::default();
        let mut equal = Tally::default();
        for run in 1..=self.runs {
            for (percent, b, tally) in [(self.percent, &with, &mut planted), (0.0, &again, &mut equal)] {
                let begun = Instant::now();
                let found = self.compare(&command, [&without, b])?;
                let seconds = begun.elapsed().as_secs_f64();
                println!("run {run} of {}, {percent} %: {found}; {seconds:.0} s", self.runs);
                tally.add(&found, percent > 0.0, seconds);
            }
        }
        drop(busy);
        println!("\n{}", tally::table(self.percent, self.busy, &planted, &equal));
        tally::criterion(self.busy, &planted, &equal)
    }

    /// One run of `hashlane compare`.
    fn compare(&self, command: &Path, [a, b]: [&Path; 2]) -> Result<Found, String> {
        let mut compare = std::process::Command::new(command);
        compare.arg("compare").arg("--run").args([a, b]).args(["flow-hash", "--export", "json"]);
        compare.args(["--time", &self.time.to_string()]);
        compare.args(SCHEMES.iter().flat_map(|scheme| ["--scheme", scheme]));
        let output = compare.output().map_err(|error| format!("{}: {error}", command.display()))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
        Found::parse(&output.stdout, SCHEME)
    }
}

/// Builds the command with the slow-down, in a separate target directory.
fn build() -> Result<PathBuf, String> {
    let target = run::root().join("target/planted");
    let words = ["cargo", "build", "--profile", "planted", "--package", "hashlane"];
    let mut cargo = run::command(&words);
    cargo.args(["--features", "hashlane-study-flows/plant", "--target-dir"]).arg(&target);
    run::show(&mut cargo)?;
    Ok(target.join("planted").join("hashlane"))
}

/// A script that runs the command with a slow-down.
fn script(folder: &Path, name: &str, command: &Path, percent: f64) -> Result<PathBuf, String> {
    let path = folder.join(name);
    let text =
        format!("#!/bin/sh\nHASHLANE_PLANT={SCHEME}={percent:05.1} exec '{}' \"$@\"\n", command.display());
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, text))
        .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)));
    written.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}
