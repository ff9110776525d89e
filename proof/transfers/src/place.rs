//! The role, folder and port of a server.

use crate::certificate::Tls;
use crate::fetch::KEY;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The role of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Serves its zone file, and tells the server at this port.
    Primary(u16),
    /// Transfers the zone from the server at this port.
    Secondary(u16),
}

/// A server's role, port, key and folder.
pub(crate) struct Place {
    pub(crate) role: Role,
    pub(crate) port: u16,
    pub(crate) folder: PathBuf,
    /// Our command.
    pub(crate) hashlane: PathBuf,
    pub(crate) secret: &'static str,
    /// TLS for the transfers of the pair.
    pub(crate) tls: Option<Tls>,
    /// A configuration in place of the one with a single zone.
    pub(crate) settings: Option<String>,
}

impl Place {
    pub(crate) fn new(role: Role, port: u16, folder: PathBuf, hashlane: &Path) -> Result<Self, String> {
        let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
        let folder = folder.canonicalize().map_err(|error| failed(&folder, error))?;
        let hashlane = hashlane.canonicalize().map_err(|error| failed(hashlane, error))?;
        Ok(Self { role, port, folder, hashlane, secret: KEY.2, tls: None, settings: None })
    }

    pub(crate) fn zone_file(&self) -> PathBuf {
        self.folder.join("zone")
    }

    /// Writes a file of the server's folder, and returns its path.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<PathBuf, String> {
        let path = self.folder.join(name);
        // At once, so that no server reads a half.
        let temporary = self.folder.join("new");
        let written = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, &path));
        written.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }
}

/// Runs a program to its end.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("{name}: {}: {}", output.status, String::from_utf8_lossy(&said)))
}
