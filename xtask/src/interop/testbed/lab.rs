//! Programs and folders of a run, and the versions that the report names.

use super::network;
use super::programs::Programs;
use crate::run;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder of a run, in the mount namespace only.
const ROOT: &str = "/run/testbed";

/// The programs of a run and its folder.
pub(super) struct Lab {
    pub(super) programs: Programs,
    /// Our hashlane-ndn.
    pub(super) hashlane: PathBuf,
    /// Rounds over each forwarder in which NLSR converges.
    pub(super) rounds: usize,
}

impl Lab {
    /// Replaces `/run` of this mount namespace by an empty file system in memory.
    ///
    /// # Errors
    /// Names the command that failed.
    pub(super) fn new(programs: Programs, hashlane: PathBuf, rounds: usize) -> Result<Self, String> {
        run::show(&mut run::command(&["mount", "-t", "tmpfs", "tmpfs", "/run"]))?;
        fs::create_dir_all(ROOT).map_err(|error| format!("{ROOT}: {error}"))?;
        network::ip(&["link", "set", "lo", "up"])?;
        Ok(Self { programs, hashlane, rounds })
    }

    /// A new folder of this name.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf, String> {
        let folder = Path::new(ROOT).join(name);
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(failed)?;
        }
        fs::create_dir_all(&folder).map_err(failed)?;
        Ok(folder)
    }

    /// Heading of the report: versions, processor, kernel.
    pub(super) fn versions(&self) -> String {
        let said = |program: Option<&Path>, flag: &str| {
            let output = program.and_then(|program| Command::new(program).arg(flag).output().ok())?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.lines().next().map(str::to_owned)
        };
        let mut lines = vec!["# hashlane and NFD on the NDN testbed".to_owned(), String::new()];
        let all = [("nfd", "-V"), ("ndnping", "-V"), ("nlsr", "-V"), ("ndnd", "--version")];
        let ours = said(Some(&self.hashlane), "--version").unwrap_or_default();
        lines.push(format!("- hashlane: {ours}"));
        for (name, flag) in all {
            let version = match self.programs.get(name) {
                Ok(program) => said(Some(program), flag).unwrap_or_else(|| "unknown version".to_owned()),
                Err(_) => "missing".to_owned(),
            };
            lines.push(format!("- {name}: {version}"));
        }
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let models: Vec<&str> = cpuinfo.lines().filter(|line| line.starts_with("model name")).collect();
        let model = models.first().and_then(|line| line.split_once(": ")).map_or("unknown", |(_, name)| name);
        lines.push(format!("- Linux {}, {} × {model}", kernel.trim(), models.len()));
        lines.join("\n")
    }
}
