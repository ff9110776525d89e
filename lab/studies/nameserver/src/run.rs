//! Run of a study of name servers: its workloads, one group after the other.

use crate::costs;
use crate::error::ServeError;
use crate::growth;
use crate::latency;
use crate::load;
use crate::queries::Kind;
use crate::reload;
use crate::servers::Program;
use crate::zone::{Shape, Zone};
use hashlane_lab::definition::subject;
use hashlane_lab::study::{RunError, Session};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Model of all records.
pub(crate) const MODEL: &str = "nameserver";

/// Our server, and the one that criteria name.
pub(crate) const OURS: &str = "ours";
pub(crate) const NSD: &str = "nsd";

/// A zone of few records, one of 165,000, one of 1,000,000, and one of 10,000,000 delegations.
pub(crate) const SMALL: Zone = Zone { names: 1_000, shape: Shape::Mixed };
pub(crate) const MIDDLE: Zone = Zone { names: 88_050, shape: Shape::Mixed };
pub(crate) const MILLION: Zone = Zone { names: 400_000, shape: Shape::Delegations };
pub(crate) const LARGE: Zone = Zone { names: 10_000_000, shape: Shape::Delegations };

/// Memory and load time of a zone of 1,000,000 records, and of 10,000,000 delegations.
pub(crate) const MEMORY: &str = "memory/1m";
pub(crate) const LOAD: &str = "load/1m";
pub(crate) const MEMORY_LARGE: &str = "memory/10m";
pub(crate) const LOAD_LARGE: &str = "load/10m";

/// Reloads under load.
pub(crate) const RELOAD: &str = "reload";

/// Latency of an innocent client alone, beside queries for existing names, and beside random subdomains.
pub(crate) const ALONE: &str = "latency/alone";
pub(crate) const EXISTING: &str = "latency/existing";
pub(crate) const RANDOM: &str = "latency/random";

/// Serial number of generated zones.
pub(crate) const SERIAL: u32 = 1;

/// Workloads that are not of [`COSTS`].
const OTHERS: [&str; 8] = [MEMORY, LOAD, MEMORY_LARGE, LOAD_LARGE, RELOAD, ALONE, EXISTING, RANDOM];

/// Zones whose answers are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Small,
    Middle,
    Signed,
    Large,
}

/// Workloads that time answers: their zones and queries.
pub(crate) const COSTS: [(&str, Group, Kind); 13] = [
    ("small/positive", Group::Small, Kind::Positive),
    ("small/nxdomain", Group::Small, Kind::NxDomain),
    ("small/referral", Group::Small, Kind::Referral),
    ("small/mix", Group::Small, Kind::Mix),
    ("165k/positive", Group::Middle, Kind::Positive),
    ("165k/nxdomain", Group::Middle, Kind::NxDomain),
    ("165k/referral", Group::Middle, Kind::Referral),
    ("165k/mix", Group::Middle, Kind::Mix),
    ("165k/random", Group::Middle, Kind::Random),
    ("signed/positive", Group::Signed, Kind::SignedPositive),
    ("signed/nxdomain", Group::Signed, Kind::SignedNxDomain),
    ("10m/referral", Group::Large, Kind::Referral),
    ("10m/random", Group::Large, Kind::Random),
];

impl Group {
    /// The zone; the signed one is small in a quick run, as signing takes time.
    pub(crate) fn zone(self, full: bool) -> Zone {
        match self {
            Self::Small => SMALL,
            Self::Signed if !full => SMALL,
            Self::Middle | Self::Signed => MIDDLE,
            Self::Large => LARGE,
        }
    }
}

/// The machine and the settings of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan<'a> {
    /// Folder for zones and the state of servers.
    pub(crate) folder: &'a Path,
    /// Core of the server, and of the load.
    pub(crate) cores: (usize, usize),
    /// `true` with `--full`.
    pub(crate) full: bool,
    /// Rounds.
    pub(crate) rounds: usize,
    /// Time of a turn under full load.
    pub(crate) time: Duration,
}

impl Plan<'_> {
    /// Writes a zone file, and returns its path and records.
    pub(crate) fn write(&self, name: &str, zone: Zone) -> Result<(PathBuf, u64), RunError> {
        let path = self.folder.join(format!("{name}.zone"));
        let written = File::create(&path).and_then(|file| {
            let mut file = BufWriter::with_capacity(1 << 20, file);
            let records = zone.write(SERIAL, &mut file)?;
            file.flush()?;
            Ok(records)
        });
        let failed = |error: std::io::Error| RunError::Generate(name.to_owned(), error.to_string());
        Ok((path, written.map_err(failed)?))
    }
}

/// Measures a study of name servers.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let definition = session.definition;
    let known = || COSTS.iter().map(|(id, ..)| *id).chain(OTHERS);
    for id in &definition.workloads {
        if !known().any(|known| known == id) {
            let known = known().collect::<Vec<_>>().join(", ");
            return Err(RunError::UnknownWorkload(format!("unknown workload {id:?}; known: {known}")));
        }
    }
    let mut missing = Vec::new();
    for id in &definition.schemes {
        let program = Program::of(subject(id)).ok_or_else(|| RunError::UnknownScheme {
            id: id.clone(),
            help: format!("known: {}", Program::known()),
        })?;
        missing.extend(program.missing());
    }
    if session.stopped() {
        return Ok(());
    }
    session.notes.extend(missing);
    let other = |error: ServeError| RunError::Other(Box::new(error));
    let cores = load::cores().map_err(other)?;
    if cores.0 == cores.1 {
        session
            .notes
            .push("one core only: the load takes time from the servers, and rates are theirs both".into());
    }
    let folder = tempfile::Builder::new().prefix("hashlane-dns-").tempdir();
    let folder = folder.map_err(|error| RunError::Other(Box::new(error)))?;
    let plan = Plan {
        folder: folder.path(),
        cores,
        full: session.settings.full,
        rounds: session.settings.size.repetitions as usize,
        time: Duration::from_millis(session.settings.size.items.into()),
    };
    let measured = workloads(session, &plan);
    folder.close().map_err(|error| RunError::Other(Box::new(error))).and(measured)
}

/// Measures the workloads of the study.
fn workloads(session: &mut Session<'_>, plan: &Plan<'_>) -> Result<(), RunError> {
    let wanted = |id: &str| session.definition.workloads.iter().any(|workload| workload == id);
    let groups = [Group::Small, Group::Middle, Group::Signed];
    let growth = wanted(MEMORY) || wanted(LOAD);
    let reload = wanted(RELOAD);
    let latency = [ALONE, EXISTING, RANDOM].into_iter().any(wanted);
    let of_large = |(id, group, _): &(&str, Group, Kind)| *group == Group::Large && wanted(id);
    let large = wanted(MEMORY_LARGE) || wanted(LOAD_LARGE) || COSTS.iter().any(of_large);
    session.total = groups.iter().map(|group| costs::steps(session, plan, *group)).sum::<usize>()
        + if growth { growth::steps(session, plan) } else { 0 }
        + if reload { reload::steps(session) } else { 0 }
        + if latency { latency::steps(session, plan) } else { 0 }
        + if large && plan.full { growth::large_steps(session, plan) } else { 0 };
    for group in groups {
        if !session.stopped() {
            costs::run(session, plan, group)?;
        }
    }
    if growth && !session.stopped() {
        growth::run(session, plan)?;
    }
    if reload && !session.stopped() {
        reload::run(session, plan)?;
    }
    if latency && !session.stopped() {
        latency::run(session, plan)?;
    }
    if large && !plan.full {
        session.notes.push("10,000,000 delegations were left out; --full measures them".to_owned());
    } else if large && !session.stopped() {
        growth::run_large(session, plan)?;
    }
    Ok(())
}

/// The failure of a server: a note on one of another project, else the end of the study; `Ok(())` of a run
/// that was stopped.
pub(crate) fn failure(
    session: &mut Session<'_>,
    workload: &str,
    id: &str,
    error: ServeError,
) -> Result<(), RunError> {
    match error {
        ServeError::Stopped => Ok(()),
        error if Program::of(subject(id)).is_some_and(Program::is_foreign) => {
            session.notes.push(format!("{id} was not measured on {workload}: {error}"));
            Ok(())
        }
        error => Err(RunError::Subject {
            workload: workload.to_owned(),
            scheme: id.to_owned(),
            why: error.to_string(),
        }),
    }
}
