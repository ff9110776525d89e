//! Pipes: names that come slowly, readers that leave, and signals.

use crate::names::folder;
use hashlane_rig::children::{finish, start};
use hashlane_rig::command::{Folder, Ran, holds};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

fn started(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = folder.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    start(&mut command)
}

#[test]
fn a_name_is_answered_while_the_next_is_awaited() {
    let folder = folder();
    let mut child = started(&folder, &["names", "match", "hosts"]);
    let (mut names, mut lines) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for _ in 0..3 {
        names.write_all(b"ads.example\nother.example\nads").unwrap();
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        assert_eq!(line, "ads.example\thosts\tads.example\texact\n");
        names.write_all(b".example.net\n").unwrap();
    }
    // Ctrl-C, while the input is open: a summary, and the exit code of it.
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let ran = Ran::from(finish(child));
    assert_eq!(ran.code, Some(130), "{ran:?}");
    holds(&ran.err, &[" names in ", "3 matched; stopped"]);
    drop(names);
}

#[test]
fn a_reader_that_leaves_ends_it_without_an_error() {
    let folder = folder();
    let mut child = started(&folder, &["names", "match", "hosts", "-q"]);
    drop(child.stdout.take());
    let mut names = child.stdin.take().unwrap();
    // It ends at the first block; the pipe then has no reader.
    while names.write_all(&b"ads.example\n".repeat(1000)).is_ok() {}
    let ran = Ran::from(finish(child));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let folder = folder();
    folder.write("names", "ads.example\n");
    for options in [&[][..], &["--count"]] {
        let mut command =
            folder.command(&[&["names", "match", "hosts", "--names", "names", "-q"], options].concat());
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ran = Ran::from(finish(start(command.stdout(full).stderr(Stdio::piped()))));
        assert_eq!(ran.code, Some(2));
        holds(&ran.err, &["hashlane: cannot write to standard output: No space left on device"]);
    }
}

#[test]
fn a_list_may_come_from_standard_input() {
    let folder = folder();
    folder.write("names", "ads.example\n");
    let mut child = started(&folder, &["names", "match", "-", "--names", "names", "-q"]);
    child.stdin.take().unwrap().write_all(b"||ads.example^\n").unwrap();
    assert_eq!(Ran::from(finish(child)).ok(), "ads.example\tstandard input\tads.example\tsubtree\n");
    let mut child = started(&folder, &["names", "match", "-", "--names", "names", "-q"]);
    child.stdin.take().unwrap().write_all(b"{ a b }\n").unwrap();
    let ran = Ran::from(finish(child));
    assert_eq!(ran.code, Some(2));
    holds(&ran.err, &["hashlane: standard input: unknown format: its lines are neither rules nor names"]);
}
