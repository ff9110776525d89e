//! A configuration that is read again: which keys have changed, and what each change does.

use crate::config::{Config, Faces};
use crate::prepare::{self, Prepared};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use toml::{Table, Value};

/// Effect of a changed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It holds from now on.
    Now,
    /// It holds for faces that are opened from now on.
    NewFaces,
    /// It needs a restart.
    Restart,
}

/// Effects of keys, and of all keys below a table. Keys that are not in the list need a restart.
const EFFECTS: [(&str, Effect); 22] = [
    ("cs", Effect::Now),
    ("faces.congestion", Effect::NewFaces),
    ("faces.memory", Effect::Now),
    ("faces.pit_tokens", Effect::NewFaces),
    ("faces.reliability", Effect::NewFaces),
    ("faces.tcp.loopback", Effect::NewFaces),
    ("faces.udp.idle_timeout_s", Effect::Now),
    ("faces.udp.max_on_demand", Effect::Now),
    ("faces.udp.mtu", Effect::NewFaces),
    ("faces.websocket.loopback", Effect::NewFaces),
    ("faces.websocket.origins", Effect::NewFaces),
    ("faces.websocket.tls.certificate", Effect::NewFaces),
    ("faces.websocket.tls.key", Effect::NewFaces),
    ("management", Effect::Now),
    ("pit.bytes", Effect::Now),
    ("pit.entries", Effect::Now),
    ("pit.remote_lifetime_ms", Effect::Now),
    ("regions", Effect::Now),
    ("rib", Effect::Now),
    ("routes", Effect::Now),
    ("strategies", Effect::Now),
    ("trust", Effect::Now),
];

fn effect(key: &str) -> Effect {
    let covers = |known: &str| {
        key.strip_prefix(known).is_some_and(|rest| matches!(rest.chars().next(), None | Some('.')))
    };
    EFFECTS.iter().find(|(known, _)| covers(known)).map_or(Effect::Restart, |(_, effect)| *effect)
}

/// A changed key, and the effect of its change.
pub(crate) type Change = (String, Effect);

/// Takes all values of `new` that need no restart into `running`. Returns every key whose values differ.
pub(crate) fn merge(running: &Config, new: &Config) -> Result<(Config, Vec<Change>), toml::ser::Error> {
    let (mut merged, new) = (Table::try_from(running)?, Table::try_from(new)?);
    let mut changes = Vec::new();
    merge_tables(&mut merged, &new, "", &mut changes);
    match merged.try_into() {
        Ok(merged) => Ok((merged, changes)),
        Err(error) => Err(serde::ser::Error::custom(error)),
    }
}

fn merge_tables(running: &mut Table, new: &Table, path: &str, changes: &mut Vec<Change>) {
    for (key, new) in new {
        let path = format!("{path}{key}");
        match (running.get_mut(key), new) {
            // The keys of this table are prefixes, and come and go.
            (Some(Value::Table(running)), Value::Table(new)) if path != "strategies" => {
                merge_tables(running, new, &format!("{path}."), changes);
            }
            (Some(running), new) if running != new => {
                let effect = effect(&path);
                if effect != Effect::Restart {
                    running.clone_from(new);
                }
                changes.push((path, effect));
            }
            (found, _) => debug_assert!(found.is_some(), "{path}: a configuration has all keys"),
        }
    }
}

/// Logs each change, and their number.
pub(crate) fn log(changes: &[Change]) {
    for (key, effect) in changes {
        match effect {
            Effect::Now => tracing::info!(key, "configuration changed: in effect"),
            Effect::NewFaces => tracing::info!(key, "configuration changed: in effect for new faces"),
            Effect::Restart => tracing::warn!(key, "configuration changed: takes effect after a restart"),
        }
    }
    let restart = changes.iter().filter(|(_, effect)| *effect == Effect::Restart).count();
    tracing::info!(changed = changes.len(), restart, "configuration read again");
}

/// A checked configuration on its way to the management.
pub(crate) struct Reload {
    pub(crate) config: Config,
    pub(crate) prepared: Prepared,
    /// Told once the changes are made.
    pub(crate) done: Sender<()>,
}

/// Changes the configuration of a server, from any thread.
#[derive(Clone)]
pub struct Reloader {
    reloads: Sender<Reload>,
    /// Faces of the start, with the places that the server listens on: it may lack the right to do so again.
    running: Arc<Faces>,
}

impl Reloader {
    /// A handle for a server that listens where `running` says, and the end at which it receives.
    pub(crate) fn new(running: &Faces) -> (Self, Receiver<Reload>) {
        let (sender, reloads) = channel();
        (Self { reloads: sender, running: Arc::new(running.clone()) }, reloads)
    }

    /// Checks a configuration, and replaces the values that can change while the server runs. Returns once
    /// they are replaced, in about a second. The log lists each changed key, and those that need a restart.
    ///
    /// # Errors
    /// The errors of [`Server::check`](crate::Server::check), and the end of the server. Nothing has changed
    /// then. A key of TLS that this process may not read is no error: the certificate and key of before stay,
    /// and the log has a warning.
    pub fn reload(&self, config: Config) -> io::Result<()> {
        let prepared = prepare::prepare_again(&config, &self.running)?;
        let (done, wait) = channel();
        let ended = || io::Error::other("the forwarder has ended");
        self.reloads.send(Reload { config, prepared, done }).map_err(|_| ended())?;
        wait.recv().map_err(|_| ended())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_are_those_of_keys_that_exist() {
        let all = Table::try_from(Config::default()).expect("keys and values");
        for (key, _) in EFFECTS {
            let mut parts = key.split('.');
            let first = parts.next().and_then(|part| all.get(part));
            let found = parts.fold(first, |found, part| found.and_then(|found| found.get(part)));
            assert!(found.is_some(), "{key}");
        }
        assert_eq!(effect("cs.packets"), Effect::Now);
        assert_eq!(effect("faces.udp.listen"), Effect::Restart);
        assert_eq!(effect("management"), Effect::Now);
        assert_eq!(effect("routes2"), Effect::Restart);
    }

    #[test]
    fn values_that_need_a_restart_stay_and_are_reported_each_time() {
        let running = Config::default();
        let text = "[cs]\npackets = 7\n[pit]\nindex = \"token\"\n[strategies]\n\"/a.b\" = \"multicast\"\n";
        let new = Config::parse(text).expect("a configuration");
        let (merged, changes) = merge(&running, &new).expect("values");
        let expected =
            [("cs.packets", Effect::Now), ("pit.index", Effect::Restart), ("strategies", Effect::Now)];
        assert_eq!(changes, expected.map(|(key, effect)| (key.to_owned(), effect)));
        assert_eq!((merged.cs.packets, merged.pit.index), (7, running.pit.index));
        assert_eq!(merged.strategies, new.strategies);
        let (again, changes) = merge(&merged, &new).expect("values");
        assert_eq!((again, changes), (merged, vec![("pit.index".into(), Effect::Restart)]));
    }
}
