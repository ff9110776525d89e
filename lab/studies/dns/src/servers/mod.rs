//! Name servers that answer from a zone, or from a cache, over TCP.

mod running;

pub(crate) use running::{Running, query};

use crate::metric::BENIGN;
use hashlane_lab::study::by_id;
use hashlane_rig::program;
use std::process::Command;

/// A name server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// Ours, authoritative for the zone.
    Ours,
    /// BIND's, authoritative for the zone.
    Named,
    /// Unbound, a cache before ours.
    Unbound,
}

/// The answer that a server is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The RRset of the workload.
    Workload,
    /// An ordinary RRset, of an answer of the same length.
    Ordinary,
}

/// Servers and their answers by the ids of schemes.
const ALL: [(&str, (Program, Asked)); 6] = [
    ("ours", (Program::Ours, Asked::Workload)),
    (BENIGN, (Program::Ours, Asked::Ordinary)),
    ("named", (Program::Named, Asked::Workload)),
    ("named/benign", (Program::Named, Asked::Ordinary)),
    ("unbound", (Program::Unbound, Asked::Workload)),
    ("unbound/benign", (Program::Unbound, Asked::Ordinary)),
];

/// Ids of other projects' servers, which render nothing else.
pub(crate) const IDS: [&str; 4] = ["named", "named/benign", "unbound", "unbound/benign"];

/// The server of a scheme, and the answer that it is asked for; `None` if it only renders.
pub(crate) fn server(id: &str) -> Option<(Program, Asked)> {
    by_id(&ALL, id)
}

impl Program {
    /// Note on a server that is not installed; `None` if it is.
    pub(crate) fn missing(self) -> Option<String> {
        self.name().and_then(|(name, package)| program::missing(name, package))
    }

    /// Names of the program and of its package of Debian; `None` for ours.
    fn name(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Ours => None,
            Self::Named => Some(("named", "bind9")),
            Self::Unbound => Some(("unbound", "unbound")),
        }
    }
}

/// Note on the server of a scheme: its version, or the reason that it is missing. `None` for ours, and for
/// a server's ordinary answers.
pub(crate) fn note(id: &str) -> Option<String> {
    let (program, asked) = server(id)?;
    let (name, package) = program.name().filter(|_| asked == Asked::Workload)?;
    Some(program.missing().unwrap_or_else(|| format!("{name}: {}", version(name, package))))
}

/// The version by the program itself and, on Debian, by its package: fixes of a release go by the latter.
fn version(name: &str, package: &str) -> String {
    let first_line = |program: &str, arguments: &[&str]| {
        let path = program::find(program)?;
        let output = Command::new(path).args(arguments).output().ok().filter(|said| said.status.success())?;
        let said = String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned();
        (!said.is_empty()).then_some(said)
    };
    let own = first_line(name, &["-V"]).unwrap_or_else(|| "it states no version".to_owned());
    match first_line("dpkg-query", &["-W", "-f", "${Version}\n", package]) {
        Some(packaged) => format!("{own}, package {packaged}"),
        None => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_a_note_with_its_version_or_its_package() {
        for (id, program, package) in [("named", "named", "bind9"), ("unbound", "unbound", "unbound")] {
            let note = note(id).unwrap();
            if program::find(program).is_some() {
                assert!(note.starts_with(&format!("{program}: ")) && note.contains('.'), "{note}");
            } else {
                assert!(note.ends_with(&format!("`apt-get install {package}`")), "{note}");
            }
        }
        for without in ["ours", BENIGN, "named/benign", "ldns"] {
            assert_eq!(note(without), None);
        }
    }

    #[test]
    fn a_program_that_states_no_version_is_noted_so() {
        assert_eq!(version("no-such-server", "no-such-package"), "it states no version");
    }
}
