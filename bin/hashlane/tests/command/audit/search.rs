//! `hashlane audit --minutes N`.

use super::audit;
use hashlane_rig::children::start;
use hashlane_rig::command::{Folder, Ran, holds};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

fn searched(folder: &Folder, arguments: &[&str]) -> (Option<i32>, Value) {
    let (code, out, _) = audit(folder, &[&["--json", "--minutes", "1"], arguments].concat());
    let document: Value = serde_json::from_str(&out).unwrap();
    (code, document["audited"][0].clone())
}

#[test]
fn a_flood_that_is_found_without_priors_has_a_verdict_and_keys() {
    let folder = Folder::new();
    let alone = &["--scheme", "crc32c", "--without-priors", "--out", "keys"];
    let (code, audited) = searched(&folder, alone);
    assert_eq!((code, &audited["verdict"]), (Some(1), &"floodable".into()));
    assert_eq!(audited["search"]["found_by"], "blind/linear");
    assert!(audited["search"]["keys_hashed"].as_u64().is_some_and(|keys| keys > 1000), "{audited}");
    let attacks = audited["attacks"].as_array().unwrap();
    assert!(attacks.iter().all(|attack| attack["id"].as_str().unwrap().starts_with("blind/")), "{audited}");
    let keys = std::fs::read_to_string(folder.path("keys/crc32c.txt")).unwrap();
    holds(&keys, &["# attack: blind/linear\n# needs: nothing\n"]);
    assert_eq!(searched(&folder, alone).1["search"], audited["search"], "another search from the same seed");
    let (_, out, _) = audit(&folder, &["--minutes", "1", "--scheme", "crc32c", "--without-priors"]);
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    holds(&out, &["crc32c: floodable (blind/linear): ", "; search without priors: blind/linear, after "]);
}

#[test]
fn a_function_that_an_attack_floods_is_not_searched() {
    let (code, audited) = searched(&Folder::new(), &["--scheme", "crc32c"]);
    assert_eq!((code, &audited["search"]), (Some(1), &Value::Null));
    assert!(!audited.to_string().contains("blind/"), "{audited}");
}

#[test]
fn a_search_without_an_end_or_a_function_is_an_error() {
    let folder = Folder::new();
    for (arguments, reason) in [
        (&["--without-priors"][..], "--minutes <N>"),
        (&["--minutes", "0"], "0 is not in 1..=10080"),
        (&["--minutes", "1", "--table", "./mine.so"], "mine.so gives no hashes to search"),
        (&["--minutes", "1", "--names", "-", "--function", "crc32c"], "cannot be used with"),
    ] {
        let (code, _, error) = audit(&folder, arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {error}");
        holds(&error, &[reason]);
    }
}

#[test]
fn ctrl_c_ends_a_search_with_the_results_so_far() {
    let folder = Folder::new();
    let options = ["audit", "--seed", "7", "--scheme", "siphash-1-3", "--minutes", "60", "--without-priors"];
    let mut command = folder.command(&options);
    let mut child = start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    // Progress is reported after two seconds; the search would go on for an hour.
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let searching = lines.by_ref().map_while(Result::ok).find(|line| line.contains("search without priors"));
    assert!(searching.is_some_and(|line| line.contains(" of 3600 s, ")), "no search was reported");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let Ran { code, out, .. } = Ran::finish(child);
    assert_eq!(code, Some(0), "{out}");
    holds(&out, &["siphash-1-3: no attack known to this audit", "search without priors:", " keys hashed"]);
}
