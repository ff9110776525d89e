//! Keys of the configuration that a reload does not change.

use crate::config::{Config, Tls};
use std::path::PathBuf;

/// Keys that differ, and take effect after a restart.
pub(super) fn restart(running: &Config, new: &Config) -> Vec<String> {
    let (a, b) = (&running.server, &new.server);
    let differ = [
        ("server.listen", a.listen != b.listen),
        ("server.workers", a.workers != b.workers),
        ("server.io", a.io != b.io),
        ("server.interfaces", a.interfaces != b.interfaces),
        ("server.user", a.user != b.user),
        ("server.group", a.group != b.group),
        ("tcp", running.tcp != new.tcp),
        ("tls.listen", running.tls.listen != new.tls.listen),
        ("control", running.control != new.control),
        ("metrics", running.metrics != new.metrics),
        ("transfer.folder", keep_folder(running, new) != new.transfer.folder),
        ("log.dnstap", running.log.dnstap != new.log.dnstap),
    ];
    differ.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key.to_owned()).collect()
}

/// A new configuration, with the values of the running one that only a restart changes.
pub(super) fn keep(running: &Config, mut new: Config) -> Config {
    let Config { server, tcp, tls, control, metrics, .. } = running.clone();
    new.server.listen = server.listen;
    new.tls = keep_tls(&tls, new.tls);
    (new.server.io, new.server.interfaces) = (server.io, server.interfaces);
    (new.server.workers, new.server.user, new.server.group) = (server.workers, server.user, server.group);
    (new.tcp, new.control, new.metrics) = (tcp, control, metrics);
    new.log.dnstap.clone_from(&running.log.dnstap);
    new.transfer.folder = keep_folder(running, &new);
    new
}

/// The folder of received zones: the one that has them, or a first one.
fn keep_folder(running: &Config, new: &Config) -> PathBuf {
    let folder = &running.transfer.folder;
    if folder.as_os_str().is_empty() { new.transfer.folder.clone() } else { folder.clone() }
}

/// New certificates for the listeners that run, which keep theirs if the new configuration has none.
fn keep_tls(running: &Tls, new: Tls) -> Tls {
    match new.listen.is_empty() {
        true => Tls { roots: new.roots, ..running.clone() },
        false => Tls { listen: running.listen.clone(), ..new },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_needs_a_restart_is_reported_at_each_reload() {
        let running = Config::default();
        let text = "[server]\nlisten = [\"127.0.0.1:53\"]\nversion = \"7\"\n[tcp]\nconnections = 7\n";
        let new = Config::parse(text).unwrap();
        assert_eq!(restart(&running, &new), ["server.listen", "tcp"]);
        let kept = keep(&running, new.clone());
        assert_eq!((&kept.server.version[..], kept.tcp == running.tcp), ("7", true));
        assert_eq!(restart(&kept, &new), ["server.listen", "tcp"]);
        let tls = |listen: &str, certificate: &str| {
            Config::parse(&format!(
                "[tls]\nlisten = [{listen}]\ncertificate = \"{certificate}\"\nkey = \"k\"\n"
            ))
            .unwrap()
        };
        let (running, new) = (tls("\"127.0.0.1:853\"", "old"), tls("\"127.0.0.1:854\"", "new"));
        assert_eq!(restart(&running, &new), ["tls.listen"]);
        let kept = keep(&running, new).tls;
        assert_eq!((&kept.listen, kept.certificate.to_str()), (&running.tls.listen, Some("new")));
        let without = Config::default();
        assert_eq!(restart(&running, &without), ["tls.listen"]);
        let folder = |name: &str| Config::parse(&format!("[transfer]\nfolder = \"{name}\"\n")).unwrap();
        assert_eq!(keep(&without, folder("a")).transfer.folder, PathBuf::from("a"), "the first one");
        assert_eq!(restart(&folder("a"), &folder("b")), ["transfer.folder"]);
        assert_eq!(keep(&folder("a"), folder("b")).transfer.folder, PathBuf::from("a"));
        assert_eq!(keep(&running, without).tls, running.tls);
    }
}
