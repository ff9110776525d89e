//! The examples of `hashlane-audit` in C, Rust, Go and Python under `hashlane audit`: one verdict for all.

use super::audit;
use hashlane_rig::command::{Folder, Ran};
use hashlane_rig::namespace::is_installed;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const AUDIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/audit");

/// Verdict of the command: its exit code, its word, and the attacks that flood.
#[derive(Debug, PartialEq)]
struct Verdict {
    code: Option<i32>,
    word: String,
    /// Attack, knowledge, and entries compared by a lookup: for functions, these depend on the name.
    floods: Vec<(String, String, Value)>,
}

impl Verdict {
    #[track_caller]
    fn of(code: Option<i32>, json: &str) -> Self {
        let document: Value = serde_json::from_str(json).unwrap();
        let audited = &document["audited"][0];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let attacks = audited["attacks"].as_array().unwrap().iter();
        let floods = attacks.filter(|attack| !attack["flood"].is_null()).map(|attack| {
            (text(&attack["id"]), text(&attack["needs"]), attack["flood"]["entries_compared"].clone())
        });
        Self { code, word: text(&audited["verdict"]), floods: floods.collect() }
    }

    /// Attacks that flood without the seed, or all.
    fn ids(&self, all: bool) -> Vec<&str> {
        let floods = self.floods.iter().filter(|(_, needs, _)| all || needs == "nothing");
        floods.map(|(id, ..)| id.as_str()).collect()
    }
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn of_c(folder: &Folder) -> [PathBuf; 2] {
    [("weak.so", &["-DWEAK"][..]), ("good.so", &[])].map(|(name, defines)| {
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-shared", "-fPIC", "-I"]).arg(format!("{AUDIT}/include")).args(defines);
        run(compiler.arg("-o").arg(folder.path(name)).arg(format!("{AUDIT}/examples/c/flow_table.c")));
        folder.path(name)
    })
}

/// Shared objects of the Rust examples, beside the command; built if they are not there.
fn of_rust(_: &Folder) -> [PathBuf; 2] {
    let profile = Path::new(env!("CARGO_BIN_EXE_hashlane")).parent().unwrap();
    ["flow_table_weak", "flow_table"].map(|name| {
        let path = profile.join(format!("examples/lib{name}.so"));
        if !path.exists() {
            let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.current_dir(AUDIT).args(["build", "--package", "hashlane-audit", "--example", name]);
            run(cargo.arg("--target-dir").arg(profile.parent().unwrap()));
        }
        path
    })
}

fn of_go(folder: &Folder) -> [PathBuf; 2] {
    [("weak.so", &["-tags", "weak"][..]), ("good.so", &[])].map(|(name, tags)| {
        let path = folder.path(name);
        let mut go = Command::new("go");
        go.args(["build", "-buildmode=c-shared"]).args(tags).arg("-o").arg(&path).arg(".");
        go.current_dir(format!("{AUDIT}/examples/go"));
        run(go.env("CGO_ENABLED", "1").env("GOTOOLCHAIN", "local").env("GOFLAGS", "-buildvcs=false"));
        path
    })
}

const OPTIONS: [&str; 5] = ["--json", "--count", "256", "--timeout", "60"];

#[track_caller]
fn verdict(folder: &Folder, arguments: &[&str]) -> Verdict {
    let (code, out, error) = audit(folder, &[arguments, &OPTIONS].concat());
    assert_ne!(out, "", "{error}");
    Verdict::of(code, &out)
}

/// Verdicts on the built-in FNV-1a and SipHash-2-4, and on the tables in C with them; made once for all
/// languages.
fn known() -> &'static [(Verdict, Verdict); 2] {
    static KNOWN: OnceLock<[(Verdict, Verdict); 2]> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let folder = Folder::new();
        let [weak, good] = of_c(&folder);
        [("fnv-1a", weak, (Some(1), "floodable")), ("siphash-2-4", good, (Some(0), "no attack known"))].map(
            |(scheme, table, expected)| {
                let known = verdict(&folder, &["--scheme", scheme]);
                assert_eq!((known.code, known.word.as_str()), expected, "{scheme}");
                (known, verdict(&folder, &["--table", table.to_str().unwrap()]))
            },
        )
    })
}

/// Asserts that the functions with FNV-1a and with SipHash-2-4 get the verdicts of the built-in ones, and the
/// tables the same verdicts as in C, to the last entry compared.
#[track_caller]
fn same_verdicts(build: fn(&Folder) -> [PathBuf; 2]) {
    let folder = Folder::new();
    for (path, (seed, (known, in_c))) in build(&folder).iter().zip(["seed", "key"].into_iter().zip(known())) {
        let path = path.to_str().unwrap();
        let signature = format!("u64(const u8* data, usize len, const u8* {seed})");
        let options = ["--library", path, "--symbol", "hash_flow", "--signature", &signature];
        let function = verdict(&folder, &options);
        let outcome = |verdict: &Verdict| (verdict.code, verdict.word.clone());
        assert_eq!(outcome(&function), outcome(known), "{path} as a function");
        assert_eq!(function.ids(true), known.ids(true), "{path} as a function");
        let table = verdict(&folder, &["--table", path]);
        assert_eq!(outcome(&table), outcome(known), "{path} as a table");
        assert!(known.ids(false).iter().all(|id| table.ids(false).contains(id)), "{path}: {table:?}");
        assert_eq!(&table, in_c, "{path} beside the table in C");
    }
}

#[test]
fn c() {
    same_verdicts(of_c);
}

#[test]
fn rust() {
    same_verdicts(of_rust);
}

#[test]
fn go() {
    if is_installed("go", "version") {
        same_verdicts(of_go);
    }
}

/// The script runs the command, and passes its JSON and its exit code on.
#[test]
fn python() {
    if !is_installed("python3", "--version") {
        return;
    }
    let folder = Folder::new();
    for (path, (code, word)) in of_c(&folder).iter().zip([(1, "floodable"), (0, "no attack known")]) {
        let mut python = Command::new("python3");
        python.arg(format!("{AUDIT}/examples/python/audit_table.py")).arg(path);
        let ran = Ran::of(python.env("HASHLANE", env!("CARGO_BIN_EXE_hashlane")));
        assert_eq!(ran.code, Some(code), "{ran:#?}");
        let verdict = Verdict::of(ran.code, &ran.out);
        assert_eq!(
            (verdict.word.as_str(), verdict.ids(false).contains(&"truncation-unkeyed")),
            (word, code == 1)
        );
    }
}
