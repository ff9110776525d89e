//! The snippets and the action of docs/audit-builds.md, each with a function that can be flooded and one that
//! cannot.

use hashlane_rig::command::{Folder, Ran, holds};
use hashlane_rig::namespace::is_installed;
use std::path::{Path, PathBuf};
use std::process::Command;
use yaml_rust2::{Yaml, YamlLoader};

const PAGE: &str = include_str!("../../../../../docs/audit-builds.md");
const ACTION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.github/actions/audit");
const AUDIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/audit");
const SIGNATURE: &str = "u64(const u8* data, usize len, const u8* key)";

/// The block of the page in this language.
fn snippet(language: &str) -> &'static str {
    let (_, after) = PAGE.split_once(&format!("```{language}\n")).unwrap();
    after.split_once("```").unwrap().0
}

/// `flows.c`: SipHash-2-4, or FNV-1a, which ignores its key.
fn write_flows(folder: &Folder, is_weak: bool) {
    let weak = if is_weak { "#define WEAK\n" } else { "" };
    folder.write("flows.c", format!("{weak}#include \"{AUDIT}/examples/c/flow_table.c\"\n"));
    let header = std::fs::read(format!("{AUDIT}/include/hashlane_audit.h")).unwrap();
    folder.write("hashlane_audit.h", header);
}

/// A command in the folder, with the audit on its PATH and in the folder's includes.
fn command(folder: &Folder, program: &str, arguments: &[&str]) -> Ran {
    let built = Path::new(env!("CARGO_BIN_EXE_hashlane")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([built.to_owned()].into_iter().chain(std::env::split_paths(&path)));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder.path(".")).env("PATH", path.unwrap());
    Ran::of(command.env("C_INCLUDE_PATH", folder.path(".")).env_remove("CARGO_TARGET_DIR"))
}

/// Asserts that a build of weak flows fails for their verdict, and one of good flows does not.
#[track_caller]
fn fails_if_weak(build: impl Fn(&Folder, bool) -> Ran) {
    for is_weak in [true, false] {
        let ran = build(&Folder::new(), is_weak);
        let says = [&ran.out[..], &ran.err].concat();
        assert_eq!(ran.code == Some(0), !is_weak, "{ran:#?}");
        assert_eq!(says.contains("hash_flow: floodable (fnv-64-lattice): "), is_weak, "{says}");
    }
}

#[test]
fn cmake() {
    if !is_installed("cmake", "--version") {
        return;
    }
    fails_if_weak(|folder, is_weak| {
        write_flows(folder, is_weak);
        folder.write("CMakeLists.txt", snippet("cmake"));
        let configured = command(folder, "cmake", &["-S", ".", "-B", "build"]);
        assert_eq!(configured.code, Some(0), "{configured:#?}");
        command(folder, "cmake", &["--build", "build", "--verbose"])
    });
}

#[test]
fn meson() {
    if !is_installed("meson", "--version") {
        return;
    }
    fails_if_weak(|folder, is_weak| {
        write_flows(folder, is_weak);
        folder.write("meson.build", snippet("meson"));
        let configured = command(folder, "meson", &["setup", "build"]);
        assert_eq!(configured.code, Some(0), "{configured:#?}");
        command(folder, "meson", &["test", "-C", "build", "--print-errorlogs"])
    });
}

#[test]
fn cargo() {
    const WEAK: &str = "let _ = key; data.iter().fold(0xcbf2_9ce4_8422_2325, |h: u64, b| \
                        (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))";
    const GOOD: &str = "#[allow(deprecated)] let mut hash = std::hash::SipHasher::new_with_keys(\
                        u64::from_le_bytes(key[..8].try_into().unwrap()), \
                        u64::from_le_bytes(key[8..].try_into().unwrap())); \
                        std::hash::Hasher::write(&mut hash, data); std::hash::Hasher::finish(&hash)";
    fails_if_weak(|folder, is_weak| {
        let body = if is_weak { WEAK } else { GOOD };
        for name in ["src", "tests"] {
            std::fs::create_dir(folder.path(name)).unwrap();
        }
        folder.write("Cargo.toml", format!("{}\n[workspace]\n", snippet("toml")));
        folder.write(
            "src/lib.rs",
            format!(
                "fn hash(data: &[u8], key: &[u8]) -> u64 {{ {body} }}\n\
                 #[unsafe(no_mangle)]\n\
                 pub unsafe extern \"C\" fn hash_flow(data: *const u8, len: usize, key: *const u8) -> u64 {{\n\
                 unsafe {{ hash(std::slice::from_raw_parts(data, len), std::slice::from_raw_parts(key, 16)) }}\n\
                 }}\n"
            ),
        );
        folder.write("tests/audit.rs", snippet("rust"));
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        command(folder, &cargo, &["test", "--offline"])
    });
}

/// The action, as GitHub reads it.
fn action() -> Yaml {
    let text = std::fs::read_to_string(format!("{ACTION}/action.yml")).unwrap();
    YamlLoader::load_from_str(&text).unwrap().remove(0)
}

/// Runs the steps of the action with these inputs, as a runner does: environment of each step from the
/// inputs, temporary folders, files of outputs. Stops at the first step that fails.
fn run_action(folder: &Folder, inputs: &[(&str, &str)]) -> (Ran, String, String) {
    let action = action();
    let stated = action["inputs"].as_hash().unwrap();
    for (name, _) in inputs {
        assert!(stated.contains_key(&Yaml::String((*name).to_owned())), "no input {name}");
    }
    let value = |expression: &str| {
        let name = expression.strip_prefix("${{ inputs.").unwrap().strip_suffix(" }}").unwrap();
        let given = inputs.iter().find(|(input, _)| *input == name).map(|(_, value)| (*value).to_owned());
        given.unwrap_or_else(|| action["inputs"][name]["default"].as_str().unwrap().to_owned())
    };
    let [outputs, summary] = ["outputs", "summary"].map(|name| folder.path(name));
    let mut last = None;
    for step in action["runs"]["steps"].as_vec().unwrap() {
        assert_eq!(step["shell"].as_str(), Some("bash"));
        let mut shell = Command::new("bash");
        shell.args(["-e", "-o", "pipefail", "-c", step["run"].as_str().unwrap()]);
        for (name, expression) in step["env"].as_hash().unwrap() {
            shell.env(name.as_str().unwrap(), value(expression.as_str().unwrap()));
        }
        shell.current_dir(folder.path(".")).env("GITHUB_ACTION_PATH", ACTION);
        shell.env("RUNNER_TEMP", folder.path("temp")).env("GITHUB_OUTPUT", &outputs);
        let ran = Ran::of(shell.env("GITHUB_STEP_SUMMARY", &summary));
        let failed = ran.code != Some(0);
        last = Some(ran);
        if failed {
            break;
        }
    }
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    (last.unwrap(), read(outputs), read(summary))
}

#[test]
fn the_action_fails_if_a_table_can_be_flooded() {
    if !is_installed("bash", "--version") {
        return;
    }
    let action = action();
    assert_eq!(action["runs"]["using"].as_str(), Some("composite"));
    // Each output is one of a step.
    for (_, output) in action["outputs"].as_hash().unwrap() {
        holds(output["value"].as_str().unwrap(), &["${{ steps.audit.outputs."]);
    }
    let of = |is_weak: bool, more: &[(&str, &str)]| {
        let folder = Folder::new();
        write_flows(&folder, is_weak);
        let cc = command(&folder, "cc", &["-O2", "-shared", "-fPIC", "-o", "libflows.so", "flows.c"]);
        assert_eq!(cc.code, Some(0), "{cc:#?}");
        let inputs = [("command", env!("CARGO_BIN_EXE_hashlane")), ("arguments", "--count 256 --timeout 60")];
        run_action(&folder, &[&inputs, more].concat())
    };
    let function = [("library", "./libflows.so"), ("symbol", "hash_flow"), ("signature", SIGNATURE)];
    let (ran, outputs, summary) = of(true, &function);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    holds(&summary, &["```\nTable: chained", "hash_flow: floodable (fnv-64-lattice): "]);
    holds(&ran.err, &["the table can be flooded without its seed: see the job summary"]);
    let report = outputs.lines().find_map(|line| line.strip_prefix("report=")).unwrap().to_owned();
    assert!(
        report.ends_with("hashlane-audit/audit.txt") && outputs.contains("floodable=true\n"),
        "{outputs}"
    );
    let (ran, outputs, _) = of(true, &[&function[..], &[("fail", "false")]].concat());
    assert!(ran.code == Some(0) && outputs.contains("floodable=true\n"), "{ran:#?}");
    let (ran, outputs, _) = of(false, &function);
    assert!(ran.code == Some(0) && outputs.contains("floodable=false\n"), "{ran:#?}");
    let (ran, ..) = of(true, &[("table", "./libflows.so")]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let (ran, ..) = of(true, &[("library", "./none.so"), ("symbol", "f"), ("signature", SIGNATURE)]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    let (ran, ..) = of(true, &[]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    holds(&ran.err, &["nothing to audit: state library, symbol and signature, or table"]);
}

#[test]
fn the_action_builds_the_command_from_its_own_repository() {
    if !is_installed("bash", "--version") {
        return;
    }
    let folder = Folder::new();
    // A stand-in for cargo, which says where and with what it runs, and makes the command.
    std::fs::create_dir(folder.path("bin")).unwrap();
    folder.write(
        "bin/cargo",
        format!(
            "#!/bin/sh\npwd > '{log}'; echo \"$@\" >> '{log}'\nmkdir -p \"$CARGO_TARGET_DIR/release\"\n\
             printf '#!/bin/sh\\necho made\\n' > \"$CARGO_TARGET_DIR/release/hashlane\"\n\
             chmod +x \"$CARGO_TARGET_DIR/release/hashlane\"\n",
            log = folder.path("log").display()
        ),
    );
    let path = format!("{}:{}", folder.path("bin").display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.arg("-c").arg("chmod +x bin/cargo && bash \"$GITHUB_ACTION_PATH/build.sh\"");
    shell.current_dir(folder.path(".")).env("GITHUB_ACTION_PATH", ACTION).env("COMMAND", "");
    let ran = Ran::of(shell.env("RUNNER_TEMP", folder.path("temp")).env("PATH", path));
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let log = std::fs::read_to_string(folder.path("log")).unwrap();
    let (place, arguments) = log.trim().split_once('\n').unwrap();
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).canonicalize().unwrap();
    assert_eq!(Path::new(place), root);
    assert_eq!(arguments, "build --release --locked --package hashlane --no-default-features");
    let made = Ran::of(&mut Command::new(folder.path("temp/hashlane-audit/hashlane")));
    assert_eq!(made.out, "made\n", "{made:#?}");
}

/// The page names every input and output of the action.
#[test]
fn the_page_lists_the_inputs_of_the_action() {
    for part in ["inputs", "outputs"] {
        for (name, _) in action()[part].as_hash().unwrap() {
            holds(PAGE, &[&format!("`{}`", name.as_str().unwrap())]);
        }
    }
    let workflow = YamlLoader::load_from_str(snippet("yaml")).unwrap().remove(0);
    let steps = workflow["jobs"]["audit"]["steps"].as_vec().unwrap();
    let used = steps.iter().find(|step| step["with"].as_hash().is_some()).unwrap();
    for (name, _) in used["with"].as_hash().unwrap() {
        assert!(!action()["inputs"][name.as_str().unwrap()].is_badvalue(), "{name:?}");
    }
    assert_eq!(used["with"]["signature"].as_str(), Some(SIGNATURE));
}
