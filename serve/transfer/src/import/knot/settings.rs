//! The sections `server`, `key` and `mod-rrl` of knot.conf.

use super::super::address;
use super::super::model::Key;
use super::super::report::Fate;
use super::Knot;
use super::tree::Item;

impl Knot<'_> {
    pub(super) fn server(&mut self, item: &Item) {
        for entry in &item.entries {
            let value = entry.value();
            let model = &mut *self.model;
            let fate = match entry.key.as_str() {
                "listen" => {
                    for (text, at) in &entry.values {
                        match address::address(text) {
                            Ok((ip, port)) => {
                                let listen = std::net::SocketAddr::new(ip, port.unwrap_or(53));
                                model.listen.push(listen.to_string());
                            }
                            Err(why) => self.report.set(*at, Fate::lost(why)),
                        }
                    }
                    Fate::kept("server.listen")
                }
                key @ ("identity" | "version") => {
                    model.set_text("server", if key == "version" { "version" } else { "identity" }, value)
                }
                "nsid" => match value.strip_prefix("0x") {
                    Some(hex) => model.set_text("server", "nsid", &hex.to_ascii_lowercase()),
                    None if value.is_empty() => model.set_text("server", "nsid", ""),
                    None => model.set_text("server", "nsid", &format!("ascii_{value}")),
                },
                "user" => match value.split_once(':') {
                    Some((user, group)) => {
                        model.set_text("server", "group", group);
                        model.set_text("server", "user", user)
                    }
                    None => model.set_text("server", "user", value),
                },
                "ca-file" if entry.values.len() == 1 && !value.is_empty() => {
                    model.set_text("tls", "roots", value)
                }
                "ca-file" => Fate::lost("tls.roots is one file; name it"),
                "udp-workers" => model.set_number(("server", "workers"), value, (1, 0, 1024)),
                "udp-max-payload" | "udp-max-payload-ipv4" | "udp-max-payload-ipv6" => {
                    model.set_number(("server", "max_udp"), value, (1, 512, 4096))
                }
                "tcp-max-clients" => model.set_number(("tcp", "connections"), value, (1, 1, 1 << 20)),
                "tcp-idle-timeout" => {
                    model.set_number(("tcp", "idle_timeout_ms"), value, (1000, 100, 3_600_000))
                }
                "listen-xdp" | "listen-quic" | "listen-tls" | "proxy-allowlist" | "cert-file"
                | "key-file" | "automatic-acl" | "edns-client-subnet" => {
                    Fate::lost("no counterpart in this configuration")
                }
                "rundir"
                | "pidfile"
                | "tcp-workers"
                | "background-workers"
                | "async-start"
                | "tcp-io-timeout"
                | "tcp-remote-io-timeout"
                | "tcp-reuseport"
                | "tcp-fastopen"
                | "socket-affinity"
                | "answer-rotation"
                | "dbus-event"
                | "dbus-init-delay"
                | "quic-max-clients"
                | "quic-outbuf-max-size"
                | "quic-idle-close-timeout"
                | "remote-pool-limit"
                | "remote-pool-timeout"
                | "remote-retry-delay" => Fate::ignored("no counterpart"),
                _ => Fate::lost("unknown"),
            };
            self.set(entry, fate);
        }
    }

    pub(super) fn key(&mut self, item: &Item) {
        let mut key = Key::default();
        for entry in &item.entries {
            let (place, name) = match entry.key.as_str() {
                "id" => (&mut key.name, "key.name"),
                "algorithm" => (&mut key.algorithm, "key.algorithm"),
                "secret" => (&mut key.secret, "key.secret"),
                _ => {
                    self.set(entry, Fate::lost("unknown"));
                    continue;
                }
            };
            entry.value().clone_into(place);
            key.lines.extend(entry.lines());
            self.set(entry, Fate::kept(name));
        }
        self.model.keys.push(key);
    }

    pub(super) fn rate_limit(&mut self, item: &Item) {
        for entry in &item.entries {
            let (model, value) = (&mut *self.model, entry.value());
            let fate = match entry.key.as_str() {
                "id" => Fate::kept("[rate_limit], for all zones"),
                "rate-limit" => {
                    model.set_number(("rate_limit", "responses_per_second"), value, (1, 0, 1_000_000))
                }
                "slip" => model.set_number(("rate_limit", "slip"), value, (1, 0, 10)),
                _ => Fate::lost("no counterpart in this configuration"),
            };
            self.set(entry, fate);
        }
    }
}
