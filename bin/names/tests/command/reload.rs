//! Lists read again while names are matched.

use crate::names::folder;
use hashlane_rig::children::{finish, start};
use hashlane_rig::command::{Folder, Ran, holds};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};

/// A running `names match`.
struct Running {
    child: Child,
    names: ChildStdin,
    lines: BufReader<ChildStdout>,
    messages: BufReader<ChildStderr>,
}

impl Running {
    fn start(folder: &Folder, options: &[&str]) -> Self {
        let mut command = folder.command(&[&["names", "match"], options].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = start(&mut command);
        let names = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let messages = BufReader::new(child.stderr.take().unwrap());
        Self { child, names, lines, messages }
    }

    /// Waits for a message that starts with `text`.
    fn message(&mut self, text: &str) -> String {
        let mut line = String::new();
        while !line.starts_with(text) {
            line.clear();
            assert_ne!(self.messages.read_line(&mut line).unwrap(), 0, "{text}");
        }
        line
    }

    fn hang_up(&self) {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGHUP).unwrap();
    }

    /// The answer to a name that matches.
    fn answer(&mut self, name: &str) -> String {
        writeln!(self.names, "{name}").unwrap();
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }

    /// Closes the input: the exit code, the rest of the output and of the messages.
    fn end(self) -> (Option<i32>, String, String) {
        let Self { child, names, mut lines, mut messages } = self;
        drop(names);
        let (mut out, mut err) = (String::new(), String::new());
        lines.read_to_string(&mut out).unwrap();
        messages.read_to_string(&mut err).unwrap();
        (Ran::from(finish(child)).code, out, err)
    }
}

/// Puts a list in the place of another at once.
fn replace(folder: &Folder, name: &str, text: &str) {
    folder.write("new", text);
    std::fs::rename(folder.path("new"), folder.path(name)).unwrap();
}

const AGAIN: &str = "lists read again: ";

#[test]
fn a_hangup_reads_the_lists_again_and_a_wrong_list_changes_nothing() {
    let folder = folder();
    folder.write("list", "||old.example^\n");
    let mut running = Running::start(&folder, &["list"]);
    assert_eq!(running.answer("a.old.example"), "a.old.example\tlist\told.example\tsubtree\n");
    replace(&folder, "list", "||new.example^\n||a.new.example^\n");
    running.hang_up();
    holds(&running.message(AGAIN), &["2 names with rules in "]);
    assert_eq!(
        running.answer("a.old.example\na.new.example"),
        "a.new.example\tlist\ta.new.example\tsubtree\n"
    );
    let wrong = "hashlane: the rules stay as they were: list: unknown format";
    replace(&folder, "list", "{ a b }\n");
    running.hang_up();
    running.message(wrong);
    std::fs::remove_file(folder.path("list")).unwrap();
    running.hang_up();
    holds(&running.message("hashlane: the rules stay"), &["cannot read list: No such file"]);
    assert_eq!(running.answer("new.example"), "new.example\tlist\tnew.example\tsubtree\n");
    let (code, out, err) = running.end();
    assert_eq!((code, out.as_str()), (Some(0), ""));
    holds(&err, &["4 names in ", ", 3 matched; 1 reload\n"]);
}

#[test]
fn every_line_is_matched_by_the_rules_of_one_reading() {
    let folder = folder();
    let lists = ["||example^\n", "||ads.example^\n@@||b.ads.example^\n"];
    folder.write("list", lists[0]);
    let mut running = Running::start(&folder, &["list", "-q"]);
    // It has begun, and takes signals.
    assert_eq!(running.answer("a.ads.example"), "a.ads.example\tlist\texample\tsubtree\n");
    let (mut written, mut read, mut rules) = (0, 0, [0; 2]);
    for round in 0..30 {
        replace(&folder, "list", lists[round % 2]);
        running.hang_up();
        let block = "a.ads.example\n".repeat(500);
        running.names.write_all(block.as_bytes()).unwrap();
        written += 500;
        while read < written {
            let mut line = String::new();
            running.lines.read_line(&mut line).unwrap();
            let rule = ["example", "ads.example"]
                .iter()
                .position(|rule| line == format!("a.ads.example\tlist\t{rule}\tsubtree\n"));
            rules[rule.expect(&line)] += 1;
            read += 1;
        }
    }
    // The last reading is of the second list; its exception comes with its rule.
    while running.answer("a.ads.example") != "a.ads.example\tlist\tads.example\tsubtree\n" {}
    let answer = running.answer("b.ads.example\na.ads.example");
    assert_eq!(answer, "a.ads.example\tlist\tads.example\tsubtree\n");
    assert!(rules[0] > 0, "{rules:?}");
    let (code, out, err) = running.end();
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "", ""));
}

#[test]
fn a_compiled_file_that_is_replaced_is_read_again_without_a_signal() {
    let folder = folder();
    folder.write("list", "||old.example^\n");
    let compile = || folder.run(&["names", "compile", "list", "--output", "rules"]);
    compile().ok();
    let mut running = Running::start(&folder, &["rules", "--watch"]);
    assert_eq!(running.answer("old.example"), "old.example\tlist\told.example\tsubtree\n");
    folder.write("list", "||new.example^\n");
    compile().ok();
    running.message(AGAIN);
    assert_eq!(running.answer("old.example\nnew.example"), "new.example\tlist\tnew.example\tsubtree\n");
    // A file that is cut is refused.
    let bytes = std::fs::read(folder.path("rules")).unwrap();
    std::fs::write(folder.path("rules"), &bytes[..bytes.len() - 9]).unwrap();
    holds(&running.message("hashlane: the rules stay as they were: rules: "), &["the file was cut"]);
    assert_eq!(running.answer("new.example"), "new.example\tlist\tnew.example\tsubtree\n");
    let (code, _, err) = running.end();
    assert_eq!(code, Some(0));
    holds(&err, &["; 1 reload\n"]);
}

#[test]
fn a_list_that_is_no_file_is_not_read_again() {
    let folder = folder();
    folder.write("names", "");
    let mut running = Running::start(&folder, &["/dev/stdin", "--names", "/dev/zero"]);
    writeln!(running.names, "||old.example^").unwrap();
    // The end of the list.
    let (_, names) = std::io::pipe().unwrap();
    drop(std::mem::replace(&mut running.names, std::os::fd::OwnedFd::from(names).into()));
    running.message("/dev/stdin: adblock");
    running.hang_up();
    holds(
        &running.message("hashlane: the rules stay"),
        &["/dev/stdin is a pipe or a device, which is read once"],
    );
    kill(Pid::from_raw(running.child.id() as i32), Signal::SIGTERM).unwrap();
    let (code, ..) = running.end();
    assert_eq!(code, Some(130));
}
