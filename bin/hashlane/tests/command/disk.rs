//! Full disks: a small file system in a namespace of mounts.
#![cfg(target_os = "linux")]

use crate::kept::{folder, read, results, spare};
use hashlane_rig::command::{Folder, Ran, holds, namespace};
use std::fs;
use std::path::Path;

/// A file system of 6 MiB at `small`, in which a run has left results; then the rest of the script.
const SMALL: &str = "mount -t tmpfs -o size=6m tmpfs small && \
                     \"$HASHLANE\" study run mine.toml --out small >/dev/null && cp small/* before && \
                     cp small/* first && ";

/// Takes all room of the file system.
const FILL: &str = "{ cat /dev/zero > small/full 2>/dev/null; true; } && ";

/// Runs a script in a namespace of mounts where `small` is a small file system.
fn on_a_small_disk(folder: &Folder, script: &str) -> Option<Ran> {
    for name in ["small", "before", "first", "after"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    let script = format!("{SMALL}{script}");
    let mut command = namespace("--mount", Path::new("/bin/sh"), &["-c", &script])?;
    command.current_dir(folder.path("")).env("TMPDIR", folder.path(""));
    Some(Ran::of(command.env("HASHLANE", env!("CARGO_BIN_EXE_hashlane"))))
}

#[test]
fn a_full_disk_is_refused_before_anything_is_measured() {
    let folder = folder();
    let script = format!(
        "{FILL} {{ \"$HASHLANE\" study run mine.toml --out small; code=$?; }}; cp small/*.* after; exit $code"
    );
    let Some(ran) = on_a_small_disk(&folder, &script) else { return };
    holds(&ran.failed(), &["cannot write results to small; name another folder with --out: No space left"]);
    assert!(results(&folder, "before") == results(&folder, "after"));
}

#[test]
fn a_disk_that_fills_up_costs_no_results() {
    let folder = folder();
    // While the last study waits, the disk is filled and the run ended.
    let script = format!(
        "{{ \"$HASHLANE\" study run half.toml endless.toml --out small 2>said & }} && id=$! && \
         for i in $(seq 1200); do grep -q 'endless, ' said && break; sleep 0.05; done && \
         {FILL} kill -INT $id && wait $id; \
         code=$?; cat said >&2; cp small/*.* after; cp small/run-1/* before/; exit $code"
    );
    let Some(ran) = on_a_small_disk(&folder, &script) else { return };
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    holds(&ran.err, &["\nhashlane: cannot write results to small: No space left", "; they are in "]);
    holds(&ran.out, &["earlier: small/run-1 has the results of the run before"]);
    // Those are in `before` now; the last complete write is unchanged.
    assert!(results(&folder, "before") == results(&folder, "first"));
    holds(&read(&folder, "before/records.csv"), &["\nmine,names,3Bx2,"]);
    holds(&read(&folder, "after/records.csv"), &["\nhalf,names,3Bx2,"]);
    let [records, machine, _] = results(&folder, &spare(&ran));
    holds(&records, &["\nhalf,names,3Bx2,"]);
    holds(&machine, &["study half failed: workload 4Bx2", "partial = true"]);
}

#[test]
fn a_disk_without_room_for_the_earlier_results_costs_neither_them_nor_the_new_ones() {
    let folder = folder();
    // The room suffices for the new results, and not for a copy of the earlier ones.
    let script = "head -c 3500000 /dev/zero >> small/report.html && \
                  { \"$HASHLANE\" study run half.toml --out small; code=$?; }; \
                  ls -A small > left; cp small/*.* after; exit $code";
    let Some(ran) = on_a_small_disk(&folder, script) else { return };
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    holds(&ran.err, &["cannot write results to small: No space left", "; they are in "]);
    assert_eq!(read(&folder, "left"), ".lock\nmachine.toml\nrecords.csv\nreport.html\nstudies.toml\n");
    let ([records, machine, _], [first, by, _]) = (results(&folder, "after"), results(&folder, "before"));
    assert!((records, machine) == (first, by));
    holds(&results(&folder, &spare(&ran))[0], &["\nhalf,names,3Bx2,"]);
}
