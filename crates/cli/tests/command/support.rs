//! Runs of the command in temporary folders.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
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
        command.args(arguments).current_dir(&self.0);
        command
    }

    /// Runs the command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
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
