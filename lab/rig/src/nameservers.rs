//! Settings of name servers, ours and other projects': one thread, minimal responses, no limit of rates.

use std::net::SocketAddr;
use std::path::Path;

/// A zone, and the name server to serve it.
#[derive(Clone, Copy, Debug)]
pub struct Served<'a> {
    /// Address for UDP and TCP.
    pub address: SocketAddr,
    /// Folder for the server's state.
    pub folder: &'a Path,
    /// Name of the zone.
    pub apex: &'a str,
    /// The zone file.
    pub zone: &'a Path,
}

impl Served<'_> {
    /// Settings of `hashlane dns serve`.
    pub fn ours(&self) -> String {
        self.ours_with(&format!("file = \"{}\"\n", self.zone.display()))
    }

    /// Settings of `hashlane dns serve` with these lines of the zone, in place of its file.
    pub fn ours_with(&self, zone: &str) -> String {
        self.ours_as("user = \"\"\n", zone)
    }

    /// The same with these lines of the server, which name its user.
    pub fn ours_as(&self, server: &str, zone: &str) -> String {
        let Self { address, apex, .. } = self;
        format!(
            "[server]\nlisten = [\"{address}\"]\nworkers = 1\n{server}\
             [rate_limit]\nresponses_per_second = 0\n\
             [control]\npath = \"\"\n\
             [[zone]]\nname = \"{apex}\"\n{zone}"
        )
    }

    /// Settings of BIND's `named`, with further `options`, each with its semicolon.
    pub fn named(&self, options: &str) -> String {
        self.named_with(options, &format!("type primary; file \"{}\";", self.zone.display()))
    }

    /// Settings of `named` with these words of the zone, in place of its file.
    pub fn named_with(&self, options: &str, zone: &str) -> String {
        let Self { address, folder, apex, .. } = self;
        let (port, ip, path) = (address.port(), address.ip(), folder.display());
        format!(
            "options {{\n  directory \"{path}\";\n  listen-on port {port} {{ {ip}; }};\n  \
             listen-on-v6 {{ none; }};\n  recursion no;\n  minimal-responses yes;\n  querylog no;\n  \
             notify no;\n  allow-transfer {{ none; }};\n  dnssec-validation no;\n  \
             empty-zones-enable no;\n  \
             pid-file none;\n  session-keyfile none;\n  managed-keys-directory \"{path}\";\n  \
             lock-file none;\n  {options}\n}};\n\
             controls {{ }};\n\
             logging {{ category default {{ default_stderr; }}; }};\n\
             zone \"{apex}\" {{ {zone} check-names ignore; }};\n"
        )
    }
}

/// Settings of Unbound as a cache before one server, which it asks over TCP. It validates nothing.
pub fn unbound(address: SocketAddr, folder: &Path, upstream: SocketAddr) -> String {
    let (ip, port, path) = (address.ip(), address.port(), folder.display());
    format!(
        "server:\n  interface: {ip}@{port}\n  directory: \"{path}\"\n  chroot: \"\"\n  username: \"\"\n  \
         pidfile: \"\"\n  use-syslog: no\n  logfile: \"\"\n  num-threads: 1\n  module-config: \"iterator\"\n  \
         do-ip6: no\n  do-not-query-localhost: no\n  minimal-responses: yes\n  ip-ratelimit: 0\n\
         remote-control:\n  control-enable: no\n\
         forward-zone:\n  name: \".\"\n  forward-addr: {}@{}\n  forward-tcp-upstream: yes\n",
        upstream.ip(),
        upstream.port()
    )
}
