//! Shared objects in temporary folders, and the process that loads them.

use hashlane_audit::keys::Keys;
use hashlane_audit::library::{Launcher, Library};
use hashlane_audit::subject::{Fault, Lengths};
use hashlane_hash::scheme::Key;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Limit of libraries that return, on a machine that others load.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Arguments of this program as the process of a library.
pub(crate) const CHILD: [&str; 4] = ["--exact", "child", "--ignored", "--nocapture"];

/// This program as the process of a library.
pub(crate) fn launcher() -> Launcher {
    Launcher::this_program(CHILD).unwrap()
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
    pub(crate) fn from_file(file: &Path, arguments: &[&str]) -> Self {
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
        let include = "stdint.h stdio.h stdlib.h string.h unistd.h signal.h pthread.h sys/wait.h".split(' ');
        let includes: String = include.map(|header| format!("#include <{header}>\n")).collect();
        std::fs::write(&file, includes + text).unwrap();
        Self::from_file(&file, &["-w"])
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

/// A file of the examples.
pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name)
}

/// 4,096 keys whose FNV-1a hashes agree in their lowest 16 bits, and as many random keys.
///
/// The lowest bits of a state and of its successor depend on no higher bits. So eight blocks lead from each
/// state to the same next one, and four blocks in a row make 8⁴ keys.
pub(crate) fn flood() -> (Keys, Keys) {
    const PRIME: u16 = 0x01b3;
    let mut state = 0x2325;
    let mut keys = vec![Vec::new()];
    for _ in 0..4 {
        let mut blocks: HashMap<u16, Vec<[u8; 4]>> = HashMap::new();
        let (next, found) = (0_u32..)
            .find_map(|number| {
                let block = number.to_le_bytes();
                let next = block
                    .iter()
                    .fold(state, |state: u16, byte| (state ^ u16::from(*byte)).wrapping_mul(PRIME));
                let found = blocks.entry(next).or_default();
                found.push(block);
                (found.len() == 8).then(|| (next, found.clone()))
            })
            .unwrap();
        state = next;
        let continued =
            |key: &Vec<u8>| found.iter().map(|block| [&key[..], block].concat()).collect::<Vec<_>>();
        keys = keys.iter().flat_map(continued).collect();
    }
    let random = (0..keys.len() as u64).map(|number| Key::VECTOR.derive(b"random  ", number).to_bytes());
    (keys.iter().collect(), random.collect())
}
