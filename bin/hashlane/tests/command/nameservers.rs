//! The study of name servers, with the echo and stand-ins for other projects' servers.
#![cfg(target_os = "linux")]

use hashlane_rig::command::{Folder, Ran, holds, lines};
use hashlane_rig::long;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// A study of few queries.
const STUDY: &str = r#"
slug = "mine"
model = "nameserver"
metric = "cpu_us"
per = "answer"
title = "Name servers of one's own"
question = "Does it run?"
source = "nobody"
workloads = WORKLOADS
schemes = SCHEMES
reference = "FIRST"
control = ["FIRST/again", "FIRST"]
[size]
quick = { items = 5, repetitions = 2 }
full = { items = 5, repetitions = 2 }
"#;

/// A study with a stand-in program on the `PATH`, and nothing else.
fn study(workloads: &[&str], schemes: &[&str], stand_in: Option<(&str, &str)>) -> (Folder, Command) {
    let folder = Folder::new();
    let list = |words: &[&str]| format!("{words:?}");
    let text = STUDY.replace("WORKLOADS", &list(workloads)).replace("SCHEMES", &list(schemes));
    folder.write("mine.toml", text.replace("FIRST", schemes[0]));
    for name in ["bin", "tmp"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    if let Some((name, text)) = stand_in {
        let path = folder.write(&format!("bin/{name}"), text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = folder.command(&["study", "run", "mine.toml", "--quick", "--out", "a"]);
    command.env("PATH", folder.path("bin")).env("TMPDIR", folder.path("tmp"));
    (folder, command)
}

/// Value of the record whose row begins so.
fn value(folder: &Folder, beginning: &str) -> Option<f64> {
    let records = lines(&folder.path("a/records.csv"));
    let row = records.iter().find(|row| row.starts_with(beginning))?;
    Some(row.split(',').nth(7).unwrap().parse().unwrap())
}

#[test]
fn missing_and_failing_servers_are_named_and_the_echo_is_measured() {
    let failing = "#!/bin/sh\necho 'cannot read the configuration' >&2\nexit 3\n";
    let (folder, command) =
        study(&["small/positive", "signed/positive"], &["echo", "nsd", "knot"], Some(("nsd", failing)));
    let out = Ran::of(command).ok();
    holds(
        &out,
        &[
            "cost of an answer",
            "knotd is missing, and so not measured: `apt-get install knot`",
            "nsd was not measured on small/positive: it ended (exit status: 3); last output: cannot read the",
            "the signed zone is not measured, as neither dnssec-signzone nor ldns-signzone is installed",
        ],
    );
    for scheme in ["echo", "echo/again"] {
        let row = |rest: &str| value(&folder, &format!("mine,nameserver,small/positive,{scheme},{rest},"));
        assert!(row("cpu-clock,cpu_us,us").unwrap() > 0.0, "{scheme}");
        assert!(row("wall-clock,answers_per_second,1/s").unwrap() > 0.0, "{scheme}");
    }
    let left = fs::read_dir(folder.path("tmp")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn our_server_answers_loads_reloads_and_loses_nothing() {
    // This build loads a million records in 20 s.
    let million = long::pick(&[][..], &["memory/1m", "load/1m"]);
    let workloads = ["small/mix", "165k/random", "reload", "latency/random"];
    let (folder, command) = study(&[&workloads, million].concat(), &["ours", "echo"], None);
    let out = Ran::of(command).ok();
    holds(&out, &["cost of an answer", "reloads under", "latency of a client"]);
    let row = |rest: &str| value(&folder, &format!("mine,nameserver,{rest},"));
    assert!(row("small/mix,ours,cpu-clock,cpu_us,us").unwrap() > 0.0);
    assert!(row("165k/random,ours/again,cpu-clock,ratio,ours").unwrap() > 0.0);
    assert_eq!(row("reload,ours,count,reloads,reloads"), Some(10.0));
    assert!(row("latency/random,ours,wall-clock,p99_growth,latency/existing").unwrap() > 0.0);
    if long::is_wanted() {
        holds(&out, &["memory and load time"]);
        let records = row("memory/1m,ours,count,records,records").unwrap();
        assert!((995_000.0..1_005_000.0).contains(&records), "{records}");
        assert!(row("memory/1m,ours,proc,bytes_per_record,bytes").unwrap() > 10.0);
        assert!(row("load/1m,ours,wall-clock,load_seconds,s").unwrap() > 0.0);
    }
}

#[test]
fn unknown_servers_and_workloads_are_refused() {
    let (_folder, command) = study(&["small/positive"], &["echo", "unbound"], None);
    let ran = Ran::of(command);
    holds(&ran.err, &["unknown scheme \"unbound\": known: ours, nsd, knot, named, echo"]);
    let (_folder, command) = study(&["large/positive"], &["echo"], None);
    let ran = Ran::of(command);
    holds(&ran.err, &["unknown workload \"large/positive\"; known: small/positive"]);
}
