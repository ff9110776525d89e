//! Runs of studies in several launches of the command.
#![cfg(unix)]

use hashlane_rig::command::{Folder, Ran, STUDY, holds};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The study of these tests with so many repetitions.
fn study(repetitions: u32) -> Folder {
    let folder = Folder::new();
    let text = STUDY.replace("repetitions = 2", &format!("repetitions = {repetitions}"));
    folder.write("mine.toml", text);
    folder
}

/// The launches that the records of a metric state.
fn launches(folder: &Folder, metric: &str) -> Vec<String> {
    let records = fs::read_to_string(folder.path("a/records.csv")).unwrap();
    let rows = records.lines().filter(|line| line.contains(&format!(",{metric},")));
    rows.filter_map(|line| line.rsplit(',').next()).map(str::to_owned).collect()
}

#[test]
fn figures_of_a_run_are_bounded_between_launches() {
    let folder = study(9);
    let out = folder.run(&["study", "run", "mine.toml", "--launches", "4", "--out", "a"]).ok();
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    // The overhead depends on how many units a launch reads at a time, which may differ between launches.
    holds(&words, &["Intervals at 95 % are for the next run of this build on this machine, from "]);
    assert_eq!(launches(&folder, "cycles_mean"), ["4", "4"]);
    assert_eq!(launches(&folder, "ratio"), ["4"]);
    // Exact figures are the same in each launch.
    assert!(launches(&folder, "octets").iter().all(|launches| launches == "1"));
    let machine = fs::read_to_string(folder.path("a/machine.toml")).unwrap();
    assert!(machine.contains("partial = false") && machine.contains("tsc_ghz_before"), "{machine}");
    let studies = fs::read_to_string(folder.path("a/studies.toml")).unwrap();
    assert!(!studies.contains("samples = 0\n"), "{studies}");
    // The page can be drawn again.
    let page = fs::read_to_string(folder.path("a/report.html")).unwrap();
    folder.run(&["report", "a"]).ok();
    assert_eq!(fs::read_to_string(folder.path("a/report.html")).unwrap(), page);
}

#[test]
fn one_launch_says_that_its_intervals_hold_within_it() {
    let folder = study(9);
    let out = folder.run(&["study", "run", "mine.toml", "--launches", "1", "--out", "a"]).ok();
    holds(&out, &["]¹", "¹ holds within one launch only"]);
    assert_eq!(launches(&folder, "cycles_mean"), ["1", "1"]);
}

#[test]
fn options_reach_every_launch() {
    let folder = study(9);
    folder.write("names.txt", "/usr/bin/a\n/usr/bin/b/c\n");
    let arguments = ["study", "run", "mine.toml", "--names", "names.txt", "--scheme", "ndn/one-pass/crc32c"];
    folder.run(&[&arguments[..], &["--repetitions", "6", "--out", "a"]].concat()).ok();
    assert_eq!(launches(&folder, "cycles_mean"), ["3"]);
    let records = fs::read_to_string(folder.path("a/records.csv")).unwrap();
    holds(&records, &["names:names.txt,ndn/one-pass/crc32c,"]);
    assert!(!records.contains("one-by-one") && !records.contains("3Bx2"), "{records}");
}

#[test]
fn a_launch_that_fails_gives_its_reason_once() {
    let folder = study(9);
    let expect = "[[expect]]\nworkload = \"3Bx2\"\nnames = 9\ncomponents = 1\nchecksum = {}\n";
    let text = fs::read_to_string(folder.path("mine.toml")).unwrap();
    folder.write("mine.toml", text + expect);
    let message = folder.run(&["study", "run", "mine.toml", "--out", "a"]).failed();
    let why = "hashlane: study mine: workload 3Bx2 differs from the study's expectation: 18 components";
    assert!(message.starts_with(why), "{message}");
}

#[test]
fn a_launch_that_is_killed_costs_no_earlier_one() {
    let folder = study(999);
    let text = fs::read_to_string(folder.path("mine.toml")).unwrap();
    // A launch of a second or more, in whatever build.
    folder.write("mine.toml", text.replace("items = 300", "items = 2000"));
    let child = folder
        .command(&["study", "run", "mine.toml", "--launches", "3", "--out", "a"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let wait = |begun: Instant, limit: u64, what: &str| {
        assert!(begun.elapsed() < Duration::from_secs(limit), "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    };
    let begun = Instant::now();
    while !folder.path("a/records.csv").exists() {
        wait(begun, 120, "the end of the first launch");
    }
    let begun = Instant::now();
    // All threads of the parent may have started a child.
    let launch = loop {
        let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
        let children =
            tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
        match children.collect::<String>().split_whitespace().next() {
            Some(id) => break id.to_owned(),
            None => wait(begun, 15, "the second launch"),
        }
    };
    assert!(Command::new("kill").args(["-KILL", &launch]).status().unwrap().success());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    holds(&ran.err, &["hashlane: study mine: launch 2 of 3 ended (signal: 9 (SIGKILL)): no message"]);
    assert_eq!(launches(&folder, "cycles_mean"), ["1", "1"]);
    let machine = fs::read_to_string(folder.path("a/machine.toml")).unwrap();
    holds(&machine, &["partial = true", "study mine failed"]);
}
