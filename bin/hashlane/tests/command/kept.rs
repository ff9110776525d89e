//! Results survive later runs, failures, signals and removed folders.
#![cfg(target_os = "linux")]

use hashlane_rig::children::start;
use hashlane_rig::command::{Folder, Ran, STUDY, holds};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

/// A study with a first turn that lasts longer than any test.
const ENDLESS: &str = r#"
slug = "endless"
model = "forwarder"
metric = "cpu_us"
per = "exchange"
title = "t"
question = "q"
source = "s"
workloads = ["unix/4"]
schemes = ["ours"]
reference = "ours"
size = { quick = { items = 1000000, repetitions = 2 }, full = { items = 1000000, repetitions = 2 } }
"#;

/// A study with a workload that is measured, and one that is not what the study expects.
fn half() -> String {
    let study = STUDY.replace("\"mine\"", "\"half\"").replace("[\"3Bx2\"]", "[\"3Bx2\", \"4Bx2\"]");
    let expect = "[[expect]]\nworkload = \"4Bx2\"\nnames = 100\ncomponents = 1\n\
                  checksum = { offset = \"0x1\", ccnx = \"0x1\", ndn = \"0x1\" }\n";
    format!("{study}{expect}")
}

pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("mine.toml", STUDY);
    folder.write("endless.toml", ENDLESS);
    folder.write("half.toml", half());
    folder
}

pub(crate) fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All files of a folder of results.
pub(crate) fn results(folder: &Folder, name: &str) -> [String; 3] {
    ["records.csv", "machine.toml", "report.html"].map(|file| read(folder, &format!("{name}/{file}")))
}

/// A run that waits in the first turn of the endless study.
struct Waiting {
    child: Option<Child>,
    /// Reads the lines of its standard error.
    reader: Option<JoinHandle<Vec<String>>>,
}

impl Waiting {
    /// Starts a run and waits until a line of its progress names the endless study.
    fn start(folder: &Folder, studies: &[&str]) -> Self {
        let mut command = folder.command(&[&["study", "run"], studies, &["--out", "a"]].concat());
        // This folder also contains, and removes, the leftovers of a killed run.
        command.env("TMPDIR", folder.path("")).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = start(&mut command);
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (to, said) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            // Read to its end, as a full pipe would block the run.
            let heard = |line: &String| drop(to.send(line.clone()));
            lines.map_while(Result::ok).inspect(heard).collect()
        });
        let waiting = Self { child: Some(child), reader: Some(reader) };
        let mut heard = Vec::new();
        while !heard.last().is_some_and(|line: &String| line.starts_with("endless, ")) {
            let line = said.recv_timeout(Duration::from_secs(15));
            heard.push(line.unwrap_or_else(|_| panic!("no progress of the last study: {heard:#?}")));
        }
        holds(&heard.concat(), &[" s: step 1 of 6: unix/4: ours, round 1 of 2"]);
        waiting
    }

    /// Stops the run by a signal.
    fn end(mut self, signal: &str) -> Ran {
        let child = self.child.take().unwrap();
        kill(signal, child.id());
        let mut ran = Ran::finish(child);
        ran.err = self.reader.take().unwrap().join().unwrap().join("\n");
        ran
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn kill(signal: &str, id: u32) {
    assert!(Command::new("kill").args([signal, &id.to_string()]).status().unwrap().success());
}

#[test]
fn a_later_run_moves_the_earlier_results_aside() {
    let folder = folder();
    folder.run(&["study", "run", "mine.toml", "--out", "a"]).ok();
    let first = results(&folder, "a");
    let other = STUDY.replace("\"mine\"", "\"other\"");
    folder.write("other.toml", other);
    let out = folder.run(&["study", "run", "other.toml", "--out", "a"]).ok();
    holds(&out, &["earlier: a/run-1 has the results of the run before"]);
    let second = results(&folder, "a");
    folder.run(&["study", "run", "mine.toml", "--out", "a"]).ok();
    assert!(results(&folder, "a/run-1") == first && results(&folder, "a/run-2") == second);

    // The folders are results as any others.
    folder.run(&["report", "a/run-1"]).ok();
    folder.run(&["compare", "a/run-1", "a"]).ok();
    let mut files: Vec<_> =
        fs::read_dir(folder.path("a")).unwrap().map(|file| file.unwrap().file_name()).collect();
    files.sort();
    let expected = [".lock", "machine.toml", "records.csv", "report.html", "run-1", "run-2", "studies.toml"];
    assert_eq!(files, expected);
    let out = folder.run(&["report", "a"]).ok();
    holds(&out, &["earlier: a/run-2 (", "earlier: a/run-1 ("]);
}

#[test]
fn ctrl_c_before_anything_was_measured_changes_nothing() {
    let folder = folder();
    folder.run(&["study", "run", "mine.toml", "--out", "a"]).ok();
    let before = results(&folder, "a");
    let ran = Waiting::start(&folder, &["endless.toml"]).end("-INT");
    assert_eq!(ran.code, Some(130), "{ran:#?}");
    holds(&ran.out, &["stopped by Ctrl-C before anything was measured; a is unchanged"]);
    assert!(results(&folder, "a") == before && !folder.path("a/run-1").exists());
}

#[test]
fn a_run_that_is_killed_leaves_what_it_had_measured() {
    let folder = folder();
    Waiting::start(&folder, &["mine.toml", "endless.toml"]).end("-KILL");
    let [records, machine, page] = results(&folder, "a");
    holds(&records, &["\nmine,names,3Bx2,ndn/one-by-one/crc32c,cycles,cycles_mean,cycles,"]);
    holds(&machine, &["partial = true", "1 of 2 studies had not ended"]);
    holds(&page, &["<strong>Partial.</strong>"]);
    // The page is drawn again from what is left, and marked, too.
    fs::remove_file(folder.path("a/report.html")).unwrap();
    folder.run(&["report", "a", "--study", "mine.toml"]).ok();
    holds(&read(&folder, "a/report.html"), &["<strong>Partial.</strong>", "1 of 2 studies had not ended"]);
    let [_, _, page] = results(&folder, "a");

    // A half-written file is removed, the records stay.
    folder.write("a/.records.csv.1.tmp", "half");
    folder.run(&["study", "run", "mine.toml", "--out", "a"]).ok();
    assert!(!folder.path("a/.records.csv.1.tmp").exists());
    assert!(results(&folder, "a/run-1") == [records, machine, page]);
}

#[test]
fn a_study_that_fails_stops_no_other_and_leaves_its_records() {
    let folder = folder();
    let unknown = STUDY.replace("\"mine\"", "\"unknown\"").replace("one-pass", "no-pass");
    folder.write("unknown.toml", unknown);
    let ran = folder.run(&["study", "run", "unknown.toml", "half.toml", "mine.toml", "--out", "a"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let said = [
        "study unknown failed: unknown scheme ",
        "study half failed: workload 4Bx2 differs from the study's expectation: ",
        "; the other studies go on\n",
        "\nhashlane: study unknown: unknown scheme ",
        "; study half: workload 4Bx2 differs from",
    ];
    holds(&ran.err, &said);
    holds(&ran.out, &["records: a/records.csv"]);
    let [records, machine, page] = results(&folder, "a");
    holds(&records, &["\nhalf,names,3Bx2,", "\nmine,names,3Bx2,"]);
    assert!(!records.contains("4Bx2"), "{records}");
    let noted = ["study half failed: workload 4Bx2", "partial_reason = \"study unknown failed\""];
    holds(&machine, &noted);
    holds(&page, &["study half failed: workload 4Bx2"]);
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let folder = folder();
    folder.run(&["study", "run", "mine.toml", "--out", "a"]).ok();
    let before = results(&folder, "a");
    let first = Waiting::start(&folder, &["half.toml", "endless.toml"]);
    let during = results(&folder, "a");
    let message = folder.run(&["study", "run", "mine.toml", "--out", "a"]).failed();
    holds(&message, &["another run is writing to a: wait for its end, or name another folder with --out"]);
    folder.run(&["study", "run", "mine.toml", "--out", "b"]).ok();
    assert!(results(&folder, "a") == during && results(&folder, "a/run-1") == before);
    first.end("-INT");
    let [records, ..] = results(&folder, "a");
    holds(&records, &["\nhalf,names,3Bx2,"]);
    assert!(!records.contains("\nmine,"), "{records}");
    // The lock ends with the run.
    folder.run(&["study", "run", "mine.toml", "--out", "a"]).ok();
    assert!(results(&folder, "a/run-2")[0] == records);
}

#[test]
fn a_folder_that_is_removed_meanwhile_is_made_again() {
    let folder = folder();
    let run = Waiting::start(&folder, &["mine.toml", "endless.toml"]);
    fs::remove_dir_all(folder.path("a")).unwrap();
    let ran = run.end("-INT");
    assert_eq!(ran.code, Some(130), "{ran:#?}");
    let [records, machine, _] = results(&folder, "a");
    holds(&records, &["\nmine,names,3Bx2,"]);
    holds(&machine, &["stopped by Ctrl-C in study endless"]);
}

#[test]
fn results_are_kept_elsewhere_when_the_folder_cannot_be_made_again() {
    let folder = folder();
    let run = Waiting::start(&folder, &["mine.toml", "endless.toml"]);
    fs::remove_dir_all(folder.path("a")).unwrap();
    folder.write("a", "in the way");
    let ran = run.end("-INT");
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    holds(&ran.err, &["\nhashlane: cannot write results to a: ", "; they are in "]);
    assert_eq!(read(&folder, "a"), "in the way");
    let spare = spare(&ran);
    let [records, machine, _] = results(&folder, &spare);
    holds(&records, &["\nmine,names,3Bx2,"]);
    holds(&machine, &["stopped by Ctrl-C in study endless"]);
    // Results as any others.
    folder.run(&["report", &spare, "--study", "mine.toml"]).ok();
}

/// The folder that a run names in its error, as its results could not be written where they should be.
pub(crate) fn spare(ran: &Ran) -> String {
    let after = ran.err.split("they are in ").last().unwrap();
    after.split(" instead").next().unwrap().to_owned()
}
