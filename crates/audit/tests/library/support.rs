//! Shared objects in temporary folders, and the process that loads them.

use hashlane_audit::keys::Keys;
use hashlane_audit::library::{Launcher, Library};
use hashlane_audit::subject::{Fault, Lengths};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Limit of libraries that return, on a machine that others load.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// This program as the process of a library.
pub(crate) fn launcher() -> Launcher {
    Launcher::this_program(["--exact", "child", "--ignored", "--nocapture"]).unwrap()
}

/// Runs a command to its end, which must be a success.
#[track_caller]
pub(crate) fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A shared object, removed when dropped.
pub(crate) struct Object {
    folder: TempDir,
}

impl Object {
    /// Compiles a file in C, with `arguments` of the compiler.
    #[track_caller]
    pub(crate) fn of_file(file: &Path, arguments: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
        let mut compiler = Command::new("cc");
        compiler.args(["-std=gnu11", "-O2", "-shared", "-fPIC", "-I"]);
        run(compiler.arg(include).args(arguments).arg("-o").arg(folder.path().join("lib.so")).arg(file));
        Self { folder }
    }

    /// Compiles a text in C after some common includes.
    #[track_caller]
    pub(crate) fn of(text: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("lib.c");
        let include = "stdint.h stdio.h stdlib.h string.h unistd.h signal.h".split(' ');
        let includes: String = include.map(|header| format!("#include <{header}>\n")).collect();
        std::fs::write(&file, includes + text).unwrap();
        Self::of_file(&file, &["-w"])
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("lib.so")
    }

    /// Its function `f` of the signature that most tests use.
    pub(crate) fn library(&self, limit: Duration) -> Result<Library, Fault> {
        self.load("u64(const u8*, usize, u64 seed)", Lengths::Any, limit)
    }

    pub(crate) fn load(&self, signature: &str, lengths: Lengths, limit: Duration) -> Result<Library, Fault> {
        Library::load(launcher(), &self.path(), "f", &signature.parse().unwrap(), lengths, limit)
    }
}

/// Different keys of 36 bytes.
pub(crate) fn keys(count: u32) -> Keys {
    (0..count).map(|number| number.wrapping_mul(0x9e37_79b1).to_le_bytes().repeat(9)).collect()
}
