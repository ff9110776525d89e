//! Replays the corpus of each fuzz target in `cargo test`, with all inputs that once broke it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

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

/// Runs `check` on every input of a target's corpus, which must not be empty.
fn replay_corpus(target: &str, check: fn(&[u8])) {
    let folder = Path::new(FOLDER).join("corpus").join(target);
    let mut inputs = 0;
    for entry in fs::read_dir(&folder).expect("a folder of inputs") {
        let path = entry.expect("an input").path();
        let bytes = fs::read(&path).expect("a readable input");
        // Printed only after a failure: the input that caused it.
        println!("{}", path.display());
        check(&bytes);
        inputs += 1;
    }
    assert!(inputs > 0, "no inputs in {}", folder.display());
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
