//! Requirements to check before anything is built.

use anyhow::{Context, Result, anyhow, bail, ensure};
use nix::sys::ptrace;
use nix::sys::statvfs::statvfs;
use nix::sys::wait::waitpid;
use nix::unistd::Pid;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs, each with the package of Debian that has it.
const PROGRAMS: [(&str, &str); 9] = [
    ("make", "make"),
    ("gcc", "gcc"),
    ("ld", "binutils"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("perl", "perl"),
    ("tar", "tar"),
    ("xz", "xz-utils"),
];

/// Folder in which Debian's package puts the source.
const SOURCES: &str = "/usr/src";
const SOURCE_PACKAGE: &str = "linux-source";

/// Disk space in MiB for the unpacked source, and for building.
pub(crate) const SOURCE_MIB: u64 = 1600;
pub(crate) const BUILD_MIB: u64 = 400;

/// The source, where all else is there too.
pub(crate) fn check(source: Option<&Path>) -> Result<PathBuf> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        bail!("User Mode Linux, on which the kernels run, is for Linux on x86-64 only");
    }
    let found = match source {
        Some(path) if path.is_file() => Some(path.to_owned()),
        Some(path) => bail!(
            "no source of Linux at {}: give --linux-source a linux-source-….tar.xz of Debian's package linux-source",
            path.display()
        ),
        None => newest_source(Path::new(SOURCES)),
    };
    let mut missing: Vec<&'static str> = Vec::new();
    if found.is_none() {
        missing.push(SOURCE_PACKAGE);
    }
    missing.extend(PROGRAMS.iter().filter(|(program, _)| !on_path(program)).map(|(_, package)| *package));
    let Some(found) = found.filter(|_| missing.is_empty()) else {
        return Err(packages(&missing));
    };
    ptrace_works().map_err(|error| {
        anyhow!(
            "ptrace is refused here ({error}), by which User Mode Linux runs processes: in a container allow it \
             (capability SYS_PTRACE, and no seccomp filter against it); elsewhere see that \
             kernel.yama.ptrace_scope is below 3"
        )
    })?;
    Ok(found)
}

fn packages(missing: &[&str]) -> anyhow::Error {
    anyhow!(
        "the kernels are built from Debian's packages, and some are missing: run `apt-get install {}`, then \
         repeat the command",
        missing.join(" ")
    )
}

fn on_path(program: &str) -> bool {
    env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// The source of the highest version in a folder.
fn newest_source(folder: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    files.filter_map(|path| Some((version(path.file_name()?.to_str()?)?, path))).max().map(|(_, path)| path)
}

/// The version of `linux-source-6.1.tar.xz`.
fn version(name: &str) -> Option<Vec<u32>> {
    let version = name.strip_prefix("linux-source-")?.strip_suffix(".tar.xz")?;
    version.split('.').map(|part| part.parse().ok()).collect()
}

/// Attaches to a process of our own and lets it go.
fn ptrace_works() -> io::Result<()> {
    let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let pid = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
    let tried = ptrace::attach(pid).and_then(|()| waitpid(pid, None)).and_then(|_| ptrace::detach(pid, None));
    let killed = child.kill().and_then(|()| child.wait());
    tried?;
    killed.map(drop)
}

/// Checks that a folder has so many MiB free.
pub(crate) fn room(folder: &Path, needed: u64) -> Result<()> {
    let name = folder.display();
    let disk = statvfs(folder).with_context(|| name.to_string())?;
    let free = (disk.blocks_available() as u64).saturating_mul(disk.fragment_size() as u64) >> 20;
    ensure!(
        free >= needed,
        "{name} has {free} MiB free, and the source and the kernels need {needed}: make room, or set \
         XDG_CACHE_HOME to a folder elsewhere"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_highest_version() {
        assert_eq!(version("linux-source-6.1.tar.xz"), Some(vec![6, 1]));
        assert!(version("linux-source-6.12.tar.xz") > version("linux-source-6.1.tar.xz"));
        for other in
            ["linux-source-6.1", "linux-config-6.1.tar.xz", "linux-source-.tar.xz", "linux-source-6.x.tar.xz"]
        {
            assert_eq!(version(other), None, "{other}");
        }
    }

    #[test]
    fn reports_missing_room() {
        let folder = env::temp_dir();
        assert!(room(&folder, 0).is_ok());
        let said = room(&folder, u64::MAX).unwrap_err().to_string();
        assert!(said.contains("XDG_CACHE_HOME") && said.contains(&folder.display().to_string()), "{said}");
    }

    #[test]
    fn a_source_that_is_not_there_is_said() {
        let said = check(Some(Path::new("/no/such.tar.xz"))).unwrap_err().to_string();
        assert!(said.contains("/no/such.tar.xz") && said.contains("--linux-source"), "{said}");
    }

    #[test]
    fn packages_are_named_as_they_are_installed() {
        let said = packages(&["linux-source", "flex"]).to_string();
        assert!(said.contains("`apt-get install linux-source flex`"), "{said}");
    }
}
