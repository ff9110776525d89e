//! Servers that are compared: their configurations and arguments.

mod echo;
mod knot;
mod named;
mod nsd;
mod ours;
mod start;

pub(crate) use start::Server;

use crate::check::Manner;
use crate::error::ServeError;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// A server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Ours,
    Nsd,
    Knot,
    Named,
    /// The floor: a socket that sends back what it receives.
    Echo,
}

/// A zone to serve, and the place of all files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    /// Path of our command.
    pub(crate) command: &'a Path,
    /// The zone file.
    pub(crate) zone: &'a Path,
    /// Folder for configuration and state, empty at the start.
    pub(crate) folder: &'a Path,
    pub(crate) address: SocketAddr,
}

/// Servers by the ids of schemes.
const ALL: [(&str, Program); 5] = [
    ("ours", Program::Ours),
    ("nsd", Program::Nsd),
    ("knot", Program::Knot),
    ("named", Program::Named),
    ("echo", Program::Echo),
];

impl Program {
    /// The server of an id.
    pub(crate) fn of(id: &str) -> Option<Self> {
        ALL.iter().find(|(known, _)| *known == id).map(|(_, program)| *program)
    }

    /// The ids of all servers, for an error.
    pub(crate) fn known() -> String {
        ALL.map(|(id, _)| id).join(", ")
    }

    /// `true` if it is not ours, and may have its reasons to fail.
    pub(crate) fn is_foreign(self) -> bool {
        matches!(self, Self::Nsd | Self::Knot | Self::Named)
    }

    /// Its manner.
    pub(crate) fn manner(self) -> Manner {
        if self == Self::Echo { Manner::Echoes } else { Manner::Answers }
    }

    /// Note on a server that is not installed: its program and package; `None` if it is.
    pub(crate) fn missing(self) -> Option<String> {
        let (program, package) = match self {
            Self::Ours | Self::Echo => return None,
            Self::Nsd => ("nsd", "nsd"),
            Self::Knot => ("knotd", "knot"),
            Self::Named => ("named", "bind9"),
        };
        let note = || format!("{program} is missing, and so not measured: `apt-get install {package}`");
        find(program).is_none().then(note)
    }

    /// Writes the configuration, and returns program and arguments.
    pub(crate) fn prepare(self, job: &Job<'_>) -> Result<Vec<OsString>, ServeError> {
        match self {
            Self::Ours => ours::prepare(job),
            Self::Nsd => nsd::prepare(job),
            Self::Knot => knot::prepare(job),
            Self::Named => named::prepare(job),
            Self::Echo => Ok(echo::program(job)),
        }
    }
}

/// Path of a program: on the `PATH`, or where Debian keeps the administrator's programs.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    // Debian leaves it off the PATH of users.
    let system = folders.iter().any(|folder| folder == Path::new("/usr/bin")).then(|| "/usr/sbin".into());
    folders.into_iter().chain(system).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Program and arguments.
fn words(program: &str, arguments: &[&str]) -> Vec<OsString> {
    let path = find(program).map_or_else(|| program.into(), PathBuf::into_os_string);
    std::iter::once(path).chain(arguments.iter().map(OsString::from)).collect()
}

/// Writes a configuration file in the folder of a job, and returns its path.
fn write(job: &Job<'_>, name: &str, text: &str) -> Result<PathBuf, ServeError> {
    let path = job.folder.join(name);
    fs::write(&path, text).map_err(ServeError::io("cannot write a configuration"))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_the_package_of_a_missing_server() {
        assert!(find("no-such-server").is_none() && find("sh").is_some());
        assert_eq!((Program::Ours.missing(), Program::Echo.missing()), (None, None));
        for program in ["nsd", "knot", "named"].map(|id| Program::of(id).unwrap()) {
            assert!(program.is_foreign());
            assert!(program.missing().is_none_or(|note| note.contains("apt-get install")));
        }
        assert_eq!(Program::of("unbound"), None);
    }

    #[test]
    fn configurations_name_the_zone_and_the_address_and_stay_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let zone = folder.path().join("some.zone");
        let address: SocketAddr = "127.0.0.1:5399".parse().unwrap();
        let command = Path::new("/bin/hashlane");
        let job = Job { command, zone: &zone, folder: folder.path(), address };
        let mut files = HashSet::new();
        for program in [Program::Ours, Program::Nsd, Program::Knot, Program::Named] {
            let arguments = program.prepare(&job).unwrap();
            let file = arguments.iter().map(PathBuf::from).find(|path| path.starts_with(folder.path()));
            let file = file.unwrap();
            let text = fs::read_to_string(&file).unwrap();
            assert!(text.contains(zone.to_str().unwrap()) && text.contains("5399"), "{text}");
            assert!(text.contains(crate::zone::APEX), "{text}");
            assert!(files.insert(file));
        }
        assert!(Program::Echo.prepare(&job).unwrap().iter().any(|word| word == "127.0.0.1:5399"));
    }
}
