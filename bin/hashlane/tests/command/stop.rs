//! Ctrl-C during a run.
#![cfg(unix)]

use hashlane_rig::children::start;
use hashlane_rig::command::{Folder, Ran, STUDY, holds};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Starts a study that would take minutes, and interrupts it when it has measured the first of its workloads:
/// a second after its first launch times something, or later on a machine with other load.
fn interrupted(folder: &Folder) -> Ran {
    let mut wait = Duration::from_secs(1);
    loop {
        let ran = interrupted_after(folder, wait);
        if wait > Duration::from_secs(5) || !ran.out.contains("before anything was measured") {
            return ran;
        }
        wait *= 3;
    }
}

fn interrupted_after(folder: &Folder, wait: Duration) -> Ran {
    let long = STUDY
        .replace("\"3Bx2\"", "\"3Bx2\", \"domain\"")
        .replace("items = 300, repetitions = 2", "items = 20000, repetitions = 1000");
    folder.write("mine.toml", long);
    let mut command = folder.command(&["study", "run", "mine.toml", "--out", "a"]);
    let mut child = start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    // The launch reports its steps after two seconds; it ends after minutes, so that the line comes or the
    // end.
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let timing = lines.by_ref().map_while(Result::ok).find(|line| line.contains(": timing"));
    assert!(timing.is_some_and(|line| line.contains("launch 1 of 5: ")), "nothing was timed");
    std::thread::sleep(wait);
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    Ran::finish(child)
}

#[test]
fn what_was_measured_is_kept_and_marked_partial() {
    let folder = Folder::new();
    let ran = interrupted(&folder);
    assert_eq!(ran.code, Some(130), "{ran:#?}");
    holds(&ran.out, &["stopped by Ctrl-C; results until then are kept", "report:  a/report.html"]);
    let records = std::fs::read_to_string(folder.path("a/records.csv")).unwrap();
    holds(&records, &["\nmine,names,3Bx2,ndn/one-by-one/crc32c,cycles,cycles_mean,cycles,"]);
    assert!(!records.contains(",domain,"), "{records}");
    let machine = std::fs::read_to_string(folder.path("a/machine.toml")).unwrap();
    holds(&machine, &["partial = true", "stopped by Ctrl-C in study mine"]);
    let page = std::fs::read_to_string(folder.path("a/report.html")).unwrap();
    holds(&page, &["<strong>Partial.</strong>", "stopped by Ctrl-C in study mine"]);

    // The page of a partial run can be drawn again.
    folder.run(&["report", "a", "--study", "mine.toml"]).ok();
    assert_eq!(std::fs::read_to_string(folder.path("a/report.html")).unwrap(), page);
}
