//! `$INCLUDE`, and files.

use super::*;
use std::fs;
use tempfile::TempDir;

/// A folder `zones` with files, beside a file `outside`.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("outside"), "o 1 A 192.0.2.1\n").unwrap();
    for (path, text) in files {
        let path = folder.path().join("zones").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn load(folder: &TempDir, options: &Options) -> Result<String, LoadError> {
    let mut out = String::new();
    let origin = name("example.com");
    let mut sink = |record: Record<'_>| {
        let _ = write!(out, "{} {}, ", record.owner, record.ttl);
        Ok(())
    };
    let path = folder.path().join("zones/main");
    records(&path, Some(origin.view()), options, &mut sink).map_err(|mut error| {
        for fault in &mut error.faults {
            fault.file = fault.file.replace(path.to_str().unwrap(), "main");
        }
        error
    })?;
    Ok(out.trim_end_matches(", ").to_owned())
}

#[test]
fn an_include_has_an_origin_and_owner_of_its_own_and_hands_on_its_ttl() {
    let folder = folder(&[
        (
            "main",
            "a 1 A 192.0.2.1\n$INCLUDE \"sub/b\" sub ; comment\n A 192.0.2.2\n$include sub/c\nz A 192.0.2.1",
        ),
        ("sub/b", "$TTL 5\nb A 192.0.2.1\n$ORIGIN deeper\nc A 192.0.2.1\n$INCLUDE sub/c"),
        ("sub/c", "d A 192.0.2.1"),
    ]);
    let expected = "a.example.com. 1, b.sub.example.com. 5, c.deeper.sub.example.com. 5, \
                    d.deeper.sub.example.com. 5, a.example.com. 5, d.example.com. 5, z.example.com. 5";
    assert_eq!(load(&folder, &serial()).unwrap(), expected);
    // On threads, too.
    assert_eq!(load(&folder, &Options { threads: 2, piece: 1, ..serial() }).unwrap(), expected);
}

#[test]
fn an_error_names_the_included_file() {
    let folder = folder(&[("main", "\n$INCLUDE a\nb 1 A x\n"), ("a", "\n\n 1 A 192.0.2.1\nb 1 A x\n")]);
    assert_eq!(
        load(&folder, &serial()).unwrap_err().to_string(),
        "a:3: no owner, and no record before to take it from; begin the line with a name\n\
         a:4:7: expected an IPv4 address, found \"x\"\n\
         main:3:7: expected an IPv4 address, found \"x\""
    );
}

#[test]
fn includes_only_files_inside_the_folder() {
    let folder = folder(&[("main", ""), ("sub/a", "a 1 A 192.0.2.1")]);
    let zones = folder.path().join("zones");
    std::os::unix::fs::symlink("../outside", zones.join("link")).unwrap();
    std::os::unix::fs::symlink("sub/a", zones.join("inside")).unwrap();
    for (path, error) in [
        ("../outside", IncludeError::Path),
        ("sub/../sub/a", IncludeError::Path),
        ("/etc/passwd", IncludeError::Path),
        ("\"\"", IncludeError::Path),
        ("\\255", IncludeError::Path),
        ("link", IncludeError::Outside),
        ("sub", IncludeError::NotAFile),
        ("main", IncludeError::Loop),
    ] {
        fs::write(zones.join("main"), format!("$INCLUDE {path}\n")).unwrap();
        let faults = load(&folder, &serial()).unwrap_err().faults;
        let [Fault { line: Some(1), what: FaultKind::Include { why, .. }, .. }] = &faults[..] else {
            panic!("{faults:?}")
        };
        assert_eq!(*why, error, "{path}");
    }
    fs::write(zones.join("main"), "$INCLUDE none\n$INCLUDE\n$INCLUDE sub/a x y\n").unwrap();
    let error = load(&folder, &serial()).unwrap_err();
    assert_eq!(error.faults.len(), 3);
    assert!(
        error.faults[0].to_string().starts_with("main:1:10: $INCLUDE of \"none\": cannot read the file: ")
    );
    fs::write(zones.join("main"), "$INCLUDE ./inside\n$INCLUDE sub/a\n").unwrap();
    assert_eq!(load(&folder, &serial()).unwrap(), "a.example.com. 1, a.example.com. 1");
}

#[test]
fn files_that_include_one_another_are_bounded() {
    let text: Vec<(String, String)> =
        (0..12).map(|level| (format!("f{level}"), format!("$INCLUDE f{}\n", level + 1))).collect();
    let mut files: Vec<(&str, &str)> = text.iter().map(|(path, text)| (&path[..], &text[..])).collect();
    files.push(("main", "$INCLUDE f0\n"));
    let error = load(&folder(&files), &serial()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "f7:1:10: $INCLUDE of \"f8\": more than 8 files include one another; nest them less"
    );
    let cycle = folder(&[("main", "$INCLUDE a"), ("a", "$INCLUDE b"), ("b", "$INCLUDE a")]);
    let error = load(&cycle, &serial()).unwrap_err();
    assert_eq!(error.to_string(), "b:1:10: $INCLUDE of \"a\": the file includes itself; remove the line");
}

#[test]
fn includes_do_not_multiply_without_end() {
    let many = "$INCLUDE b\n".repeat(2_000);
    let error = load(&folder(&[("main", &many), ("b", &"$INCLUDE c\n".repeat(100)), ("c", "")]), &serial());
    assert_eq!(
        error.unwrap_err().faults[0].what,
        FaultKind::Include { path: "c".into(), why: IncludeError::Count(MAX_FILES) }
    );
    let options = Options { max_bytes: 20_000, ..serial() };
    let error = load(&folder(&[("main", "$INCLUDE b\n$INCLUDE b\n"), ("b", &"\n".repeat(15_000))]), &options);
    assert_eq!(
        error.unwrap_err().faults[0].to_string(),
        "main:2:10: the files of the zone have more than 20000 bytes; raise zone_files.max_bytes"
    );
    let error = load(&folder(&[("main", &"\n".repeat(20_001))]), &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "main: the files of the zone have more than 20000 bytes; raise zone_files.max_bytes"
    );
}

#[test]
fn says_that_a_zone_file_cannot_be_read() {
    let error = load(&folder(&[("other", "")]), &serial()).unwrap_err().to_string();
    assert!(error.starts_with("main: cannot read the zone file: "), "{error}");
}
