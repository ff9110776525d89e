//! Studies of name servers that answer with the RRsets of attacks: ours, and those that are installed.

use hashlane_rig::command::{Folder, Ran, holds};
use hashlane_rig::{namespace, program};
use std::fs;

/// A study of few answers.
const STUDY: &str = r#"
slug = "answers"
model = "render"
metric = "ns"
per = "message"
title = "t"
question = "q"
source = "s"
workloads = ["serve/cve-2024-8508-240", "serve/rustsec-2026-0119"]
schemes = SCHEMES
reference = "ours"
size = { quick = { items = 1, repetitions = 2 }, full = { items = 1, repetitions = 2 } }
"#;

/// The study in a folder.
fn study(schemes: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.write("answers.toml", STUDY.replace("SCHEMES", &format!("{schemes:?}")));
    folder
}

/// Runs the study, and asserts that servers answered with all records of each workload, and with an ordinary
/// RRset.
fn answers_with_all_records(server: &str, benign: &str) {
    let schemes = ["ours", "benign", server, benign];
    let folder = study(if server == "ours" { &schemes[..2] } else { &schemes });
    let ran = folder.run(&["study", "run", "answers.toml", "--quick", "--out", "a"]).ok();
    assert!(!ran.contains("answers without the records"), "{ran}");
    let records = fs::read_to_string(folder.path("a/records.csv")).unwrap();
    let value = |start: &str| -> f64 {
        let start = format!("answers,render,{start},");
        let found = records.lines().find(|line| line.starts_with(&start));
        found.unwrap_or_else(|| panic!("no {start} in {records}")).split(',').nth(7).unwrap().parse().unwrap()
    };
    for (workload, count) in [("serve/cve-2024-8508-240", 240.0), ("serve/rustsec-2026-0119", 225.0)] {
        assert_eq!(value(&format!("{workload},{server},count,records,records")), count, "{ran}");
        let octets = |scheme: &str| value(&format!("{workload},{scheme},count,octets,octets"));
        // Ours compresses every name: no answer is shorter.
        assert!(octets("ours") <= octets(server), "{workload}");
        assert!((octets(benign) - octets("ours")).abs() <= 16.0, "{workload}");
        for scheme in [server, benign] {
            assert!(value(&format!("{workload},{scheme},cpu-clock,ns,ns")) > 0.0, "{workload} {scheme}");
        }
    }
}

#[test]
fn our_server_answers_with_all_records_of_an_attack() {
    answers_with_all_records("ours", "benign");
}

#[test]
fn installed_servers_answer_with_all_records_of_an_attack() {
    for server in ["named", "unbound"] {
        let path = program::find(server).unwrap_or_else(|| server.into());
        if namespace::is_installed(&path.to_string_lossy(), "-V") {
            answers_with_all_records(server, &format!("{server}/benign"));
        }
    }
}

#[test]
fn missing_servers_are_named_with_their_packages() {
    let folder = study(&["ours", "named", "unbound", "unbound/benign"]);
    fs::create_dir(folder.path("bin")).unwrap();
    let mut command = folder.command(&["study", "run", "answers.toml", "--quick", "--out", "a"]);
    command.env("PATH", folder.path("bin"));
    let out = Ran::of(command).ok();
    let note = |program: &str, package| {
        format!("{program} is missing, and so not measured: `apt-get install {package}`")
    };
    holds(&out, &[&note("named", "bind9"), &note("unbound", "unbound")]);
    let records = fs::read_to_string(folder.path("a/records.csv")).unwrap();
    assert!(
        records.contains(",ours,count,records,records,240") && !records.contains(",unbound"),
        "{records}"
    );
}
