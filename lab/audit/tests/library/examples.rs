//! The flow tables of `examples/`, each with a weak and with a good hash: all languages give the same
//! verdicts.

use crate::support::{LIMIT, Object, example, flood, launcher, run};
use hashlane_audit::library::{Library, Table};
use hashlane_audit::subject::{AuditedHash, Lengths};
use hashlane_hash::scheme::{BytesHash, Key, Scheme};
use hashlane_hash::siphash::SipHash24;
use hashlane_rig::namespace::is_installed;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Warnings of the C compiler are errors in our own files.
const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// Asserts the verdicts of a weak and of a good table.
#[track_caller]
fn judged(weak: &Path, good: &Path) {
    let (hostile, random) = flood();
    for (path, flooded) in [(weak, true), (good, false)] {
        let mut table = Table::load(launcher(), path, LIMIT).unwrap();
        let compared = table.compare(&Key::VECTOR, true, 0, &hostile, &random).unwrap();
        assert_eq!(compared.is_flooded(), flooded, "{}: {:?}", path.display(), compared.lookup_compared());
        assert!(compared.lookup_compared().is_some());
        let complete = |sample: &hashlane_audit::library::Sample| sample.found == sample.looked_up;
        assert!(compared.pairs.iter().all(|pair| pair.0.samples.iter().all(complete)));
        let held = compared.pairs[0].0.samples.last().map(|sample| sample.len);
        assert_eq!(held, Some(hostile.len() as u64));
    }
}

#[test]
fn c() {
    let file = example("c/flow_table.c");
    let [weak, good] =
        [&["-DWEAK"][..], &[]].map(|defines| Object::from_file(&file, &[defines, &WARNINGS].concat()));
    judged(&weak.path(), &good.path());
    // The hash of the good one is SipHash-2-4.
    let signature =
        "uint64_t hash_flow(const uint8_t *data, size_t len, const uint8_t *seed)".parse().unwrap();
    let mut library =
        Library::load(launcher(), &good.path(), "hash_flow", &signature, Lengths::Any, LIMIT).unwrap();
    let keys: hashlane_audit::keys::Keys = (0..64).map(|len| vec![len; usize::from(len)]).collect();
    let mut hashes = Vec::new();
    library.hash_all(&Key::VECTOR, &keys, &mut hashes).unwrap();
    let siphash = SipHash24::new(&Key::VECTOR);
    assert!(keys.iter().map(|key| siphash.hash(key)).eq(hashes));
}

/// Path of a shared object of an example of this crate, which is built if it is not there.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(Path::parent).unwrap();
    let path = target.join(format!("examples/lib{name}.so"));
    if !path.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut cargo = Command::new(cargo);
        cargo.args(["build", "--package", "hashlane-audit", "--example", name, "--target-dir"]);
        run(cargo.arg(target.parent().unwrap()));
    }
    path
}

#[test]
fn rust() {
    judged(&built("flow_table_weak"), &built("flow_table"));
}

#[test]
fn go() {
    if !is_installed("go", "version") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let [weak, good] = [("weak", &["-tags", "weak"][..]), ("good", &[])].map(|(name, tags)| {
        let path = folder.path().join(name).with_extension("so");
        let mut go = Command::new("go");
        go.args(["build", "-buildmode=c-shared"]).args(tags).arg("-o").arg(&path).arg(".");
        run(go.current_dir(example("go")).env("CGO_ENABLED", "1").env("GOTOOLCHAIN", "local"));
        path
    });
    judged(&weak, &good);
}

#[test]
fn python() {
    if !is_installed("python3", "--version") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let (hostile, _) = flood();
    let file = folder.path().join("keys.txt");
    let hex = |key: &[u8]| key.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
    let lines = hostile.iter().map(hex).collect::<String>();
    std::fs::write(&file, format!("# fnv-1a: floodable\n{lines}")).unwrap();
    for (defines, status, verdict) in [(&["-DWEAK"][..], 1, "floodable"), (&[], 0, "not flooded")] {
        let object = Object::from_file(&example("c/flow_table.c"), defines);
        let mut python = Command::new("python3");
        python.arg(example("python/audit_table.py")).arg(object.path()).arg("--keys").arg(&file);
        let output = python.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        assert!(said.contains(verdict), "{said}");
    }
    // A library without a table: the status differs from a flooded table's.
    let none = Object::of("int f;");
    let mut python = Command::new("python3");
    let output =
        python.arg(example("python/audit_table.py")).arg(none.path()).arg("--keys").arg(&file).output();
    assert_eq!(output.unwrap().status.code(), Some(2));
}
