//! The user's own names.

use hashlane_rig::command::{Folder, Ran, holds, lines};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Paths of one to eight components.
fn paths(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        for depth in 0..=number % 8 {
            write!(text, "/element{}", number * (depth + 1) % 997).unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn every_encoding_and_way_is_recorded() {
    let folder = Folder::new();
    folder.write("names.txt", paths(300));
    let ran = folder.run(&["study", "run", "name-encodings", "--names", "names.txt"]);
    holds(&ran.err, &["names.txt: 300 names from 300 lines\n"]);
    holds(&ran.ok(), &["names:names.txt", "only 300 names", "report:  hashlane-report/report.html"]);

    let records: BTreeSet<String> = lines(&folder.path("hashlane-report/records.csv")).into_iter().collect();
    let mut ways: Vec<String> = Vec::new();
    for way in ["one-by-one", "all-at-once"] {
        ways.extend([format!("{way}/crc32c"), format!("{way}/longest-first/crc32c")]);
    }
    for way in ["one-pass", "burst"] {
        ways.extend(["crc32c", "siphash-1-3", "siphash-2-4"].map(|hash| format!("{way}/{hash}")));
    }
    ways.extend(["walk".into(), "walk/burst".into()]);
    for encoding in ["offset", "ccnx", "ndn"] {
        for way in &ways {
            for metric in ["cycles_mean", "cycles_min_mean"] {
                let key =
                    format!("name-encodings,names,names:names.txt,{encoding}/{way},cycles,{metric},cycles,");
                let row = records.iter().find(|row| row.starts_with(&key)).expect(&key);
                let value: f64 = row[key.len()..].split(',').next().unwrap().parse().unwrap();
                assert!(value.is_finite(), "{row}");
            }
        }
    }
    let page = std::fs::read_to_string(folder.path("hashlane-report/report.html")).unwrap();
    holds(&page, &["names:names.txt", "only 300 names"]);
    let machine = std::fs::read_to_string(folder.path("hashlane-report/machine.toml")).unwrap();
    holds(&machine, &["partial = false", "names.txt: 300 names from 300 lines"]);
}

/// Standard error of a study over the names in `content`.
fn message(content: &[u8]) -> String {
    let folder = Folder::new();
    folder.write("mine.toml", hashlane_rig::command::STUDY);
    folder.write("names.txt", content);
    let ran = folder.run(&["study", "run", "mine.toml", "--names", "names.txt"]);
    let lines = ran.err.lines().filter(|line| !line.contains(" s: step "));
    let message = lines.fold(String::new(), |message, line| message + line + "\n");
    ran.ok();
    // The machine's notes have the same text.
    let machine = std::fs::read_to_string(folder.path("hashlane-report/machine.toml")).unwrap();
    holds(&machine, &[message.lines().next().unwrap()]);
    message
}

#[test]
fn names_are_read_from_standard_input() {
    let folder = Folder::new();
    folder.write("mine.toml", hashlane_rig::command::STUDY);
    let names = std::fs::File::open(folder.write("names.txt", paths(20))).unwrap();
    let mut command = folder.command(&["study", "run", "mine.toml", "--names", "-"]);
    let ran = Ran::of(command.stdin(names));
    holds(&ran.err, &["stdin: 20 names from 20 lines\n"]);
    ran.ok();
    let records = std::fs::read_to_string(folder.path("hashlane-report/records.csv")).unwrap();
    holds(&records, &["\nmine,names,names:stdin,ndn/one-pass/crc32c,"]);
}

#[test]
fn bad_lines_are_reported_and_skipped() {
    let printed = message(b"/good/one\nno name\n\nndn:/%zz\n/good/two\r\nndn:/good/v=3\n");
    holds(&printed, &["names.txt: 3 names from 6 lines; 2 lines skipped that are not names\n"]);
    let reasons: Vec<&str> = printed.lines().skip(1).collect();
    assert_eq!(reasons.len(), 2, "{printed}");
    assert!(reasons[0].starts_with("  line 2: ") && reasons[0].len() > 20, "{printed}");
    assert!(reasons[1].starts_with("  line 4: ") && reasons[1].len() > 20, "{printed}");
}

#[test]
fn names_too_long_and_too_deep_are_skipped() {
    let mut content = b"/good\n/".to_vec();
    content.resize(70_000, b'x');
    content.push(b'\n');
    content.extend("/x".repeat(256).bytes());
    content.extend(b"\n");
    content.extend("/x".repeat(255).bytes());
    content.extend(b"\n/");
    content.resize(content.len() + 300_000, b'y');
    let message = message(&content);
    holds(
        &message,
        &["2 names from 5 lines; 3 lines skipped", "line 2: ", "line 3: ", "line 5: ", "65535", "255"],
    );
}

#[test]
fn of_many_bad_lines_the_first_are_reported_and_all_counted() {
    let message = message(format!("{}/good\n", "bad\n".repeat(1000)).as_bytes());
    holds(&message, &["1 name from 1001 lines; 1000 lines skipped", "  line 20: ", "  and 980 more\n"]);
    assert!(!message.contains("line 21: "), "{message}");
}

#[test]
fn a_file_without_a_name_is_an_error() {
    let folder = Folder::new();
    folder.write("empty.txt", "");
    folder.write("blank.txt", "\n\r\n\n");
    folder.write("bad.txt", b"a\nb\n\xff\n");
    let run = |names| folder.run(&["study", "run", "name-encodings", "--names", names]).failed();
    folder.write("utf-16.txt", b"\xff\xfe/\0a\0\n\0");
    holds(&run("empty.txt"), &["no names in empty.txt; write one name per line, such as "]);
    holds(&run("blank.txt"), &["no names in blank.txt; write one"]);
    holds(&run("bad.txt"), &["no names in bad.txt: 3 lines skipped, line 1: "]);
    holds(&run("utf-16.txt"), &["line 1: UTF-16 text; convert the file by iconv -f UTF-16 -t UTF-8"]);
    // Without an end: reading it ends.
    #[cfg(unix)]
    holds(&run("/dev/zero"), &["no names in /dev/zero: 1 line skipped, line 1: longer than "]);
    let absent = run("absent.txt");
    holds(&absent, &["cannot read names from absent.txt: "]);
    assert_eq!(absent.matches("os error").count(), 1, "the cause stands once: {absent}");
    holds(&run("."), &["cannot read names from .: "]);
    assert!(!folder.path("hashlane-report").exists(), "nothing was measured, so nothing is written");
}
