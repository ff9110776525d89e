//! Addresses that messages to other servers are sent from: one of a family for all of them.

use super::address;
use super::model::{Model, quoted};
use super::report::{Fate, Report};
use std::net::{IpAddr, SocketAddr};

/// Reason of a line that is lost, as others differ.
const DIFFERENT: &str =
    "others are reached from another address, or any; transfer.source is one for all of them";

/// Servers that are reached from the same addresses: a zone's, or one with several addresses.
pub(super) struct Reached {
    /// A server has an address of IPv4, or of IPv6.
    has_v4: bool,
    has_v6: bool,
    /// Addresses that messages are sent from, with the numbers of their lines.
    from: Vec<(IpAddr, usize)>,
}

impl Reached {
    /// Servers by their addresses in our form.
    pub(super) fn new<'a>(servers: impl Iterator<Item = &'a str>, from: Vec<(IpAddr, usize)>) -> Self {
        let mut reached = Self { has_v4: false, has_v6: false, from };
        for server in servers {
            let ip = server.parse::<SocketAddr>().map(|address| address.ip()).or_else(|_| server.parse());
            match ip {
                Ok(IpAddr::V4(_)) => reached.has_v4 = true,
                Ok(IpAddr::V6(_)) => reached.has_v6 = true,
                Err(_) => {}
            }
        }
        reached
    }

    /// The addresses of a family, and true if servers of it are reached.
    fn of(&self, is_v4: bool) -> (impl Iterator<Item = (IpAddr, usize)>, bool) {
        let from = self.from.iter().copied().filter(move |(ip, _)| ip.is_ipv4() == is_v4);
        (from, if is_v4 { self.has_v4 } else { self.has_v6 })
    }
}

/// The address of a text, which is one of this host without a port.
pub(super) fn source(text: &str) -> Result<IpAddr, String> {
    match address::address(text)? {
        (_, Some(_)) => Err("the port of transfers cannot be set; write the address alone".to_owned()),
        (ip, None) if ip.is_unspecified() || ip.is_multicast() => {
            Err(format!("{text:?} is no host's address"))
        }
        (ip, None) => Ok(ip),
    }
}

impl Model {
    /// Sets the addresses that all servers are reached from. Lines that others disagree with are lost.
    pub(super) fn set_sources(&mut self, all: &[Reached], report: &mut Report) {
        let mut sources = Vec::new();
        for is_v4 in [true, false] {
            let lines: Vec<(IpAddr, usize)> = all.iter().flat_map(|reached| reached.of(is_v4).0).collect();
            let Some((first, _)) = lines.first() else { continue };
            let agrees = |reached: &Reached| {
                let (mut from, is_reached) = reached.of(is_v4);
                match from.next() {
                    None => !is_reached,
                    Some((ip, _)) => ip == *first && from.all(|(ip, _)| ip == *first),
                }
            };
            if all.iter().all(agrees) {
                sources.push(quoted(&first.to_string()));
            } else {
                lines.iter().for_each(|(_, at)| report.set(*at, Fate::lost(DIFFERENT)));
            }
        }
        if !sources.is_empty() {
            self.settings.insert(("transfer", "source"), format!("[{}]", sources.join(", ")));
        }
    }
}
