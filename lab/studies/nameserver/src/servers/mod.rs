//! Servers that are compared.

mod config;
mod place;
mod running;
mod start;

pub(crate) use place::{Io, cables_refused};
pub(crate) use running::Running;
pub(crate) use start::{Launch, Memory, Server};

use crate::check::Manner;
use crate::plan::Plan;
use hashlane_lab::definition::subject;
use hashlane_lab::study::{Contender, Session, by_id};
use hashlane_rig::program;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

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

/// A server to start, and the means by which queries reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entrant {
    pub(crate) program: Program,
    /// The means, at the end of a cable; `None`: sockets of the loopback interface.
    pub(crate) io: Option<Io>,
}

impl From<Program> for Entrant {
    fn from(program: Program) -> Self {
        Self { program, io: None }
    }
}

/// The place that a server has its zone from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// A zone file.
    File(&'a Path),
    /// A zone file; clients on this machine may transfer the zone.
    Shared(&'a Path),
    /// A server from which it is transferred.
    Primary(SocketAddr),
}

/// A zone to serve, and the place of all files.
#[derive(Clone, Copy, Debug)]
struct Job<'a> {
    /// Path of our command.
    command: &'a Path,
    /// The zone.
    source: Source<'a>,
    /// Folder for configuration and state, empty at the start.
    folder: &'a Path,
    address: SocketAddr,
    /// The means by which queries reach it, if it is at the end of a cable.
    io: Option<Io>,
}

/// Longest time until the first answer with a zone of up to 1,000,000 records.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Servers by the ids of schemes.
pub(crate) const ALL: [(&str, Program); 5] = [
    ("ours", Program::Ours),
    ("nsd", Program::Nsd),
    ("knot", Program::Knot),
    ("named", Program::Named),
    ("echo", Program::Echo),
];

impl Program {
    /// Its manner.
    fn manner(self) -> Manner {
        if self == Self::Echo { Manner::Echoes } else { Manner::Answers }
    }

    /// `true` if it is another project's.
    pub(crate) fn is_foreign(self) -> bool {
        matches!(self, Self::Nsd | Self::Knot | Self::Named)
    }

    /// Note on a server that is not installed; `None` if it is.
    pub(crate) fn missing(self) -> Option<String> {
        match self {
            Self::Ours | Self::Echo => None,
            Self::Nsd => program::missing("nsd", "nsd"),
            Self::Knot => program::missing("knotd", "knot"),
            Self::Named => program::missing("named", "bind9"),
        }
    }
}

/// Servers that are installed and measured on a workload, in the order of the study.
pub(crate) fn installed<S, T>(
    session: &Session<'_>,
    workload: &str,
    of: impl Fn(Program) -> S,
) -> Vec<Contender<S, T>> {
    let ids = session.definition.schemes_on(workload).iter();
    let contender = |id: &String| {
        let program = by_id(&ALL, subject(id)).filter(|program| program.missing().is_none())?;
        Some(Contender::new(workload, id, of(program), program.is_foreign()))
    };
    ids.filter_map(contender).collect()
}

/// Servers of a workload that are no controls, and take turns of seconds: in a quick run ours and NSD.
pub(crate) fn slow<T>(session: &Session<'_>, plan: &Plan<'_>, workload: &str) -> Vec<Contender<Program, T>> {
    let all = session.definition.is_selection() || plan.full;
    let mut servers = installed(session, workload, |program| program);
    servers.retain(|Contender { id, subject, .. }| {
        let is_server = *subject != Program::Echo && !session.definition.is_control(id);
        is_server && (all || matches!(subject, Program::Ours | Program::Nsd))
    });
    servers
}
