//! Pictures and pages of `hashlane audit`.

use super::audit;
use hashlane_rig::command::{Folder, holds};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The picture in README.md, as the command in docs/audit.md draws it.
#[test]
fn the_picture_of_the_readme_is_drawn_again() {
    let docs = std::fs::read_to_string(format!("{ROOT}/docs/audit.md")).unwrap().replace("\\\n", "");
    let command = docs.lines().find(|line| line.contains("--picture docs/images/audit.svg")).unwrap();
    let arguments = command.split_whitespace().skip_while(|word| *word != "audit").skip(1);
    let arguments: Vec<&str> = arguments.filter(|word| *word != "docs/images/audit.svg").collect();
    let folder = Folder::new();
    let ran = folder.run(&[&["audit"], &arguments[..], &["audit.svg"]].concat());
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let drawn = std::fs::read_to_string(folder.path("audit.svg")).unwrap();
    let stored = std::fs::read_to_string(format!("{ROOT}/docs/images/audit.svg")).unwrap();
    assert!(drawn == stored, "run: {command}");
}

#[test]
fn each_verdict_has_a_picture_and_facts_apart() {
    let folder = Folder::new();
    let schemes = ["--scheme", "siphash-1-3", "--scheme", "wyhash", "--scheme", "xxh3", "--count", "256"];
    let (code, _, error) = audit(&folder, &[&schemes[..], &["--page", "page.html"]].concat());
    assert_eq!(code, Some(1), "{error}");
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    assert_eq!(page.matches("<svg ").count(), 3);
    holds(&page, &["Hostile keys: erase-wyhash.", "they cost most here", "default secrets · ε: "]);
    holds(&page, &[" · ε: measured: "]);
    // One picture of all; of one function alone, random keys are beside the hostile ones.
    for (schemes, labels) in [
        (&schemes[..], &["siphash-1-3", "wyhash", ">xxh3 (seed known)<"][..]),
        (&["--scheme", "wyhash", "--count", "256"], &["hostile keys", "random keys"]),
    ] {
        audit(&folder, &[schemes, &["--picture", "p.svg"]].concat());
        holds(&std::fs::read_to_string(folder.path("p.svg")).unwrap(), labels);
    }
}

#[test]
fn files_that_cannot_be_written_are_an_error_before_the_work() {
    let folder = Folder::new();
    for option in ["--write-keys", "--page", "--picture"] {
        let (code, out, error) = audit(&folder, &["--scheme", "wyhash", option, "none/file"]);
        assert_eq!((code, out.as_str()), (Some(2), ""));
        holds(&error, &["hashlane: cannot write none/file: "]);
    }
    // An audit that fails leaves no empty file.
    let (code, ..) = audit(&folder, &["--scheme", "wyhsah", "--write-keys", "keys"]);
    assert_eq!((code, folder.path("keys").exists()), (Some(2), false));
}

#[test]
fn a_file_has_one_use() {
    let folder = Folder::new();
    folder.write("table.toml", "kind = \"chained\"\nbuckets = 16\n");
    let scheme = ["--scheme", "wyhash"];
    for (options, reason) in [
        (&["--page", "x", "--write-keys", "./x"][..], "--page and --write-keys name one file"),
        (&["--page", "x", "--picture", "x"], "--picture and --page name one file"),
        (&["--table", "table.toml", "--page", "./table.toml"], "--page and --table name one file"),
    ] {
        let (code, out, error) = audit(&folder, &[&scheme[..], options].concat());
        assert_eq!((code, out.as_str()), (Some(2), ""), "{error}");
        holds(&error, &[reason]);
    }
    assert!(!folder.path("x").exists());
    holds(&std::fs::read_to_string(folder.path("table.toml")).unwrap(), &["kind"]);
}
