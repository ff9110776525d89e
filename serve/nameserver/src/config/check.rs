//! The rules that values of the configuration follow beside their types.

use super::{Config, ConfigError, Io, MAX_TEXT, Server, ZoneFile, invalid};

impl Config {
    /// Checks the values that are not valid for every value of their type.
    ///
    /// # Errors
    /// The first invalid value.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Self { server, tcp, tls, rate_limit, zone_files, transfer, zone, .. } = self;
        let within = |key: &str, value: u64, least: u64, most: u64| {
            let why = || format!("is {value}, but must be between {least} and {most}");
            if (least..=most).contains(&value) { Ok(()) } else { Err(invalid(key, why())) }
        };
        if server.listen.is_empty() {
            return Err(invalid("server.listen", "is empty; name an address, such as \"127.0.0.1:53\""));
        }
        within("server.workers", server.workers as u64, 0, 1024)?;
        server.check_interfaces()?;
        within("server.max_udp", server.max_udp.into(), 512, 4096)?;
        within("server.pause_us", server.pause_us, 0, 1000)?;
        for (key, text) in [("server.version", &server.version), ("server.identity", &server.identity)] {
            if text.len() > MAX_TEXT {
                return Err(invalid(key, format!("is longer than {MAX_TEXT} bytes")));
            }
        }
        server.nsid()?;
        server.secrets()?;
        self.check_paths()?;
        within("tcp.connections", tcp.connections as u64, 1, 1 << 20)?;
        within("tcp.connections_per_address", tcp.connections_per_address as u64, 1, 1 << 20)?;
        within("tcp.memory", tcp.memory, 1 << 20, 1 << 40)?;
        for (key, value) in [
            ("tcp.idle_timeout_ms", tcp.idle_timeout_ms),
            ("tcp.message_timeout_ms", tcp.message_timeout_ms),
            ("tcp.write_timeout_ms", tcp.write_timeout_ms),
        ] {
            within(key, value, 100, 3_600_000)?;
        }
        within("rate_limit.responses_per_second", rate_limit.responses_per_second.into(), 0, 1_000_000)?;
        within("rate_limit.slip", rate_limit.slip.into(), 0, 10)?;
        within("rate_limit.ipv4_prefix", rate_limit.ipv4_prefix.into(), 8, 32)?;
        within("rate_limit.ipv6_prefix", rate_limit.ipv6_prefix.into(), 16, 64)?;
        within("rate_limit.entries", rate_limit.entries as u64, 1024, 1 << 28)?;
        within("zone_files.max_bytes", zone_files.max_bytes, 1 << 10, 1 << 40)?;
        within("zone_files.max_generated", zone_files.max_generated, 0, 1 << 24)?;
        within("transfer.max_bytes", transfer.max_bytes, 1 << 10, 1 << 40)?;
        within("transfer.timeout_s", transfer.timeout_s, 1, 7 * 86_400)?;
        within("transfer.parallel", transfer.parallel as u64, 1, 256)?;
        within("transfer.max_members", transfer.max_members as u64, 1, 10_000_000)?;
        within("transfer.history", transfer.history, 0, 1 << 40)?;
        transfer.check_source()?;
        // The kernel chooses different ports in place of 0.
        let mut metrics = self.metrics.listen.iter().filter(|address| address.port() != 0);
        if let Some(address) = metrics.find(|address| server.listen.contains(address)) {
            return Err(invalid("metrics.listen", format!("has {address}, as `server.listen` has")));
        }
        tls.check(&[&server.listen[..], &self.metrics.listen].concat())?;
        self.check_peers()?;
        for zone in zone {
            if !zone.names.is_empty() {
                return Err(invalid(
                    "zone.names",
                    "is for configuration files alone; name one zone in `name`",
                ));
            }
            if !zone.name.is_ascii() {
                let why = format!("has {:?}; write it in ASCII, as xn--…", zone.name);
                return Err(invalid("zone.name", why));
            }
            zone.apex()?;
            self.check_source(zone)?;
        }
        self.check_groups()?;
        self.check_keys()?;
        check_duplicates(zone)
    }
}

impl Server {
    /// Checks that XDP has interfaces, each once.
    fn check_interfaces(&self) -> Result<(), ConfigError> {
        let key = "server.interfaces";
        if self.io == Io::Xdp && self.interfaces.is_empty() {
            return Err(invalid(
                key,
                "is empty, but `server.io` is \"xdp\"; name an interface, such as \"eth0\"",
            ));
        }
        let twice = |name: &String| self.interfaces.iter().filter(|other| *other == name).count() > 1;
        match self.interfaces.iter().find(|name| twice(name)) {
            Some(name) => Err(invalid(key, format!("has {name:?} twice; remove one"))),
            None => Ok(()),
        }
    }
}

impl Config {
    /// Zones, and the groups of members of catalogs, which name servers, too.
    pub(super) fn with_servers(&self) -> impl Iterator<Item = &ZoneFile> {
        self.zone.iter().chain(&self.group)
    }

    /// Checks that groups have what members of catalogs can have.
    fn check_groups(&self) -> Result<(), ConfigError> {
        let mut names = std::collections::HashSet::new();
        for group in &self.group {
            let name = &group.name;
            if name.is_empty() || name.len() > MAX_TEXT {
                return Err(invalid("group.name", format!("has {name:?}; it has 1 to {MAX_TEXT} bytes")));
            }
            if !names.insert(name) {
                return Err(invalid("group.name", format!("has {name:?} twice; remove one of the groups")));
            }
            if !group.names.is_empty() {
                return Err(invalid("group.names", "is for zones; name one group in `name`"));
            }
            if !group.group.is_empty() {
                let why = format!("is given for {name:?}, whose members are in it; remove it");
                return Err(invalid("group.group", why));
            }
            if !group.file.as_os_str().is_empty() || !group.catalog.is_empty() {
                let why = format!("or `catalog` is given for {name:?}, whose members come from a catalog");
                return Err(invalid("group.file", why + "; remove it"));
            }
        }
        Ok(())
    }

    /// Checks that a zone has a file or primaries, and what it needs for them.
    fn check_source(&self, zone: &ZoneFile) -> Result<(), ConfigError> {
        let name = &zone.name;
        if zone.group.len() > MAX_TEXT {
            return Err(invalid("zone.group", format!("of {name:?} is longer than {MAX_TEXT} bytes")));
        }
        if !zone.group.is_empty() && !zone.catalog.is_empty() {
            let why = format!("is given for {name:?}, but a catalog is in no catalog; remove one of them");
            return Err(invalid("zone.group", why));
        }
        match &zone.catalog[..] {
            "" => {}
            "follow" if zone.primaries.is_empty() => {
                let why = format!("is \"follow\" for {name:?}, which has no `primaries` for its members");
                return Err(invalid("zone.catalog", why));
            }
            "follow" => {}
            "produce" if zone.file.as_os_str().is_empty() && zone.primaries.is_empty() => return Ok(()),
            "produce" => {
                let why =
                    format!("is \"produce\" for {name:?}, which has a file or `primaries`; remove them");
                return Err(invalid("zone.catalog", why));
            }
            other => {
                let why = format!("has {other:?}, but must be \"follow\" or \"produce\", or empty");
                return Err(invalid("zone.catalog", why));
            }
        }
        match (zone.file.as_os_str().is_empty(), zone.primaries.is_empty()) {
            (true, true) => {
                let why = format!("is missing for {name:?}; name its zone file, or its `primaries`");
                Err(invalid("zone.file", why))
            }
            (false, false) => {
                let why = format!("and `primaries` are both given for {name:?}; remove one of them");
                Err(invalid("zone.file", why))
            }
            (true, false) if self.transfer.folder.as_os_str().is_empty() => {
                let why = format!(
                    "is missing, but {name:?} has `primaries`; name a folder for received zones, such as \
                     \"/var/lib/hashlane-dns\""
                );
                Err(invalid("transfer.folder", why))
            }
            (false, true) if !zone.allow_notify.is_empty() => {
                let why = format!("is given for {name:?}, which has a file: only `primaries` send news");
                Err(invalid("zone.allow_notify", why))
            }
            _ => Ok(()),
        }
    }

    /// Checks that there are issuers for the peers that are asked over TLS, and that none is told over it.
    fn check_peers(&self) -> Result<(), ConfigError> {
        let mut primaries = self.with_servers().flat_map(|zone| &zone.primaries);
        if self.tls.roots.as_os_str().is_empty()
            && let Some(peer) = primaries.find(|peer| peer.tls.is_some())
        {
            let why = format!(
                "is missing, but `zone.primaries` has \"{peer}\"; name a file of the certificates that issue \
                 those of primaries"
            );
            return Err(invalid("tls.roots", why));
        }
        let of_zones = self.with_servers().flat_map(|zone| &zone.notify).map(|peer| ("zone.notify", peer));
        let of_all = self.transfer.notify.iter().map(|peer| ("transfer.notify", peer));
        match of_zones.chain(of_all).find(|(_, peer)| peer.tls.is_some()) {
            Some((key, peer)) => Err(invalid(
                key,
                format!("has \"{peer}\", but NOTIFY goes over UDP; remove `tls` and its name"),
            )),
            None => Ok(()),
        }
    }

    /// Checks that paths are UTF-8, so that reports and configurations can have them.
    pub(super) fn check_paths(&self) -> Result<(), ConfigError> {
        let files = self.zone.iter().map(|zone| ("zone.file", &zone.file));
        let own = [
            ("control.path", &self.control.path),
            ("transfer.folder", &self.transfer.folder),
            ("log.dnstap", &self.log.dnstap),
        ];
        let mut paths = files.chain(own).chain(self.tls.paths());
        match paths.find(|(_, path)| path.to_str().is_none()) {
            Some((key, path)) => {
                Err(invalid(key, format!("has {path:?}, which is not UTF-8; rename the file or its folder")))
            }
            None => Ok(()),
        }
    }
}

/// Refuses a zone that is given twice.
fn check_duplicates(zones: &[ZoneFile]) -> Result<(), ConfigError> {
    let mut names = zones
        .iter()
        .map(|zone| Ok((zone.apex()?.as_bytes().to_ascii_lowercase(), &zone.name)))
        .collect::<Result<Vec<_>, ConfigError>>()?;
    names.sort();
    let twice = names.windows(2).find_map(|pair| match pair {
        [(a, name), (b, _)] if a == b => Some(name),
        _ => None,
    });
    match twice {
        Some(name) => Err(invalid("zone.name", format!("has {name:?} twice; remove one of the zones"))),
        None => Ok(()),
    }
}
