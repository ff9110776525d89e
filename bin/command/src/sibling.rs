//! Commands that are installed beside this one: `hashlane dns …` runs `hashlane-dns …`, as git and Cargo find
//! theirs.

use anyhow::{Result, anyhow};
use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

/// A command beside this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sibling {
    /// Its name after `hashlane`.
    pub verb: &'static str,
    /// Its program.
    pub program: &'static str,
    /// The package that installs it.
    pub package: &'static str,
    /// Folder of the package in the repository.
    pub folder: &'static str,
}

/// All of them.
pub const SIBLINGS: [Sibling; 4] = [
    Sibling { verb: "dns", program: "hashlane-dns", package: "hashlane-dns-cli", folder: "bin/dns" },
    Sibling { verb: "ndn", program: "hashlane-ndn", package: "hashlane-ndn-cli", folder: "bin/ndn" },
    Sibling { verb: "flow", program: "hashlane-flow", package: "hashlane-flow-cli", folder: "bin/flow" },
    Sibling { verb: "names", program: "hashlane-names", package: "hashlane-names-cli", folder: "bin/names" },
];

impl Sibling {
    /// The program in the folder of this one, if it is there.
    pub fn beside(&self) -> Option<PathBuf> {
        let program = env::current_exe().ok()?.with_file_name(self.program);
        program.is_file().then_some(program)
    }

    /// Tests if it is in the folder of this one, or on `PATH`.
    pub fn is_installed(&self) -> bool {
        let paths = env::var_os("PATH").unwrap_or_default();
        self.beside().is_some() || env::split_paths(&paths).any(|folder| folder.join(self.program).is_file())
    }

    /// Replaces this process by the command: the one in the same folder, else the one on `PATH`.
    ///
    /// # Errors
    /// The command is in neither, or cannot be started. On success this does not return.
    pub fn replace_process(
        &self,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<std::convert::Infallible> {
        let Self { verb, program, package, folder } = self;
        let path = self.beside().unwrap_or_else(|| program.into());
        // The name in its usage and errors.
        let error = Command::new(&path).arg0(format!("hashlane {verb}")).args(arguments).exec();
        Err(match error.kind() {
            io::ErrorKind::NotFound => anyhow!(
                "hashlane {verb} is the command {program}, which is neither beside this one nor on PATH; \
                 install the package {package}: cargo install --path {folder}"
            ),
            _ => anyhow!("cannot start {}: {error}", path.display()),
        })
    }
}
