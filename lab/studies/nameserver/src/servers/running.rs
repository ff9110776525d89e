//! Servers of one zone under way, on the core of servers.

use super::{Entrant, Launch, Server, Source};
use crate::plan::Plan;
use hashlane_lab::study::{Session, TurnError};
use std::time::Duration;

/// Servers by the ids of schemes; with the reason, those that failed.
#[derive(Debug, Default)]
pub(crate) struct Running(Vec<(String, Result<Server, String>)>);

impl Running {
    /// Ends all servers, and starts `servers`, each in a separate folder, but none that failed.
    pub(crate) fn restart<E: Copy + Into<Entrant>>(
        &mut self,
        session: &Session<'_>,
        plan: &Plan<'_>,
        servers: &[(String, E)],
        source: Source<'_>,
        patience: Duration,
    ) -> Result<(), TurnError> {
        self.0.retain(|(_, server)| server.is_err());
        for (id, server) in servers {
            if self.0.iter().any(|(known, _)| known == id) {
                continue;
            }
            let folder = plan.folder.join(id.replace('/', "-"));
            let (core, folder, limit) = (plan.cores.measured, &folder, patience);
            let entrant = (*server).into();
            let server = Server::start(session, Launch { entrant, core, source, folder, limit });
            let server = match server {
                Err(TurnError::Stopped) => return Err(TurnError::Stopped),
                server => server.map_err(|error| error.to_string()),
            };
            self.0.push((id.clone(), server));
        }
        Ok(())
    }

    /// `true` after the first start.
    pub(crate) fn is_started(&self) -> bool {
        !self.0.is_empty()
    }

    /// Puts work on a server. One that fails is ended.
    pub(crate) fn turn<T>(
        &mut self,
        id: &str,
        work: impl FnOnce(&mut Server) -> Result<T, TurnError>,
    ) -> Result<T, TurnError> {
        let slot = self.0.iter_mut().find(|(known, _)| known == id).map(|(_, server)| server);
        match slot {
            Some(slot @ Ok(_)) => {
                let done = slot.as_mut().map_or(Err(TurnError::Stopped), work);
                if let Err(error) = &done {
                    *slot = Err(error.to_string());
                }
                done
            }
            Some(Err(why)) => Err(TurnError::Failed(why.clone())),
            None => Err(TurnError::Failed("it was not started".to_owned())),
        }
    }
}
