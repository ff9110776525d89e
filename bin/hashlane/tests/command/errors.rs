//! Errors about files and values: the operation, the file, the reason, the next step.

use hashlane_rig::command::{Folder, holds};
use std::fs;

/// Standard error of a command that clap refuses.
#[track_caller]
fn usage(folder: &Folder, arguments: &[&str]) -> String {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    ran.err
}

#[test]
fn files_that_cannot_be_rendered_are_refused_with_the_reason() {
    let folder = Folder::new();
    folder.write("empty", "");
    folder.write("utf-16", b"\xff\xfea\0.\0 \0");
    folder.write("zone", "a. 1 IN A 192.0.2.1\n");
    let next = "the file is empty; name a zone file, messages as hex text, or a capture";
    for (arguments, says) in [
        (&["empty"][..], next),
        (&["empty", "--input", "zone"], next),
        (&["utf-16"], "utf-16: UTF-16 text; convert the file by iconv -f UTF-16 -t UTF-8"),
        (&["/dev/zero"], "/dev/zero is longer than 256 MiB"),
    ] {
        holds(&folder.run(&[&["dns", "render"], arguments].concat()).failed(), &[says]);
    }
    #[cfg(target_os = "linux")]
    holds(
        &folder.run(&["dns", "render", "zone", "--out", "/dev/full"]).failed(),
        &["cannot write /dev/full: No space left on device"],
    );
}

#[test]
fn numbers_out_of_range_are_refused_with_the_range() {
    let folder = Folder::new();
    for (arguments, says) in [
        (&["dns", "render", "x", "--limit", "5"][..], "expected a number from 512 to 65535"),
        (&["ndn", "get", "/a", "--pipeline", "x"], "expected a number from 1 to 2048"),
        (&["study", "run", "all", "--launches", "2"], "expected 1, or a number from 3 to 100"),
        (&["ndn", "get", "/a", "--retries", "99999999999"], "the number is too large"),
        (&["ndn", "ping", "/a", "--count", "0"], "expected a number of at least 1"),
        (&["ndn", "ping-server", "/a", "--size", "8001"], "expected a number from 0 to 8000"),
        (&["ndn", "cs", "config", "--capacity", "x"], "expected a whole number"),
        (&["ndn", "route", "add", "/a", "1", "--cost", "-"], "expected a whole number"),
        (&["ndn", "peek", "a/b"], "a name starts with a slash, such as /example/data"),
        (&["ndn", "dump"], "<FILE|--interface <NAME>>"),
    ] {
        holds(&usage(&folder, arguments), &[says]);
    }
}

#[test]
fn files_that_cannot_be_published_or_trusted_are_named() {
    let folder = Folder::new();
    fs::create_dir(folder.path("folder")).unwrap();
    // Refused before a forwarder is looked for.
    for (arguments, says) in [
        (&["put", "/a", "folder"][..], "folder is a folder; `hashlane ndn serve` publishes the files of one"),
        (&["serve", "/a", "folder"], "no files in folder: "),
        (&["serve", "/a", "none"], "none: cannot read the file: No such file"),
        (&["peek", "/a", "--trust", "none"], "--trust none: cannot read the certificate: No such file"),
        (&["peek", "/a", "--trust", "/dev/zero"], "--trust /dev/zero: not a certificate: file longer than"),
    ] {
        holds(&folder.run(&[&["ndn"], arguments].concat()).failed(), &[says]);
    }
}

#[test]
fn an_input_that_no_study_of_the_run_takes_is_refused_with_the_studies_that_do() {
    let folder = Folder::new();
    folder.write("names", "/a\n");
    let message = folder.run(&["study", "run", "flow-hash", "--names", "names"]).failed();
    holds(&message, &["--names is for name-encodings, name-lookup: add one of them to the run"]);
}
