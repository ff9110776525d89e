//! Replays the corpus of each fuzz target in `cargo test`, with all inputs that once broke it, and runs
//! inputs that are mutated from it.

use fuzz::forwarder::{INDEXES, check_forwarder_under};
use fuzz::mutate::Mutator;
use std::collections::BTreeSet;
use std::fs;
use std::panic::{catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// Makes a test of each target.
macro_rules! replay {
    ($($target:ident),* $(,)?) => {
        /// Names of all targets.
        const NAMES: &[&str] = &[$(stringify!($target)),*];

        $(#[test]
        fn $target() {
            replay_corpus(stringify!($target), fuzz::targets::$target);
        })*
    };
}

fuzz::with_targets!(replay);

/// Number of mutated inputs of each target, unless the variable `FUZZ_INPUTS` has another.
const MUTATED: usize = 200;

/// Runs `check` on every input of a target's corpus, which must not be empty, and on mutated ones.
fn replay_corpus(target: &str, check: fn(&[u8])) {
    let folder = Path::new(FOLDER).join("corpus").join(target);
    let entries = fs::read_dir(&folder).expect("a folder of inputs");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an input").path()).collect();
    // The mutated inputs are the same on every machine.
    paths.sort();
    let (mut inputs, start) = (Vec::new(), Clock::start());
    for path in paths {
        let bytes = fs::read(&path).expect("a readable input");
        // Printed only after a failure: the input that caused it.
        println!("{}", path.display());
        check(&bytes);
        inputs.push(bytes);
    }
    assert!(!inputs.is_empty(), "no inputs in {}", folder.display());
    let rate = start.rate(inputs.len());
    println!("{target}: {} inputs of the corpus, {rate:.0} a second", inputs.len());
    run_mutated(target, check, &inputs);
}

fn run_mutated(target: &str, check: fn(&[u8]), inputs: &[Vec<u8>]) {
    let (count, seed) = (variable("FUZZ_INPUTS", MUTATED), variable("FUZZ_SEED", 1));
    let mut mutator = Mutator::new(seed as u64);
    let start = Clock::start();
    for number in 0..count {
        let input = mutator.mutate(inputs);
        if let Err(finding) = catch_unwind(|| check(&input)) {
            let hex: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
            println!("mutated input {number} of seed {seed} broke {target}: {hex}");
            resume_unwind(finding);
        }
    }
    let rate = start.rate(count);
    println!("{target}: {count} mutated inputs, {rate:.0} a second");
}

/// Clock of the CPU time of this thread, as others load the machine; of the time of day where the system has
/// none.
struct Clock(Instant, Option<u64>);

impl Clock {
    fn start() -> Self {
        Self(Instant::now(), cpu_time())
    }

    /// Inputs a second.
    fn rate(&self, inputs: usize) -> f64 {
        let seconds = match (self.1, cpu_time()) {
            // The kernel updates it with every tick.
            (Some(before), Some(now)) if before < now => (now - before) as f64 / 1e9,
            _ => self.0.elapsed().as_secs_f64(),
        };
        inputs as f64 / seconds
    }
}

/// CPU time of this thread in nanoseconds, as Linux counts it.
fn cpu_time() -> Option<u64> {
    fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().next()?.parse().ok()
}

/// Value of an environment variable, which must be a number.
fn variable(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

/// The target runs each input under one index only.
#[test]
fn ndn_forwarder_under_every_index() {
    for entry in fs::read_dir(Path::new(FOLDER).join("corpus/ndn_forwarder")).expect("a folder of inputs") {
        let path = entry.expect("an input").path();
        let bytes = fs::read(&path).expect("a readable input");
        println!("{}", path.display());
        (0..INDEXES).for_each(|index| check_forwarder_under(&bytes, index));
    }
}

#[test]
fn every_target_has_a_corpus_and_a_program_under_libfuzzer() {
    let listed: BTreeSet<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(files(&Path::new(FOLDER).join("corpus"), ""), listed);
    assert_eq!(files(&Path::new(FOLDER).join("libfuzzer/fuzz_targets"), ".rs"), listed);
    let manifest = fs::read_to_string(Path::new(FOLDER).join("libfuzzer/Cargo.toml")).expect("a manifest");
    let programs = manifest.lines().filter_map(|line| line.strip_prefix("path = \"fuzz_targets/"));
    let programs = programs.filter_map(|line| line.strip_suffix(".rs\"")).map(str::to_owned);
    assert_eq!(programs.collect::<BTreeSet<_>>(), listed);
}

/// Names of the entries of a folder, without `suffix`.
fn files(folder: &Path, suffix: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    names.map(|name| name.strip_suffix(suffix).expect("the suffix of its kind").to_owned()).collect()
}
