//! The servers, each with its configuration as a primary and as a secondary.

use crate::certificate::NAME;
use crate::fetch::KEY;
use crate::place::{Place, Role, run};
use crate::zone::APEX;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Name servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    Ours,
    Nsd,
    Knot,
    Bind,
    PowerDns,
}

/// Those beside which ours is run.
pub(crate) const OTHERS: [Maker; 4] = [Maker::Nsd, Maker::Knot, Maker::Bind, Maker::PowerDns];

/// Primaries and secondaries that transfer over TLS, in the releases of Debian 12: NSD does as a secondary,
/// and Knot and PowerDNS do not.
pub(crate) const OVER_TLS: [(Maker, Maker); 4] = [
    (Maker::Ours, Maker::Ours),
    (Maker::Bind, Maker::Ours),
    (Maker::Ours, Maker::Bind),
    (Maker::Ours, Maker::Nsd),
];

/// Path of a program of Debian that is not in every user's path.
fn installed(name: &str) -> PathBuf {
    let places = ["/usr/sbin", "/usr/bin"].map(|folder| Path::new(folder).join(name));
    places.into_iter().find(|path| path.exists()).unwrap_or_else(|| name.into())
}

impl Maker {
    /// The command that starts a server, whose files are written.
    pub(crate) fn command(self, place: &Place) -> Result<Command, String> {
        let path = self.write_settings(place)?;
        let (program, words): (PathBuf, &[&str]) = match self {
            Self::Ours => (place.hashlane.clone(), &["serve", "--config"]),
            Self::Nsd => (installed("nsd"), &["-d", "-c"]),
            Self::Knot => (installed("knotd"), &["-c"]),
            Self::Bind => (installed("named"), &["-g", "-n", "1", "-c"]),
            Self::PowerDns => {
                let mut command = Command::new(installed("pdns_server"));
                command.arg(format!("--config-dir={}", place.folder.display()));
                return Ok(command);
            }
        };
        let mut command = Command::new(program);
        command.args(words).arg(path);
        Ok(command)
    }

    /// Writes the configuration of a server, and returns its path.
    pub(crate) fn write_settings(self, place: &Place) -> Result<PathBuf, String> {
        let settings = match (&place.settings, self) {
            (Some(settings), _) => settings.clone(),
            (None, Self::Ours) => ours(place),
            (None, Self::Nsd) => nsd(place),
            (None, Self::Knot) => knot(place),
            (None, Self::Bind) => bind(place),
            (None, Self::PowerDns) => power_dns(place)?,
        };
        place.write(if self == Self::PowerDns { "pdns.conf" } else { "settings" }, settings)
    }

    /// Has a primary load its configuration and its zone file again.
    pub(crate) fn reload(self, place: &Place, process: i32) -> Result<(), String> {
        match self {
            Self::PowerDns => {
                let socket = format!("--socket-dir={}", place.folder.display());
                run(Command::new(installed("pdns_control")).args([&socket, "bind-reload-now", APEX]))?;
                // Else the serial number is looked at once in a minute.
                run(Command::new(installed("pdns_control")).args([&socket, "notify", APEX]))
            }
            _ => run(Command::new("kill").args(["-HUP", &process.to_string()])),
        }
    }
}

fn ours(place: &Place) -> String {
    let (name, algorithm, _) = KEY;
    let (port, folder, secret) = (place.port, place.folder.display(), place.secret);
    let zone = match place.role {
        Role::Primary(to) => format!(
            "file = \"{}\"\nallow_transfer = [\"key {name}\"]\nnotify = [\"127.0.0.1:{to} key {name}\"]",
            place.zone_file().display()
        ),
        Role::Secondary(from) => format!(
            "primaries = [\"127.0.0.1:{} key {name}\"]\nallow_transfer = [\"key {name}\"]\n\
             allow_notify = [\"127.0.0.1\"]",
            match &place.tls {
                Some(tls) => format!("{} tls {NAME}", tls.port),
                None => from.to_string(),
            }
        ),
    };
    let tls = match (&place.tls, place.role) {
        (None, _) => String::new(),
        (Some(tls), Role::Primary(_)) => format!(
            "[tls]\nlisten = [\"127.0.0.1:{}\"]\ncertificate = \"{}\"\nkey = \"{}\"\n",
            tls.port,
            tls.certificate.display(),
            tls.key.display()
        ),
        (Some(tls), Role::Secondary(_)) => format!("[tls]\nroots = \"{}\"\n", tls.certificate.display()),
    };
    format!(
        "[server]\nlisten = [\"127.0.0.1:{port}\"]\nworkers = 1\n[control]\npath = \"\"\n\
         [rate_limit]\nresponses_per_second = 0\n[transfer]\nfolder = \"{folder}/received\"\n\
         {tls}[[key]]\nname = \"{name}\"\nalgorithm = \"{algorithm}\"\nsecret = \"{secret}\"\n\
         [[zone]]\nname = \"{APEX}\"\n{zone}\n"
    )
}

fn nsd(place: &Place) -> String {
    let (name, algorithm, _) = KEY;
    let (port, folder, secret) = (place.port, place.folder.display(), place.secret);
    let zone = match place.role {
        Role::Primary(to) => format!(
            "  provide-xfr: 127.0.0.1 {name}\n  notify: 127.0.0.1@{to} {name}\n  store-ixfr: yes\n  create-ixfr: yes"
        ),
        Role::Secondary(from) => format!(
            "  request-xfr: 127.0.0.1@{} {name}{}\n  allow-notify: 127.0.0.1 {name}\n  provide-xfr: 127.0.0.1 {name}",
            place.tls.as_ref().map_or(from, |tls| tls.port),
            if place.tls.is_some() { " peer" } else { "" }
        ),
    };
    let (bundle, peer) = match &place.tls {
        None => (String::new(), String::new()),
        Some(tls) => (
            format!("  tls-cert-bundle: \"{}\"\n", tls.certificate.display()),
            format!("tls-auth:\n  name: \"peer\"\n  auth-domain-name: \"{NAME}\"\n"),
        ),
    };
    format!(
        "server:\n  ip-address: 127.0.0.1@{port}\n  username: \"\"\n  server-count: 1\n  database: \"\"\n  \
         zonesdir: \"{folder}\"\n  zonelistfile: \"{folder}/zone.list\"\n  xfrdfile: \"{folder}/xfrd.state\"\n  \
         xfrdir: \"{folder}\"\n  pidfile: \"{folder}/pid\"\n  xfrd-reload-timeout: 0\n  hide-version: yes\n  \
         zonefiles-write: 1\n{bundle}{peer}\
         remote-control:\n  control-enable: no\n\
         key:\n  name: \"{name}\"\n  algorithm: {algorithm}\n  secret: \"{secret}\"\n\
         zone:\n  name: \"{APEX}\"\n  zonefile: \"zone\"\n{zone}\n"
    )
}

fn knot(place: &Place) -> String {
    let (name, algorithm, _) = KEY;
    let (port, folder, secret) = (place.port, place.folder.display(), place.secret);
    let (peer, zone) = match place.role {
        Role::Primary(to) => (to, "    notify: peer\n    zonefile-load: difference\n    zonefile-sync: -1"),
        Role::Secondary(from) => (from, "    master: peer"),
    };
    format!(
        "server:\n    listen: 127.0.0.1@{port}\n    rundir: \"{folder}\"\n    udp-workers: 1\n    tcp-workers: 1\n\
         database:\n    storage: \"{folder}\"\n\
         log:\n  - target: stderr\n    any: info\n\
         key:\n  - id: {name}\n    algorithm: {algorithm}\n    secret: {secret}\n\
         remote:\n  - id: peer\n    address: 127.0.0.1@{peer}\n    key: {name}\n\
         acl:\n  - id: all\n    address: 127.0.0.1\n    key: {name}\n    action: [transfer, notify]\n\
         zone:\n  - domain: {APEX}\n    storage: \"{folder}\"\n    file: \"zone\"\n    acl: all\n{zone}\n"
    )
}

fn bind(place: &Place) -> String {
    let (name, algorithm, _) = KEY;
    let (port, folder, secret) = (place.port, place.folder.display(), place.secret);
    let zone = match place.role {
        Role::Primary(to) => format!(
            "type primary; file \"zone\"; ixfr-from-differences yes; notify explicit; \
             also-notify {{ 127.0.0.1 port {to} key \"{name}\"; }};"
        ),
        Role::Secondary(from) => format!(
            "type secondary; file \"received\"; masterfile-format text; notify no; \
             primaries {{ 127.0.0.1 port {} key \"{name}\"{}; }}; \
             allow-notify {{ key \"{name}\"; }};",
            place.tls.as_ref().map_or(from, |tls| tls.port),
            if place.tls.is_some() { " tls peer" } else { "" }
        ),
    };
    let (tls, listen) = match (&place.tls, place.role) {
        (None, _) => (String::new(), String::new()),
        (Some(tls), Role::Primary(_)) => (
            format!(
                "tls peer {{ cert-file \"{}\"; key-file \"{}\"; protocols {{ TLSv1.3; }}; }};\n",
                tls.certificate.display(),
                tls.key.display()
            ),
            format!("listen-on port {} tls peer {{ 127.0.0.1; }}; ", tls.port),
        ),
        (Some(tls), Role::Secondary(_)) => (
            format!(
                "tls peer {{ ca-file \"{}\"; remote-hostname \"{NAME}\"; }};\n",
                tls.certificate.display()
            ),
            String::new(),
        ),
    };
    format!(
        "{tls}options {{ directory \"{folder}\"; pid-file \"{folder}/pid\"; session-keyfile \"{folder}/session.key\"; \
         listen-on port {port} {{ 127.0.0.1; }}; {listen}listen-on-v6 {{ none; }}; recursion no; \
         min-refresh-time 1; min-retry-time 1; notify-delay 0; startup-notify-rate 100; notify-rate 100; serial-query-rate 100; \
         allow-transfer {{ key \"{name}\"; }}; check-names primary ignore; check-names secondary ignore; \
         check-integrity no; }};\n\
         key \"{name}\" {{ algorithm {algorithm}; secret \"{secret}\"; }};\n\
         controls {{ }};\n\
         zone \"{APEX}\" {{ {zone} }};\n"
    )
}

fn power_dns(place: &Place) -> Result<String, String> {
    let (name, algorithm, _) = KEY;
    let (port, folder, secret) = (place.port, place.folder.display(), place.secret);
    let common = format!(
        "local-address=127.0.0.1\nlocal-port={port}\nsocket-dir={folder}\nzone-cache-refresh-interval=0\n\
         cache-ttl=0\nquery-cache-ttl=0\nnegquery-cache-ttl=0\nslave-cycle-interval=1\nxfr-cycle-interval=1\n\
         disable-axfr=no\nallow-axfr-ips=127.0.0.0/8\nguardian=no\ndaemon=no\nwrite-pid=no\nsecurity-poll-suffix=\n"
    );
    // The older of the two words for each role.
    let words = common.replace("xfr-cycle-interval=1\n", "");
    let database = place.folder.join("database");
    let backend = format!("launch=gsqlite3\ngsqlite3-database={}\ngsqlite3-dnssec=yes\n", database.display());
    let schema = "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql";
    let tool = |words: &[&str]| {
        run(Command::new(installed("pdnsutil")).arg(format!("--config-dir={folder}")).args(words))
    };
    match place.role {
        Role::Primary(to) => {
            let zones = place.write(
                "zones.conf",
                format!(
                    "zone \"{APEX}\" {{ type master; file \"{}\"; also-notify {{ 127.0.0.1:{to}; }}; }};\n",
                    place.zone_file().display()
                ),
            )?;
            let keys = place.folder.join("keys");
            let bind = format!(
                "launch=bind\nbind-config={}\nbind-dnssec-db={}\nmaster=yes\n",
                zones.display(),
                keys.display()
            );
            place.write("pdns.conf", format!("{words}{bind}"))?;
            if !keys.exists() {
                tool(&["create-bind-db", &keys.display().to_string()])?;
                tool(&["import-tsig-key", name, algorithm, secret])?;
                tool(&["activate-tsig-key", APEX, name, "master"])?;
            }
            Ok(words + &bind)
        }
        Role::Secondary(from) => {
            place.write("pdns.conf", format!("{words}{backend}slave=yes\n"))?;
            if !database.exists() {
                let script = format!("sqlite3 {} < {schema}", database.display());
                run(Command::new("sh").args(["-c", &script]))?;
                tool(&["create-slave-zone", APEX, &format!("127.0.0.1:{from}")])?;
                tool(&["import-tsig-key", name, algorithm, secret])?;
                tool(&["activate-tsig-key", APEX, name, "slave"])?;
                tool(&["activate-tsig-key", APEX, name, "master"])?;
            }
            Ok(words + &backend + "slave=yes\n")
        }
    }
}
