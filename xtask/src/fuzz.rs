//! `cargo xtask fuzz`

use crate::need::{self, Need};
use crate::run::{self, Outcome};
use clap::Args;
use serde::Deserialize;
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// Run the fuzz targets
///
/// Builds the targets of proof/fuzz/ once and runs one after the other, each on a copy of its committed
/// corpus in the target directory. Inputs that break a target are kept there, and printed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Fuzz {
    /// Targets to run [default: all]
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Seconds for each target
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) seconds: u32,
    /// Mutated inputs for each target, without libFuzzer: prints the inputs a second
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    pub(crate) inputs: Option<u32>,
    /// Seed of the mutations
    #[arg(long, value_name = "N", default_value_t = 1, requires = "inputs")]
    pub(crate) seed: u32,
}

const EXAMPLES: &str = "\
Needs a nightly toolchain, cargo-fuzz and a C++ compiler; with CI=true, installs what is missing. With
--inputs it needs none of them: the inputs are mutated without regard to coverage, the same for each seed.

Examples:
  cargo xtask fuzz                            every target, 10 seconds each
  cargo xtask fuzz name_ndn --seconds 600     one target, ten minutes
  cargo xtask fuzz ndn_rib --inputs 100000    one target, 100,000 mutated inputs";

/// Longest input, in bytes: above the longest name, so that inputs cross its limit.
const MAX_LEN: u32 = 70_000;
/// Memory limit of a target, in MiB.
const MEMORY: u32 = 2048;
/// Time limit of one input, in seconds.
const TIMEOUT: u32 = 10;

impl Fuzz {
    pub(crate) fn run(&self) -> Outcome {
        if let Some(inputs) = self.inputs {
            return self.mutate(inputs).into();
        }
        match need::meet(&NEEDS) {
            Ok(()) => self.fuzz().into(),
            Err(outcome) => outcome,
        }
    }

    /// Runs the test of each target, which replays its corpus, with this number of mutated inputs.
    fn mutate(&self, inputs: u32) -> Result<(), String> {
        let test = ["cargo", "test", "--profile", "fuzz", "-p", "hashlane-fuzz", "--test", "corpus", "--"];
        let mut command = run::command(&test);
        // One after the other, so that the rates hold for one core.
        command.args(["--exact", "--nocapture", "--test-threads", "1"]).args(self.chosen()?);
        command.env("FUZZ_INPUTS", inputs.to_string()).env("FUZZ_SEED", self.seed.to_string());
        run::show(&mut command)
    }

    fn fuzz(&self) -> Result<(), String> {
        let targets = self.chosen()?;
        let dir = run::target_dir()?.join("fuzz");
        let host = host()?;
        let build =
            ["rustup", "run", "nightly", "cargo", "fuzz", "build", "--fuzz-dir", "proof/fuzz/libfuzzer"];
        run::show(run::command(&build).args(["--target", &host, "--target-dir"]).arg(&dir))?;

        let mut broken = Vec::new();
        for target in targets {
            let program = dir.join(&host).join("release").join(&target);
            if let Err(why) = self.fuzz_target(&program, &target, &dir.join("run").join(&target)) {
                eprintln!("{why}");
                broken.push(target);
            }
        }
        if broken.is_empty() { Ok(()) } else { Err(format!("broken: {}", broken.join(", "))) }
    }

    /// Runs one target. Keeps its output in `scratch`, and prints it after a finding.
    fn fuzz_target(&self, program: &Path, target: &str, scratch: &Path) -> Result<(), String> {
        let corpus = scratch.join("corpus");
        copy_corpus(&run::root().join("proof/fuzz/corpus").join(target), &corpus)
            .map_err(|error| format!("the corpus of {target}: {error}"))?;
        let log = scratch.join("log");
        let output = fs::File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let mut command = run::command(&[program]);
        command.arg(format!("-max_total_time={}", self.seconds));
        command.args([format!("-max_len={MAX_LEN}"), format!("-rss_limit_mb={MEMORY}")]);
        command.args([format!("-timeout={TIMEOUT}"), "-print_final_stats=1".to_owned()]);
        command.arg(format!("-artifact_prefix={}/", scratch.display()));
        let result = run::show(command.arg(&corpus).stdout(Stdio::null()).stderr(output));

        let said = fs::read(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let said = String::from_utf8_lossy(&said);
        match &result {
            Ok(()) => {
                let runs = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
                println!("{target}: {} inputs, no findings", runs.map_or("no", str::trim));
            }
            Err(_) => println!("{said}"),
        }
        result
    }

    /// The targets to run.
    fn chosen(&self) -> Result<Vec<String>, String> {
        let all = targets()?;
        if self.targets.is_empty() {
            return Ok(all);
        }
        match self.targets.iter().find(|target| !all.contains(target)) {
            Some(unknown) => Err(format!("no fuzz target {unknown:?}; the targets are {}", all.join(", "))),
            None => Ok(self.targets.clone()),
        }
    }
}

const NEEDS: [Need; 3] = [
    Need {
        name: "a nightly toolchain",
        probe: &["rustup", "run", "nightly", "rustc", "--version"],
        install: "rustup toolchain install nightly --profile minimal",
    },
    Need {
        name: "cargo-fuzz",
        probe: &["cargo", "fuzz", "--version"],
        install: "cargo install cargo-fuzz --locked",
    },
    Need {
        name: "a C++ compiler",
        probe: &["c++", "--version"],
        install: "apt-get update && apt-get install --yes g++",
    },
];

/// The targets in `proof/fuzz/libfuzzer/Cargo.toml`.
fn targets() -> Result<Vec<String>, String> {
    #[derive(Deserialize)]
    struct Manifest {
        bin: Vec<Target>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
    }
    let path = run::root().join("proof/fuzz/libfuzzer/Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let manifest: Manifest = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(manifest.bin.into_iter().map(|target| target.name).collect())
}

/// Replaces the folder `to` by a copy of the files in `from`, which may be missing.
fn copy_corpus(from: &Path, to: &Path) -> std::io::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    if from.exists() {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// The target triple of this machine.
fn host() -> Result<String, String> {
    let output = run::command(&["rustc", "-vV"]).output().map_err(|error| format!("`rustc -vV`: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "`rustc -vV` names no host".to_owned())
}
