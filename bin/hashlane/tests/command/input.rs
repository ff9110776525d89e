//! Study files: embedded, the user's own, and hostile ones.

use hashlane_rig::command::{Folder, STUDY, holds};

/// Runs [`STUDY`] with `from` replaced by `to`.
fn changed(from: &str, to: &str) -> hashlane_rig::command::Ran {
    assert!(STUDY.contains(from), "{from}");
    let folder = Folder::new();
    folder.write("mine.toml", STUDY.replace(from, to));
    folder.run(&["study", "run", "mine.toml"])
}

#[test]
fn a_study_of_the_user_s_own_runs() {
    let folder = Folder::new();
    folder.write("mine.toml", STUDY);
    let out = folder.run(&["study", "run", "./mine.toml", "--out", "deep/results"]).ok();
    holds(&out, &["3Bx2", "one-pass", "report:  deep/results/report.html"]);
    let records = std::fs::read_to_string(folder.path("deep/results/records.csv")).unwrap();
    holds(&records, &["\nmine,names,3Bx2,ndn/one-pass/crc32c,cycles,ratio,ndn/one-by-one/crc32c,"]);
}

#[test]
fn a_study_named_twice_runs_once_and_two_of_one_slug_are_refused() {
    let folder = Folder::new();
    folder.write("mine.toml", STUDY);
    folder.write("other.toml", STUDY.replace("3Bx2", "4Bx2"));
    let out = folder.run(&["study", "run", "mine.toml", "./mine.toml"]).ok();
    assert_eq!(out.matches("3Bx2: cycles per item").count(), 1, "{out}");
    let message = folder.run(&["study", "run", "mine.toml", "other.toml"]).failed();
    holds(&message, &["two studies have the slug \"mine\""]);
}

#[test]
fn an_unknown_study_lists_the_studies() {
    let folder = Folder::new();
    holds(
        &folder.run(&["study", "run", "nothing"]).failed(),
        &["no study \"nothing\"", "name-encodings", ".toml"],
    );
    holds(&folder.run(&["study", "run", "no.toml"]).failed(), &["cannot read the study no.toml: "]);
}

#[test]
fn an_unknown_scheme_lists_encodings_ways_and_hashes() {
    let message = changed("one-pass}", "one-pass,three-pass}").failed();
    holds(
        &message,
        &[
            "unknown scheme \"ndn/three-pass/crc32c\"",
            "offset, ccnx, ndn",
            "all-at-once",
            "cityhash64",
            "foldhash, ahash",
        ],
    );
}

#[test]
fn an_unknown_workload_lists_the_workloads() {
    holds(&changed("3Bx2", "3Bytes").failed(), &["no workload \"3Bytes\"", "12Bx5", "ircache", "domain"]);
}

#[test]
fn an_unknown_model_lists_the_models() {
    holds(&changed("\"names\"", "\"flows\"").failed(), &["unknown model \"flows\"; known models: names"]);
}

#[test]
fn a_wrong_checksum_says_what_was_found() {
    let right = "\n[[expect]]\nworkload = \"3Bx2\"\nnames = 100\ncomponents = 200\n\
                 checksum = { offset = \"0x1\", ccnx = \"0x2\", ndn = \"0x3\" }\n";
    let folder = Folder::new();
    folder.write("mine.toml", format!("{STUDY}{right}"));
    let message = folder.run(&["study", "run", "mine.toml"]).failed();
    holds(
        &message,
        &["study mine: workload 3Bx2 differs from the study's expectation", "of offset, expected 0x1"],
    );
    folder.write("mine.toml", format!("{STUDY}{}", right.replace("200", "201")));
    let message = folder.run(&["study", "run", "mine.toml"]).failed();
    holds(&message, &["200 components, expected 201"]);
}

#[test]
fn hostile_study_files_are_refused() {
    let deep = format!("slug = {}", "[".repeat(100_000));
    for (from, to, says) in [
        (STUDY, "", "slug"),
        (STUDY, "\u{1b}[31m", "mine.toml"),
        (STUDY, &deep, "mine.toml"),
        (STUDY, &"#".repeat(2 << 20), "longer than 1048576 bytes"),
        ("slug = \"mine\"", "slug = \"../../etc\"", "slug: takes"),
        ("slug = \"mine\"", "slug = \"mine\"\nshell = \"rm\"", "shell"),
        ("repetitions = 2", "repetitions = 4000000000", "repetitions: takes"),
        ("items = 300", "items = 4000000000", "items: takes"),
        ("{one-by-one,one-pass}", &"{a,b}".repeat(64), "schemes"),
        ("\"3Bx2\"", "\"3Bx2\", \"3Bx2\"", "\"3Bx2\" is repeated"),
    ] {
        let message = changed(from, to).failed();
        holds(&message, &[says]);
        assert!(message.len() < 4096 && !message.contains('\u{1b}'), "{message:?}");
    }
    let folder = Folder::new();
    folder.write("mine.toml", b"slug = \"\xff\"");
    holds(&folder.run(&["study", "run", "mine.toml"]).failed(), &["cannot read the study mine.toml: "]);
}

#[test]
fn a_workload_too_large_for_memory_is_refused() {
    let large = STUDY.replace("3Bx2", "255Bx200").replace("items = 300", "items = 10000000");
    let folder = Folder::new();
    // An encoding holds at most 256 MiB: 5,000 of these names fit, and ten million are refused.
    folder.write("mine.toml", large);
    holds(&folder.run(&["study", "run", "mine.toml"]).failed(), &["workload 255Bx200: ", "full at 256 MiB"]);
}
