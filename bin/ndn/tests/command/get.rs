//! `hashlane ndn get` from producers that mean harm.

use crate::forwarder::{Folder, Process, produce, until};
use hashlane_rig::children::start;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Files of the folder, except its socket.
fn files(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(&folder.0).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "nfd.sock");
    names.sort_unstable();
    names
}

#[test]
fn an_object_without_end_is_refused_and_leaves_no_file() {
    let folder = Folder::new();
    let _forwarder = folder.forwarder(&[]);
    produce(&folder, "/endless", |_| vec![7; 8000]);
    let get = ["get", "/endless/v=1", "--max-size", "100000", "-o", "out"];
    for before in [&[][..], &["out"]] {
        let output = folder.run(&get);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        let expected = "the object is larger than 100000 bytes; --max-size sets the limit";
        assert!(message.contains(expected), "{message}");
        assert_eq!(files(&folder), before);
        // The next time there is an earlier file, which stays as it is.
        fs::write(folder.path("out"), "earlier").unwrap();
    }
    assert_eq!(fs::read(folder.path("out")).unwrap(), b"earlier");
    // Standard output has the same limit.
    let output = folder.run(&["get", "/endless/v=1", "--max-size", "100000"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 96_000));
}

#[test]
fn a_get_that_is_stopped_leaves_no_file() {
    let folder = Folder::new();
    let _forwarder = folder.forwarder(&[]);
    produce(&folder, "/endless", |_| vec![7; 8000]);
    for signal in ["-INT", "-TERM"] {
        let mut child = start(&mut folder.command(&["get", "/endless/v=1", "-o", "out"]));
        let errors = child.stderr.take().unwrap();
        let get = Process::new(child, errors);
        until(|| files(&folder).iter().any(|name| name.starts_with(".hashlane-get-")), || "a file".into());
        get.signal(signal);
        assert_eq!(get.end(), Some(130));
        assert_eq!(files(&folder), [""; 0]);
    }
}

#[test]
fn a_file_is_replaced_with_its_mode_and_behind_its_link() {
    let folder = Folder::new();
    let _forwarder = folder.forwarder(&[]);
    produce(&folder, "/one", |_| b"new".to_vec());
    fs::write(folder.path("file"), "old").unwrap();
    fs::set_permissions(folder.path("file"), fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("file", folder.path("link")).unwrap();
    assert!(folder.run(&["get", "/one/v=1/seg=0", "-o", "link"]).status.success());
    assert_eq!(files(&folder), ["file", "link"]);
    assert!(fs::symlink_metadata(folder.path("link")).unwrap().is_symlink());
    assert_eq!(fs::read(folder.path("file")).unwrap(), b"new");
    assert_eq!(fs::metadata(folder.path("file")).unwrap().permissions().mode() & 0o777, 0o640);
    // A device is written, not replaced.
    assert!(folder.run(&["get", "/one/v=1/seg=0", "-o", "/dev/null"]).status.success());
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}
