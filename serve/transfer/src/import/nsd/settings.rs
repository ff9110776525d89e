//! The sections `server:` and `key:` of nsd.conf.

use super::super::address;
use super::super::report::Fate;
use super::Nsd;

impl Nsd<'_> {
    pub(super) fn server(&mut self, key: &str, value: &str, values: usize) -> Fate {
        let model = &mut *self.model;
        match key {
            "ip-address" | "interface" if values > 1 => Fate::lost("an address with options"),
            "ip-address" | "interface" => match address::address(value) {
                Ok(address) => {
                    self.listen.push(address);
                    Fate::kept("server.listen")
                }
                Err(why) => Fate::lost(why),
            },
            "port" => match value.parse() {
                Ok(port) => {
                    self.port = Some(port);
                    Fate::kept("the ports of server.listen")
                }
                Err(_) => Fate::lost(format!("{value:?} is not a port")),
            },
            "identity" => model.set_text("server", "identity", value),
            "version" => model.set_text("server", "version", value),
            "nsid" => model.set_text("server", "nsid", value),
            "hide-version" | "hide-identity" => {
                let setting = ("server", if key == "hide-version" { "version" } else { "identity" });
                if value == "yes" {
                    model.set_text(setting.0, setting.1, "")
                } else if model.settings.contains_key(&setting) {
                    Fate::kept(format!("{}.{}", setting.0, setting.1))
                } else {
                    Fate::ignored("the answer is empty unless the configuration has one")
                }
            }
            "zonesdir" => {
                value.clone_into(&mut self.folder);
                Fate::kept("the folder of each zone's file")
            }
            "username" => match value.split_once([':', '.']) {
                Some((user, group)) => {
                    model.set_text("server", "group", group);
                    model.set_text("server", "user", user)
                }
                None => model.set_text("server", "user", value),
            },
            "server-count" => model.set_number(("server", "workers"), value, (1, 0, 1024)),
            "tcp-count" => model.set_number(("tcp", "connections"), value, (1, 1, 1 << 20)),
            "tcp-timeout" => model.set_number(("tcp", "idle_timeout_ms"), value, (1000, 100, 3_600_000)),
            "ipv4-edns-size" | "ipv6-edns-size" => {
                model.set_number(("server", "max_udp"), value, (1, 512, 4096))
            }
            "rrl-ratelimit" => {
                model.set_number(("rate_limit", "responses_per_second"), value, (1, 0, 1_000_000))
            }
            "rrl-slip" => model.set_number(("rate_limit", "slip"), value, (1, 0, 10)),
            "rrl-size" => model.set_number(("rate_limit", "entries"), value, (1, 1024, 1 << 28)),
            "rrl-ipv4-prefix-length" => model.set_number(("rate_limit", "ipv4_prefix"), value, (1, 8, 32)),
            "rrl-ipv6-prefix-length" => model.set_number(("rate_limit", "ipv6_prefix"), value, (1, 16, 64)),
            "answer-cookie" if matches!(value, "yes" | "no") => {
                let is_on = (value == "yes").to_string();
                model.settings.insert(("server", "cookies"), is_on);
                Fate::kept("server.cookies")
            }
            "do-ip4" | "do-ip6" if value == "yes" => Fate::ignored("it is so"),
            "do-ip4" | "do-ip6" => Fate::lost("name the addresses in server.listen"),
            "chroot" if value.is_empty() => Fate::ignored("it is so"),
            "chroot" => {
                Fate::lost("no counterpart; paths in it begin at its root; see ProtectSystem of systemd")
            }
            "tls-service-ocsp"
            | "tls-auth-port"
            | "tls-auth-xfr-only"
            | "proxy-protocol-port"
            | "cookie-secret"
            | "cookie-secret-file"
            | "allow-query"
            | "rrl-whitelist-ratelimit" => Fate::lost("no counterpart in this configuration"),
            "ip-transparent"
            | "ip-freebind"
            | "reuseport"
            | "send-buffer-size"
            | "receive-buffer-size"
            | "cpu-affinity"
            | "verbosity"
            | "logfile"
            | "log-only-syslog"
            | "log-time-ascii"
            | "log-time-iso"
            | "pidfile"
            | "database"
            | "zonelistfile"
            | "xfrdfile"
            | "xfrdir"
            | "xfrd-reload-timeout"
            | "xfrd-tcp-max"
            | "xfrd-tcp-pipeline"
            | "statistics"
            | "debug-mode"
            | "round-robin"
            | "minimal-responses"
            | "confine-to-zone"
            | "refuse-any"
            | "zonefiles-check"
            | "zonefiles-write"
            | "tcp-query-count"
            | "tcp-mss"
            | "outgoing-tcp-mss"
            | "reload-config"
            | "reject-overflow"
            | "bindtodevice"
            | "setfib"
            | "drop-updates" => Fate::ignored("no counterpart"),
            _ if key.ends_with("-cpu-affinity") => Fate::ignored("no counterpart"),
            _ => Fate::lost("unknown"),
        }
    }

    pub(super) fn key(&mut self, key: &str, value: &str, at: usize) -> Fate {
        let Some(last) = self.model.keys.last_mut() else { return Fate::lost("no key") };
        let (place, name) = match key {
            "name" => (&mut last.name, "key.name"),
            "algorithm" => (&mut last.algorithm, "key.algorithm"),
            "secret" => (&mut last.secret, "key.secret"),
            _ => return Fate::lost("unknown"),
        };
        value.clone_into(place);
        last.lines.push(at);
        Fate::kept(name)
    }
}
