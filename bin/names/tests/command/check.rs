//! `hashlane names check`: the content of lists.

use crate::names::folder;
use hashlane_rig::command::{Folder, holds};
use serde_json::{Value, json};
use std::process::Command;

#[test]
fn lists_are_shown_with_their_rules_and_gaps() {
    let folder = folder();
    let shown = folder.run(&["names", "check", "hosts", "v2ray", "psl"]).ok();
    holds(
        &shown,
        &[
            "hosts: hosts, 2 exact; 1 entry left out:\n",
            "v2ray: v2ray, 1 exact, 1 subtree; 1 entry left out:\n  keywords: 1, first in line 3\n",
            "psl: psl, 1 subtree, 1 below, 1 exception\n",
            "6 names with rules in ",
        ],
    );
}

#[test]
fn the_page_shows_what_is_printed() {
    let page = include_str!("../../../../docs/names.md");
    let fenced = |start: &str| page.split_once(start).unwrap().1.split_once("```").unwrap().0;
    let folder = Folder::new();
    let mut shell = Command::new("sh");
    let prepared: String =
        fenced("```sh\n").lines().filter(|line| line.starts_with("printf")).collect::<Vec<_>>().join("\n");
    assert!(shell.args(["-c", &prepared]).current_dir(folder.path("")).status().unwrap().success());
    let matched = folder.run(&["names", "match", "ads.txt", "--names", "names.txt", "--quiet"]).ok();
    assert_eq!(fenced("```text\n"), matched);
    let shown = folder.run(&["names", "check", "ads.txt"]).ok();
    let without_time = |text: &str| text.rsplit_once(", read in ").unwrap().0.to_owned();
    assert_eq!(without_time(fenced("hashlane names check ads.txt\n```\n\n```text\n")), without_time(&shown));
}

#[test]
fn json_has_every_reason() {
    let shown = folder().run(&["names", "check", "adblock", "--json"]).ok();
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let expected = json!([{
        "list": "adblock", "format": "adblock", "lines": 5,
        "exact": 0, "subtree": 1, "below": 0, "rules": 1, "exceptions": 1, "left_out": 2,
        "reasons": {
            "modifier": { "count": 1, "first_line": 4 },
            "path": { "count": 1, "first_line": 5 },
        },
    }]);
    assert_eq!((&shown["lists"], shown["names"].as_u64()), (&expected, Some(2)));
    assert!(shown["bytes"].as_u64() > Some(0) && shown["seconds"].is_f64());
}

#[test]
fn a_list_without_rules_fails() {
    let folder = folder();
    folder.write("empty", "# nothing\n");
    let ran = folder.run(&["names", "check", "hosts", "empty"]);
    assert_eq!(ran.code, Some(1));
    holds(&ran.out, &["empty: domains, no rules\n"]);
}
