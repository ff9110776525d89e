//! Settings of other projects' NDN forwarders.

use std::path::Path;

/// Settings of NFD, the forwarder of the NDN project in C++. Every process that can open the socket may send
/// commands.
#[derive(Clone, Copy, Debug)]
pub struct Nfd<'a> {
    /// Path of the Unix socket.
    pub socket: &'a Path,
    /// UDP port.
    pub udp: u16,
    /// TCP port, if there is to be one.
    pub tcp: Option<u16>,
    /// Level of the log, such as `WARN`.
    pub log_level: &'a str,
}

impl Nfd<'_> {
    /// The configuration file.
    pub fn to_text(&self) -> String {
        let Self { socket, udp, tcp, log_level } = self;
        let tcp = tcp.map_or_else(String::new, |port| {
            format!("  tcp\n  {{\n    port {port}\n    enable_v4 yes\n    enable_v6 no\n  }}\n")
        });
        format!(
            "log
{{
  default_level {log_level}
}}
tables
{{
  cs_max_packets 65536
}}
face_system
{{
  unix
  {{
    path {socket}
  }}
  udp
  {{
    port {udp}
    enable_v4 yes
    enable_v6 no
    mcast no
  }}
{tcp}}}
authorizations
{{
  authorize
  {{
    certfile any
    privileges
    {{
      faces
      fib
      cs
      strategy-choice
    }}
  }}
}}
rib
{{
  localhost_security
  {{
    trust-anchor
    {{
      type any
    }}
  }}
}}
",
            socket = socket.display()
        )
    }
}

/// Settings of ndnd, the forwarder of the NDN project in Go, with one thread that forwards.
#[derive(Clone, Copy, Debug)]
pub struct Ndnd<'a> {
    /// Path of the Unix socket.
    pub socket: &'a Path,
    /// UDP port.
    pub udp: u16,
    /// TCP port, if there is to be one.
    pub tcp: Option<u16>,
    /// Address and port of the WebSocket, if there is to be one.
    pub web_socket: Option<(&'a str, u16)>,
    /// Accepts commands of neighbours.
    pub localhop: bool,
    /// Level of the log, such as `WARN`; its default without one.
    pub log_level: Option<&'a str>,
}

impl Ndnd<'_> {
    /// The configuration file.
    pub fn to_text(&self) -> String {
        let Self { socket, udp, tcp, web_socket, localhop, log_level } = self;
        let log = log_level.map_or_else(String::new, |level| format!("core: {{log_level: {level}}}\n"));
        let tcp = tcp.map_or_else(
            || "enabled: false".to_owned(),
            |port| format!("enabled: true, port_unicast: {port}"),
        );
        let web_socket = web_socket.map_or_else(
            || "enabled: false".to_owned(),
            |(host, port)| format!("enabled: true, bind: {host}, port: {port}"),
        );
        let mgmt = if *localhop { "mgmt: {allow_localhop: true}\n" } else { "" };
        format!(
            "{log}faces:
  udp: {{enabled_unicast: true, enabled_multicast: false, port_unicast: {udp}}}
  tcp: {{{tcp}}}
  unix: {{enabled: true, socket_path: {socket}}}
  websocket: {{{web_socket}}}
fw: {{threads: 1}}
{mgmt}",
            socket = socket.display()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_without_a_port_are_off() {
        let socket = Path::new("/run/x.sock");
        let nfd = Nfd { socket, udp: 7, tcp: None, log_level: "WARN" };
        let text = nfd.to_text();
        assert!(text.contains("path /run/x.sock") && text.contains("port 7") && !text.contains("tcp"));
        assert!(Nfd { tcp: Some(8), ..nfd }.to_text().contains("  tcp\n  {\n    port 8\n"));
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        let ndnd = Ndnd { socket, udp: 7, tcp: None, web_socket: None, localhop: false, log_level: None };
        let text = ndnd.to_text();
        assert!(text.starts_with("faces:\n") && text.contains("  tcp: {enabled: false}\n"));
        let text = Ndnd { web_socket: Some(("0.0.0.0", 9)), log_level: Some("WARN"), ..ndnd }.to_text();
        assert!(text.starts_with("core: {log_level: WARN}\nfaces:\n"));
        assert!(text.contains("websocket: {enabled: true, bind: 0.0.0.0, port: 9}"));
    }
}
