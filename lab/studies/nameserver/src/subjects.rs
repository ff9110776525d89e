//! Servers that take turns on a workload.

use crate::error::ServeError;
use crate::plan::Plan;
use crate::servers::{Program, Server};
use hashlane_lab::definition::subject;
use hashlane_lab::study::{RunError, Session};
use std::path::Path;
use std::time::Duration;

/// Longest time until the first answer with a zone of up to 1,000,000 records.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A server that has its turn in each round.
#[derive(Debug)]
pub(crate) struct Subject {
    /// Id of the scheme.
    pub(crate) id: String,
    /// `None` if it failed; a note has the reason.
    pub(crate) server: Option<Server>,
}

/// Ids of servers that are installed and measured on a workload, in the order of the study.
pub(crate) fn installed(session: &Session<'_>, workload: &str) -> Vec<(String, Program)> {
    let ids = session.definition.schemes_on(workload).iter();
    ids.filter_map(|id| {
        let program = Program::of(subject(id))?;
        program.missing().is_none().then(|| (id.clone(), program))
    })
    .collect()
}

/// Servers of a workload that are no controls, and take turns of seconds: in a quick run ours and NSD.
pub(crate) fn slow(session: &Session<'_>, plan: &Plan<'_>, workload: &str) -> Vec<(String, Program)> {
    let all = session.definition.is_selection() || plan.full;
    let mut servers = installed(session, workload);
    servers.retain(|(id, program)| {
        let is_server = *program != Program::Echo && !session.definition.is_control(id);
        is_server && (all || matches!(program, Program::Ours | Program::Nsd))
    });
    servers
}

/// Starts servers on the server's core, each in a separate folder.
pub(crate) fn start(
    session: &mut Session<'_>,
    plan: &Plan<'_>,
    workload: &str,
    servers: &[(String, Program)],
    zone: &Path,
    patience: Duration,
) -> Result<Vec<Subject>, RunError> {
    let mut subjects = Vec::new();
    for (id, program) in servers {
        let folder = plan.folder.join(id.replace('/', "-"));
        let command = &session.settings.command;
        let core = Some(plan.cores.0);
        let started = Server::start(*program, command, core, zone, &folder, patience, session.stop);
        let server = match started {
            Ok(server) => Some(server),
            Err(ServeError::Stopped) => break,
            Err(error) => {
                failure(session, workload, id, error)?;
                None
            }
        };
        subjects.push(Subject { id: id.clone(), server });
    }
    subjects.retain(|subject| subject.server.is_some());
    Ok(subjects)
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
