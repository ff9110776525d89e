//! Lists and names that nobody should have, and misuse.

use crate::names::folder;
use hashlane_rig::command::{Folder, Ran, holds};
use std::fs::File;

/// Runs a command that must fail with exit code 2 and one line. Returns the line.
#[track_caller]
fn refused(folder: &Folder, arguments: &[&str]) -> String {
    let ran = folder.run(arguments);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (Some(2), "", 1), "{ran:#?}");
    ran.err
}

#[test]
fn lists_that_cannot_be_read_are_refused_in_a_line() {
    let folder = folder();
    folder.write("zip", b"\x1f\x8b\x08\0\0");
    folder.write("binary", b"\x7fELF\x02\x01\x01\0");
    folder.write("page", "<html>\n<body> a b </body>\n</html>\n");
    for (list, message) in [
        ("absent", "hashlane: cannot read absent: No such file or directory"),
        (".", "hashlane: cannot read .: Is a directory"),
        ("zip", "hashlane: zip: compressed by gzip; decompress it first"),
        ("binary", "hashlane: binary: not a text: zero byte at offset 7"),
        ("page", "hashlane: page: unknown format: "),
    ] {
        let said = refused(&folder, &["names", "match", "hosts", list]);
        assert!(said.starts_with(message), "{said}");
    }
    holds(&refused(&folder, &["names", "match", "hosts", "--names", "absent"]), &["cannot read absent"]);
    holds(&refused(&folder, &["names", "match", "-"]), &["both a list and the names are standard input"]);
    holds(&refused(&folder, &["names", "check", "-", "-"]), &["two lists are -"]);
}

#[test]
fn more_than_64_lists_are_refused() {
    let folder = folder();
    let lists = ["hosts"; 65];
    let said = refused(&folder, &[&["names", "match"], &lists[..]].concat());
    holds(&said, &["65 lists; at most 64 are taken"]);
    let ran = folder.run(&[&["names", "match"], &lists[1..]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    let folder = folder();
    for options in [&["--invert", "--all"][..], &["--count", "--json"], &["--format", "csv"], &[]] {
        let list: &[&str] = if options.is_empty() { &[] } else { &["hosts"] };
        let ran = folder.run(&[&["names", "match"], list, options].concat());
        assert_eq!(ran.code, Some(2), "{ran:?}");
    }
}

/// Files of 100 MB without a line feed, in memory that has room for a part of one.
#[test]
fn text_without_line_feeds_takes_little_memory() {
    let folder = folder();
    let endless = File::create(folder.path("endless")).unwrap();
    endless.set_len(100 << 20).unwrap();
    folder.write("letters", "a".repeat(30 << 20));
    let limited = |arguments: &str| {
        let program = hashlane_rig::command::program("hashlane-names");
        let mut command = std::process::Command::new("sh");
        let script = format!("ulimit -v 200000; exec {} {arguments} </dev/null", program.display());
        command.args(["-c", &script]).current_dir(folder.path(""));
        Ran::of(command)
    };
    let ran = limited("match letters");
    assert_eq!(ran.code, Some(2));
    holds(&ran.err, &["letters: line 1 is longer than 65536 bytes; a list of names has a rule a line"]);
    let ran = limited("match endless");
    holds(&ran.err, &["endless: not a text: zero byte at offset 0"]);
    for names in ["letters", "endless"] {
        let ran = limited(&format!("match hosts --names {names} --invert"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
        holds(
            &ran.err,
            &["0 names in ", "1 line left out:\n  names of more than 253 bytes: 1, first in line 1\n"],
        );
    }
}

#[test]
fn lines_around_one_that_is_too_long_are_read() {
    let folder = folder();
    let text = ["ads.example\n", &"b".repeat(3 << 20), ".ads.example\ntracker.example"].concat();
    folder.write("names", text);
    let ran = folder.run(&["names", "match", "hosts", "--names", "names"]);
    holds(&ran.err, &["2 names in ", "2 matched", "  names of more than 253 bytes: 1, first in line 2\n"]);
    assert_eq!(ran.out.lines().count(), 2);
}

/// Names behind so much white space that some lines end in the block after their own, and most do not.
#[test]
fn a_line_is_too_long_wherever_it_stands() {
    let folder = folder();
    for (space, matched) in [(1_000, 700), (2_000, 0)] {
        folder.write("names", format!("{}ads.example\n", " ".repeat(space)).repeat(700));
        let ran = folder.run(&["names", "match", "hosts", "--names", "names"]);
        assert_eq!(ran.out.lines().count(), matched, "{}", ran.err);
        let refused = 700 - matched;
        let said = format!("  names of more than 253 bytes: {refused}, first in line 1\n");
        assert_eq!(ran.err.contains(&said), refused > 0, "{}", ran.err);
    }
}

#[test]
fn a_name_may_begin_in_one_block_and_end_in_the_next() {
    let folder = folder();
    let count = 100_000;
    let text: String = (0..count).map(|n| format!("host{n}.net\nads.example\n")).collect();
    folder.write("names", &text);
    let ran = folder.run(&["names", "match", "hosts", "--names", "names", "-q"]);
    assert_eq!(ran.out, "ads.example\thosts\tads.example\texact\n".repeat(count));
    let ran = folder.run(&["names", "match", "hosts", "--names", "names", "-q", "-v"]);
    assert_eq!(ran.out, (0..count).map(|n| format!("host{n}.net\n")).collect::<String>());
}
