//! Configurations that `ndn run` and `ndn check-config` refuse alike.

use crate::forwarder::Folder;
use hashlane_ndn::security::file::MAX_FILE;
use hashlane_rig::children::{finish, start};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::Output;

/// The error of a command that must fail without delay. A forwarder that starts is ended.
#[track_caller]
fn error(folder: &Folder, arguments: &[&str], config: &str) -> String {
    let ended = finish(start(&mut folder.command(arguments)));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{arguments:?} of:\n{config}\n{said}");
    said
}

/// A valid configuration that listens on one Unix socket, and on nothing else.
const QUIET: &str = "faces.unix.path = [\"a.sock\"]\nfaces.udp.listen = []\nfaces.tcp.listen = []\n\
                     faces.websocket.listen = []\n";

/// [`QUIET`] with `from` replaced by `to`.
fn changed(from: &str, to: &str) -> String {
    assert!(QUIET.contains(from), "{from}");
    QUIET.replace(from, to)
}

fn folder() -> Folder {
    let folder = Folder::new();
    fs::write(folder.path("text"), "no certificate\n").unwrap();
    fs::write(folder.path("large"), vec![b'A'; MAX_FILE + 1]).unwrap();
    fs::create_dir(folder.path("folder")).unwrap();
    nix::unistd::mkfifo(&folder.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    fs::create_dir(folder.path("open")).unwrap();
    fs::set_permissions(folder.path("open"), fs::Permissions::from_mode(0o777)).unwrap();
    fs::create_dir(folder.path("closed")).unwrap();
    fs::set_permissions(folder.path("closed"), fs::Permissions::from_mode(0o555)).unwrap();
    folder
}

#[test]
fn run_and_check_config_refuse_the_same_with_the_same_words() {
    let folder = folder();
    let anchor = |file: &str| format!("{QUIET}[management]\ntrust_anchors = [\"{file}\"]\n");
    let long = format!("{}.sock", "x".repeat(108));
    let cases = [
        // The text.
        ("[cs]\npackts = 3\n".to_owned(), "unknown key `cs.packts`; did you mean `cs.packets`?"),
        ("[cs".to_owned(), "line 1"),
        ("[pit]\nentries = 0\n".to_owned(), "`pit.entries` must be at least 1"),
        (
            "[pit]\nindex = \"digest\"\n[pit.digest]\nfunction = \"siphash-64\"\n".to_owned(),
            "`pit.digest.key`",
        ),
        ("[strategies]\n\"/\" = \"fastest\"\n".to_owned(), "choose one of best-route"),
        // The files that it names.
        (anchor("missing"), "trust anchor missing: No such file"),
        (anchor("folder"), "trust anchor folder: not a regular file; name a regular file"),
        (anchor("pipe"), "trust anchor pipe: not a regular file; name a regular file"),
        (anchor("text"), "trust anchor text: "),
        (anchor("large"), "trust anchor large: "),
        (anchor("/dev/zero"), "trust anchor /dev/zero: not a regular file"),
        (anchor("/dev/null"), "trust anchor /dev/null: not a regular file"),
        // Places to listen on.
        (changed("a.sock", "none/a.sock"), "cannot listen on none/a.sock: the directory none does not exist"),
        (changed("a.sock", "text/a.sock"), "cannot listen on text/a.sock: text is not a directory"),
        (changed("a.sock", "text"), "cannot listen on text: the file there is not a socket; remove it"),
        (
            changed("a.sock", "open/a.sock"),
            "cannot listen on open/a.sock: the folder open has mode 0777, so other users can replace the socket",
        ),
        (changed("a.sock", "folder"), "cannot listen on folder: the file there is not a socket"),
        (changed("a.sock", "/"), "cannot listen on /: "),
        (changed("a.sock", ""), "cannot listen on "),
        (changed("a.sock", &long), ".sock: "),
        (changed("\"a.sock\"", "\"a.sock\", \"a.sock\""), "the configuration listens on a.sock already"),
        (changed("udp.listen = []", "udp.listen = [\"192.0.2.1:1\"]"), "no interface of this machine has"),
        (changed("tcp.listen = []", "tcp.listen = [\"192.0.2.1:6363\"]"), "cannot bind TCP 192.0.2.1:6363: "),
        (
            changed("udp.listen = []", "udp.listen = [\"127.0.0.1:16363\", \"0.0.0.0:16363\"]"),
            "cannot listen on UDP 0.0.0.0:16363: the configuration listens on 127.0.0.1:16363 already",
        ),
        (
            changed(
                "[]\nfaces.websocket.listen = []",
                "[\"[::1]:16363\"]\nfaces.websocket.listen = [\"[::1]:16363\"]",
            ),
            "cannot listen on TCP [::1]:16363: the configuration listens on [::1]:16363 already",
        ),
        // No face.
        (
            changed("[\"a.sock\"]", "[]"),
            "the forwarder would have no faces: every list of listeners is empty",
        ),
    ];
    for (config, says) in cases {
        fs::write(folder.path("broken.toml"), &config).unwrap();
        let run = error(&folder, &["run", "--config", "broken.toml"], &config);
        let check = error(&folder, &["check-config", "broken.toml"], &config);
        assert_eq!(run, check, "{config}");
        assert!(run.contains(says), "{says:?} for:\n{config}\n{run}");
        assert!(run.starts_with("hashlane: ") && !run.contains("panicked"), "{run}");
    }
    assert!(!folder.path("a.sock").exists());
}

#[test]
fn printing_a_configuration_checks_its_text_and_neither_files_nor_sockets() {
    let folder = folder();
    fs::write(folder.path("f.toml"), "[cs]\npackts = 3\n").unwrap();
    let print = ["check-config", "--print", "f.toml"];
    assert!(error(&folder, &print, "").contains("did you mean `cs.packets`?"));
    let elsewhere = changed("a.sock", "none/a.sock") + "[management]\ntrust_anchors = [\"missing\"]\n";
    fs::write(folder.path("f.toml"), &elsewhere).unwrap();
    let printed = folder.run(&print);
    valid(&printed);
    assert!(String::from_utf8(printed.stdout).unwrap().contains("none/a.sock"));
    error(&folder, &["check-config", "f.toml"], &elsewhere);
}

#[test]
fn files_that_are_no_configuration_are_refused_alike() {
    let folder = folder();
    fs::write(folder.path("utf-16.toml"), b"\xff\xfe[\0c\0s\0]\0").unwrap();
    fs::write(folder.path("binary.toml"), b"a = 1\n\x80").unwrap();
    let long = fs::File::create(folder.path("long.toml")).unwrap();
    long.set_len((64 << 20) + 1).unwrap();
    for (file, says) in [
        ("missing.toml", "cannot read missing.toml: No such file"),
        ("folder", "folder is not a regular file; name a configuration file"),
        ("pipe", "pipe is not a regular file; name a configuration file"),
        ("utf-16.toml", "utf-16.toml: UTF-16 text; convert the file by iconv -f UTF-16 -t UTF-8"),
        ("binary.toml", "binary.toml: not UTF-8 text at offset 6"),
        ("long.toml", "long.toml is longer than 64 MiB: name another file"),
        ("/dev/zero", "/dev/zero is not a regular file; name a configuration file"),
    ] {
        let run = error(&folder, &["run", "--config", file], file);
        assert_eq!(run, error(&folder, &["check-config", file], file));
        assert!(run.contains(says), "{says:?}: {run}");
    }
}

#[test]
fn a_folder_without_the_permission_to_write_is_refused_alike() {
    // Root may write everywhere.
    if nix::unistd::Uid::effective().is_root() {
        return;
    }
    let folder = folder();
    let config = changed("a.sock", "closed/a.sock");
    fs::write(folder.path("broken.toml"), &config).unwrap();
    let run = error(&folder, &["run", "--config", "broken.toml"], &config);
    assert_eq!(run, error(&folder, &["check-config", "broken.toml"], &config));
    assert!(run.contains("cannot listen on closed/a.sock: "), "{run}");
}

#[track_caller]
fn valid(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_valid_configuration_is_accepted_while_the_forwarder_runs() {
    let folder = folder();
    fs::write(folder.path("f.toml"), QUIET).unwrap();
    let _listener = UnixListener::bind(folder.path("a.sock")).unwrap();
    valid(&folder.run(&["check-config", "f.toml"]));
    // It listens nowhere, so it takes no socket away.
    assert!(folder.path("a.sock").exists());
    // The defaults, for a file to change, need no folder.
    valid(&folder.run(&["check-config", "--print"]));
    // Faces that only routes open.
    let routes = "[[routes]]\nprefix = \"/a\"\nto = \"tcp4://192.0.2.1:6363\"\n";
    fs::write(folder.path("f.toml"), format!("{}{routes}", changed("[\"a.sock\"]", "[]"))).unwrap();
    valid(&folder.run(&["check-config", "f.toml"]));
}

#[test]
fn a_forwarder_without_a_face_is_refused_with_the_next_step() {
    let folder = Folder::new();
    let none = ["run", "--unix", "none", "--udp", "none", "--tcp", "none", "--ws", "none"];
    let message = error(&folder, &none, "");
    for part in ["would have no faces", "--unix", "--udp"] {
        assert!(message.contains(part), "{message}");
    }
    // The flags override a file without listeners.
    fs::write(folder.path("f.toml"), changed("[\"a.sock\"]", "[]")).unwrap();
    drop(folder.forwarder(&["--config", "f.toml"]));
}
