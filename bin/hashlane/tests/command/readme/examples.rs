//! The examples in Rust, in a package as its reader has one.

use super::{blocks, page};
use hashlane_rig::command::Folder;
use std::path::Path;
use std::process::Command;

/// Calls the examples.
const MAIN: &str = "
use hashlane_flow::tuple::Tuple;

mod flows;
mod names;

fn main() {
    names::hash_every_prefix().unwrap();
    // The table is read 300 s after the packets: no flow stays.
    assert_eq!(flows::receive(&[Tuple::CHECK, Tuple::CHECK.reversed(), Tuple::CHECK]).unwrap(), 0);
}
";

#[test]
fn the_examples_in_rust_compile_and_run_with_the_dependencies_that_the_page_names() {
    let page = page("crates.md");
    let [dependencies] = blocks(page, "toml")[..] else { panic!("one block of dependencies:\n{page}") };
    let [names, flows] = blocks(page, "rust")[..] else { panic!("two examples in Rust") };

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository");
    let core = root.join("core");
    let dependencies = dependencies.replace("hashlane/core", &core.display().to_string());
    let folder = Folder::new();
    std::fs::create_dir(folder.path("src")).unwrap();
    folder.write(
        "Cargo.toml",
        format!("[package]\nname = \"reader\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{dependencies}"),
    );
    // The releases that are there: the package is built without a network.
    std::fs::copy(root.join("Cargo.lock"), folder.path("Cargo.lock")).unwrap();
    folder.write("src/main.rs", MAIN);
    for (file, example) in [("src/names.rs", names), ("src/flows.rs", flows)] {
        folder.write(file, example.replace("\nfn ", "\npub fn "));
    }

    let ran = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(["run", "--offline", "--quiet", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme"))
        .current_dir(folder.path(""))
        // The test waits for the compiler.
        .envs([("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "false")])
        .output()
        .expect("cargo");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}
