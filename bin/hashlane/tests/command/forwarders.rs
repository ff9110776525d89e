//! Forwarders under load.
#![cfg(target_os = "linux")]

use hashlane_rig::children::{ended, start};
use hashlane_rig::command::{Folder, Ran, holds, lines, namespace};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A study of our forwarder and the relay, which takes seconds.
const STUDY: &str = r#"
slug = "mine"
model = "forwarder"
metric = "cpu_us"
per = "exchange"
title = "Forwarders of one's own"
question = "Does it run?"
source = "nobody"
workloads = ["unix/4", "udp/4", "unix/5/third-distinct", "unix/4/pending-500"]
schemes = ["ours", "relay"]
reference = "ours"
[size]
quick = { items = 10, repetitions = 2 }
full = { items = 10, repetitions = 2 }
[[criterion]]
of = "ours"
workload = "unix/4"
at_most = 1000000.0
[[criterion]]
of = "ours"
workload = "udp/4"
more_than = "relay"
at_most = 1000000.0
[[criterion]]
of = "ours"
workload = "unix/5/third-distinct"
times = "unix/4"
at_most = 1000000.0
"#;

/// Loads with large tables; the last one is too large for the quick size.
const LARGE: &str = r#""unix/11/large-1k", "udp/4/large-1k", "unix/11/large""#;

#[test]
fn ours_and_the_relay_are_measured_and_reported() {
    let folder = Folder::new();
    folder.write("mine.toml", STUDY);
    let out = folder.run(&["study", "run", "mine.toml", "--out", "a"]).ok();
    holds(&out, &["CPU microseconds per exchange", "relay", "bytes of memory"]);
    let records = lines(&folder.path("a/records.csv"));
    let figure = |beginning: &str| -> f64 {
        let row = records.iter().find(|row| row.starts_with(beginning));
        let row = row.unwrap_or_else(|| panic!("{beginning} is not in {records:#?}"));
        row.split(',').nth(7).unwrap().parse().unwrap()
    };
    for workload in ["unix/4", "udp/4", "unix/5/third-distinct", "unix/4/pending-500"] {
        assert!(figure(&format!("mine,forwarder,{workload},ours,cpu-clock,cpu_us,us,")) > 0.0);
        assert!(
            figure(&format!("mine,forwarder,{workload},ours,wall-clock,exchanges_per_second,1/s,")) > 0.0
        );
    }
    assert!(figure("mine,forwarder,udp/4,relay,cpu-clock,cpu_us,us,") > 0.0);
    assert!(figure("mine,forwarder,udp/4,relay,cpu-clock,ratio,ours,") > 0.0);
    assert!(figure("mine,forwarder,unix/5/third-distinct,ours,cpu-clock,ratio_workload,unix/4,") > 0.0);
    for part in ["whole", "decode", "store", "pit", "fib"] {
        assert!(figure(&format!("mine,forwarder-parts,4,{part},cycles,ns,ns,")) > 0.0);
    }
    for table in ["pit", "fib", "cs"] {
        assert!(figure(&format!("mine,forwarder-memory,100k,{table},resident,octets,octets,")) > 0.0);
    }
    // A relay has no Unix sockets.
    assert!(!records.iter().any(|row| row.starts_with("mine,forwarder,unix/4,relay")), "{records:#?}");

    // The page is drawn again from the records.
    let page = std::fs::read_to_string(folder.path("a/report.html")).unwrap();
    folder.run(&["report", "a", "--study", "mine.toml"]).ok();
    assert_eq!(std::fs::read_to_string(folder.path("a/report.html")).unwrap(), page);
}

/// The study with one workload, over UDP, and these schemes.
fn over_udp(schemes: &str) -> String {
    let study = STUDY
        .replace("[\"unix/4\", \"udp/4\", \"unix/5/third-distinct\", \"unix/4/pending-500\"]", "[\"udp/4\"]")
        .replace("[\"ours\", \"relay\"]", schemes);
    study.split("[[criterion]]").next().unwrap().to_owned()
}

#[test]
fn forwarders_start_where_hardly_a_port_is_free() {
    let folder = Folder::new();
    folder
        .write("mine.toml", over_udp("[\"ours\", \"relay\"]").replace("repetitions = 2", "repetitions = 4"));
    // Consumers and producers have 32 of the 48 ports.
    let script = "ip link set lo up && echo '20000 20047' > /proc/sys/net/ipv4/ip_local_port_range && \
                  exec \"$HASHLANE\" study run mine.toml --out a";
    let Some(mut command) = namespace("--net", Path::new("/bin/sh"), &["-c", script]) else { return };
    command.current_dir(folder.path("")).env("HASHLANE", env!("CARGO_BIN_EXE_hashlane"));
    Ran::of(command).ok();
    let records = std::fs::read_to_string(folder.path("a/records.csv")).unwrap();
    holds(&records, &["\nmine,forwarder,udp/4,ours,cpu-clock,", "\nmine,forwarder,udp/4,relay,cpu-clock,"]);
}

#[test]
fn a_forwarder_whose_port_another_program_took_gets_another() {
    // Our forwarder in place of ndnd; its first start finds the port taken.
    const NDND: &str = r#"#!/bin/sh
echo "$3" >> "$FOLDER/starts"
port=$(sed -n 's/.*port_unicast: \([0-9]*\).*/\1/p' "$3")
socket=$(sed -n 's/.*socket_path: \(.*\)}.*/\1/p' "$3")
if test "$(wc -l < "$FOLDER/starts")" -eq 1; then
    echo "Unable to start UDP listener: listen udp4 0.0.0.0:$port: bind: address already in use"
    exit 1
fi
exec "$HASHLANE" ndn run --unix "$socket" --udp "127.0.0.1:$port" --tcp none --ws none
"#;
    let folder = Folder::new();
    folder.write("mine.toml", over_udp("[\"ours\", \"ndnd\"]"));
    let ndnd = folder.write("ndnd", NDND);
    std::fs::set_permissions(&ndnd, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = folder.command(&["study", "run", "mine.toml", "--out", "a"]);
    command.env("HASHLANE_NDND", &ndnd).env("FOLDER", folder.path(""));
    command.env("HASHLANE", env!("CARGO_BIN_EXE_hashlane"));
    let out = Ran::of(command).ok();
    assert!(!out.contains("was not measured"), "{out}");
    let records = std::fs::read_to_string(folder.path("a/records.csv")).unwrap();
    holds(&records, &["\nmine,forwarder,udp/4,ndnd,cpu-clock,cpu_us,"]);
    assert_eq!(lines(&folder.path("starts")).len(), 3, "two rounds, and one start more");
}

#[test]
fn a_forwarder_that_is_missing_is_named_with_what_to_do() {
    let folder = Folder::new();
    let study = STUDY
        .replace("\"ours\", \"relay\"", "\"ours\", \"relay\", \"ndnd\"")
        .replace("[\"unix/4\", \"udp/4\", \"unix/5/third-distinct\", \"unix/4/pending-500\"]", "[\"udp/4\"]");
    let study = study.split("[[criterion]]").next().unwrap();
    folder.write("mine.toml", study);
    let mut command = folder.command(&["study", "run", "mine.toml", "--out", "a"]);
    let out = Ran::of(command.env("HASHLANE_NDND", "/nowhere/ndnd")).ok();
    holds(
        &out,
        &["note: ndnd was not measured", "HASHLANE_NDND", "github.com/named-data/ndnd/cmd/ndnd@v1.5.3"],
    );
}

#[test]
fn tables_are_filled_before_a_large_load_is_measured() {
    let folder = Folder::new();
    let study = STUDY
        .replace("\"unix/4\", \"udp/4\", \"unix/5/third-distinct\", \"unix/4/pending-500\"", LARGE)
        .replace("[\"ours\", \"relay\"]", "[\"ours\", \"ours-again\", \"before\", \"relay\"]");
    folder.write("mine.toml", study.split("[[criterion]]").next().unwrap());
    let mut command = folder.command(&["study", "run", "mine.toml", "--out", "a"]);
    command.env("HASHLANE_BEFORE", env!("CARGO_BIN_EXE_hashlane"));
    // A table smaller than the workload states is an error.
    let out = Ran::of(command).ok();
    holds(&out, &["note: unix/11/large was left out; --full measures it", "`ours-again` is an A/A control"]);
    let records = std::fs::read_to_string(folder.path("a/records.csv")).unwrap();
    for workload in ["unix/11/large-1k", "udp/4/large-1k"] {
        for scheme in ["ours", "ours-again", "before"] {
            holds(&records, &[&format!("\nmine,forwarder,{workload},{scheme},cpu-clock,cpu_us,us,")]);
            let lost = format!("\nmine,forwarder,{workload},{scheme},count,lost_per_million,Interests,0.0,");
            holds(&records, &[&lost]);
        }
    }
    assert!(!records.contains("relay") && !records.contains("unix/11/large,"), "{records}");
}

#[test]
fn indexes_are_compared_at_a_pace_that_takes_nearly_a_core_if_there_is_one() {
    let folder = Folder::new();
    let (head, _) = STUDY.split_once("[[criterion]]").unwrap();
    let study = head
        .replace("model = \"forwarder\"", "model = \"pit\"")
        .replace(
            "\"unix/4\", \"udp/4\", \"unix/5/third-distinct\", \"unix/4/pending-500\"",
            "\"busy/unix/4\"",
        )
        .replace("[\"ours\", \"relay\"]", "[\"name\", \"token\"]")
        .replace("reference = \"ours\"", "reference = \"name\"\ncontrol = [\"name/again\", \"name\"]");
    folder.write("mine.toml", study);
    let out = folder.run(&["study", "run", "mine.toml", "--full", "--out", "a"]).ok();
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    holds(&out, &["the source's load on the router", "busy/unix/4: name took"]);
    let records = lines(&folder.path("a/records.csv"));
    let figure = |scheme: &str, metric: &str| -> f64 {
        let start = format!("mine,pit-load,busy/unix/4,{scheme},");
        let row = records.iter().find(|row| row.starts_with(&start) && row.contains(metric));
        row.unwrap_or_else(|| panic!("no {metric} of {scheme}")).split(',').nth(7).unwrap().parse().unwrap()
    };
    for scheme in ["name", "name/again", "token"] {
        assert!(figure(scheme, ",rtt_ms,ms,") > 0.0 && figure(scheme, ",carried,share,") > 0.0);
    }
    // Where others use the cores, too, there may be no such pace.
    let is_compared = records.iter().any(|row| row.contains(",ratio_rtt,name,"));
    if figure("name", ",cpu_percent,%,") < 90.0 {
        assert!(!is_compared);
        holds(&out, &["90 % of a core was not reached", "90 % was not reached, so no index is compared"]);
    } else {
        let all = ["token", "name"].iter().all(|scheme| figure(scheme, ",carried,share,") >= 0.99);
        assert_eq!(
            records.iter().any(|row| row.contains(",token,") && row.contains(",ratio_rtt,name,")),
            all
        );
    }
}

#[test]
fn refuses_workloads_and_schemes_that_there_are_not() {
    let folder = Folder::new();
    for (from, to, words) in [
        (
            "\"relay\"]",
            "\"nfds\"]",
            "unknown scheme \"nfds\": known: ours, ours-again, relay, ndnd, nfd, before",
        ),
        ("\"unix/4/pending-500\"", "\"tcp/4\"", "no load \"tcp/4\": write unix, udp or netns"),
        ("\"unix/4/pending-500\"", "\"unix/3/large\"", "with 4 components and more large or large-COUNT"),
    ] {
        let study = STUDY.replace(from, to);
        folder.write("mine.toml", study.split("[[criterion]]").next().unwrap());
        holds(&folder.run(&["study", "run", "mine.toml"]).failed(), &[words]);
    }
}

/// Processes that `parent` started.
fn children(parent: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    let mut all: Vec<u32> = list.split_whitespace().filter_map(|id| id.parse().ok()).collect();
    // Children of its other threads.
    for task in std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten() {
        let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        all.extend(list.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
    }
    all
}

/// Tests if the process with this id runs; a zombie does not.
fn is_alive(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next()).is_some_and(|state| state != "Z")
}

#[test]
fn no_forwarder_is_left_by_a_run_that_is_stopped_or_killed() {
    for (signal, code) in [("-INT", Some(130)), ("-KILL", None)] {
        let folder = Folder::new();
        let study = STUDY.replace("items = 10, repetitions = 2", "items = 60000, repetitions = 1000");
        folder.write("mine.toml", study);
        let mut command = folder.command(&["study", "run", "mine.toml", "--out", "a"]);
        // This folder also contains, and removes, the leftovers of a killed run.
        command.env("TMPDIR", folder.path(""));
        let mut child = start(command.stdout(Stdio::null()).stderr(Stdio::null()));
        let begun = Instant::now();
        let forwarders = loop {
            let children = children(child.id());
            if !children.is_empty() {
                break children;
            }
            assert!(begun.elapsed() < Duration::from_secs(15), "no forwarder was started");
            std::thread::sleep(Duration::from_millis(10));
        };
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let stopped = Instant::now();
        assert_eq!(ended(&mut child).code(), code);
        while forwarders.iter().any(|id| is_alive(*id)) {
            assert!(stopped.elapsed() < Duration::from_secs(20), "{forwarders:?} are left");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
