//! The commands of the pages, run in a shell as they stand, in a folder with the files that they name.

use super::shell::Shell;
use super::{PAGES, blocks, page};
use hashlane_rig::command::Folder;
use std::collections::HashSet;
use std::path::Path;

/// Pages that are tested elsewhere: here, and by `cargo xtask interop`.
const ELSEWHERE: [&str; 2] = ["ndn.md", "name-server.md"];

/// Beginnings of lines that no test runs as they stand, with the reason.
const NOT_RUN: [(&str, &str); 11] = [
    ("cargo run --release -- study run all --quick", "minutes of a release build"),
    ("cargo xtask test", "it runs this test"),
    ("cargo build --release", "minutes of a release build"),
    ("cargo xtask wheel && pip install", "`cargo xtask python` installs the wheel"),
    ("hashlane study run flow-kernel", "builds kernels for minutes; tests/command/kernels.rs"),
    ("hashlane study kernel-selftest > flood.sh; sudo bash", "floods as root; checked as a script below"),
    ("hashlane study kernel-patches ~/linux", "tests/command/kernel_patches.rs"),
    (
        "sudo hashlane flow meter --interface",
        "takes an interface; tests/command/flow_live.rs and flow_top.rs",
    ),
    ("hashlane study run flow-hash flow-table --quick", "the same studies are run on a capture"),
    ("hashlane audit --scheme wyhash", "exits with 1, as it finds a flood; tests/command/audit"),
    ("export PATH=", "the shell has the path of the tested command"),
];

/// Commands under which the studies take seconds in a build without optimisation: the same files and options,
/// fewer names, schemes, rounds and launches.
const SHORTER: &str = r#"
head() { command head -2000; }
hashlane() {
    case "$1 $2" in
    "study run") command hashlane "$@" --repetitions 2 ;;
    "compare --run") command hashlane "$@" --time 5 --repetitions 2 --scheme siphash-1-3/burst ;;
    *) command hashlane "$@" ;;
    esac
}
"#;

#[test]
fn the_lines_that_are_not_run_are_on_a_page() {
    for (line, _) in NOT_RUN {
        let is_there = PAGES.iter().any(|(_, text)| text.contains(&format!("\n{line}")));
        assert!(is_there, "{line:?} is on no page");
    }
}

#[test]
fn every_other_command_succeeds_on_its_own_files() {
    let folder = Folder::new();
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/captures");
    for name in ["traffic.pcap", "trace.pcap", "day-1.pcap"] {
        std::fs::copy(captures.join("ipv4.pcap"), folder.path(name)).unwrap();
    }
    folder.write("blocklist.txt", "ads.example\ntracker.example.net\n");
    folder.write("queries.txt", "www.ads.example\nexample.org\n");
    for name in ["before", "after"] {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_hashlane"), folder.path(name)).unwrap();
    }
    let mut shell = Shell::new(&folder.path(""));
    shell.run(&format!("gzip day-1.pcap\n{SHORTER}"));
    shell.run(zone());

    let mut run = HashSet::new();
    for (name, text) in PAGES.iter().filter(|(name, _)| !ELSEWHERE.contains(name)) {
        for line in blocks(text, "sh").into_iter().flat_map(str::lines) {
            if NOT_RUN.iter().any(|(start, _)| line.starts_with(start)) || !run.insert(line) {
                continue;
            }
            println!("{name}: {line}");
            shell.run(line);
        }
    }
    assert!(run.len() >= 8, "{run:?}");
    for file in ["flows.ipfix", "flows.parquet", "mine/report.html", "mine/records.csv"] {
        assert!(folder.path(file).exists(), "{file} was not written");
    }
    shell.run("command hashlane study kernel-selftest > flood.sh\nbash -n flood.sh");
}

/// The zone file that the page about the name server writes.
fn zone() -> &'static str {
    let page = page("name-server.md");
    let start = page.find("cat > example.com.zone <<'END'\n").expect("the zone of the page");
    let end = page[start..].find("\nEND\n").expect("its end") + "\nEND\n".len();
    &page[start..start + end]
}
