//! TLS in nsd.conf: the section `tls-auth:`, and the server's own certificate.

use super::super::model::{Model, quoted};
use super::super::report::{Fate, Report};
use super::Nsd;
use std::collections::HashMap;
use std::net::SocketAddr;

/// Port of TLS without `tls-port`.
const PORT: u16 = 853;

/// A section `tls-auth:`.
#[derive(Default)]
pub(super) struct TlsAuth {
    pub(super) name: String,
    /// Name of the server in its certificate.
    domain: String,
}

/// TLS of the server.
#[derive(Default)]
pub(super) struct Tls {
    pub(super) auths: Vec<TlsAuth>,
    port: Option<u16>,
    /// Lines of the private key and of the certificate.
    key: Option<usize>,
    certificate: Option<usize>,
}

impl Nsd<'_> {
    /// A statement of the section `tls-auth:`.
    pub(super) fn tls_auth(&mut self, key: &str, value: &str) -> Fate {
        let Some(last) = self.tls.auths.last_mut() else { return Fate::lost("no tls-auth") };
        let place = match key {
            "name" => &mut last.name,
            "auth-domain-name" => &mut last.domain,
            "client-cert" | "client-key" | "client-key-pw" => {
                return Fate::lost("certificates of clients have no counterpart here");
            }
            _ => return Fate::lost("unknown"),
        };
        value.clone_into(place);
        Fate::kept("the primaries that name it")
    }

    /// A statement of the section `server:` about TLS; `None` for others.
    pub(super) fn tls_server(&mut self, key: &str, value: &str, at: usize) -> Option<Fate> {
        Some(match key {
            "tls-port" => match value.parse() {
                Ok(port) => {
                    self.tls.port = Some(port);
                    Fate::kept("the port of tls.listen")
                }
                Err(_) => Fate::lost(format!("{value:?} is not a port")),
            },
            "tls-service-key" => {
                self.tls.key = Some(at);
                self.model.set_text("tls", "key", value)
            }
            "tls-service-pem" => {
                self.tls.certificate = Some(at);
                self.model.set_text("tls", "certificate", value)
            }
            "tls-cert-bundle" => self.model.set_text("tls", "roots", value),
            _ => return None,
        })
    }
}

impl Tls {
    /// The names in certificates, by the names of the sections.
    pub(super) fn domains(&self) -> HashMap<&str, &str> {
        let named = self.auths.iter().filter(|auth| !auth.domain.is_empty());
        named.map(|auth| (auth.name.as_str(), auth.domain.as_str())).collect()
    }

    /// Divides the addresses, each with its line: those with the port of TLS, if there is a certificate, and
    /// the others.
    pub(super) fn listen(
        &self,
        all: Vec<(SocketAddr, Option<usize>)>,
        model: &mut Model,
        report: &mut Report,
    ) {
        let texts = |all: &[(SocketAddr, _)]| all.iter().map(|(address, _)| address.to_string()).collect();
        let (Some(key), Some(certificate)) = (self.key, self.certificate) else {
            for at in self.key.into_iter().chain(self.certificate) {
                let why = "TLS needs tls-service-key and tls-service-pem";
                report.set(at, Fate::lost(why));
            }
            ["key", "certificate"].iter().for_each(|name| drop(model.settings.remove(&("tls", *name))));
            model.listen = texts(&all);
            return;
        };
        let port = self.port.unwrap_or(PORT);
        let (tls, clear): (Vec<_>, Vec<_>) = all.into_iter().partition(|(address, _)| address.port() == port);
        if tls.is_empty() {
            let why = "no ip-address has the port of TLS";
            [key, certificate].iter().for_each(|at| report.set(*at, Fate::ignored(why)));
            ["key", "certificate"].iter().for_each(|name| drop(model.settings.remove(&("tls", *name))));
        } else {
            let listen: Vec<String> = tls.iter().map(|(address, _)| quoted(&address.to_string())).collect();
            let lines = tls.iter().filter_map(|(_, line)| *line);
            lines.for_each(|at| report.set(at, Fate::kept("tls.listen")));
            model.settings.insert(("tls", "listen"), format!("[{}]", listen.join(", ")));
            if clear.is_empty() {
                let why = "all addresses are for TLS, but this server also listens without it; name an address in \
                           server.listen";
                report.set(key, Fate::lost(why));
            }
        }
        model.listen = texts(&clear);
    }
}
