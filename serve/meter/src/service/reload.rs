//! Reloads: the configuration is read again while the meter runs.

use super::Reread;
use super::report::Reloaded;
use crate::config::Config;
use crate::outputs::{Exchanged, Finished, RunFacts, SharedExporters};
use crate::run::RunState;
use std::io;

/// The configuration in effect, and how to read it again.
pub(super) struct Reloader {
    config: Config,
    facts: RunFacts,
    reread: Reread,
}

impl Reloader {
    pub(super) fn new(config: Config, facts: RunFacts, reread: Reread) -> Self {
        Self { config, facts, reread }
    }

    /// Reads the configuration again, and takes what can change. The log has the outcome.
    pub(super) fn reload(&mut self, exporters: &SharedExporters, state: &RunState) -> io::Result<Reloaded> {
        let outcome = self.take(exporters, state);
        match &outcome {
            Ok(Reloaded { changed, restart, opened, closed }) => {
                changed.iter().for_each(|key| tracing::info!(key, "configuration changed: in effect"));
                for key in restart {
                    tracing::warn!(key, "configuration changed: takes effect after a restart");
                }
                let (opened, closed) = (opened.len(), closed.len());
                tracing::info!(opened, closed, "configuration read again");
            }
            Err(error) => tracing::error!(%error, "the configuration is refused; nothing has changed"),
        }
        outcome
    }

    fn take(&mut self, exporters: &SharedExporters, state: &RunState) -> io::Result<Reloaded> {
        let (new, origin) = (self.reread)()?;
        let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
        new.check().map_err(|error| invalid(error.to_string()))?;
        if new.output.is_empty() {
            return Err(invalid("no output: add [[output]]".to_owned()));
        }
        let Exchanged { opened, closed } =
            exporters.exchange(&new.output, &self.facts, origin).map_err(invalid)?;
        for output in &opened {
            tracing::info!(%output, "output opened");
        }
        for output in &closed {
            match output.has_failed() {
                true => tracing::warn!(%output, "output closed"),
                false => tracing::info!(%output, "output closed"),
            }
        }
        let restart = restart(&self.config, &new);
        let changed = changed(&self.config, &new);
        let new = keep(&self.config, new);
        if changed.iter().any(|key| key.starts_with("meter.")) {
            state.change(new.meter.options(0));
        }
        self.config = new;
        let closed = closed.iter().map(Finished::to_string).collect();
        Ok(Reloaded { changed, restart, opened, closed })
    }
}

/// Keys that differ, and are in effect at once.
fn changed(running: &Config, new: &Config) -> Vec<String> {
    let (a, b) = (&running.meter, &new.meter);
    named([
        ("meter.idle", a.idle != b.idle),
        ("meter.active", a.active != b.active),
        ("meter.flows", a.flows != b.flows),
        ("meter.tunnels", a.tunnels != b.tunnels),
        ("output", running.output != new.output),
    ])
}

/// Keys that differ, and take effect after a restart.
fn restart(running: &Config, new: &Config) -> Vec<String> {
    let (a, b) = (&running.meter, &new.meter);
    named([
        ("input.interface", running.input.interface != new.input.interface),
        ("input.promiscuous", running.input.promiscuous != new.input.promiscuous),
        ("input.io", running.input.io != new.input.io),
        ("meter.sampling", a.sampling != b.sampling),
        ("meter.workers", a.workers != b.workers),
        ("meter.domain", a.domain != b.domain),
        ("metrics.listen", running.metrics != new.metrics),
        ("server.user", running.server.user != new.server.user),
        ("server.group", running.server.group != new.server.group),
        ("control.path", running.control != new.control),
    ])
}

fn named<const N: usize>(keys: [(&str, bool); N]) -> Vec<String> {
    keys.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key.to_owned()).collect()
}

/// A new configuration, with the values of the running one that only a restart changes.
fn keep(running: &Config, mut new: Config) -> Config {
    let Config { input, meter, metrics, server, control, .. } = running.clone();
    (new.meter.sampling, new.meter.workers, new.meter.domain) = (meter.sampling, meter.workers, meter.domain);
    Config { input, metrics, server, control, ..new }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_needs_a_restart_is_reported_at_each_reload() {
        let running = Config::default();
        let text = "[input]\ninterface = \"lo\"\n[meter]\nidle = \"5s\"\nflows = 64\nworkers = 2\n\
                    [server]\nuser = \"a\"\n[[output]]\nto = \"a\"\n";
        let new = Config::parse(text).unwrap();
        assert_eq!(restart(&running, &new), ["input.interface", "meter.workers", "server.user"]);
        assert_eq!(changed(&running, &new), ["meter.idle", "meter.flows", "output"]);
        let kept = keep(&running, new.clone());
        assert_eq!((kept.meter.flows, kept.meter.workers, kept.output.len()), (64, 1, 1));
        assert_eq!(restart(&kept, &new), ["input.interface", "meter.workers", "server.user"]);
        assert!(changed(&kept, &new).is_empty());
    }
}
