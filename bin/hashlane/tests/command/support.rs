//! Runs of the command in temporary folders.

use crate::children;
use std::borrow::BorrowMut;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A study that takes a fraction of a second.
pub(crate) const STUDY: &str = r#"
slug = "mine"
model = "names"
title = "A study of one's own"
question = "Does it run?"
source = "nobody"
workloads = ["3Bx2"]
schemes = ["ndn/{one-by-one,one-pass}/crc32c"]
reference = "ndn/one-by-one/crc32c"
[size]
quick = { items = 300, repetitions = 2 }
full = { items = 300, repetitions = 2 }
"#;

/// A new temporary folder, removed when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("hashlane-test-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// The command, in this folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    /// Runs the command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Outcome of a run of the command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// Runs a command to its end.
    #[track_caller]
    pub(crate) fn of(mut command: impl BorrowMut<Command>) -> Self {
        children::output(command.borrow_mut()).into()
    }

    /// The outcome of a process that is about to end.
    #[track_caller]
    pub(crate) fn finish(child: Child) -> Self {
        children::finish(child).into()
    }

    /// Asserts success. Returns the standard output.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self.out
    }

    /// Asserts a failure with one message, without a panic or a result. Returns the message, which lines of
    /// progress may precede.
    #[track_caller]
    pub(crate) fn failed(self) -> String {
        assert_eq!(self.code, Some(1), "{self:#?}");
        let lines: Vec<&str> = self.err.lines().skip_while(|line| line.contains(" s: step ")).collect();
        let message = lines.join("\n");
        assert!(self.out.is_empty() && message.starts_with("hashlane: "), "{self:#?}");
        message
    }
}

/// The user and group `nobody`: not root, and in no other group.
pub(crate) const NOBODY: u32 = 65_534;

/// Tests if this process can start processes of two users; in continuous integration it must.
pub(crate) fn is_root() -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    assert!(is_root || std::env::var_os("CI").is_none(), "tests of users need root");
    if !is_root {
        eprintln!("skipped: tests of users need root");
    }
    is_root
}

/// The command, copied once to a folder that every user can reach.
pub(crate) fn copied_to(folder: &Path) -> PathBuf {
    // The binary that cargo built may be in a folder of root. `cp` copies it, as a file that is open for
    // writing here, and so for a moment in children of other tests, cannot be executed.
    let program = folder.join("hashlane");
    if !program.exists() {
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_hashlane")).arg(&program).status();
        assert!(copied.unwrap().success());
        for path in [folder, &program] {
            fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        }
    }
    program
}

/// A command in a new namespace of this kind (`--net`, `--mount`), with the rights of root in it. `None` if
/// the system refuses that; with CI=true it must not.
#[cfg(target_os = "linux")]
pub(crate) fn namespace(kind: &str, program: &Path, arguments: &[&str]) -> Option<Command> {
    for rights in [&[][..], &["--map-root-user"]] {
        let mut command = Command::new("unshare");
        command.args(rights).arg(kind);
        let tried = Command::new("unshare").args(rights).args([kind, "true"]).output();
        if tried.is_ok_and(|tried| tried.status.success()) {
            command.arg(program).args(arguments);
            return Some(command);
        }
    }
    let required = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
    assert!(!required, "no new namespace ({kind}) can be made here, and CI=true asks for it");
    eprintln!("not tested: no new namespace ({kind}) can be made here");
    None
}

/// Lines of a file.
pub(crate) fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

/// Asserts that `text` contains all of `parts`.
#[track_caller]
pub(crate) fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}
