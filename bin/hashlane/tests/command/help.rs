//! Help, lists and usage errors.

use hashlane_rig::children::{ended, finish, read_line, start};
use hashlane_rig::command::{Folder, holds};
use std::io::BufReader;
use std::process::Stdio;

#[test]
fn every_verb_shows_examples() {
    let folder = Folder::new();
    for verb in [
        &[][..],
        &["study"],
        &["study", "list"],
        &["study", "run"],
        &["study", "kernel-patches"],
        &["study", "kernel-selftest"],
        &["report"],
        &["compare"],
        &["audit"],
        &["schemes"],
        &["dns"],
        &["dns", "serve"],
        &["dns", "control"],
        &["dns", "check-config"],
        &["dns", "render"],
        &["flow"],
        &["flow", "show"],
        &["flow", "meter"],
        &["flow", "check-config"],
        &["flow", "control"],
        &["names"],
        &["names", "match"],
        &["names", "check"],
        &["names", "compile"],
        &["ndn"],
        &["ndn", "run"],
        &["ndn", "check-config"],
        &["ndn", "ping"],
        &["ndn", "ping-server"],
        &["ndn", "dump"],
        &["ndn", "peek"],
        &["ndn", "put"],
        &["ndn", "get"],
        &["ndn", "serve"],
        &["ndn", "status"],
        &["ndn", "face"],
        &["ndn", "face", "list"],
        &["ndn", "face", "create"],
        &["ndn", "face", "update"],
        &["ndn", "face", "destroy"],
        &["ndn", "face", "show"],
        &["ndn", "route"],
        &["ndn", "route", "list"],
        &["ndn", "route", "add"],
        &["ndn", "route", "remove"],
        &["ndn", "strategy"],
        &["ndn", "strategy", "list"],
        &["ndn", "strategy", "show"],
        &["ndn", "strategy", "set"],
        &["ndn", "strategy", "unset"],
        &["ndn", "cs"],
        &["ndn", "cs", "info"],
        &["ndn", "cs", "config"],
        &["ndn", "cs", "erase"],
    ] {
        let help = folder.run(&[verb, &["--help"]].concat()).ok();
        holds(&help, &["Usage: hashlane", "Examples:\n  hashlane "]);
    }
}

#[test]
fn the_long_help_of_a_verb_is_shown() {
    let folder = Folder::new();
    for (verb, part) in [
        (["ndn", "dump"], "WebSockets and fragmented IP packets"),
        (["ndn", "run"], "SIGHUP re-reads the configuration file"),
        (["dns", "render"], "is continued in another message"),
    ] {
        let help = folder.run(&[&verb[..], &["--help"]].concat()).ok();
        let words: Vec<&str> = help.split_whitespace().collect();
        holds(&words.join(" "), &[part]);
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}

#[test]
fn lists_the_studies_with_their_questions() {
    let list = Folder::new().run(&["study", "list"]).ok();
    holds(&list, &["name-encodings\n", "Do offset names", "CCNxCON 2015"]);
}

#[test]
fn lists_every_hash_with_its_check_value() {
    let list = Folder::new().run(&["schemes"]).ok();
    let registered = hashlane_study_names::schemes::schemes();
    assert!(registered.len() > 10);
    for scheme in registered {
        let info = scheme.info;
        let digits = info.width as usize / 4;
        let line = list.lines().find(|line| line.starts_with(&format!("{}  ", info.id))).expect(info.id);
        holds(line, &[&format!("{} bits", info.width), &format!("check {:0digits$x}", info.check)]);
        holds(&list, &[info.source, info.safe]);
    }
}

#[test]
fn the_page_of_schemes_is_the_one_that_is_printed() {
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemes.md");
    let printed = Folder::new().run(&["schemes", "--markdown"]).ok();
    let stored = std::fs::read_to_string(stored).unwrap();
    assert!(printed == stored, "run: hashlane schemes --markdown > docs/schemes.md");
    holds(&printed, &["| `multilinear` | 32 |", "≤ 2^-32, proved", "| `ehash/jhash2` | 32 |"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    let mut child = start(folder.command(&["schemes"]).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let first = read_line(&mut BufReader::with_capacity(16, child.stdout.take().unwrap()));
    let output = finish(child);
    assert!(first.starts_with("crc32c "));
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");

    let mut child = start(folder.command(&["study", "run", "nothing"]).stderr(Stdio::piped()));
    drop(child.stderr.take());
    assert_eq!(ended(&mut child).code(), Some(1));
}

#[test]
fn wrong_usage_exits_with_2() {
    let folder = Folder::new();
    for arguments in [
        &["study", "run"][..],
        &["study", "run", "all", "--quick", "--full"],
        &["compare", "one"],
        &["report"],
        &["nothing"],
        &["schemes", "--wrong"],
    ] {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        holds(&ran.err, &["Usage: hashlane"]);
    }
}
