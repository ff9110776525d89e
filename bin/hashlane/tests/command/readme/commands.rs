//! The README's commands, run in a shell as they stand, in a folder with the files that they name.

use super::shell::Shell;
use super::{README, blocks};
use hashlane_rig::command::Folder;
use std::path::Path;

/// Sections with a test of their own: here, and `cargo xtask interop`.
const ELSEWHERE: [&str; 2] = ["Named Data Networking", "Name server"];

/// Beginnings of lines that no test runs as they stand, with the reason.
const NOT_RUN: [(&str, &str); 9] = [
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

/// The README's sections: heading, and content.
fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    README.split("\n## ").map(|section| section.split_once('\n').expect("a heading"))
}

#[test]
fn the_lines_that_are_not_run_are_in_the_readme() {
    for (line, _) in NOT_RUN {
        assert!(README.contains(&format!("\n{line}")), "{line:?} is not in README.md");
    }
    for heading in ELSEWHERE {
        assert!(sections().any(|(found, _)| found == heading), "README.md has no section {heading:?}");
    }
}

#[test]
fn every_other_command_of_the_readme_succeeds_on_its_own_files() {
    let folder = Folder::new();
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/captures");
    for name in ["traffic.pcap", "trace.pcap", "day-1.pcap"] {
        std::fs::copy(captures.join("ipv4.pcap"), folder.path(name)).unwrap();
    }
    for name in ["before", "after"] {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_hashlane"), folder.path(name)).unwrap();
    }
    let mut shell = Shell::new(&folder.path(""));
    shell.run(&format!("gzip day-1.pcap\n{SHORTER}"));
    shell.run(zone());

    let mut run = 0;
    for (heading, section) in sections().filter(|(heading, _)| !ELSEWHERE.contains(heading)) {
        for line in blocks(section, "sh").into_iter().flat_map(str::lines) {
            if NOT_RUN.iter().any(|(start, _)| line.starts_with(start)) {
                continue;
            }
            println!("{heading}: {line}");
            shell.run(line);
            run += 1;
        }
    }
    assert!(run >= 9, "{run} lines");
    for file in ["flows.ipfix", "flows.parquet", "mine/report.html", "mine/records.csv"] {
        assert!(folder.path(file).exists(), "{file} was not written");
    }
    shell.run("command hashlane study kernel-selftest > flood.sh\nbash -n flood.sh");
}

/// The README's own zone file, as its section on the name server writes it.
fn zone() -> &'static str {
    let start = README.find("cat > example.com.zone <<'END'\n").expect("the zone of the README");
    let end = README[start..].find("\nEND\n").expect("its end") + "\nEND\n".len();
    &README[start..start + end]
}
