//! Runs of the command in temporary folders.

use crate::{children, namespace};
use std::borrow::BorrowMut;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// A study that takes a fraction of a second.
pub const STUDY: &str = r#"
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
pub struct Folder(TempDir);

impl Folder {
    /// An empty folder.
    #[allow(clippy::new_without_default, reason = "it makes a folder")]
    pub fn new() -> Self {
        Self(tempfile::Builder::new().prefix("hashlane-test-").tempdir().unwrap())
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file. Returns its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// `hashlane` with arguments, in this folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = hashlane(arguments);
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    /// Runs the command to its end.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments))
    }
}

/// `hashlane` with arguments. The commands beside it are started themselves, in the name that `hashlane`
/// gives them: a package's tests need its own program only.
pub fn hashlane(arguments: &[&str]) -> Command {
    match arguments {
        [verb @ ("dns" | "flow" | "names" | "ndn"), rest @ ..] => {
            let mut command = Command::new(program(&format!("hashlane-{verb}")));
            command.arg0(format!("hashlane {verb}")).args(rest);
            command
        }
        _ => {
            let mut command = Command::new(program("hashlane"));
            command.args(arguments);
            command
        }
    }
}

/// Path of a program of this build: the tests lie in a folder beside it.
pub fn program(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join(name);
    assert!(program.is_file(), "{} is not built; run `cargo build --workspace --bins`", program.display());
    program
}

/// Outcome of a run of the command.
#[derive(Debug)]
pub struct Ran {
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
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
    pub fn of(mut command: impl BorrowMut<Command>) -> Self {
        children::output(command.borrow_mut()).into()
    }

    /// The outcome of a process that is about to end.
    #[track_caller]
    pub fn finish(child: Child) -> Self {
        children::finish(child).into()
    }

    /// Asserts success. Returns the standard output.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self.out
    }

    /// Asserts a failure with one message, without a panic or a result. Returns the message, which lines of
    /// progress may precede.
    #[track_caller]
    pub fn failed(self) -> String {
        assert_eq!(self.code, Some(1), "{self:#?}");
        let lines: Vec<&str> = self.err.lines().skip_while(|line| line.contains(" s: step ")).collect();
        let message = lines.join("\n");
        assert!(self.out.is_empty() && message.starts_with("hashlane: "), "{self:#?}");
        message
    }
}

/// The user and group `nobody`: not root, and in no other group.
pub const NOBODY: u32 = 65_534;

/// Tests if this process can start processes of two users; in continuous integration it must.
pub fn is_root() -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    assert!(is_root || std::env::var_os("CI").is_none(), "tests of users need root");
    if !is_root {
        eprintln!("skipped: tests of users need root");
    }
    is_root
}

/// A program of this build, copied once to a folder that every user can reach.
pub fn copied_to(folder: &Path, name: &str) -> PathBuf {
    // The binary that cargo built may be in a folder of root. `cp` copies it, as a file that is open for
    // writing here, and so for a moment in children of other tests, cannot be executed.
    let copy = folder.join(name);
    if !copy.exists() {
        let copied = Command::new("cp").arg(program(name)).arg(&copy).status();
        assert!(copied.unwrap().success());
        for path in [folder, &copy] {
            fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        }
    }
    copy
}

/// A command in a new namespace of this kind (`--net`, `--mount`), with the rights of root in it. `None` if
/// the system refuses that; with CI=true it must not.
pub fn namespace(kind: &str, program: &Path, arguments: &[&str]) -> Option<Command> {
    for rights in [&[][..], &["--map-root-user"]] {
        let mut command = Command::new("unshare");
        command.args(rights).arg(kind);
        let tried = Command::new("unshare").args(rights).args([kind, "true"]).output();
        if tried.is_ok_and(|tried| tried.status.success()) {
            command.arg(program).args(arguments);
            return Some(command);
        }
    }
    namespace::skip(&format!("no new namespace ({kind}) can be made here"));
    None
}

/// Lines of a file.
pub fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

/// Asserts that `text` contains all of `parts`.
#[track_caller]
pub fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}
